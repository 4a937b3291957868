package serve

import (
	"net/http"
	"slices"
	"strings"
)

// invited reports whether the request comes from a page on an allowed origin. Cookies are not accepted: if a token is
// required, the page must send it.
func (s *Server) invited(r *http.Request) bool {
	return isAPI(r.URL.Path) && slices.Contains(s.Origins, r.Header.Get("Origin"))
}

// invite adds CORS headers for an allowed page (fetch.spec.whatwg.org) and handles preflight requests; it returns true
// if that was all.
func (s *Server) invite(w http.ResponseWriter, r *http.Request) (done bool) {
	if len(s.Origins) > 0 {
		w.Header().Add("Vary", "Origin")
	}
	if !s.invited(r) {
		return false
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
	h.Set("Access-Control-Expose-Headers", "ETag, Retry-After")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	t := s.routes[r.URL.Path]
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" || t == nil {
		return false
	}
	h.Set("Access-Control-Allow-Methods", strings.Join(t.methods, ", "))
	h.Set("Access-Control-Allow-Headers", "Content-Type, Authorization, If-None-Match, Accept")
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}
