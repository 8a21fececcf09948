package providers

import "net/http"

// statusOverloaded is what several vendors answer when they have no capacity; it has no name in net/http.
const statusOverloaded = 529

// KindOfStatus returns the kind of failure that an HTTP status means, for any vendor that says no better.
func KindOfStatus(status int) ErrorKind {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return KindAuth
	case http.StatusPaymentRequired:
		return KindQuota
	case http.StatusRequestEntityTooLarge:
		return KindTooLarge
	case http.StatusTooManyRequests:
		return KindRateLimit
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return KindTimeout
	case http.StatusServiceUnavailable, statusOverloaded:
		return KindOverloaded
	case http.StatusConflict, http.StatusTooEarly:
		return KindUnavailable
	}
	switch {
	case status >= 500:
		return KindUnavailable
	case status >= 400:
		return KindBadRequest
	}
	return KindProtocol
}

// RetryableStatus reports whether the same request may succeed later.
func RetryableStatus(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests,
		http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
		statusOverloaded:
		return true
	}
	return false
}
