package discordsim

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// maxNonces is how many are remembered; Discord forgets them after some minutes.
const maxNonces = 10_000

// messageRoutes are the routes below a channel's messages.
func messageRoutes() []route {
	const messages = "/channels/{channel_id}/messages"
	const reaction = messages + "/{message_id}/reactions/{emoji_name}/@me"
	return []route{
		{method: "GET", template: messages, handle: listMessages},
		{method: "POST", template: messages, handle: createMessage},
		{method: "GET", template: messages + "/{message_id}", handle: getMessage},
		{method: "PATCH", template: messages + "/{message_id}", handle: editMessage},
		{method: "DELETE", template: messages + "/{message_id}", handle: deleteMessage},
		{method: "PUT", template: reaction, handle: addReaction},
		{method: "DELETE", template: reaction, handle: removeReaction},
		{method: "POST", template: "/channels/{channel_id}/typing", handle: startTyping},
	}
}

func createMessage(c *call) (int, any, error) {
	ch, err := c.channel()
	if err != nil {
		return 0, nil, err
	}
	perms := c.perms(ch)
	if !ch.maySend(perms) {
		return 0, nil, errMissingPermission
	}
	var m messageForm
	if err := c.decode(&m); err != nil {
		return 0, nil, err
	}
	if err := m.check(c.files); err != nil {
		return 0, nil, err
	}
	if m.empty(c.files) {
		return 0, nil, errEmptyMessage
	}
	if len(c.files) > 0 && !perms.Has(PermAttachFiles) {
		return 0, nil, errMissingPermission
	}
	bot := c.w.app.bot
	nonce := m.nonce()
	dedupe := string(ch.id) + "/" + nonce
	if nonce != "" && m.EnforceNonce != nil && *m.EnforceNonce {
		if old := c.w.messages[c.w.nonces[dedupe]]; old != nil {
			return http.StatusOK, c.render(old), nil
		}
	}
	replyTo, err := c.replyTarget(ch, m.Reference, perms)
	if err != nil {
		return 0, nil, err
	}
	if err := c.w.checkStickers(m.StickerIDs); err != nil {
		return 0, nil, err
	}
	if ch.archived {
		// Writing opens a thread again, if it is not locked.
		ch.archived = false
	}
	posted := c.w.post(c.draft(ch, bot, &m, replyTo))
	if nonce != "" {
		if len(c.w.nonces) >= maxNonces {
			clear(c.w.nonces)
		}
		c.w.nonces[dedupe] = posted.ID
	}
	return http.StatusOK, c.render(posted), nil
}

// draft turns a checked form into a message to post.
func (c *call) draft(ch *channel, author ID, m *messageForm, replyTo *message) draft {
	d := draft{
		channel: ch, author: author, content: m.content(), files: m.attach(c.files), stickers: m.StickerIDs,
		replyTo: replyTo, allowed: m.allowed(), nonce: m.nonce(),
	}
	if m.Embeds != nil {
		d.embeds = completedEmbeds(*m.Embeds)
	}
	if m.Components != nil {
		d.components = completed(*m.Components)
	}
	if m.Flags != nil {
		d.flags = *m.Flags & (FlagSuppressEmbeds | FlagSuppressNotifications | FlagComponentsV2)
	}
	d.tts = m.TTS != nil && *m.TTS
	return d
}

// replyTarget resolves a message_reference. A gone message is an error unless fail_if_not_exists is false, which makes
// an ordinary message of it.
func (c *call) replyTarget(ch *channel, ref *referenceForm, perms Permissions) (*message, error) {
	if ref == nil {
		return nil, nil
	}
	if ref.Type != 0 {
		return nil, invalid("message_reference.type", "BASE_TYPE_CHOICES", "The simulator has no forwards.")
	}
	if !perms.Has(PermReadMessageHistory) {
		return nil, errReplyNoHistory
	}
	if ref.ChannelID != "" && ref.ChannelID != ch.id {
		return nil, invalid("message_reference", "MESSAGE_REFERENCE_CHANNEL_MISMATCH", "Cannot reply to a message in a different channel")
	}
	m := c.w.messages[ref.MessageID]
	if m != nil && m.Channel == ch.id && m.Deleted.IsZero() && m.VisibleTo == "" {
		return m, nil
	}
	if ref.FailIfNotExists != nil && !*ref.FailIfNotExists {
		return nil, nil
	}
	return nil, invalid("message_reference", "MESSAGE_REFERENCE_UNKNOWN_MESSAGE", "Unknown message")
}

