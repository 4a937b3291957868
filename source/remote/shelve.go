package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/source/fetch"
	"github.com/memwall/memwall/unit"
)

// fill brings all files to the shelf.
func (s *shelf) fill(ctx context.Context) (string, error) {
	var missing int64
	for _, x := range s.files {
		if here, whole := x.Here(); !whole {
			missing += x.Size - here
		}
	}
	if err := s.fits(missing); err != nil {
		return "", err
	}
	if s.Begin != nil && missing > 0 {
		s.Begin(s.place.From, len(s.files), missing)
	}
	for _, x := range s.files {
		if err := s.bring(ctx, x); err != nil {
			return "", err
		}
	}
	if s.repo != "" && !s.ref.pinned() {
		if err := s.stands(); err != nil {
			return "", s.fault(s.root, err)
		}
	}
	return s.model(), nil
}

// fits refuses what the disk cannot hold, before anything is asked for.
func (s *shelf) fits(missing int64) error {
	free, known := fetch.Room(s.files[0].To)
	if !known || missing <= free {
		return nil
	}
	return s.says(fmt.Sprintf("%s of %s are missing, and %s are free at %s",
		unit.Bytes(missing), s.place.Name, unit.Bytes(free), s.where()),
		"free some; HF_HOME names a folder on another disk")
}

// where the files go.
func (s *shelf) where() string {
	if s.repo != "" {
		return s.repo
	}
	return s.root
}

// bring keeps one file, and leads its name to it.
func (s *shelf) bring(ctx context.Context, x *shelved) error {
	how := fetch.How{Tries: 2, Pause: s.finder.client.limits.Backoff}
	if s.Told != nil {
		how.Told = func(f *fetch.File, here int64) { s.Told(f.Name, here, f.Size) }
	}
	if err := how.Keep(ctx, &x.File); err != nil {
		return s.failed(x, err)
	}
	if err := x.lead(); err != nil {
		return s.fault(x.link, err)
	}
	return nil
}

// lead makes the link, or where none can be made gives the file the name.
func (x *shelved) lead() error {
	if x.link == "" {
		return nil
	}
	if _, err := os.Stat(x.link); err == nil {
		return nil
	}
	const mode = 0o755
	if err := os.MkdirAll(filepath.Dir(x.link), mode); err != nil {
		return err
	}
	to, err := filepath.Rel(filepath.Dir(x.link), x.To)
	if err != nil {
		return err
	}
	_ = os.Remove(x.link) // it leads nowhere
	if os.Symlink(to, x.link) == nil {
		return nil
	}
	return os.Rename(x.To, x.link)
}

// stands writes down where the revision stands, as the hub's tools do: that is how they find the files.
func (s *shelf) stands() error {
	const folders, file = 0o755, 0o644
	name := filepath.Join(s.repo, "refs", filepath.FromSlash(s.ref.revision))
	if err := os.MkdirAll(filepath.Dir(name), folders); err != nil {
		return err
	}
	part := name + ".part"
	if err := os.WriteFile(part, []byte(s.list.Commit), file); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return os.Rename(part, name)
}

func (s *shelf) says(message, hint string) error {
	return &memwall.Error{Code: memwall.Remote, Field: "download", Value: redact(s.ref.given), Message: message, Hint: hint}
}

func (s *shelf) fault(name string, err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		name, err = e.Path, e.Err
	}
	return s.says(fmt.Sprintf("%s cannot be written: %v", name, err), "HF_HOME names another folder for models")
}

// failed says why a file did not come, what is left of it, and what to do.
func (s *shelf) failed(x *shelved, err error) error {
	cut, _ := errors.AsType[*fetch.CutError](err)
	sum, wrong := errors.AsType[*fetch.SumError](err)
	_, own := errors.AsType[*os.PathError](err)
	again := "run it again"
	if cut != nil && cut.Kept > 0 {
		again = fmt.Sprintf("%s of %s are kept, and the same command takes them up", unit.Bytes(cut.Kept), unit.Bytes(x.Size))
	}
	switch {
	case errors.Is(err, fetch.ErrHeld):
		return s.says("another process fetches "+x.Name+" into "+filepath.Dir(x.To),
			"wait until it ends: this one finds the file then")
	case errors.Is(err, fetch.ErrFull):
		return s.says(fmt.Sprintf("the disk is full: %s of %s did not fit at %s", unit.Bytes(x.Size-cut.Kept), x.Name, s.where()),
			"free some; "+again)
	case wrong:
		return s.says(fmt.Sprintf("%s is not what %s promised: %v; it was removed", x.Name, s.place.From, sum),
			"run it again; if it stays so, a proxy or a mirror in between changes it")
	case errors.Is(err, context.Canceled):
		return s.says(x.Name+" was interrupted", again)
	case own:
		return s.fault(x.To, err)
	}
	return s.says(fmt.Sprintf("%s did not come whole: %s", x.Name, reason(err)), again)
}

// rest asks for the bytes of a file from a place on.
func (f *file) rest(ctx context.Context, from int64) (*fetch.Part, error) {
	if f.finder.offline {
		return nil, &fetch.RefusedError{Err: errOffline}
	}
	q := query{ctx: ctx, url: f.url, from: from, to: f.size - 1}
	r, err := f.finder.client.get(q)
	if err != nil {
		if passing(err) {
			return nil, err
		}
		return nil, &fetch.RefusedError{Err: f.explain(f.name, err)}
	}
	at, size, ok := int64(0), r.ContentLength, true
	if r.StatusCode == http.StatusPartialContent {
		at, _, size, ok = contentRange(r.Header.Get("Content-Range"))
	}
	if !ok || size >= 0 && size != f.size {
		r.close()
		wrong := fmt.Errorf("%s says that the file has %d bytes, and %d were promised", r.url.Host, size, f.size)
		return nil, &fetch.RefusedError{Err: wrong}
	}
	return &fetch.Part{Body: r.body, From: at}, nil
}
