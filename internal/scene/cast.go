package scene

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// cast is what a scene has named so far: names are checked while parsing, so that a misspelt one never costs a run.
type cast struct {
	people   map[string]bool
	channels map[string]bool
	labels   map[string]bool
	// place is where the last step happened; DMs are remembered by whose they are.
	place  string
	lastDM string
}

// firstChannel is there in every scene.
const firstChannel = "#general"

func newCast() *cast {
	return &cast{
		people: map[string]bool{}, channels: map[string]bool{firstChannel: true}, labels: map[string]bool{"it": true},
		place: firstChannel,
	}
}

// check looks every name up, learns the new ones, and decides where the step happens.
func (c *cast) check(s *step) error {
	for _, b := range append([]bound{s.head}, s.clauses...) {
		for name, t := range b.slot {
			if err := c.slot(s, name, t.text); err != nil {
				return err
			}
		}
	}
	if d, ok := s.clause("within TIME"); ok {
		s.within = d.duration("TIME")
	}
	if s.verb.check != nil {
		if err := s.verb.check(c, s); err != nil {
			return err
		}
	}
	if b, ok := s.clause("as NEWLABEL"); ok {
		c.labels[b.text("NEWLABEL")] = true
	}
	return c.settle(s)
}

func (c *cast) slot(s *step, name, text string) error {
	switch name {
	case "PERSON":
		if !c.people[text] {
			return fmt.Errorf("nobody is called %s%s; people are made known with: person %s", text, closest(text, keys(c.people)), text)
		}
	case "CHANNEL":
		if !c.channels[text] && !s.verb.newChannel {
			return fmt.Errorf("there is no channel %s%s; make it with: channel %s", text, closest(text, keys(c.channels)), text)
		}
	case "LABEL":
		if !c.labels[text] {
			return fmt.Errorf("no message is called %s%s; name one where it appears with: as %s",
				text, closest(text, append(keys(c.labels), c.words(s)...)), text)
		}
	case "NEWLABEL":
		if reserved[text] || c.people[text] {
			return fmt.Errorf("a message cannot be called %s", text)
		}
	}
	return nil
}

// words are the words with which a step's clauses begin: a label that is unknown may be one of them, misspelt.
func (c *cast) words(s *step) []string {
	var out []string
	for _, p := range s.verb.clauses {
		out = append(out, p[0])
	}
	return out
}

// settle decides the place: the one named, or that of the step before.
func (c *cast) settle(s *step) error {
	person := s.head.text("PERSON")
	for _, b := range s.clauses {
		switch b.form {
		case "in CHANNEL":
			c.place = b.text("CHANNEL")
		case "in DM with PERSON":
			c.lastDM = b.text("PERSON")
			c.place = "@" + c.lastDM
		case "in DM":
			if person != "" {
				c.lastDM = person
			}
			if c.lastDM == "" {
				return errors.New("whose DM? Say: in DM with NAME")
			}
			c.place = "@" + c.lastDM
		}
	}
	s.place = c.place
	return nil
}

func keys(m map[string]bool) []string { return slices.Sorted(maps.Keys(m)) }
