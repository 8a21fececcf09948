package wire

import (
	"crypto/sha256"
	"fmt"
	"math/big"
	"regexp"
	"strings"

	"github.com/parleybot/parley/providers"
)

// ToolName is what every vendor takes as the name of a tool.
var ToolName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// IDs gives each call of a request an id that is unique in it: servers restart their numbering every turn, and some
// vendors refuse ids in another's format. It is not safe for concurrent use.
type IDs struct {
	// Valid says whether the vendor takes an id as it is.
	Valid func(id string) bool
	used  map[string]bool
}

// Assign returns the id of a call: its own one when it may be sent, else one derived from it, the same every time.
func (w *IDs) Assign(c providers.Call) string {
	if w.used == nil {
		w.used = map[string]bool{}
	}
	id := c.ID
	for n := 0; id == "" || !w.Valid(id) || w.used[id]; n++ {
		id = DerivedID(fmt.Sprintf("%s/%s/%d", c.Key, c.ID, n))
	}
	w.used[id] = true
	return id
}

// DerivedID is nine letters and digits, the one form that every vendor takes.
func DerivedID(seed string) string {
	sum := sha256.Sum256([]byte(seed))
	id := new(big.Int).SetBytes(sum[:]).Text(62)
	return id[:9]
}

var notInName = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// SentName makes a name that a model invented acceptable to a vendor; it is history, nothing is looked up by it.
func SentName(name string) string {
	name = strings.Trim(notInName.ReplaceAllString(name, "_"), "_")
	if name == "" {
		return "unnamed"
	}
	return name[:min(len(name), 64)]
}
