package scene

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		http.DefaultClient.CloseIdleConnections()
		os.Exit(code)
	}))
}

// TestRunTellsWhatWasNotMet: each scene is wrong in one way, and the failure must say which.
func TestRunTellsWhatWasNotMet(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		scene string
		// want is empty for a scene that is met.
		want []string
	}{
		"met":          {"Ana says \"@Parley hi\" as q\nmodel says \"hello @Ana\"\nsee \"hello @Ana\" to q\nexpect turn completed\nsee nothing more", nil},
		"answer first": {"model says \"hello\"\nAna says \"@Parley hi\"\nsee \"hello\"", nil},
		"another text": {
			"Ana says \"@Parley hi\"\nmodel says \"hello\"\nsee \"goodbye\" within 200ms",
			[]string{"f:4: see \"goodbye\"", "not met within 200ms", `seen instead: "hello"`},
		},
		"no answer scripted": {
			"Ana says \"@Parley hi\"\nsee \"hello\" within 200ms",
			[]string{"the scene has no answer to: \"<@", "hi"},
		},
		"no answer scripted, nothing expected": {
			"Ana says \"@Parley hi\"\nexpect model asked",
			[]string{"(the end of the scene)", "the scene has no answer to"},
		},
		"answer nobody asked for": {"model says \"hello\"\nAna says \"hi\"", []string{"never asked for line 2: says \"hello\""}},
		"something more":          {"Ana says \"@Parley hi\"\nmodel says \"hello\"\nsee nothing more", []string{`seen instead: "hello"`}},
		"another order": {
			"Ana says \"@Parley a\"\nmodel says \"one\"\nexpect turn completed\nAna says \"@Parley b\"\nmodel says \"two\"\nsee \"two\"\nsee \"one\" within 100ms",
			[]string{"f:8: see \"one\"", "nothing more of the bot"},
		},
		"another status": {"Ana says \"@Parley hi\"\nmodel says \"x\"\nexpect turn error", []string{"the turn ended as completed"}},
		"another reason": {"Ana says \"hi\" as q\nexpect q admitted within 100ms", []string{"seen instead: no decision"}},
		"a ping":         {"Ana says \"@Parley hi\"\nmodel says \"@everyone\"\nsee \"@everyone\"\nnever sends unsafe mentions", []string{"allowed_mentions does not say parse"}},
		"said once":      {"never see containing \"secret\"\nAna says \"@Parley hi\"\nmodel says \"secret\"", []string{"f:2: never see", `"secret"`}},
		"asked once":     {"never model asked containing \"hi\"\nAna says \"@Parley hi\"\nmodel says \"x\"", []string{"request 1"}},
		"too often":      {"Ana says \"@Parley hi\"\nmodel says \"x\"\nexpect at most 0 requests send", []string{"1 such requests"}},
		"may not":        {"Ana says \"hi\" as q\nperson Ben\nBen deletes q", []string{"Ben deletes message", "not allowed"}},
		"died":           {"gateway drops\nsee \"x\" within 300ms", []string{"the bot has ended by itself with exit code 1"}},
		"exit":           {"gateway drops\nexpect exit 1", nil},
		"paused":         {"Ana says \"@Parley hi\"\nmodel says \"a \" pauses says \"b\"\nmodel goes on\nsee \"a b\"", nil},
		"by question":    {"model asked \"two\" says \"2\"\nmodel asked \"one\" says \"1\"\nAna says \"@Parley one\"\nsee \"1\"\nAna says \"@Parley two\"\nsee \"2\"", nil},
		"restart":        {"bot restarts\nAna says \"@Parley hi\"\nmodel says \"x\"\nsee \"x\"", nil},
		"raw":            {"Ana says \"@Parley hi\"\nmodel sends raw\n| data: {\"choices\":[{\"delta\":{\"content\":\"y\"}}]}\nsee \"y\"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sc, err := Parse("f", "person Ana\n"+c.scene)
			if err != nil {
				t.Fatal(err)
			}
			r := Run(t.Context(), sc, Options{Booter: fakeBooter{}})
			if c.want == nil {
				if r.Err != nil {
					t.Errorf("%v\n%s", r.Err, r.Transcript)
				}
				return
			}
			if r.Err == nil {
				t.Fatalf("was met\n%s", r.Transcript)
			}
			for _, want := range c.want {
				if !strings.Contains(r.Err.Error(), want) {
					t.Errorf("%q is not in:\n%v", want, r.Err)
				}
			}
		})
	}
}

// TestMainExitsAndPrintsInOrder: exit codes, one report for each scene in the order of the files, a summary.
func TestMainExitsAndPrintsInOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	hello := "person Ana\nAna says \"@Parley hi\"\nmodel says \"hello\"\nsee \"hello\"\n"
	write("a.scene", "person Ana\nAna says \"@Parley hi\"\nmodel says \"hello\" slowly\nsee \"hello\"\n")
	write("b.scene", hello)
	write("c.scene", hello)
	main := func(args ...string) (code int, stdout, stderr string) {
		var out, problems bytes.Buffer
		code = Main(t.Context(), args, &out, &problems, fakeBooter{})
		return code, out.String(), problems.String()
	}
	code, out, problems := main(dir)
	if code != 0 || !regexp.MustCompile(`(?s)ok .*a\.scene.*ok .*b\.scene.*ok .*c\.scene.*3 scenes, 0 failed`).MatchString(out) || problems != "" {
		t.Errorf("exit code %d\n%s%s", code, out, problems)
	}
	if !strings.Contains(out, `#general  Parley: "hello"`) {
		t.Errorf("no transcript:\n%s", out)
	}
	unmet := write("d.scene", hello+"see \"more\" within 50ms\n")
	code, out, _ = main("-q", unmet)
	if code != 1 || !strings.Contains(out, "d.scene:5: see \"more\"") || !strings.Contains(out, "1 scenes, 1 failed") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	broken := write("e.scene", "person Ana\nAna sings\n")
	code, out, problems = main(dir, broken)
	if code != 2 || out != "" || !strings.Contains(problems, "e.scene:2: no such step") {
		t.Errorf("exit code %d\n%s%s", code, out, problems)
	}
	for _, args := range [][]string{{}, {"-x"}, {filepath.Join(dir, "missing")}, {t.TempDir()}} {
		if code, _, problems := main(args...); code != 2 || problems == "" {
			t.Errorf("%q: exit code %d, %q", args, code, problems)
		}
	}
}

func TestLogOfAProcessStandsInForItsObserver(t *testing.T) {
	t.Parallel()
	line := `{"level":"info","message_id":"77","channel":"5","turn":"t1","disposition":"admit","reason":"mention","message":"turn.admission"}`
	e, ok := eventOf(line)
	if !ok || e.MessageID != "77" || e.Text != "admit:mention" || e.TurnID != "t1" || e.ChannelID != "5" {
		t.Errorf("%v %+v", ok, e)
	}
	if e, ok := eventOf(`{"turn":"t1","status":"completed","message":"turn.end"}`); !ok || e.Status != "completed" {
		t.Errorf("%v %+v", ok, e)
	}
	for _, other := range []string{`{"message":"app.ready"}`, "panic: no log line", `{"message":`} {
		if _, ok := eventOf(other); ok {
			t.Errorf("%s was taken for an event", other)
		}
	}
}
