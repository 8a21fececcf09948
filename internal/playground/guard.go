package playground

import (
	"mime"
	"net"
	"net/http"
	"slices"
)

// contentPolicy lets the page load nothing that this server has not embedded, except the pictures that somebody is about
// to attach; and it forbids what could make markup of a text, should the page ever try.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// guard keeps other web pages out. They can make a browser send requests here, so every request must name this server
// as its host (against DNS names rebound to loopback), none may come from another site, and what changes something must
// say that it comes from this page and be JSON, which no form can send.
func guard(addr string, next http.Handler) http.Handler {
	_, port, _ := net.SplitHostPort(addr)
	hosts := []string{addr, net.JoinHostPort("localhost", port)}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if text := refuse(r, hosts); text != "" {
			http.Error(w, text, http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refuse says why a request is not served, or nothing.
func refuse(r *http.Request, hosts []string) string {
	if !slices.Contains(hosts, r.Host) {
		return "this host name is not the playground's"
	}
	site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin")
	switch {
	case origin != "" && origin != "http://"+r.Host:
		return "another origin may not ask"
	case site == "same-origin":
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		// A link somewhere else may open the page, and a typed address has no site; data is for the page alone.
		if site != "" && site != "none" && r.URL.Path != "/" {
			return "another site may not ask"
		}
	case site != "" || origin == "":
		return "only the playground's own page may do this"
	}
	if r.Method == http.MethodPost {
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
			return "only JSON is taken"
		}
	}
	return ""
}
