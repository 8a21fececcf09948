package wire

import (
	"errors"
	"net/url"
)

// ParseBase checks what an operator wrote as the base URL of a service. Its errors show nothing of it.
func ParseBase(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, errors.New("it can't be parsed")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("it must begin with http:// or https://")
	case u.Host == "":
		return nil, errors.New("it has no host")
	case u.User != nil:
		return nil, errors.New("it must not hold credentials")
	}
	return u, nil
}
