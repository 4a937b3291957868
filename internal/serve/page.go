package serve

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/desk"
	"github.com/memwall/memwall/internal/page"
)

const (
	formType = "application/x-www-form-urlencoded"
	pageType = "text/html; charset=utf-8"
)

// pages registers the questions as HTML pages, with their two static files. Pasted text arrives as a form, which the
// guard accepts from this server's own pages only.
func (s *Server) pages() {
	s.file("/page.css", "text/css; charset=utf-8", []byte(page.Style()))
	s.file("/page.js", "text/javascript; charset=utf-8", []byte(page.Script()))
	for _, path := range append(append(page.Paths(), page.SuggestPath), page.CardPaths()...) {
		s.routes.add(http.MethodGet, path, "", 0)
		s.mux.HandleFunc("GET "+path, s.page)
	}
	if s.Study != nil {
		s.routes.add(http.MethodGet, page.StudyPath, "", 0)
		s.mux.HandleFunc("GET "+page.StudyPath, s.page)
	}
	s.routes.add(http.MethodPost, page.Pasted, formType, maxBody)
	s.mux.HandleFunc("POST "+page.Pasted, s.page)
}

// page renders a page, in a turn of the desk.
func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	if s.Token != "" && r.URL.Query().Has(tokenKey) {
		s.welcome(w, r)
		return
	}
	out, err := desk.Run(r.Context(), s.Desk, client(r), laneOf(r), drawn(s.Study), address{r.URL.Path, []byte(r.URL.RawQuery), []byte(pasted(r))})
	switch {
	case err != nil:
		s.refuse(w, r, problemOf(err))
	case out.Status != http.StatusOK:
		w.Header().Set("Content-Type", pageType)
		w.WriteHeader(out.Status)
		_, _ = w.Write([]byte(out.HTML)) // the client may have disconnected
	default:
		s.deliver(w, r, newBody(cmp.Or(out.Type, pageType), []byte(out.HTML)))
	}
}

// address is a page's URL, and what was pasted; bytes, since either may not be valid text.
type address struct {
	Path          string
	Query, Pasted []byte
}

// drawn returns the task that renders a page, with the study if there is one.
func drawn(study func(context.Context) (*card.Study, error)) desk.Task[address, page.Response] {
	return desk.Task[address, page.Response]{Name: "page", Do: func(ctx context.Context, asker *memwall.Asker, a address) (page.Response, error) {
		site := page.Site{Asker: asker, Study: study, API: true}
		out := site.Page(ctx, a.Path, string(a.Query), string(a.Pasted))
		out.HTML = strings.ToValidUTF8(out.HTML, "\ufffd") // a URL may contain invalid text
		return out, nil
	}}
}

// refuse reports an error as a page to browsers, and as a problem to programs.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, p *Problem) {
	if !strings.Contains(r.Header.Get("Accept"), "text/html") {
		s.fail(w, p)
		return
	}
	h := w.Header()
	h.Set("Content-Type", pageType)
	h.Set("Cache-Control", "no-store")
	if p.after > 0 {
		h.Set("Retry-After", strconv.Itoa(p.after))
	}
	w.WriteHeader(p.Status)
	site := page.Site{Study: s.Study, API: true}
	_, _ = w.Write([]byte(site.Failure(r.Context(), p.Title, p.Detail+".", p.Fix))) // the client may have disconnected
}

// laneOf returns the lane of a page, that of its question; lessons and cards search too.
func laneOf(r *http.Request) desk.Lane {
	if page.Searches(r.URL.Path) {
		return desk.Medium
	}
	if q := page.RequestOf(r.URL.Path, r.URL.RawQuery); q != nil {
		return desk.LaneOf(q)
	}
	return desk.Quick
}

// welcome moves the token of a link to a cookie, so that it appears in no further URL.
func (s *Server) welcome(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, &http.Cookie{Name: tokenCookie, Value: s.Token, Path: "/", HttpOnly: true, Secure: r.TLS != nil,
		SameSite: http.SameSiteStrictMode})
	to, q := *r.URL, r.URL.Query()
	q.Del(tokenKey)
	to.RawQuery = q.Encode()
	http.Redirect(w, r, to.RequestURI(), http.StatusSeeOther)
}

// pasted returns the text of a form; "" if none.
func pasted(r *http.Request) string {
	if r.Method != http.MethodPost {
		return ""
	}
	if err := r.ParseForm(); err != nil {
		return ""
	}
	return r.PostForm.Get("text")
}
