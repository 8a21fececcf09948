package turn

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/parleybot/parley/store"
)

// Bounds of what is known of everybody's wishes.
const (
	wishPage = 2000
	// wishesKept bounds how many members are known by heart; past it those who are not among them are looked up one by one.
	wishesKept = 200_000
)

// wish is what a member wants less of than the bot does by itself.
type wish struct {
	// leftAlone: not answered and not shown to a model. erasedBefore: not shown up to this id.
	leftAlone    bool
	erasedBefore string
}

// hides reports whether a message of the member is not shown to a model.
func (w wish) hides(messageID string) bool {
	return w.leftAlone || w.erasedBefore != "" && !after(messageID, w.erasedBefore)
}

// stricter: more is hidden than before.
func (w wish) stricter(than wish) bool {
	return w.leftAlone && !than.leftAlone || w.erasedBefore != "" && after(w.erasedBefore, than.erasedBefore)
}

// unknownWish holds for a member of whom nobody can say what they want.
var unknownWish = wish{leftAlone: true}

func wishOf(values map[string]string) wish {
	m := readMember(values)
	return wish{leftAlone: m.FullPrivacy, erasedBefore: m.ErasedBefore}
}

// wishes knows of every member of every server who wants to be left alone, or had everything erased: such members are few,
// and whoever is not among them wants nothing of the kind. So a wish is honoured while the store is away, and looking it up
// costs nothing. They are read at start and then every settingsFresh, since another process may have changed them. It is
// safe for concurrent use.
type wishes struct {
	store store.Settings

	mu    sync.Mutex
	known map[string]wish
	// whole: all there were at the last reading are known. Without that, who is not known is asked for.
	whole bool
	// since are the wishes learned while all are being read; nil while they are not.
	since map[string]wish
	next  *time.Timer
}

func newWishes(s store.Settings) *wishes { return &wishes{store: s, known: map[string]wish{}} }

// of is what a member wants, as far as that is known without asking.
func (w *wishes) of(memberID string) (wish, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	x, ok := w.known[memberID]
	return x, ok || w.whole
}

// learn takes what has just been read or changed of one member.
func (w *wishes) learn(memberID string, x wish) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.keep(w.known, memberID, x)
	if w.since != nil {
		w.since[memberID] = x
	}
}

func (w *wishes) keep(in map[string]wish, memberID string, x wish) {
	if _, ok := in[memberID]; !ok && len(in) >= wishesKept {
		w.whole = w.whole && x == wish{}
		return
	}
	if in[memberID] = x; x == (wish{}) {
		delete(in, memberID)
	}
}

// load reads all of them, and returns the members who want more to be hidden than was known.
func (w *wishes) load(ctx context.Context) (stricter map[string]wish, err error) {
	w.mu.Lock()
	if w.since != nil {
		w.mu.Unlock()
		return nil, errors.New("the members' wishes are being read already")
	}
	w.since = map[string]wish{}
	w.mu.Unlock()
	all, whole, err := w.read(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	since := w.since
	w.since = nil
	if err != nil {
		return nil, err
	}
	before := w.known
	w.known, w.whole = all, whole
	for id, x := range since {
		w.keep(w.known, id, x)
	}
	stricter = map[string]wish{}
	for id, x := range w.known {
		if x.stricter(before[id]) {
			stricter[id] = x
		}
	}
	return stricter, nil
}

func (w *wishes) read(ctx context.Context) (all map[string]wish, whole bool, err error) {
	all = map[string]wish{}
	values := map[string]string{}
	var last store.Setting
	take := func() {
		if x := wishOf(values); x != (wish{}) {
			all[last.ID] = x
		}
	}
	for {
		page, err := w.store.MemberSettings(ctx, []string{SettingPrivacy, SettingErasedBefore}, last, wishPage)
		if err != nil {
			return nil, false, err
		}
		for _, s := range page {
			if s.ID != last.ID {
				take()
				clear(values)
			}
			values[s.Name], last = s.Value, s
		}
		switch {
		case len(page) < wishPage:
			take()
			return all, true, nil
		case len(all) >= wishesKept:
			return all, false, nil
		}
	}
}

// changed takes a setting that was just stored.
func (w *wishes) changed(s store.Setting) {
	w.mu.Lock()
	x, known := w.known[s.ID]
	known = known || w.whole
	w.mu.Unlock()
	switch {
	case s.Scope != store.SettingMember || !known: // or it is read whole when it is needed
		return
	case s.Name == SettingPrivacy:
		x.leftAlone = s.Value == full
	case s.Name == SettingErasedBefore:
		x.erasedBefore = s.Value
	default:
		return
	}
	w.learn(s.ID, x)
}

// knowWishes reads what all members want, ends what has become unwanted, and goes on doing so. Until it has succeeded
// nobody's wish is taken for granted.
func (m *Manager) knowWishes(ctx context.Context) error {
	stricter, err := safely(func() (map[string]wish, error) { return m.wishes.load(ctx) })
	again := settingsFresh
	if err != nil {
		again = settingsRetry
	}
	m.wishes.later(again, func() {
		m.spawn(func() { m.io("reading what members want", m.knowWishes) })
	})
	for id, x := range stricter {
		m.obeyWish(id, x)
	}
	return err
}

// later does the next reading, unless stop is called before.
func (w *wishes) later(in time.Duration, read func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next = time.AfterFunc(in, read)
}

func (w *wishes) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.next != nil {
		w.next.Stop()
	}
}

// obeyWish ends what the member's wish is against, and forgets what it hides.
func (m *Manager) obeyWish(memberID string, x wish) {
	for _, c := range m.covered(KillRequest{}) {
		m.postIfActive(c, func(w *worker) { w.forget(memberID, ReasonErased, x.hides) })
	}
	if x.erasedBefore != "" {
		m.dialogues.forgetMember(memberID, x.hides)
	}
}

// wish is what a member wants. When that is not known and cannot be asked, they are left alone.
func (m *Manager) wish(ctx context.Context, memberID string) (wish, error) {
	if x, ok := m.wishes.of(memberID); ok || memberID == "" {
		return x, nil
	}
	ctx, cancel := context.WithTimeout(ctx, ioTimeout)
	defer cancel()
	values, err := safely(func() (map[string]string, error) { return m.settings.lately(ctx, store.SettingMember, memberID) })
	if err != nil {
		m.Log.Warn().Err(err).Msg("privacy.wish_unknown")
		return unknownWish, err
	}
	return wishOf(values), nil
}

// wishesOf looks up the wishes of many members, each once. A store that could not answer is not asked again.
func (m *Manager) wishesOf(ctx context.Context) func(memberID string) wish {
	known, away := map[string]wish{}, false
	return func(memberID string) wish {
		x, ok := known[memberID]
		if ok {
			return x
		}
		if x, ok = m.wishes.of(memberID); !ok {
			x = unknownWish
			if !away {
				var err error
				x, err = m.wish(ctx, memberID)
				away = err != nil
			}
		}
		known[memberID] = x
		return x
	}
}
