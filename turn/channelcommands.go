package turn

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parleybot/parley/store"
)

// Clear starts a new epoch in a channel: what was written before is not shown to the model any more, and no tool stays
// offered. Messages in Discord stay; so does the channel's system text. It is refused while the channel is busy.
func (m *Manager) Clear(ctx context.Context, p Place) error {
	if err := m.mayChangeConversation(p, "`/clear`"); err != nil {
		return err
	}
	epoch := snowflakeAt(time.Now())
	for _, id := range []string{p.MessageID, m.dialogues.newest(p.ChannelID)} {
		if isSnowflake(id) && CompareIDs(id, epoch) > 0 {
			epoch = id
		}
	}
	if err := m.change(ctx, p, store.Setting{Scope: store.SettingChannel, ID: p.ChannelID, Name: SettingEpoch, Value: epoch}); err != nil {
		return err
	}
	m.dialogues.clear(p.ChannelID, epoch)
	if err := m.Store.ClearWindows(ctx, p.ChannelID); err != nil {
		m.Log.Warn().Err(err).Str("channel", p.ChannelID).Msg("window.clear_failed")
	}
	if err := m.Store.ClearShortTerm(ctx, p.ChannelID); err != nil { // what is left of it is older than the epoch
		m.Log.Warn().Err(err).Str("channel", p.ChannelID).Msg("short_term.clear_failed")
	}
	return nil
}

// ChannelModel is the model that answers in a channel, and those that may be chosen instead.
type ChannelModel struct {
	Current string
	// Chosen: the channel has chosen it; otherwise it is the bot's own.
	Chosen  bool
	Choices []string
}

// Model tells the model of a channel. Everybody may ask.
func (m *Manager) Model(ctx context.Context, p Place) (ChannelModel, error) {
	s, err := m.ChannelSettings(ctx, p)
	if err != nil {
		return ChannelModel{}, err
	}
	chain := m.chain(s.Model)
	c := ChannelModel{Choices: m.modelNames()}
	if len(chain) > 0 {
		c.Current, c.Chosen = chain[0].label(), s.Model != "" && chain[0].named(s.Model)
	}
	return c, nil
}

// SetModel chooses the model of a channel; "-" goes back to the bot's own. It is refused while the channel is busy.
func (m *Manager) SetModel(ctx context.Context, p Place, name string) error {
	if err := m.mayChangeConversation(p, "`/model`"); err != nil {
		return err
	}
	name = strings.TrimSpace(name)
	if name == "-" {
		name = ""
	} else if !m.hasModel(name) {
		return invalid(fmt.Sprintf("There is no model %q here.", oneLine(name, 80)), "Possible: "+strings.Join(m.modelNames(), ", ")+".")
	}
	return m.change(ctx, p, store.Setting{Scope: store.SettingChannel, ID: p.ChannelID, Name: SettingModel, Value: name})
}

// SetSystem sets what is added to the system text in a channel; "-" removes it. It is refused while the channel is busy.
func (m *Manager) SetSystem(ctx context.Context, p Place, text string) error {
	if err := m.mayChangeConversation(p, "`/system`"); err != nil {
		return err
	}
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return invalid("The text is empty.", "Write `-` to remove what is set.")
	case text == "-":
		text = ""
	case len(text) > MaxSystemBytes:
		return invalid(fmt.Sprintf("The text has %d bytes.", len(text)), fmt.Sprintf("At most %d are possible.", MaxSystemBytes))
	}
	return m.change(ctx, p, store.Setting{Scope: store.SettingChannel, ID: p.ChannelID, Name: SettingSystem, Value: text})
}

// mayChangeConversation is the right to change what the model is told in a channel, at a time when nobody uses it.
func (m *Manager) mayChangeConversation(p Place, what string) error {
	if err := mayManageChannel(p); err != nil {
		return err
	}
	if m.IsBusy(p.ChannelID) {
		return busyRefusal(what)
	}
	return nil
}

// hasModel reports whether a channel may choose a model.
func (m *Manager) hasModel(name string) bool {
	for _, x := range m.Models {
		if x.named(name) {
			return true
		}
	}
	return false
}

func (m *Manager) modelNames() []string {
	names := make([]string, len(m.Models))
	for i, x := range m.Models {
		names[i] = x.label()
	}
	return names
}

// chain is the order in which models are tried in a channel that has chosen one; a choice that is gone counts for none.
func (m *Manager) chain(chosen string) []Model {
	first := slices.IndexFunc(m.Models, func(x Model) bool { return x.label() == chosen })
	if first < 0 {
		first = slices.IndexFunc(m.Models, func(x Model) bool { return x.named(chosen) })
	}
	if first <= 0 {
		return m.Models
	}
	return slices.Concat(m.Models[first:first+1], m.Models[:first], m.Models[first+1:])
}

// discordEpoch is when Discord's ids begin to count, in Unix milliseconds.
const discordEpoch = 1420070400000

// snowflakeAt is the smallest id that can be made at a time.
func snowflakeAt(t time.Time) string {
	return strconv.FormatInt(max(t.UnixMilli()-discordEpoch, 0)<<22, 10)
}

// IDTime is when an id of Discord was given; false for what is none.
func IDTime(id string) (time.Time, bool) {
	n, err := strconv.ParseInt(id, 10, 64)
	return time.UnixMilli(n>>22 + discordEpoch).UTC(), err == nil && n > 0
}

// after reports whether an id is newer than an epoch; everything is newer than none.
func after(id, epoch string) bool { return epoch == "" || CompareIDs(id, epoch) > 0 }
