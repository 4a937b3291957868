package remote

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/format/gguf"
	"github.com/memwall/memwall/source"
)

// The Hugging Face hub (huggingface.co/docs/hub/api): /api/models/REPO/revision/REVISION lists a repository at a
// commit, /REPO/resolve/REVISION/FILE gives a file or leads to where it is stored, with its size and commit in
// X-Linked-Size and X-Repo-Commit, and X-Error-Code says what an error means.

// hub finds a model of the hub: in the hub's cache on this machine, else at the hub.
func (f *Finder) hub(r *reference) (*source.Place, error) {
	r.revision = cmp.Or(r.revision, "main")
	if p := f.hubCache(r); p != nil {
		if !f.offline {
			p.Otherwise = func() (*source.Place, error) { return f.atHub(r) }
		}
		return p, nil
	}
	return f.atHub(r)
}

// atHub asks the hub. A file that is named, and is one of no set, needs no list.
func (f *Finder) atHub(r *reference) (*source.Place, error) {
	p := &repo{finder: f, service: f.hubService(), ref: r}
	if _, _, _, split := gguf.SplitName(r.file); strings.HasSuffix(strings.ToLower(r.file), ".gguf") && !split {
		return p.direct()
	}
	place, err := p.open()
	if err != nil {
		return nil, err
	}
	place.Hub = r.repo
	return place, nil
}

// direct opens a file without a list: the answer says at which commit.
func (p *repo) direct() (*source.Place, error) {
	p.place = &source.Place{Name: p.ref.repo, Far: true, Path: p.ref.file, Hub: p.ref.repo}
	commit := p.ref.revision
	old, data, kept := p.finder.cache.Get(p.key("commit", p.ref.revision))
	if !p.ref.pinned() {
		commit = ""
		if kept && isCommit(string(data)) && (p.finder.offline || p.finder.believed(old)) {
			commit = string(data)
		}
	}
	f := p.directFile(commit)
	_, err := f.Size()
	var told *memwall.Error
	if commit == "" && kept && errors.As(err, &told) && told.Code == memwall.Remote && isCommit(string(data)) {
		again := p.directFile(string(data))
		if _, hit, ok := p.finder.cache.Get(again.key); ok && len(hit) > 0 {
			p.outdated(old, err)
			f, err = again, nil
		}
	}
	if err != nil {
		return nil, err
	}
	p.place.From = p.from(&p.pinned)
	if p.pinned.Commit != "" { // what else is asked for is of the same commit
		at := *p.ref
		at.revision = p.pinned.Commit
		p.ref = &at
	}
	t := &tree{find: p.find, open: map[string]*file{p.ref.file: f}}
	t.names = func() ([]string, error) {
		l, err := p.listed()
		if err != nil {
			return nil, err
		}
		return l.names(), nil
	}
	p.place.Files = t
	return p.place, nil
}

// directFile is the file at a commit, or where the revision stands.
func (p *repo) directFile(commit string) *file {
	p.pinned.Commit = commit
	f := &file{finder: p.finder, name: p.ref.file, expect: -1, explain: p.explain, answered: p.answered}
	f.url = p.service.file(p.ref, cmp.Or(commit, p.ref.revision), p.ref.file)
	if commit != "" {
		f.key = p.key("file", commit+" "+p.ref.file)
	}
	return f
}

// answered learns the commit that a file is of.
func (p *repo) answered(f *file, r *reply) error {
	switch {
	case r.commit == "":
		return nil
	case p.pinned.Commit != "" && p.pinned.Commit != r.commit:
		return refuse(tryLater, "%s was asked for commit %s and sends %s", p.service.name, p.pinned.Commit, r.commit)
	}
	p.pinned.Commit = r.commit
	f.key = p.key("file", r.commit+" "+f.name)
	if !p.ref.pinned() {
		p.remember(p.key("commit", p.ref.revision), []byte(r.commit))
	}
	return nil
}

// hubService is the hub at its endpoint.
func (f *Finder) hubService() *service {
	endpoint := f.hubEndpoint()
	s := &service{name: cmp.Or(hostOf(endpoint), endpoint), decode: decodeHub}
	s.list = func(r *reference) *url.URL {
		return joined(endpoint, "/api/models/"+r.repo+"/revision/"+url.PathEscape(r.revision)+"?blobs=true")
	}
	s.file = func(r *reference, commit, name string) *url.URL {
		return joined(endpoint, "/"+r.repo+"/resolve/"+url.PathEscape(commit)+"/"+escaped(name))
	}
	s.explain = func(r *reference, name string, err error) error { return f.hubFault(s, r, name, err) }
	return s
}

