package registry

import "testing"

// The phrases are compared with normalized text as they stand.
func TestPhrasesAreNormalized(t *testing.T) {
	t.Parallel()
	for _, list := range [][]string{rememberPhrases, otherRemembering} {
		for _, p := range list {
			if n := normalize(p); n != p {
				t.Errorf("%q should be written %q", p, n)
			}
		}
	}
}
