package config

import "testing"

// parse translates the parser's errors by Go field name, so two groups must not use the same one.
func TestFieldNamesAreUnique(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, v := range Variables() {
		if other, taken := seen[v.field]; taken {
			t.Errorf("%s and %s are both fields named %s", other, v.Name, v.field)
		}
		seen[v.field] = v.Name
	}
}
