package remote

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/source"
	"github.com/memwall/memwall/source/cache"
)

// address finds a file at a URL, and those beside it that belong to it, which are asked for one by one.
func (f *Finder) address(r *reference) (*source.Place, error) {
	dir, name := path.Split(r.url.Path)
	if !validFile(name) {
		return nil, badReference(r.given, "is not the address of a file",
			"https://host/path/model.gguf, …/config.json or …/model.safetensors")
	}
	p := &source.Place{Path: name, Name: path.Join(r.url.Host, strings.Trim(dir, "/")), Far: true, From: r.url.Host, Address: shown(r.url)}
	t := &tree{find: func(beside string) (*file, error) {
		u := *r.url
		if beside != name {
			u.Path, u.RawPath, u.RawQuery = dir+beside, "", ""
		}
		x := f.at(r, &u, beside, p)
		if beside == name {
			return x, nil
		}
		_, err := x.Size()
		if errors.Is(err, errAbsent) {
			return nil, fs.ErrNotExist
		}
		return x, err
	}}
	p.Files = t
	if err := f.opened(t, name, p); err != nil {
		return nil, err
	}
	return p, nil
}

// opened asks for the file itself, so that its faults are told first, and says which one it is.
func (f *Finder) opened(t *tree, name string, p *source.Place) error {
	x, err := t.file("open", name)
	if err != nil {
		return err
	}
	_, err = x.Size()
	if absent, ok := errors.AsType[*absentError](err); ok {
		return absent.as
	}
	if err == nil && x.etag != "" {
		p.From += " (ETag " + format40(x.etag) + ")"
	}
	return err
}

// errAbsent is a file that is not beside another.
var errAbsent = errors.New("no such file")

// absentError is a file that a server does not have, or does not show.
type absentError struct{ as error }

func (e *absentError) Error() string        { return e.as.Error() }
func (e *absentError) Is(target error) bool { return target == errAbsent }

// keyOf is an address as a cache may keep it: what signs it only as a sum.
func keyOf(u *url.URL) string {
	sum := sha256.Sum256([]byte(u.RawQuery))
	return "url " + shown(u) + " " + hex.EncodeToString(sum[:8])
}

// at is the file at a URL, kept with its ETag.
func (f *Finder) at(r *reference, u *url.URL, name string, p *source.Place) *file {
	x := &file{finder: f, name: name, url: u, expect: -1, key: keyOf(u), fresh: f.believed}
	x.outdated = func(old cache.Record, err error) {
		p.Notes = append(p.Notes, memwall.Note{Code: "remote_kept", Severity: "warning", Field: "model",
			Text: fmt.Sprintf("%s could not be asked (%s): this is what it said on %s", u.Host, reason(err), old.At.Format("2006-01-02"))})
	}
	x.explain = func(_ string, err error) error {
		e, ok := errors.AsType[*statusError](err)
		told := f.fault(u.Host, &reference{given: r.given, url: u, kind: atURL}, "", err)
		if ok && slices.Contains([]int{401, 403, 404, 410}, e.status) {
			return &absentError{told}
		}
		return told
	}
	return x
}