func (w *World) checkStickers(ids []ID) error {
	for _, id := range ids {
		if w.stickerName(id) == "" {
			return &apiError{status: http.StatusBadRequest, code: 50081, message: "Invalid sticker sent"}
		}
	}
	return nil
}

func getMessage(c *call) (int, any, error) {
	ch, err := c.need(PermReadMessageHistory)
	if err != nil {
		return 0, nil, err
	}
	m, err := c.message(ch)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, c.render(m), nil
}

// listMessages serves history, newest first.
func listMessages(c *call) (int, any, error) {
	ch, err := c.channel()
	if err != nil {
		return 0, nil, err
	}
	if !c.perms(ch).Has(PermReadMessageHistory) {
		return http.StatusOK, []wireMessage{}, nil
	}
	q := c.r.URL.Query()
	limit := 50
	if s := q.Get("limit"); s != "" {
		if limit, err = strconv.Atoi(s); err != nil || limit < 1 || limit > 100 {
			return 0, nil, invalid("limit", "NUMBER_TYPE_MAX", "int value should be between 1 and 100.")
		}
	}
	var live []*message
	for _, id := range ch.messages {
		if m := c.w.messages[id]; m.Deleted.IsZero() && m.VisibleTo == "" {
			live = append(live, m)
		}
	}
	out := []wireMessage{}
	for _, m := range slices.Backward(historyPage(live, q, limit)) {
		out = append(out, c.render(m))
	}
	return http.StatusOK, out, nil
}

// historyPage cuts a page out of messages that are oldest first.
func historyPage(live []*message, q url.Values, limit int) []*message {
	position := func(id string) (at int, found bool) {
		return slices.BinarySearchFunc(live, ID(id), func(m *message, id ID) int { return compareIDs(m.ID, id) })
	}
	from, to := max(len(live)-limit, 0), len(live)
	switch {
	case q.Get("around") != "":
		at, _ := position(q.Get("around"))
		from = max(at-limit/2, 0)
		to = min(from+limit, len(live))
	case q.Get("before") != "":
		to, _ = position(q.Get("before"))
		from = max(to-limit, 0)
	case q.Get("after") != "":
		at, found := position(q.Get("after"))
		if found {
			at++
		}
		from, to = at, min(at+limit, len(live))
	}
	return live[from:to]
}

func editMessage(c *call) (int, any, error) {
	ch, err := c.channel()
	if err != nil {
		return 0, nil, err
	}
	m, err := c.message(ch)
	if err != nil {
		return 0, nil, err
	}
	if m.Author != c.w.app.bot {
		return 0, nil, errNotYours
	}
	if ch.archived {
		return 0, nil, errArchived
	}
	if err := c.applyEdit(m); err != nil {
		return 0, nil, err
	}
	return http.StatusOK, c.render(m), nil
}

