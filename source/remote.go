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

// Remote locates models on the network. Package source/remote implements it for hubs, registries and URLs.
type Remote interface {
	// Find returns the place that a reference leads to. Errors are *memwall.Error.
	Find(ref string) (*Place, error)
}

// Unreached reports that a reference could not be looked up because the network is unreachable or disabled.
type Unreached struct{ Told *memwall.Error }

func (u *Unreached) Error() string { return u.Told.Message }

// Unwrap returns the error to show.
func (u *Unreached) Unwrap() error { return u.Told }

// Place is where a remote reference leads: files that are read like those of a folder.
type Place struct {
	// Files holds the place's files, which implement io.ReaderAt. Their *memwall.Error errors are shown unchanged.
	Files fs.FS
	// Path is the referenced file, or "." for all of them.
	Path string
	// Name names models whose files do not.
	Name string
	// From identifies the files for provenance: "huggingface.co/Qwen/Qwen3-32B at 9216db57".
	From string
	// Hub is the name on the hub, for command lines; "" if none.
	Hub string
	// For command lines too: Address is the file's URL, Library its name in Ollama's library, Real its path on this
	// machine.
	Address, Library, Real string
	// Far reports that opening a file has high latency.
	Far      bool
	families func() ([]*dropin.Family, error)
	// Fix says what to do about a missing file; "" if the files suggest nothing better.
	Fix string
	// Notes on what was found.
	Notes []memwall.Note
	// Otherwise returns another place to look if these files do not hold the weights; nil if there is none.
	Otherwise func() (*Place, error)
}

// remote resolves an address.
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

// inCatalog returns the catalog id of the same model, as an alternative if the hub does not answer.
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

// read returns the model of a place, or of the place it leads on to.
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

// fault adds to an error where the files are.
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
