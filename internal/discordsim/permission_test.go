package discordsim

import (
	"testing"
	"time"
)

// TestPermissionsIn follows Discord's documented order of overwrites.
func TestPermissionsIn(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const look, write = PermViewChannel, PermSendMessages
	tests := []struct {
		name       string
		everyone   Permissions
		role       Permissions
		overwrites func(guild, role, user ID) []Overwrite
		timeout    time.Duration
		owner      bool
		thread     bool
		has, lacks Permissions
	}{
		{name: "everyone", everyone: look | write, has: look | write, lacks: PermManageMessages},
		{name: "role adds", everyone: look, role: PermManageMessages, has: look | PermManageMessages, lacks: write},
		{name: "administrator beats overwrites", everyone: look, role: PermAdministrator, has: PermAll, overwrites: func(g, _, u ID) []Overwrite {
			return []Overwrite{{ID: g, Deny: look}, {ID: u, Member: true, Deny: write}}
		}},
		{name: "owner may everything", owner: true, has: PermAll},
		{name: "everyone denied", everyone: look | write, has: look, lacks: write, overwrites: func(g, _, _ ID) []Overwrite {
			return []Overwrite{{ID: g, Deny: write}}
		}},
		{name: "role allowed again", everyone: look | write, has: look | write, overwrites: func(g, r, _ ID) []Overwrite {
			return []Overwrite{{ID: r, Allow: write}, {ID: g, Deny: write}}
		}},
		{name: "member beats role", everyone: look | write, has: look, lacks: write, overwrites: func(_, r, u ID) []Overwrite {
			return []Overwrite{{ID: u, Member: true, Deny: write}, {ID: r, Allow: write}}
		}},
		{name: "hidden means nothing", everyone: look | write, lacks: look | write, overwrites: func(g, _, _ ID) []Overwrite {
			return []Overwrite{{ID: g, Deny: look}}
		}},
		{name: "no sending, no mentioning", everyone: look | PermMentionEveryone | PermAttachFiles, has: look, lacks: PermMentionEveryone | PermAttachFiles},
		{name: "timeout", everyone: look | write | PermReadMessageHistory, timeout: time.Hour, has: look | PermReadMessageHistory, lacks: write},
		{name: "timeout is over", everyone: look | write, timeout: -time.Hour, has: look | write},
		{
			name: "thread takes its parent's", everyone: look | write | PermSendMessagesInThreads, thread: true,
			has: look, lacks: PermSendMessagesInThreads,
			overwrites: func(g, _, _ ID) []Overwrite { return []Overwrite{{ID: g, Deny: PermSendMessagesInThreads}} },
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := New(Config{Clock: func() time.Time { return now }}).World()
			p := w.Person("p")
			spec := GuildSpec{Name: "g", Everyone: tt.everyone}
			if tt.owner {
				spec.Owner = "p"
			}
			g := w.AddGuild(spec)
			role, err := w.AddRole(g, RoleSpec{Name: "r", Permissions: tt.role})
			mustBe(t, err)
			mustBe(t, w.Join(g, p.ID, role))
			mustBe(t, w.Timeout(g, p.ID, now.Add(tt.timeout)))
			var overwrites []Overwrite
			if tt.overwrites != nil {
				overwrites = tt.overwrites(g, role, p.ID)
			}
			id, err := w.AddChannel(g, ChannelSpec{Name: "c", Overwrites: overwrites})
			mustBe(t, err)
			w.mu.Lock()
			defer w.mu.Unlock()
			c := w.channels[id]
			if tt.thread {
				c = w.openThread(c, w.app.bot, "t", ThreadPublic, nil)
			}
			got := w.permissionsIn(c, p.ID)
			if !got.Has(tt.has) || got&tt.lacks != 0 {
				t.Errorf("got %b, want all of %b and none of %b", got, tt.has, tt.lacks)
			}
		})
	}
}

func TestStrangersHaveNoPermissions(t *testing.T) {
	t.Parallel()
	w := New(Config{}).World()
	g := w.AddGuild(GuildSpec{Name: "g"})
	id, err := w.AddChannel(g, ChannelSpec{Name: "c"})
	mustBe(t, err)
	a, b := w.Person("a"), w.Person("b")
	w.mu.Lock()
	defer w.mu.Unlock()
	if got := w.permissionsIn(w.channels[id], a.ID); got != 0 {
		t.Errorf("a stranger has %b", got)
	}
	dm := w.dmWith(a.ID)
	if w.permissionsIn(dm, b.ID) != 0 || !w.permissionsIn(dm, a.ID).Has(PermSendMessages) || !w.permissionsIn(dm, w.app.bot).Has(PermSendMessages) {
		t.Error("a DM is not for its two")
	}
}

func mustBe(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
