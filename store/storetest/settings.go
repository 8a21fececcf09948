package storetest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/store"
)

func settings(t *testing.T, open func(t *testing.T) Engine) {
	memberSettings(t, open)
	t.Run("put, replace, remove, across a restart", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		put := func(scope store.SettingScope, id, name, value string) {
			t.Helper()
			must(t, e.Settings.PutSetting(t.Context(), store.Setting{Scope: scope, ID: id, Name: name, Value: value}))
		}
		// A guild's first channel once had the guild's id: the scopes must not mix.
		put(store.SettingGuild, "1", "mode", "on")
		put(store.SettingChannel, "1", "mode", "channel")
		put(store.SettingMember, "1", "mode", "member")
		put(store.SettingGuild, "2", "mode", "other guild")
		put(store.SettingGuild, "1", "turns", "4")
		put(store.SettingGuild, "1", "turns", "5")
		put(store.SettingGuild, "1", "gone", "x")
		put(store.SettingGuild, "1", "gone", "")
		put(store.SettingGuild, "1", "never there", "")
		if e.Reopen != nil {
			e = e.Reopen(t)
		}
		for _, test := range []struct {
			scope store.SettingScope
			id    string
			want  map[string]string
		}{
			{store.SettingGuild, "1", map[string]string{"mode": "on", "turns": "5"}},
			{store.SettingChannel, "1", map[string]string{"mode": "channel"}},
			{store.SettingMember, "1", map[string]string{"mode": "member"}},
			{store.SettingGuild, "2", map[string]string{"mode": "other guild"}},
			{store.SettingMember, "2", map[string]string{}},
		} {
			got, err := e.Settings.SettingsOf(t.Context(), test.scope, test.id)
			must(t, err)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s %s (-want +got):\n%s", test.scope, test.id, diff)
			}
		}
	})

	t.Run("nobody's setting", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		for _, s := range []store.Setting{
			{Scope: store.SettingGuild, Name: "a", Value: "b"}, {Scope: "galaxy", ID: "1", Name: "a", Value: "b"},
		} {
			if err := e.Settings.PutSetting(t.Context(), s); !errors.Is(err, store.ErrInvalid) {
				t.Errorf("put %+v: %v, want ErrInvalid", s, err)
			}
			if _, err := e.Settings.SettingsOf(t.Context(), s.Scope, s.ID); !errors.Is(err, store.ErrInvalid) {
				t.Errorf("read %+v: %v, want ErrInvalid", s, err)
			}
		}
	})

	t.Run("64 writers of one setting", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		for _, err := range together(func(i int) error {
			return e.Settings.PutSetting(t.Context(), store.Setting{Scope: store.SettingMember, ID: "ana", Name: "n", Value: fmt.Sprint(i)})
		}) {
			must(t, err)
		}
		got, err := e.Settings.SettingsOf(t.Context(), store.SettingMember, "ana")
		must(t, err)
		if len(got) != 1 || got["n"] == "" {
			t.Errorf("one setting became %v", got)
		}
	})
}

func memberSettings(t *testing.T, open func(t *testing.T) Engine) {
	t.Run("of all members, by name, in pages", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		var want []store.Setting
		for i := range 7 {
			for _, name := range []string{"erased_before", "other", "privacy"} {
				s := store.Setting{Scope: store.SettingMember, ID: fmt.Sprint(i), Name: name, Value: fmt.Sprint(name, i)}
				must(t, e.Settings.PutSetting(t.Context(), s))
				if name != "other" {
					want = append(want, s)
				}
			}
			for _, scope := range []store.SettingScope{store.SettingGuild, store.SettingChannel} {
				must(t, e.Settings.PutSetting(t.Context(), store.Setting{Scope: scope, ID: fmt.Sprint(i), Name: "privacy", Value: "another's"}))
			}
		}
		names := []string{"privacy", "erased_before"}
		for _, limit := range []int{1, 3, 7, 100} {
			var got []store.Setting
			var last store.Setting
			for {
				page, err := e.Settings.MemberSettings(t.Context(), names, last, limit)
				must(t, err)
				if len(page) > limit {
					t.Fatalf("%d settings, want at most %d", len(page), limit)
				}
				if len(page) == 0 {
					break
				}
				got, last = append(got, page...), page[len(page)-1]
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("in pages of %d (-want +got):\n%s", limit, diff)
			}
		}
		if none, err := e.Settings.MemberSettings(t.Context(), nil, store.Setting{}, 10); err != nil || len(none) > 0 {
			t.Errorf("of no name: %+v, %v", none, err)
		}
	})
}
