package turn

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/parleybot/parley/providers"
)

// Signed reasoning belongs to the exchange it came from. A later turn gets the calls and results without it.
func TestTranscriptKeepsNoSignedReasoning(t *testing.T) {
	t.Parallel()
	data, err := encodeTranscript([]providers.Message{
		{
			Role: providers.RoleAssistant, Calls: []providers.Call{{Key: "c1", Name: "echo", Arguments: "{}"}},
			ThinkingBlocks: []providers.ThinkingBlock{{Provider: "p", Model: "m", Raw: json.RawMessage(`{"signature":"secret-signature"}`)}},
		},
		{Role: providers.RoleTool, CallKey: "c1", Content: "done"},
	}, 1<<20)
	if err != nil || strings.Contains(string(data), "secret-signature") {
		t.Errorf("stored %s, error %v", data, err)
	}
	messages, err := decodeTranscript("t", data)
	if err != nil || len(messages) != 2 || len(messages[0].Calls) != 1 || messages[0].ThinkingBlocks != nil {
		t.Errorf("read back %+v, error %v", messages, err)
	}
}
