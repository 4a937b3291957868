package remote

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/source"
	"github.com/memwall/memwall/source/cache"
	"github.com/memwall/memwall/source/fetch"
)

// listing is what a repository holds at one commit.
type listing struct {
	Commit string           `json:"commit"` // "" where the service pins none
	Files  map[string]entry `json:"files"`
}

// entry is a file of a listing.
type entry struct {
	Size int64  `json:"size"`           // -1: not said
	Sum  string `json:"sum,omitempty"`  // SHA-256 of its bytes
	Blob string `json:"blob,omitempty"` // git's name of it
}

// sum is what the file must add up to.
func (e entry) sum() fetch.Sum {
	if s := fetch.SHA256(e.Sum); s != (fetch.Sum{}) {
		return s
	}
	return fetch.GitBlob(e.Blob)
}

func (l *listing) names() (out []string) {
	for name := range l.Files {
		out = append(out, name)
	}
	return out
}

// Bounds of a listing, so that no server makes memwall work without end.
const (
	maxListing = 64 << 20
	maxListed  = 1 << 17
)

// service is a hub of repositories: where it lists and keeps their files, and what its errors mean.
type service struct {
	name    string // "huggingface.co"
	list    func(r *reference) *url.URL
	file    func(r *reference, commit, name string) *url.URL
	decode  func(data []byte) (*listing, error)
	explain func(r *reference, name string, err error) error
}

// repo is a repository of a service, asked or remembered.
type repo struct {
	finder  *Finder
	service *service
	ref     *reference
	list    *listing
	pinned  listing // the commit alone, where a file was opened without a list
	place   *source.Place
}

// listed is the kind of entry that a listing is kept as: its first form had no sums.
const listed = "listing 2"

// keep is how long a branch is believed to stand where it stood.
const keep = time.Hour

func (f *Finder) believed(r cache.Record) bool {
	age := f.now().Sub(r.At)
	return age >= 0 && age < keep
}

// listed gets the listing: from the cache while it holds, else from the service.
func (p *repo) listed() (*listing, error) {
	if p.list != nil {
		return p.list, nil
	}
	key := p.key(listed, p.ref.revision)
	r, data, kept := p.finder.cache.Get(key)
	if kept {
		l := &listing{}
		if json.Unmarshal(data, l) != nil || !l.valid() {
			kept = false
		} else if p.ref.pinned() || p.finder.offline || p.finder.believed(r) {
			p.list = l
			return l, nil
		}
	}
	l, err := p.ask(key)
	if err == nil {
		p.list = l
		return l, nil
	}
	if _, answered := errors.AsType[*statusError](err); kept && !answered && json.Unmarshal(data, &p.list) == nil {
		p.outdated(r, err)
		return p.list, nil
	}
	return nil, p.service.explain(p.ref, "", err)
}

func (l *listing) valid() bool {
	for name := range l.Files {
		if !validFile(name) {
			return false
		}
	}
	return len(l.Files) <= maxListed && (l.Commit == "" || isCommit(l.Commit))
}

// ask asks the service for the listing and keeps it, under the revision and under the commit.
func (p *repo) ask(key string) (*listing, error) {
	data, err := p.finder.small(query{url: p.service.list(p.ref), to: -1, accept: "application/json"}, maxListing)
	if err != nil {
		return nil, err
	}
	l, err := p.service.decode(data)
	if err != nil {
		return nil, err
	}
	if !l.valid() || p.ref.pinned() && l.Commit != "" && l.Commit != p.ref.revision {
		return nil, refuse(tryLater, "%s sends a list of files that cannot be one", p.service.name)
	}
	text, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	p.remember(key, text)
	if l.Commit != "" && l.Commit != p.ref.revision {
		p.remember(p.key(listed, l.Commit), text)
	}
	return l, nil
}

func (p *repo) remember(key string, data []byte) {
	p.finder.cache.Put(cache.Record{Key: key, Size: int64(len(data)), At: p.finder.now(), About: key}, data)
}

// key of what is kept of a repository. The endpoint is part of it: mirrors are not believed for each other.
func (p *repo) key(what, which string) string {
	return strings.Join([]string{what, p.service.list(&reference{repo: p.ref.repo}).Host, p.ref.repo, which}, " ")
}

// small fetches a whole text of at most limit bytes.
func (f *Finder) small(q query, limit int64) ([]byte, error) {
	if f.offline {
		return nil, errOffline
	}
	var err error
	for try := 1; try <= f.client.limits.Tries; try++ {
		var r *reply
		if r, err = f.client.get(q); err != nil {
			return nil, err
		}
		var b bytes.Buffer
		_, err = io.Copy(&b, io.LimitReader(r.body, limit+1))
		r.close()
		switch {
		case err == nil && int64(b.Len()) > limit:
			return nil, refuse(tryLater, "%s sends more than %d MiB where a list is expected", q.url.Host, limit>>20)
		case err == nil:
			return b.Bytes(), nil
		}
		f.client.pause(try, err)
	}
	return nil, fmt.Errorf("%s: %w", q.url.Host, err)
}

// find gives a file of the listing.
func (p *repo) find(name string) (*file, error) {
	l, err := p.listed()
	if err != nil {
		return nil, err
	}
	e, ok := l.Files[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	at := l.Commit
	if at == "" {
		at = p.ref.revision
	}
	f := &file{finder: p.finder, name: name, url: p.service.file(p.ref, at, name), expect: e.Size, explain: p.explain, sum: e.sum()}
	switch {
	case l.Commit != "":
		f.key = p.key("file", l.Commit+" "+name)
	case e.Sum != "":
		f.key = p.key("file", e.Sum+" "+name)
	}
	return f, nil
}

func (p *repo) explain(name string, err error) error {
	return p.service.explain(p.ref, name, err)
}

// outdated says that what was kept is used because nobody could be asked.
func (p *repo) outdated(r cache.Record, err error) {
	p.place.Notes = append(p.place.Notes, memwall.Note{Code: "remote_kept", Severity: "warning", Field: "model",
		Text: fmt.Sprintf("%s could not be asked (%s): this is what it said on %s", p.service.name, reason(err),
			r.At.Format("2006-01-02"))})
}

// open makes the place of a repository.
func (p *repo) open() (*source.Place, error) {
	p.place = &source.Place{Name: p.ref.repo, Far: true}
	ahead := p.guess()
	l, err := p.listed()
	if err != nil {
		ahead.right("", "")
		return nil, err
	}
	p.place.Path, err = pick(p.ref, l.names())
	f := ahead.right(p.place.Path, l.Commit)
	if err != nil {
		return nil, err
	}
	p.place.From = p.from(l)
	t := &tree{find: p.find, names: func() ([]string, error) { return l.names(), nil }}
	if f != nil {
		t.open = map[string]*file{p.place.Path: f}
	}
	p.place.Files = t
	p.noteProjector(l)
	return p.place, nil
}

// noteProjector tells of projectors that go with a GGUF model.
func (p *repo) noteProjector(l *listing) {
	if found := projectors(l.names()); len(found) > 0 && strings.HasSuffix(strings.ToLower(p.place.Path), ".gguf") {
		p.place.Notes = append(p.place.Notes, memwall.Note{Code: "projector_beside", Severity: "info", Field: "model",
			Text: "hf:" + p.ref.repo + "/" + slices.Min(found) + " beside it is its projector: --mmproj adds it"})
	}
}

// from says which files these are.
func (p *repo) from(l *listing) string {
	at := l.Commit
	if at == "" {
		at = p.ref.revision
	}
	return p.service.name + "/" + p.ref.repo + " at " + at
}
