package app

import (
	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/tools/memory"
	"github.com/parleybot/parley/tools/practice"
	"github.com/parleybot/parley/tools/slow"
	"github.com/parleybot/parley/tools/stm"
	"github.com/parleybot/parley/turn"
)

// tools registers what models may call: adding a family is one line here. The practice tools are for trying things out
// where nobody is harmed.
// facts are asked for when a tool runs: the turns that have them need the tools first.
func tools(s store.ShortTerms, facts func() *turn.Facts, practising bool) (*registry.Registry, error) {
	all := append(memory.Tools(memories{facts}), stm.Tool(shortTerm{store: s, facts: facts}))
	if practising {
		all = append(all, slow.Tool())
		all = append(all, practice.Tools()...)
	}
	return registry.New(all...)
}
