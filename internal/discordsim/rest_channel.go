package discordsim

import (
	"net/http"
	"slices"
)

func channelRoutes() []route {
	return []route{
		{method: "GET", template: "/channels/{channel_id}", handle: getChannel},
		{method: "PATCH", template: "/channels/{channel_id}", handle: editChannel},
		{method: "POST", template: "/channels/{channel_id}/threads", handle: createThread},
		{method: "POST", template: "/channels/{channel_id}/messages/{message_id}/threads", handle: createThreadFromMessage},
		{method: "PUT", template: "/channels/{channel_id}/thread-members/@me", handle: joinThread},
		{method: "POST", template: "/users/@me/channels", handle: openDM},
	}
}

func getChannel(c *call) (int, any, error) {
	ch, err := c.channel()
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, c.w.wireChannel(ch), nil
}

// editChannel changes a name or topic, or a thread's name and state.
func editChannel(c *call) (int, any, error) {
	ch, err := c.channel()
	if err != nil {
		return 0, nil, err
	}
	need := PermManageChannels
	if ch.isThread() {
		need = PermManageThreads
	}
	if !c.perms(ch).Has(need) && !(ch.isThread() && ch.owner == c.w.app.bot) {
		return 0, nil, errMissingPermission
	}
	var in struct {
		Name     *string `json:"name"`
		Topic    *string `json:"topic"`
		Archived *bool   `json:"archived"`
		Locked   *bool   `json:"locked"`
	}
	if err := c.decode(&in); err != nil {
		return 0, nil, err
	}
	f := &form{}
	if in.Name != nil && (*in.Name == "" || len([]rune(*in.Name)) > 100) {
		f.badLength("name", 1, 100)
	}
	if in.Topic != nil && len([]rune(*in.Topic)) > 1024 {
		f.tooLong("topic", 1024)
	}
	if err := f.err(); err != nil {
		return 0, nil, err
	}
	set(&ch.name, in.Name)
	set(&ch.topic, in.Topic)
	if ch.isThread() {
		set(&ch.archived, in.Archived)
		set(&ch.locked, in.Locked)
	}
	c.w.record(ChannelUpdated{Channel: ch.id})
	c.w.channelEvent("UPDATE", ch)
	return http.StatusOK, c.w.wireChannel(ch), nil
}

func set[T any](at *T, v *T) {
	if v != nil {
		*at = *v
	}
}

type threadForm struct {
	Name string `json:"name"`
	Type *int   `json:"type"`
}

func (c *call) threadForm() (threadForm, error) {
	var in threadForm
	if err := c.decode(&in); err != nil {
		return in, err
	}
	if n := len([]rune(in.Name)); n < 1 || n > 100 {
		f := &form{}
		f.badLength("name", 1, 100)
		return in, f.err()
	}
	return in, nil
}

func createThread(c *call) (int, any, error) {
	parent, err := c.channel()
	if err != nil {
		return 0, nil, err
	}
	in, err := c.threadForm()
	if err != nil {
		return 0, nil, err
	}
	kind, need := ThreadPrivate, PermCreatePrivateThreads
	if in.Type != nil && *in.Type == int(ThreadPublic) {
		kind, need = ThreadPublic, PermCreatePublicThreads
	}
	if parent.guild == "" || parent.isThread() {
		return 0, nil, errWrongChannelType
	}
	if !c.perms(parent).Has(need) {
		return 0, nil, errMissingPermission
	}
	return http.StatusCreated, c.w.wireChannel(c.w.openThread(parent, c.w.app.bot, in.Name, kind, nil)), nil
}

func createThreadFromMessage(c *call) (int, any, error) {
	parent, err := c.need(PermCreatePublicThreads)
	if err != nil {
		return 0, nil, err
	}
	m, err := c.message(parent)
	if err != nil {
		return 0, nil, err
	}
	in, err := c.threadForm()
	if err != nil {
		return 0, nil, err
	}
	if m.thread != "" {
		return 0, nil, errThreadExists
	}
	return http.StatusCreated, c.w.wireChannel(c.w.openThread(parent, c.w.app.bot, in.Name, ThreadPublic, m)), nil
}

// openThread makes a thread; one that starts from a message has that message's id, as at Discord.
func (w *World) openThread(parent *channel, owner ID, name string, kind ChannelKind, from *message) *channel {
	t := &channel{
		kind: kind, guild: parent.guild, parent: parent.id, name: name, owner: owner, created: w.now(), members: []ID{owner},
	}
	if from != nil {
		t.id = from.ID
		from.thread = t.id
	} else {
		t.id = w.newID()
	}
	w.channels[t.id] = t
	w.record(ChannelCreated{Channel: t.id})
	body := w.wireChannel(t)
	body.NewlyCreated = true
	w.dispatch(dispatch{name: "THREAD_CREATE", intents: IntentGuilds, channel: t, body: body})
	return t
}

func joinThread(c *call) (int, any, error) {
	ch, err := c.channel()
	if err != nil {
		return 0, nil, err
	}
	if !ch.isThread() {
		return 0, nil, errUnknownChannel
	}
	if !slices.Contains(ch.members, c.w.app.bot) {
		ch.members = append(ch.members, c.w.app.bot)
	}
	return http.StatusNoContent, nil, nil
}

func openDM(c *call) (int, any, error) {
	var in struct {
		RecipientID ID `json:"recipient_id"`
	}
	if err := c.decode(&in); err != nil {
		return 0, nil, err
	}
	u := c.w.users[in.RecipientID]
	switch {
	case in.RecipientID == "":
		return 0, nil, invalid("recipient_id", "BASE_TYPE_REQUIRED", "This field is required")
	case u == nil:
		return 0, nil, errUnknownUser
	case u.bot:
		return 0, nil, errCannotSendToUser
	}
	return http.StatusOK, c.w.wireChannel(c.w.dmWith(u.id)), nil
}
