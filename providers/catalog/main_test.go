package catalog

import (
	"testing"

	"github.com/parleybot/parley/providers/internal/rows"
)

func TestMain(m *testing.M) { rows.Main(m, "", "") }