// joined is a URL below an endpoint. An endpoint that is not a URL gives one that is never asked.
func joined(endpoint, rest string) *url.URL {
	u, err := url.Parse(endpoint + rest)
	if err != nil {
		return &url.URL{Path: endpoint}
	}
	return u
}

// escaped is a path whose parts can stand in a URL.
func escaped(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}

// decodeHub reads a list of files.
func decodeHub(data []byte) (*listing, error) {
	var in struct {
		SHA      string `json:"sha"`
		Siblings []struct {
			Name string `json:"rfilename"`
			Size *int64 `json:"size"`
			Blob string `json:"blobId"` // git's name of it
			LFS  struct {
				Sum string `json:"sha256"` // of the file; git's blob is a pointer to it
			} `json:"lfs"`
		} `json:"siblings"`
	}
	if err := json.Unmarshal(data, &in); err != nil || !isCommit(in.SHA) || len(in.Siblings) > maxListed {
		return nil, refuse(tryLater, "the hub's list of files cannot be read")
	}
	l := &listing{Commit: in.SHA, Files: map[string]entry{}}
	for _, s := range in.Siblings {
		e := entry{Size: -1}
		if s.Size != nil && *s.Size >= 0 {
			e.Size = *s.Size
		}
		switch {
		case isHex(s.LFS.Sum, 64):
			e.Sum = s.LFS.Sum
		case isCommit(s.Blob):
			e.Blob = s.Blob
		}
		if validFile(s.Name) {
			l.Files[s.Name] = e
		}
	}
	return l, nil
}

// hubFault says what an answer of the hub means, and what to do.
func (f *Finder) hubFault(s *service, r *reference, name string, err error) error {
	e, ok := errors.AsType[*statusError](err)
	if !ok {
		return f.fault(s.name, r, name, err)
	}
	out := &memwall.Error{Code: memwall.Remote, Field: "model", Value: redact(r.given)}
	page := f.hubEndpoint() + "/" + r.repo
	switch {
	case e.code == "GatedRepo":
		out.Message = r.repo + " is gated: " + s.name + " gives its files to accounts that accepted its conditions"
		out.Hint = "accept them at " + page + ", then set HF_TOKEN to a token of that account (or log in with hf auth login)"
		if e.hadAuth {
			out.Message += ", and this token's has not, or the token may not read gated repositories"
			out.Hint = "accept them at " + page + " with the account of HF_TOKEN; a fine-grained token needs the right to read gated " +
				"repositories"
		}
	case e.code == "RevisionNotFound":
		out.Code = memwall.UnknownModel
		out.Message, out.Hint = fmt.Sprintf("%s has no revision %s", r.repo, r.revision),
			"a branch, a tag or a commit of "+page+"/tree/main"
	case e.code == "EntryNotFound":
		out.Code = memwall.UnknownModel
		out.Message, out.Hint = fmt.Sprintf("%s has no file %s at %s", r.repo, cmp.Or(name, r.file), r.revision),
			"the files are listed at "+page+"/tree/"+r.revision
	case e.code == "RepoNotFound", e.status == 404, e.status == 401 && !e.hadAuth:
		out.Code = memwall.UnknownModel
		out.Message, out.Hint = fmt.Sprintf("%s has no model %s that is open to everybody", s.name, r.repo),
			"check the spelling; for a private one set HF_TOKEN, or HF_TOKEN_PATH to the file that holds it"
		if e.hadAuth {
			out.Message, out.Hint = fmt.Sprintf("%s has no model %s that this token may see", s.name, r.repo),
				"check the spelling, and whose token HF_TOKEN is"
		}
	case e.status == 401:
		out.Message, out.Hint = s.name+" does not take the token",
			"a new one from "+f.hubEndpoint()+"/settings/tokens in HF_TOKEN, or none: HF_HUB_DISABLE_IMPLICIT_TOKEN=1"
	case e.status == 403:
		out.Message, out.Hint = s.name+" refuses "+r.repo+" to this account: "+e.Error(),
			"ask for access at "+page+"; a fine-grained token needs the right to read it"
	default:
		return f.fault(s.name, r, name, err)
	}
	return out
}
