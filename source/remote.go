package source

import (
	"errors"
	"io"
	"io/fs"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/format/dropin"
	"github.com/memwall/memwall/model/catalog"
)

// Remote finds models at addresses. Package source/remote is one: hubs, registries and URLs.
type Remote interface {
	// Find gives the place that a reference leads to. Errors are *memwall.Error.
	Find(ref string) (*Place, error)
}

// Unreached says that nobody could be asked for a reference: no network leads there, or none may be used.
type Unreached struct{ Told *memwall.Error }

func (u *Unreached) Error() string { return u.Told.Message }

// Unwrap gives the error as it is told.
func (u *Unreached) Unwrap() error { return u.Told }

// Place is where a remote reference leads: files that are read as those of a folder are.
type Place struct {
	// Files are the place's; they are io.ReaderAt. Errors of theirs that are *memwall.Error are told as they are.
	Files fs.FS
	// Path is the file that is meant, or "." for all of them.
	Path string
	// Name is what models are called whose files do not say it.
	Name string
	// From says in a provenance which files these are: "huggingface.co/Qwen/Qwen3-32B at 9216db57".
	From string
	// Hub is the name on the hub, for command lines; "" when it has none.
	Hub string
	// Address of the file, Library its name in Ollama's library, and Real its path on this machine, likewise.
	Address, Library, Real string
	// Far: every file is a wait.
	Far      bool
	families func() ([]*dropin.Family, error)
	// Fix is what to do about a file that is missing here; "" when nothing better is known than the files say.
	Fix string
	// Notes on what was found.
	Notes []memwall.Note
	// Otherwise leads on where these files do not hold the weights; nil: they are all there is.
	Otherwise func() (*Place, error)
}

// remote reads the model of an address.
func (f *Files) remote(ref string) (*Resolved, error) {
	if f.Options.Remote == nil {
		return nil, noRemote(ref)
	}
	p, err := f.Options.Remote.Find(ref)
	if err != nil {
		return nil, near(err, inCatalog(ref))
	}
	p.families = f.Options.Families
	r, err := p.read()
	if err != nil {
		return nil, near(err, inCatalog(ref))
	}
	return r, nil
}

// inCatalog is the id of the same model in the catalog, which answers where the hub does not.
func inCatalog(ref string) []string {
	name, ok := strings.CutPrefix(ref, "hf:")
	if !ok {
		return nil
	}
	e, err := catalog.Find(name)
	if err != nil {
		return nil
	}
	return []string{e.ID}
}

// read gives the model of a place, or of where it leads on to.
func (p *Place) read() (*Resolved, error) {
	d := &disk{fsys: p.Files, base: p.Name, far: p.Far, families: p.families}
	if c, ok := p.Files.(io.Closer); ok {
		d.owned = c
	}
	defer d.close()
	r, err := d.path(p.Path)
	if p.Otherwise != nil && (err != nil || r.Format == "config") {
		next, otherwise := p.Otherwise()
		if otherwise != nil {
			return nil, otherwise
		}
		next.families = p.families
		return next.read()
	}
	if err != nil {
		return nil, p.fault(err)
	}
	r.Provenance = p.From + ", " + r.Provenance
	r.Notes = append(r.Notes, p.Notes...)
	r.Hub = p.Hub
	switch {
	case r.Format != "gguf":
	case p.Hub != "":
		r.File = p.Hub + "/" + p.Path
	default:
		r.Path, r.Address, r.Library = p.Real, p.Address, p.Library
	}
	return r, nil
}

// fault says where the files are that something is wrong with.
func (p *Place) fault(err error) error {
	var told *memwall.Error
	if !errors.As(err, &told) || told.Code == memwall.Remote {
		return err
	}
	e := *told
	if !strings.Contains(e.Message, p.From) {
		e.Message = p.From + ": " + e.Message
	}
	if p.Fix != "" && (e.Code == memwall.BadFile || e.Code == memwall.UnknownModel) {
		e.Hint = p.Fix
	}
	return &e
}
