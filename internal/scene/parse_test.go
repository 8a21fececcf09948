package scene

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestProblemsNameLineAndNearestStep: an author must be able to mend a scene from its messages alone.
func TestProblemsNameLineAndNearestStep(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		scene string
		want  []string
	}{
		"unknown person":      {"person Ana\nAnna says \"hi\"", []string{"f:2: nobody is called Anna (did you mean Ana?)"}},
		"misspelt verb":       {"person Ana\nAna sais \"hi\"", []string{"f:2: no such step", "PERSON says TEXT"}},
		"misspelt first word": {"expcet turn completed", []string{"f:1: no such step", "the nearest is: expect turn"}},
		"unknown channel":     {"person Ana\nAna says \"hi\" in #genral", []string{"there is no channel #genral (did you mean #general?)"}},
		"unknown label":       {"person Ana\nAna edits x to \"y\"", []string{"no message is called x"}},
		"misspelt clause":     {"see containng \"x\"", []string{"no message is called containng (did you mean containing?)"}},
		"clause of another":   {"bot stops quickly", []string{"quickly does not fit here", "the step is: bot stops"}},
		"unclosed text":       {"see \"x", []string{"a text is not closed"}},
		"broken object":       {"model calls x {\"a\":", []string{"write arguments that are meant to be broken as a text"}},
		"text below":          {"bot stops\n| text", []string{"nothing in this step takes the text below it"}},
		"text above all":      {"| text", []string{"f:1: a text line (|) has no step above it"}},
		"bad expression":      {"see matching \"(\"", []string{"the regular expression"}},
		"no content":          {"see", []string{"something is missing"}},
		"unknown status":      {"expect turn complete", []string{"no turn ends as complete (did you mean completed?)"}},
		"crash in process":    {"bot crashes", []string{"own process"}},
		"two models":          {"model rehearsal\nmodel says \"x\"", []string{"speaks for itself"}},
		"name taken":          {"person Ana\nperson Ana", []string{"f:2: nobody can be called Ana"}},
		"DM of nobody":        {"see \"x\" in DM", []string{"whose DM?"}},
		"no steps":            {"# nothing", []string{"the scene has no steps"}},
		"lower-case variable": {"set tool_timeout 3", []string{"is no environment variable"}},
		"all at once":         {"bot strats\nsee", []string{"f:1: ", "f:2: "}},
		"glued":               {"see \"x\"\"y\"", []string{"a blank is missing"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse("f", c.scene)
			if err == nil {
				t.Fatal("was taken")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in: %v", want, err)
				}
			}
		})
	}
}

func TestParseReadsTextsPlacesAndOrder(t *testing.T) {
	t.Parallel()
	sc, err := Parse("dir/name.scene", strings.Join([]string{
		"# Why it exists.", "person Ana", "channel #tea", `Ana says "a # b" in #tea # said to all`, "see", "  | one", "  |", "  |   two",
		"model says `{\"x` calls t {\"a\": \"b c\"} ends by length", `Ana says "x" in DM`, "see nothing more",
	}, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	if sc.Name() != "name" || sc.About != "Why it exists." {
		t.Errorf("name %q, about %q", sc.Name(), sc.About)
	}
	var got []string
	for _, st := range sc.steps[2:] {
		line := st.place + " " + st.verb.form.String()
		for _, b := range append([]bound{st.head}, st.clauses...) {
			for _, slot := range []string{"TEXT", "WORD", "ARGS"} {
				if v, ok := b.slot[slot]; ok {
					line += " " + slot + "=" + v.text
				}
			}
		}
		got = append(got, line)
	}
	want := []string{
		"#tea PERSON says TEXT TEXT=a # b", "#tea see TEXT=one\n\n  two", `#tea model TEXT={"x WORD=t ARGS={"a": "b c"}`,
		"@Ana PERSON says TEXT TEXT=x", "@Ana see nothing more",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// FuzzParse: a file that is no scene must not end the command.
func FuzzParse(f *testing.F) {
	f.Add("person Ana\nAna says \"@Parley hi\" as q in #general\nmodel says\n  | x\nsee containing \"x\" to q within 3s")
	f.Add("model calls x {\"a\":[1,2]} pauses\n| y\n#\n")
	f.Fuzz(func(t *testing.T, text string) {
		sc, err := Parse("f", text)
		if (sc == nil) == (err == nil) {
			t.Errorf("scene %v with error %v", sc, err)
		}
	})
}
