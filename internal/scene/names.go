package scene

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/parleybot/parley/internal/discordsim"
)

// names translates between the names of a scene and Discord's ids. Safe for concurrent use.
type names struct {
	mu    sync.Mutex
	byID  map[discordsim.ID]string
	forms []mentionForm // longest name first, so that @Anabel is not @Ana with "bel" behind it
}

type mentionForm struct{ name, form string }

func newNames(w *discordsim.World) *names {
	n := &names{byID: map[discordsim.ID]string{}}
	n.person("Parley", w.Bot())
	return n
}

func (n *names) person(name string, id discordsim.ID) { n.add(name, "@"+name, "<@"+string(id)+">", id) }

func (n *names) role(name string, id discordsim.ID) { n.add(name, "@"+name, "<@&"+string(id)+">", id) }

func (n *names) channel(name string, id discordsim.ID) {
	n.add(name, name, "<#"+string(id)+">", id)
}

func (n *names) add(name, written, form string, id discordsim.ID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.byID[id] != "" {
		return
	}
	n.byID[id] = name
	n.forms = append(n.forms, mentionForm{written, form})
	slices.SortFunc(n.forms, func(a, b mentionForm) int { return len(b.name) - len(a.name) })
}

// of is the name of an id.
func (n *names) of(id discordsim.ID) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if name := n.byID[id]; name != "" {
		return name
	}
	return string(id)
}

// written turns @Name into the form that Discord carries. Channels stay as they are: people write #general in prose.
func (n *names) written(text string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, m := range n.forms {
		if strings.HasPrefix(m.name, "@") {
			text = strings.ReplaceAll(text, m.name, m.form)
		}
	}
	return text
}

var mentioned = regexp.MustCompile(`<(@[!&]?|#)(\d+)>`)

// read turns Discord's forms back into names, for transcripts and for comparing.
func (n *names) read(text string) string {
	return mentioned.ReplaceAllStringFunc(text, func(s string) string {
		m := mentioned.FindStringSubmatch(s)
		name := n.of(discordsim.ID(m[2]))
		if m[1] == "#" {
			return "#" + strings.TrimPrefix(name, "#")
		}
		return "@" + name
	})
}
