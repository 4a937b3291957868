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

// policy of pages: what they show comes from here, and nobody shows them in a frame.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// guard lets a request in, or says why not: where it says it goes, from whose page it comes, who asks, how much.
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
		w.Header().Set("Connection", "close") // it may have had a length too, by which a proxy finds another end (RFC 9112, 6.3)
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

// winds reports whether a path has dots or slashes that lead elsewhere: what is there is asked for by its own path.
func winds(p string) bool {
	clean := path.Clean(p)
	return p != "" && clean != p && clean+"/" != p
}

var errFault = errors.New("fault")

// harden says to browsers what they may do with what they get.
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
	if r.Method == http.MethodPost && s.routes.takes(r.URL.Path) != "" { // else there is nothing, and that is what will be said
		if err := s.checkType(r); err != nil {
			return nil, err
		}
		if body, err = s.read(w, r); err != nil {
			return nil, err
		}
	}
	_ = w.control.SetReadDeadline(time.Time{}) // all is here, and the answer may take its time
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

// checkHost refuses names that are not the server's: a page whose name was made to lead here (DNS rebinding) calls it
// by its own. With a token, such a page has nothing to show.
func (s *Server) checkHost(r *http.Request) error {
	name := hostOf(r.Host)
	if s.Token != "" || loopback(name) || slices.Contains(s.Hosts, name) {
		return nil
	}
	return refuse(http.StatusMisdirectedRequest, "Host", r.Host, "this server does not go by that name",
		"http://localhost, or start it with --host "+shortened(name))
}

// hostOf is a Host header without its port.
func hostOf(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

// loopback reports whether a name is this machine's own, whoever resolves it.
func loopback(name string) bool {
	a, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && a.IsLoopback()
}

// checkOrigin refuses what a page of another site sends; links to pages may be followed from anywhere.
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

// checkToken asks for the token, in a time that does not tell how much of it is right.
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

// Where browsers bring the token: a link that is followed once, and then a cookie that no script and no other site sees.
const (
	tokenKey    = "token"
	tokenCookie = "memwall-token"
)

// tokenOf a request; "" where it brings none.
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

// checkType takes types that no form of another page can send.
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
	return refuse(http.StatusUnsupportedMediaType, "Content-Type", given, "the body is not said to be "+want, "Content-Type: "+want)
}

// Bodies: small ones are read as they come, of large ones only so many at a time.
const (
	maxBody   = 1 << 20
	smallBody = 64 << 10
)

// read takes the body, bounded in size and, by the connection's deadline, in time.
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

// paced is a response of which each piece must be taken in time, so that slow readers hold nothing.
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
	_ = p.control.SetWriteDeadline(time.Now().Add(writeTime)) // recorders of tests have none
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

// Unwrap is for http.ResponseController.
func (p *paced) Unwrap() http.ResponseWriter { return p.ResponseWriter }