// applyEdit changes a message of the bot by the request's form.
func (c *call) applyEdit(m *message) error {
	var edit messageForm
	if err := c.decode(&edit); err != nil {
		return err
	}
	// A message that has components v2 keeps them for good.
	if m.Flags&FlagComponentsV2 != 0 {
		flags := FlagComponentsV2
		if edit.Flags != nil {
			flags |= *edit.Flags
		}
		edit.Flags = &flags
	}
	if err := edit.check(c.files); err != nil {
		return err
	}
	ch := change{allowed: edit.allowed(), keep: edit.kept(), files: edit.attach(c.files)}
	after := *m
	if edit.Content != nil || m.Flags&FlagLoading != 0 {
		ch.content = new(edit.content())
		after.Content = *ch.content
	}
	if edit.Embeds != nil {
		ch.embeds = new(completedEmbeds(*edit.Embeds))
		after.Embeds = *ch.embeds
	}
	if edit.Components != nil {
		ch.components = new(completed(*edit.Components))
		after.Components = *ch.components
	}
	flags := m.Flags &^ FlagLoading
	if edit.Flags != nil {
		flags = flags&^FlagSuppressEmbeds | *edit.Flags&(FlagSuppressEmbeds|FlagComponentsV2)
	}
	ch.flags = &flags
	kept := len(m.Attachments)
	if ch.keep != nil {
		kept = len(*ch.keep)
	}
	if blank(after.Content) && nothing(after.Embeds) && nothing(after.Components) && kept+len(c.files)+len(m.Stickers) == 0 {
		return errEmptyMessage
	}
	c.w.edit(m, ch)
	return nil
}

func nothing(list json.RawMessage) bool { return len(list) == 0 || string(list) == "[]" }

func deleteMessage(c *call) (int, any, error) {
	ch, err := c.channel()
	if err != nil {
		return 0, nil, err
	}
	m, err := c.message(ch)
	if err != nil {
		return 0, nil, err
	}
	if m.Author != c.w.app.bot && !c.perms(ch).Has(PermManageMessages) {
		if ch.kind == ChannelDM {
			return 0, nil, errDMAction
		}
		return 0, nil, errMissingPermission
	}
	c.w.remove(m, c.w.app.bot)
	return http.StatusNoContent, nil, nil
}

func addReaction(c *call) (int, any, error) {
	ch, err := c.need(PermReadMessageHistory)
	if err != nil {
		return 0, nil, err
	}
	m, err := c.message(ch)
	if err != nil {
		return 0, nil, err
	}
	emoji, err := c.emoji()
	if err != nil {
		return 0, nil, err
	}
	known := slices.ContainsFunc(m.Reactions, func(r Reaction) bool { return r.Emoji == emoji })
	if !known && !c.perms(ch).Has(PermAddReactions) {
		return 0, nil, errMissingPermission
	}
	if !known && len(m.Reactions) >= maxReactions {
		return 0, nil, errTooManyReactions
	}
	c.w.react(m, c.w.app.bot, emoji, true)
	return http.StatusNoContent, nil, nil
}

func removeReaction(c *call) (int, any, error) {
	ch, err := c.channel()
	if err != nil {
		return 0, nil, err
	}
	m, err := c.message(ch)
	if err != nil {
		return 0, nil, err
	}
	emoji, err := c.emoji()
	if err != nil {
		return 0, nil, err
	}
	c.w.react(m, c.w.app.bot, emoji, false)
	return http.StatusNoContent, nil, nil
}

// emoji reads the path's emoji.
func (c *call) emoji() (string, error) {
	emoji := c.r.PathValue("emoji_name")
	if !c.w.isEmoji(emoji) {
		return "", errUnknownEmoji
	}
	return emoji, nil
}

// isEmoji tells emojis from other texts: name:id of a custom one, or characters that are no plain text.
func (w *World) isEmoji(emoji string) bool {
	if name, id, ok := strings.Cut(emoji, ":"); ok {
		return name != "" && w.knowsEmoji(ID(id))
	}
	return emoji != "" && (emoji[0] >= 0x80 || strings.ContainsRune(emoji, 0x20e3))
}

func (w *World) knowsEmoji(id ID) bool {
	for _, g := range w.guilds {
		if slices.ContainsFunc(g.emojis, func(e emoji) bool { return e.id == id }) {
			return true
		}
	}
	return false
}

func startTyping(c *call) (int, any, error) {
	ch, err := c.channel()
	if err != nil {
		return 0, nil, err
	}
	if !ch.maySend(c.perms(ch)) {
		return 0, nil, errMissingPermission
	}
	c.w.typing(ch, c.w.app.bot)
	return http.StatusNoContent, nil, nil
}
