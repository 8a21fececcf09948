package app

import (
	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/tools/memory"
	"github.com/parleybot/parley/tools/practice"
	"github.com/parleybot/parley/tools/slow"
)

// tools registers what models may call: adding a family is one line here. The practice tools are for trying things out
// where nobody is harmed.
func tools(s store.Memories, practising bool) (*registry.Registry, error) {
	all := memory.Tools(memories{s})
	if practising {
		all = append(all, slow.Tool())
		all = append(all, practice.Tools()...)
	}
	return registry.New(all...)
}
