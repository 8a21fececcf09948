package openai

import (
	"testing"

	"github.com/parleybot/parley/providers/internal/rows"
	"github.com/parleybot/parley/providers/internal/wire"
)

// Rows of the other wire and of prices, which are covered there.
const elsewhere = "CD126 CD127 CD128 CD129 CD131 CD132 CD133 CD134 CD135 CD136 CD137 CD138 CD139"

func TestMain(m *testing.M) { rows.Main(m, "CD108 CD119", elsewhere) }

// wireDerived is the id that a call gets when its own can't be sent.
func wireDerived(seed string) string { return wire.DerivedID(seed) }
