package turn

import (
	"context"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/store"
)

// What the model reads of a call whose process ended while it ran.
const cutOffCall = "cut off by a restart while it ran; it may have taken effect"

// maxRebuilt bounds how many turns of a channel are rebuilt from their journals.
const maxRebuilt = 5

// pastTurns are the channel's finished turns. A turn whose process was killed left no transcript, only the journal of its
// calls: they become its transcript, so that the model knows what ran already and does not do it again.
func (m *Manager) pastTurns(ctx context.Context, channelID string, limit int) ([]store.Turn, error) {
	turns, err := m.Store.RecentTurns(ctx, channelID, limit)
	if err != nil {
		return nil, err
	}
	rebuilt := 0
	for i := len(turns) - 1; i >= 0 && rebuilt < maxRebuilt; i-- {
		t := &turns[i]
		if t.Status != store.TurnInterrupted || len(t.Transcript) > 0 {
			continue
		}
		rebuilt++
		calls, err := m.Store.Calls(ctx, t.ID)
		if err != nil {
			return nil, err
		}
		if t.Transcript, err = encodeTranscript(exchangeOf(calls), m.limits.HistoryMaxBytes); err != nil {
			return nil, err
		}
	}
	return turns, nil
}

// exchangeOf makes the exchange that the rows of a journal tell of: the calls of one round trip are one assistant message
// with its results.
func exchangeOf(rows []store.Call) []providers.Message {
	var out, results []providers.Message
	asked := -1
	flush := func() { out, results = append(out, results...), nil }
	for i, row := range rows {
		if i == 0 || rows[i-1].Iteration != row.Iteration {
			flush()
			asked = len(out)
			out = append(out, providers.Message{Role: providers.RoleAssistant, Stopped: true})
		}
		out[asked].Calls = append(out[asked].Calls, providers.Call{Key: row.Key, Name: row.Tool, Arguments: row.Arguments})
		text := row.Result
		if row.Status == store.CallRunning || text == "" && row.Reason == store.CallReasonInterrupted {
			text = cutOffCall
		}
		results = append(results, providers.Message{
			Role: providers.RoleTool, CallKey: row.Key, ToolName: row.Tool, Content: text, Failed: row.Status != store.CallDone,
		})
	}
	flush()
	return out
}
