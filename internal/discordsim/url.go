package discordsim

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

var (
	// webSchemes are what links may lead to.
	webSchemes = []string{"http", "https"}
	// buttonSchemes are what link buttons may lead to.
	buttonSchemes = []string{"http", "https", "discord"}
	// mediaSchemes are where pictures of embeds may be.
	mediaSchemes = []string{"http", "https", "attachment"}
)

// checkURL holds an address to Discord's rules; an empty one is none.
func checkURL(f *form, at, address string, schemes []string) {
	if address == "" {
		return
	}
	u, err := url.Parse(address)
	switch {
	case err != nil, u.Scheme == "", u.Host == "" && u.Opaque == "" && u.Path == "":
		f.add(at, "URL_TYPE_INVALID_URL", "Not a well formed URL.")
	case !slices.Contains(schemes, u.Scheme):
		f.add(at, "URL_TYPE_INVALID_SCHEME", fmt.Sprintf("Scheme %q is not supported. Scheme must be one of ('%s').", u.Scheme, strings.Join(schemes, "', '")))
	case u.Host == "":
		f.add(at, "URL_TYPE_INVALID_URL", "Not a well formed URL.")
	}
}
