package serve

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/memwall/memwall"
)

// policy is the Content-Security-Policy of pages: content from here only, and no framing.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// guard checks a request before it is handled: its host, the origin of its page, the client's token, its size.
func (s *Server) guard(out http.ResponseWriter, r *http.Request) {
	w := &paced{ResponseWriter: out, control: http.NewResponseController(out)}
	start := time.Now()
	done := s.metrics.begin()
	defer func() {
		if recover() != nil && w.status == 0 {
			s.fail(w, problemOf(errFault))
		}
		done(r.Pattern, w.status, time.Since(start))
		s.access.write(r, w, start, s.Token)
	}()
	harden(w.Header())
	if s.invite(w, r) {
		return
	}
	body, err := s.admit(w, r)
	if err != nil {
		s.fail(w, err)
		return
	}
	if len(r.TransferEncoding) > 0 {
		w.Header().Set("Connection", "close") // with a length too, a proxy may see another end (RFC 9112, 6.3)
	}
	if body != nil {
		r.Body = io.NopCloser(bytes.NewReader(body))
		r.ContentLength = int64(len(body))
	}
	if winds(r.URL.EscapedPath()) {
		s.nothing(w, r)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// winds reports whether a path has dots or slashes that resolve to another path, which must be requested directly.
func winds(p string) bool {
	clean := path.Clean(p)
	return p != "" && clean != p && clean+"/" != p
}

var errFault = errors.New("fault")

// harden sets security headers.
func harden(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
}

// admit checks a request and reads its body.
func (s *Server) admit(w *paced, r *http.Request) (body []byte, err error) {
	for _, check := range []func(*http.Request) error{s.checkHost, s.checkOrigin, s.checkToken} {
		if err := check(r); err != nil {
			return nil, err
		}
	}
	if r.Method == http.MethodPost && s.routes.takes(r.URL.Path) != "" { // otherwise it does not exist, which is reported later
		if err := s.checkType(r); err != nil {
			return nil, err
		}
		if body, err = s.read(w, r); err != nil {
			return nil, err
		}
	}
	_ = w.control.SetReadDeadline(time.Time{}) // the body is complete, and the answer may take its time
	return body, nil
}

func refuse(status int, field, value, message, hint string) error {
	return problem(status, &memwall.Error{Code: refused, Field: field, Value: shortened(value), Message: message, Hint: hint})
}

func shortened(s string) string {
	const most = 60
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strings.ToValidUTF8(s, "�")
}

// checkHost rejects host names that are not the server's, which protects against DNS rebinding. With a token it is
// unnecessary: such a page does not have it.
func (s *Server) checkHost(r *http.Request) error {
	name := hostOf(r.Host)
	if s.Token != "" || loopback(name) || slices.Contains(s.Hosts, name) {
		return nil
	}
	return refuse(http.StatusMisdirectedRequest, "Host", r.Host, "this server does not go by that name",
		"http://localhost, or start it with --host "+shortened(name))
}

// hostOf returns a Host header without the port.
func hostOf(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

// loopback reports whether a name always refers to this machine.
func loopback(name string) bool {
	a, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && a.IsLoopback()
}

// checkOrigin rejects requests sent by pages of other sites, except navigation to pages.
func (s *Server) checkOrigin(r *http.Request) error {
	if s.invited(r) {
		return nil
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		if err != nil || !strings.EqualFold(u.Host, r.Host) {
			return refuse(http.StatusForbidden, "Origin", origin, "pages of other sites may not ask",
				"ask from a program, or from this server's own page")
		}
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "", "same-origin", "none":
		return nil
	default:
		followed := r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && !isAPI(r.URL.Path)
		if followed {
			return nil
		}
		return refuse(http.StatusForbidden, "Sec-Fetch-Site", site, "pages of other sites may not ask",
			"ask from a program, or from this server's own page")
	}
}

func isAPI(path string) bool {
	return strings.HasPrefix(path, "/v1/") || strings.HasPrefix(path, "/mcp")
}

// checkToken checks the token in constant time.
func (s *Server) checkToken(r *http.Request) error {
	if s.Token == "" || r.URL.Path == healthPath {
		return nil
	}
	given, want := sha256.Sum256([]byte(tokenOf(r))), sha256.Sum256([]byte(s.Token))
	if subtle.ConstantTimeCompare(given[:], want[:]) == 1 {
		return nil
	}
	return refuse(http.StatusUnauthorized, "Authorization", "", "the bearer token is missing or wrong",
		"Authorization: Bearer TOKEN, with the token that the server was started with")
}

// How browsers send the token: once in a link, then in a cookie inaccessible to scripts and other sites.
const (
	tokenKey    = "token"
	tokenCookie = "memwall-token"
)

// tokenOf returns the token of a request, or "".
func tokenOf(r *http.Request) string {
	if scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "Bearer") {
		return token
	}
	if r.Method == http.MethodGet && !isAPI(r.URL.Path) && r.URL.Query().Has(tokenKey) {
		return r.URL.Query().Get(tokenKey)
	}
	if c, err := r.Cookie(tokenCookie); err == nil {
		return c.Value
	}
	return ""
}

// checkType accepts only content types that forms on other pages cannot send.
func (s *Server) checkType(r *http.Request) error {
	want := s.routes.takes(r.URL.Path)
	if packed := r.Header.Get("Content-Encoding"); packed != "" && packed != "identity" {
		return refuse(http.StatusUnsupportedMediaType, "Content-Encoding", packed, "bodies are read as they are",
			"send it without Content-Encoding")
	}
	given := r.Header.Get("Content-Type")
	kind, params, err := mime.ParseMediaType(given)
	if charset := params["charset"]; err == nil && kind == want && (charset == "" || strings.EqualFold(charset, "utf-8")) {
		return nil
	}
	return refuse(http.StatusUnsupportedMediaType, "Content-Type", given, "the body is not declared as "+want, "Content-Type: "+want)
}

// Limits on bodies: small ones are read as they arrive, large ones only a few at a time.
const (
	maxBody   = 1 << 20
	smallBody = 64 << 10
)

// read reads the body, limited in size and, by the connection's deadline, in time.
func (s *Server) read(w *paced, r *http.Request) ([]byte, error) {
	most := s.routes.most(r.URL.Path)
	if r.ContentLength > most {
		return nil, tooLarge(most)
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, smallBody))
	if err != nil || len(body) < smallBody {
		return body, broken(err)
	}
	select {
	case s.large <- struct{}{}:
		defer func() { <-s.large }()
	default:
		p := problem(http.StatusTooManyRequests, &memwall.Error{Code: busy, Field: "body", Message: "too many large bodies are being sent",
			Hint: "ask again after the time that Retry-After says"})
		p.after = 1
		return nil, p
	}
	rest, err := io.ReadAll(http.MaxBytesReader(w.ResponseWriter, r.Body, most-smallBody))
	if _, more := errors.AsType[*http.MaxBytesError](err); more {
		return nil, tooLarge(most)
	}
	return append(body, rest...), broken(err)
}

func tooLarge(most int64) error {
	return problem(http.StatusRequestEntityTooLarge, &memwall.Error{Code: memwall.Limit, Field: "body", Message: "the body is too large",
		Hint: "at most " + sizeOf(most)})
}

func broken(err error) error {
	if err == nil {
		return nil
	}
	return problem(http.StatusBadRequest, &memwall.Error{Code: memwall.BadField, Field: "body",
		Message: "the body did not come whole and in time", Hint: "send it at once, with its length"})
}

// paced is a response with a deadline for each write, so that slow clients hold no resources.
type paced struct {
	http.ResponseWriter
	control *http.ResponseController
	status  int
	sent    int64 // bytes of the body
}

// WriteHeader sends the header.
func (p *paced) WriteHeader(status int) {
	if p.status == 0 {
		p.status = status
	}
	_ = p.control.SetWriteDeadline(time.Now().Add(writeTime)) // not supported by recorders in tests
	p.ResponseWriter.WriteHeader(status)
}

// Write sends a piece.
func (p *paced) Write(b []byte) (int, error) {
	if p.status == 0 {
		p.status = http.StatusOK
	}
	_ = p.control.SetWriteDeadline(time.Now().Add(writeTime))
	n, err := p.ResponseWriter.Write(b)
	p.sent += int64(n)
	return n, err
}

// Flush sends what is written.
func (p *paced) Flush() { _ = p.control.Flush() }

// Unwrap supports http.ResponseController.
func (p *paced) Unwrap() http.ResponseWriter { return p.ResponseWriter }
