package anthropic

import (
	"testing"

	"github.com/parleybot/parley/providers/internal/rows"
)

// Rows of the other wire and of costs, which are covered there.
const elsewhere = "CD106 CD107 CD108 CD109 CD110 CD111 CD112 CD117 CD120 CD121 CD136 CD137 CD139"

func TestMain(m *testing.M) { rows.Main(m, "", elsewhere) }
