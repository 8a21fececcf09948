package turn_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// fieldCases says for every field case of the categories queue, kill, mentions and permissions where it is tested: files
// of tests that carry its number, and scenes. A case that belongs to no test says why.
var fieldCases = map[string]struct {
	tests  []string
	scenes []string
	why    string
}{
	"B21": {tests: []string{"bot/surface_test.go", "bot/delivery/sanitize_test.go"}, scenes: []string{"everyone"}},
	"B23": {tests: []string{"turn/admission_test.go", "bot/inbound_test.go"}, scenes: []string{"not_addressed"}},
	"B25": {tests: []string{"turn/admission_test.go", "bot/surface_test.go"}},
	"B26": {tests: []string{"turn/admission_test.go", "bot/inbound_test.go"}, scenes: []string{"not_addressed"}},
	"B27": {tests: []string{"turn/admission_test.go", "bot/inbound_test.go"}},
	"B30": {tests: []string{"bot/inbound_test.go", "bot/delivery/sanitize_test.go"}},
	"B31": {tests: []string{"turn/queue_test.go"}, scenes: []string{"two_people", "edit_waiting"}},
	"B33": {tests: []string{"turn/context_test.go"}, scenes: []string{"two_people"}},
	"B35": {tests: []string{"turn/queue_test.go"}, scenes: []string{"two_channels"}},
	"B37": {tests: []string{"turn/queue_test.go"}, scenes: []string{"queue_full"}},
	"B38": {why: "There is no lock that could expire: one goroutine owns a channel, and a guild's channels belong to one process. " +
		"A turn ends by its own clock (attempts_test.go); that two processes answer a message once is B88 of the stores."},
	"B39": {tests: []string{"turn/kill_test.go"}, scenes: []string{"stranger_kill", "guild_kill", "kill_in_stream"}},
	"B40": {tests: []string{"turn/kill_test.go"}, scenes: []string{"kill_in_tool"}},
	"B41": {tests: []string{"turn/kill_test.go"}, scenes: []string{"deaf_tool"}},
	"B43": {tests: []string{"turn/kill_test.go"}, scenes: []string{"kill_when_idle", "kill_in_stream"}},
	"B45": {tests: []string{"turn/kill_test.go", "turn/context_test.go"}, scenes: []string{"kill_in_stream", "model_cut_off"}},
	"B79": {tests: []string{"bot/interactions_test.go", "bot/settings_test.go"}, scenes: []string{"approval_stranger"}},
	"B81": {scenes: []string{"role_rights"}},
	"B82": {scenes: []string{"approval_stranger", "role_rights"}},
}

// TestFieldCases holds the table to the files, and to the list of cases where that is present.
func TestFieldCases(t *testing.T) {
	t.Parallel()
	for number, c := range fieldCases {
		var files []string
		for _, f := range c.tests {
			files = append(files, "../"+f)
		}
		for _, s := range c.scenes {
			files = append(files, "../scenes/"+s+".scene")
		}
		if len(files) == 0 && c.why == "" {
			t.Errorf("%s has neither a test nor a reason", number)
		}
		for _, f := range files {
			if data, err := os.ReadFile(f); err != nil || !strings.Contains(string(data), number) {
				t.Errorf("%s is not in %s (%v)", number, f, err)
			}
		}
	}
	data, err := os.ReadFile(filepath.Join("..", "..", "shared", "spec", "field-cases.md"))
	if err != nil {
		t.Skip("the list of field cases is not here: ", err)
	}
	category, heading := "", regexp.MustCompile(`(?m)^### (B\d+) |^## (.*)$`)
	for _, m := range heading.FindAllStringSubmatch(string(data), -1) {
		switch {
		case m[2] != "":
			category = m[2]
		case slices.Contains([]string{"queue/concurrency", "kill/abort", "mentions/injection", "permissions"}, category):
			if _, ok := fieldCases[m[1]]; !ok {
				t.Errorf("%s (%s) is not in the table", m[1], category)
			}
		}
	}
}
