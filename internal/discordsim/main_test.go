package discordsim_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/parleybot/parley/internal/discordspec"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		fmt.Println(discordspec.Summary())
		os.Exit(code)
	}))
}
