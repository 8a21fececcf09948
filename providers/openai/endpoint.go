package openai

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/parleybot/parley/providers/internal/wire"
)

const completionsPath = "/chat/completions"

// versionSegment recognises the segments after which vendors put the routes themselves: v1, v1beta, v4.
var versionSegment = regexp.MustCompile(`^v\d+[a-z]*\d*$`)

// endpoint turns whatever an operator wrote as base URL into the base behind which the SDK puts chat/completions, and
// the query to send along.
func endpoint(raw string) (base string, query url.Values, err error) {
	u, err := wire.ParseBase(raw)
	if err != nil {
		return "", nil, err
	}
	path := strings.TrimRight(u.EscapedPath(), "/")
	if trimmed, whole := strings.CutSuffix(path, completionsPath); whole {
		path = trimmed
	} else if !slices.ContainsFunc(strings.Split(path, "/"), versionSegment.MatchString) {
		path += "/v1"
	}
	return u.Scheme + "://" + u.Host + path + "/", u.Query(), nil
}
