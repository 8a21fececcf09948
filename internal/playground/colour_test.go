package playground

import (
	"fmt"
	"io/fs"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// colourPairs are which colours of web/style.css stand on which. Texts need a contrast of 4.5, edges and marks 3, as
// WCAG 2 asks of level AA.
var colourPairs = []struct {
	fore, back string
	least      float64
}{
	{"text bright muted faint link", "rail side main deep field hover selected", 4.5},
	{"good bad amber blue-light", "rail side main deep", 4.5},
	{"good bad", "tint-none", 4.5},
	{"text bright muted faint link", "pinged private", 4.5},
	{"text bright", "flash mention hidden", 4.5},
	{"on-fill", "blue blue-deep green green-deep red red-deep grey grey-deep", 4.5},
	{"on-good", "tint-good", 4.5},
	{"on-bad", "tint-bad", 4.5},
	{"on-mild", "tint-mild", 4.5},
	{"on-open", "tint-open", 4.5},
	{"on-none", "tint-none", 4.5},
	{"on-mention", "mention", 4.5},
	{"on-banner", "banner", 4.5},
	{"text muted bright", "stamp code", 4.5},
	{"code-comment code-string code-number code-word code-name code-tag code-meta", "code", 4.5},
	{"edge focus", "rail side main deep field pinged private", 3},
}

// decorative colours carry no text and no meaning.
var decorative = []string{"line", "shade"}

var (
	themeBlock  = regexp.MustCompile(`(?s):root(\[data-theme="light"\])?\s*\{(.*?)\}`)
	colourValue = regexp.MustCompile(`--([\w-]+):\s*(#[0-9a-fA-F]+);`)
	rawColour   = regexp.MustCompile(`#[0-9a-fA-F]{3,8}\b|rgba?\(|hsla?\(`)
)

// themes reads the colours of both themes.
func themes(t *testing.T) map[string]map[string]string {
	t.Helper()
	text, err := fs.ReadFile(web, "web/style.css")
	if err != nil {
		t.Fatal(err)
	}
	dark, light := map[string]string{}, map[string]string{}
	for _, block := range themeBlock.FindAllStringSubmatch(string(text), -1) {
		into := dark
		if block[1] != "" {
			maps.Copy(light, dark) // What the light theme does not change stays.
			into = light
		}
		for _, m := range colourValue.FindAllStringSubmatch(block[2], -1) {
			into[m[1]] = m[2]
		}
	}
	if len(dark) < 40 || len(light) != len(dark) {
		t.Fatalf("%d dark and %d light colours", len(dark), len(light))
	}
	return map[string]map[string]string{"dark": dark, "light": light}
}

func TestColoursCanBeRead(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for theme, colours := range themes(t) {
		for _, p := range colourPairs {
			for fore := range strings.FieldsSeq(p.fore) {
				for back := range strings.FieldsSeq(p.back) {
					seen[fore], seen[back] = true, true
					got, err := contrast(colours[fore], colours[back])
					if err != nil || got < p.least {
						t.Errorf("%s: --%s on --%s has a contrast of %.2f, want %.1f (%v)", theme, fore, back, got, p.least, err)
					}
				}
			}
		}
		for name := range colours {
			if !seen[name] && !slices.Contains(decorative, name) {
				t.Errorf("%s: nothing says what --%s stands on", theme, name)
			}
		}
	}
}

// A colour that is no property would escape the check above.
func TestColoursAreProperties(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"style.css", "chat.css", "inspector.css", "inspector.css"} {
		text, err := fs.ReadFile(web, "web/"+file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if rawColour.MatchString(line) && !strings.HasPrefix(strings.TrimSpace(line), "--") {
				t.Errorf("%s:%d names a colour: %s", file, i+1, strings.TrimSpace(line))
			}
		}
	}
}

func TestContrast(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want float64
	}{{"#000", "#fff", 21}, {"#ffffff", "#ffffff", 1}, {"#767676", "#fff", 4.54}} {
		if got, err := contrast(c.a, c.b); err != nil || math.Abs(got-c.want) > 0.01 {
			t.Errorf("%s on %s: %.2f, want %.2f (%v)", c.a, c.b, got, c.want, err)
		}
	}
}

// contrast is WCAG's contrast ratio, from 1 to 21.
func contrast(a, b string) (float64, error) {
	x, err := luminance(a)
	if err != nil {
		return 0, err
	}
	y, err := luminance(b)
	if err != nil {
		return 0, err
	}
	return (max(x, y) + 0.05) / (min(x, y) + 0.05), nil
}

func luminance(colour string) (float64, error) {
	hex := strings.TrimPrefix(colour, "#")
	if len(hex) == 3 {
		hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	}
	if len(hex) != 6 {
		return 0, fmt.Errorf("%q is no opaque colour", colour)
	}
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		if err != nil {
			return 0, fmt.Errorf("reading colour %q: %w", colour, err)
		}
		c := float64(n) / 255
		if c <= 0.03928 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum, nil
}
