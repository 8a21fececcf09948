package rehearsal

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// The memory tools that the everyday phrases use.
const (
	toolCreate = "create_long_term_memory"
	toolRecall = "recall_memory"
	toolUpdate = "update_long_term_memory"
)

var (
	rememberPattern = regexp.MustCompile(`(?is)^(?:please )?remember(?: for (everyone|everybody|the server|this server))?(?: that)?[ ,:]+(.+)$`)
	recallPattern   = regexp.MustCompile(`(?i)^what (?:do|can) you (?:know|remember) about (?:me|us)\W*$`)
	forgetPattern   = regexp.MustCompile(`(?i)^(?:please )?forget (?:that|it|this)\W*$`)
)

// everyday answers messages that are no script.
func everyday(sc scene) []act {
	text := strings.TrimSpace(sc.text)
	switch m := rememberPattern.FindStringSubmatch(text); {
	case m != nil:
		return remember(sc, m[2], m[1] != "")
	case recallPattern.MatchString(text):
		return recall(sc)
	case forgetPattern.MatchString(text):
		return forget(sc)
	case len(sc.results) > 0:
		return []act{say{reportResults(sc.results)}}
	case text == "":
		return []act{say{introduction}}
	}
	return []act{say{fmt.Sprintf("You said: \"%s\". %s", shorten(oneLine(text), 120), introduction)}}
}

const introduction = "I'm the rehearsal model, so I only follow scripts. Say \"help\" to see what I can do."

// use calls a tool when this turn offers it, and says so when it doesn't.
func use(sc scene, tool string, before string, arguments any) []act {
	if !sc.tools[tool] {
		return []act{say{fmt.Sprintf("I would call %s now, but that tool isn't offered to me in this turn. (I'm the rehearsal model.)", tool)}}
	}
	acts := []act{callWith(tool, arguments)}
	if before != "" {
		acts = []act{say{before}, acts[0]}
	}
	return acts
}

func (sc scene) last() (result, bool) {
	if len(sc.results) == 0 {
		return result{}, false
	}
	return sc.results[len(sc.results)-1], true
}

func remember(sc scene, fact string, everyone bool) []act {
	r, done := sc.last()
	switch {
	case !done:
		scope := "target_user"
		if everyone {
			scope = "server_wide"
		}
		return use(sc, toolCreate, "Let me remember that.",
			map[string]string{"memory_content": strings.TrimRight(strings.TrimSpace(fact), ".!"), "memory_scope": scope})
	case r.failed:
		return []act{say{"I couldn't remember that: " + shorten(oneLine(r.text), shownResult)}}
	}
	return []act{say{fmt.Sprintf("Done, I'll remember: %s", strings.TrimSpace(fact))}}
}

func recall(sc scene) []act {
	r, done := sc.last()
	switch {
	case !done:
		return use(sc, toolRecall, "", struct{}{})
	case r.failed:
		return []act{say{"I couldn't look into my memory: " + shorten(oneLine(r.text), shownResult)}}
	}
	facts := factsIn(r.data)
	if len(facts) == 0 {
		if _, isText := r.data.(string); isText || r.data == nil {
			return []act{say{shorten(r.text, 4*shownResult)}}
		}
		return []act{say{"I don't know anything about you yet."}}
	}
	var b strings.Builder
	b.WriteString("This is what I know:")
	for _, f := range facts {
		b.WriteString("\n- " + shorten(oneLine(f.content), shownResult))
	}
	return []act{say{b.String()}}
}

// forget looks the newest fact up, then deletes it.
func forget(sc scene) []act {
	r, done := sc.last()
	switch {
	case !done:
		return use(sc, toolRecall, "", struct{}{})
	case r.failed:
		return []act{say{"I couldn't forget that: " + shorten(oneLine(r.text), shownResult)}}
	case r.tool == toolUpdate:
		return []act{say{"Done, it's forgotten."}}
	}
	newest, ok := newestFact(factsIn(r.data))
	if !ok {
		return []act{say{"I have nothing to forget."}}
	}
	return use(sc, toolUpdate, fmt.Sprintf("I'll forget: %s", shorten(oneLine(newest.content), shownResult)), map[string]any{
		"memory_id": newest.id, "memory_content": "",
	})
}

// fact is a memory as a recall result shows it.
type fact struct {
	id      json.Number
	content string
}

// factsIn finds everything in a result that looks like a memory: an object with an integer id and a text.
func factsIn(v any) []fact {
	switch v := v.(type) {
	case []any:
		var all []fact
		for _, e := range v {
			all = append(all, factsIn(e)...)
		}
		return all
	case map[string]any:
		if f, ok := asFact(v); ok {
			return []fact{f}
		}
		var all []fact
		for _, key := range slices.Sorted(maps.Keys(v)) {
			all = append(all, factsIn(v[key])...)
		}
		return all
	}
	return nil
}

func asFact(object map[string]any) (fact, bool) {
	var f fact
	for _, key := range []string{"memory_id", "id"} {
		if n, ok := object[key].(json.Number); ok && f.id == "" {
			f.id = n
		}
	}
	for _, key := range []string{"memory_content", "content", "text", "fact"} {
		if s, ok := object[key].(string); ok && f.content == "" {
			f.content = s
		}
	}
	_, err := f.id.Int64()
	return f, err == nil && f.content != ""
}

// newestFact is the one with the highest id.
func newestFact(facts []fact) (fact, bool) {
	var newest fact
	highest := int64(-1)
	for _, f := range facts {
		if n, err := f.id.Int64(); err == nil && n > highest {
			highest, newest = n, f
		}
	}
	return newest, highest >= 0
}
