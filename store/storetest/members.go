package storetest

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/store"
)

// canary is in every text of the member who is erased, and in nobody else's.
const canary = "qzxvkwj"

// remember writes a record of every kind about a member, in a guild and in a DM.
func remember(t *testing.T, e Engine, member, word string) {
	t.Helper()
	ctx := t.Context()
	for _, m := range []store.Memory{
		fact(store.MemoryQuery{GuildID: "1", MemberID: member}, "likes "+word, 0),
		fact(store.MemoryQuery{MemberID: member, Private: true}, "dreams of "+word, 1),
	} {
		_, err := e.Memories.AddMemory(ctx, m, 10)
		must(t, err)
	}
	written := guildFact("1", "the server likes "+word, 2)
	written.AuthorID = member
	_, err := e.Memories.AddMemory(ctx, written, 10)
	must(t, err)
	for i, guild := range []string{"1", ""} {
		turn := begun(member+guild, "in "+guild, i)
		turn.OwnerID, turn.GuildID, turn.Prompt = member, guild, "about "+word
		var spent []store.ModelUsage
		if guild == "" {
			turn.ChannelID, spent = "dm of "+member, []store.ModelUsage{{Model: "m"}}
		}
		must(t, e.Turns.BeginTurn(ctx, turn))
		c := call(turn.ID, "k", i)
		c.Arguments = `{"about":"` + word + `"}`
		must(t, e.Journal.OpenCall(ctx, c))
		c = done(c)
		c.Result = word
		must(t, e.Journal.CloseCall(ctx, c))
		turn = ended(turn, store.TurnCompleted)
		turn.Transcript = json.RawMessage(`{"v":1,"entries":[],"about":"` + word + `"}`)
		must(t, e.Turns.FinishTurn(ctx, turn, spent...))
	}
	w := waiting("waits for "+member, 3)
	w.OwnerID, w.Payload = member, json.RawMessage(`{"text":"`+word+`"}`)
	must(t, e.Triggers.PutWaiting(ctx, w))
	for _, name := range []string{"colour", "privacy"} {
		must(t, e.Settings.PutSetting(ctx, store.Setting{Scope: store.SettingMember, ID: member, Name: name, Value: word}))
	}
	must(t, e.Settings.PutSetting(ctx, store.Setting{Scope: store.SettingChannel, ID: "dm of " + member, Name: "system", Value: "speak of " + word}))
	note := inMind("channel of "+member, "plot", "a story about "+word, 4)
	note.AuthorID = member
	must(t, e.ShortTerms.PutShortTerm(ctx, note, 5))
	must(t, e.Audit.AddAudit(ctx, store.AuditEntry{GuildID: "1", ActorID: member, Action: "setting_changed", Detail: word, At: after(6)}))
	must(t, e.Audit.AddAudit(ctx, store.AuditEntry{GuildID: "1", ActorID: "mod", SubjectID: member, Action: "killed", Detail: word, At: after(7)}))
	asked := store.Approval{Token: "asked by " + member, TurnID: member + "1", OwnerID: member, Tool: "note", Arguments: word, OpenedAt: after(8)}
	must(t, e.Approvals.OpenApproval(ctx, asked))
	decided := store.Approval{Token: "decided by " + member, TurnID: "another's", OwnerID: "mod", Arguments: "another's", OpenedAt: after(9)}
	must(t, e.Approvals.OpenApproval(ctx, decided))
	decided.Status, decided.DecidedBy, decided.Reason = store.ApprovalDenied, member, "no "+word
	if _, err := e.Approvals.DecideApproval(ctx, decided); err != nil {
		t.Fatal(err)
	}
}

