package discordsim_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/parleybot/parley/internal/discordspec"
	"github.com/parleybot/parley/internal/testreport"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		testreport.Line("%s", discordspec.Summary())
		os.Exit(code)
	}))
}
