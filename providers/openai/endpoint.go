package openai

import (
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

const completionsPath = "/chat/completions"

// versionSegment recognises the segments after which vendors put the routes themselves: v1, v1beta, v4.
var versionSegment = regexp.MustCompile(`^v\d+[a-z]*\d*$`)

// endpoint turns whatever an operator wrote as base URL into the base behind which the SDK puts chat/completions, and
// the query to send along.
func endpoint(raw string) (base string, query url.Values, err error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return "", nil, errors.New("it can't be parsed")
	case u.Scheme != "http" && u.Scheme != "https":
		return "", nil, errors.New("it must begin with http:// or https://")
	case u.Host == "":
		return "", nil, errors.New("it has no host")
	case u.User != nil:
		return "", nil, errors.New("it must not hold credentials")
	}
	path := strings.TrimRight(u.EscapedPath(), "/")
	if trimmed, whole := strings.CutSuffix(path, completionsPath); whole {
		path = trimmed
	} else if !slices.ContainsFunc(strings.Split(path, "/"), versionSegment.MatchString) {
		path += "/v1"
	}
	return u.Scheme + "://" + u.Host + path + "/", u.Query(), nil
}