func members(t *testing.T, open func(t *testing.T) Engine) {
	export := func(t *testing.T, e Engine, member string) string {
		t.Helper()
		exported, err := e.Members.ExportMember(t.Context(), member)
		must(t, err)
		text, err := json.Marshal(exported)
		must(t, err)
		return string(text)
	}

	t.Run("B76 everything is exported, then nothing is left", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		remember(t, e, "ana", canary)
		remember(t, e, "eric", "chess")
		before := export(t, e, "eric")
		text := export(t, e, "ana")
		// Three memories, two turns (prompt, transcript, two of the call), a waiting trigger, two settings, one of the DM, a
		// note, two acts, what was asked and why something was denied.
		if n := strings.Count(text, canary); n != 3+2*4+1+2+1+1+2+1+1 {
			t.Errorf("the export has the word %d times, want 20:\n%s", n, text)
		}
		for _, others := range []string{`"mod"`, "another's\"", "eric", "chess"} {
			if strings.Contains(strings.ReplaceAll(text, `"turn_id":"another's"`, ""), others) {
				t.Errorf("the export tells of others (%s):\n%s", others, text)
			}
		}
		erased, channels, err := e.Members.EraseMember(t.Context(), store.Erasure{MemberID: "ana", KeepSettings: []string{"privacy"}})
		must(t, err)
		want := store.Erased{
			store.KindMemories: 3, store.KindTurns: 2, store.KindCalls: 2, store.KindWaiting: 1, store.KindSettings: 2,
			store.KindShortTerm: 1, store.KindApprovals: 2, store.KindUsage: 1, store.KindAudit: 2,
		}
		if diff := cmp.Diff(want, erased); diff != "" {
			t.Errorf("erased (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"dm of ana"}, channels); diff != "" {
			t.Errorf("DM channels (-want +got):\n%s", diff)
		}
		if e.Reopen != nil {
			e = e.Reopen(t)
		}
		empty := store.Export{
			Version: store.ExportVersion, MemberID: "ana", Memories: []store.ExportedMemory{}, ShortTerm: []store.ExportedShortTerm{},
			Turns: []store.ExportedTurn{}, Waiting: []store.ExportedWaiting{}, Approvals: []store.ExportedApproval{},
			Usage: []store.ExportedUsage{}, Audit: []store.ExportedAudit{}, Settings: map[string]string{"privacy": canary},
			ChannelSettings: map[string]map[string]string{},
		}
		left, err := e.Members.ExportMember(t.Context(), "ana")
		must(t, err)
		if diff := cmp.Diff(empty, left); diff != "" {
			t.Errorf("left (-want +got):\n%s", diff)
		}
		q := ericInOne
		q.Text = canary
		found, err := e.Memories.FindMemories(t.Context(), q)
		must(t, err)
		for _, m := range found {
			if strings.Contains(m.Content, canary) {
				t.Errorf("still recalled: %+v", m)
			}
		}
		if after := export(t, e, "eric"); after != before {
			t.Errorf("another member lost something:\n%s\n%s", before, after)
		}
		erased, channels, err = e.Members.EraseMember(t.Context(), store.Erasure{MemberID: "ana"})
		must(t, err)
		if diff := cmp.Diff(store.Erased{store.KindSettings: 1}, erased); diff != "" || len(channels) > 0 {
			t.Errorf("a second time (-want +got), channels %v:\n%s", channels, diff)
		}
	})

	t.Run("nobody is not everybody", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		_, err := e.Memories.AddMemory(t.Context(), guildFact("1", "stays", 0), 10)
		must(t, err)
		if _, _, err := e.Members.EraseMember(t.Context(), store.Erasure{}); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("erase: %v, want ErrInvalid", err)
		}
		if _, err := e.Members.ExportMember(t.Context(), ""); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("export: %v, want ErrInvalid", err)
		}
	})

	t.Run("a private chat that only the caller knows", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		for _, c := range []string{"dm", "another"} {
			must(t, e.Settings.PutSetting(t.Context(), store.Setting{Scope: store.SettingChannel, ID: c, Name: "system", Value: "x"}))
			must(t, e.ShortTerms.PutShortTerm(t.Context(), inMind(c, "plot", "x", 0), 5))
		}
		erased, channels, err := e.Members.EraseMember(t.Context(), store.Erasure{MemberID: "eric", ChannelIDs: []string{"dm", ""}})
		must(t, err)
		if diff := cmp.Diff(store.Erased{store.KindSettings: 1, store.KindShortTerm: 1}, erased); diff != "" || len(channels) != 1 {
			t.Errorf("(-want +got), channels %v:\n%s", channels, diff)
		}
	})

	t.Run("a damaged transcript does not keep a member from the rest", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		turn := ended(begun("t", "c", 0), store.TurnCompleted)
		turn.OwnerID, turn.Transcript = "ana", json.RawMessage(`{"v":1,`)
		must(t, e.Turns.FinishTurn(t.Context(), turn))
		if text := export(t, e, "ana"); !strings.Contains(text, `"transcript":"{\"v\":1,"`) {
			t.Errorf("exported:\n%s", text)
		}
	})
}

// allowIn counts one event where one is allowed.
func allowIn(t *testing.T, e Engine, rate store.Rate) bool {
	t.Helper()
	return allow(t, e, rate, 1, 0)
}

func fleetingMembers(t *testing.T, open func(t *testing.T) Engine) {
	t.Run("B76 counters of the member and windows of their DM channels", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		if e.Claims == nil || e.Windows == nil {
			t.Skip("this engine has no claims or no windows")
		}
		allow := func(member string) bool {
			t.Helper()
			return allow(t, e, store.Rate{Name: "turns", GuildID: "1", MemberID: member}, 1, 0)
		}
		for _, member := range []string{"ana", "eric", "ana2", "*"} {
			allow(member)
		}
		for _, channel := range []string{"dm", "dm2", "c"} {
			must(t, e.Windows.RetainWindow(t.Context(), channel, "tool", 3, start))
			_, err := e.Windows.ConsumeWindows(t.Context(), channel, "t1", start)
			must(t, err)
		}
		for _, channel := range []string{"dm", "dm2"} { // a private chat's counter names its member as well
			if !allowIn(t, e, store.Rate{Name: "turns", ChannelID: channel}) {
				t.Fatal("the first event of a channel is refused")
			}
		}
		erased, err := e.Fleeting.EraseFleeting(t.Context(), "ana", []string{"dm", "never used"})
		must(t, err)
		if !allowIn(t, e, store.Rate{Name: "turns", ChannelID: "dm"}) || allowIn(t, e, store.Rate{Name: "turns", ChannelID: "dm2"}) {
			t.Error("the counter of the private chat is still there, or another one is gone")
		}
		if diff := cmp.Diff(store.Erased{store.KindRates: 2, store.KindWindows: 2}, erased); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if !allow("ana") {
			t.Error("the member's counter is still there")
		}
		for _, member := range []string{"eric", "ana2", "*"} {
			if allow(member) {
				t.Errorf("the counter of %s is gone", member)
			}
		}
		for channel, want := range map[string]int{"dm": 0, "dm2": 1, "c": 1} {
			tools, err := e.Windows.ConsumeWindows(t.Context(), channel, "t2", start)
			must(t, err)
			if len(tools) != want {
				t.Errorf("%s has %v open", channel, tools)
			}
		}
		if _, err := e.Fleeting.EraseFleeting(t.Context(), "", nil); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("nobody: %v, want ErrInvalid", err)
		}
	})
}
