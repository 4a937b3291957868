// Package source resolves a reference to a model.Model with its weights and their origin. A reference is a catalog id,
// a GGUF file, a safetensors file or folder, a config.json, a YAML description, or an address that a Remote resolves.
// It is the only package that opens model files.
//
// See resolve.go for the kinds of references, remote.go for addresses, gguf.go, safetensors.go and config.go for each
// file format, names.go for tensor names in hub files, quantisation.go for what a config.json says of its weights, and
// recipe.go for how that becomes a recipe.
package source

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/format"
	"github.com/memwall/memwall/format/dropin"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/naming"
)

// Resolved is the model that a reference resolved to.
type Resolved = memwall.Resolved

// Options limit what a reference can access.
type Options struct {
	// Root is the only folder whose files references may name; relative paths start there. Paths outside, including
	// through links, are treated as nonexistent. If empty, any path that the process can read is allowed.
	Root string
	// Remote resolves addresses and hub names; if nil, nothing is fetched.
	Remote Remote
	// Families returns drop-in families for architectures that no built-in family reads, and is called when there is
	// one; nil for none.
	Families func() ([]*dropin.Family, error)
}

// Files is a ModelSource for files, folders and the catalog. The zero value has no limits.
type Files struct{ Options Options }

// New returns a source with the given options.
func New(o Options) *Files { return &Files{Options: o} }

// Model resolves a reference, trying in order: an inlined config.json, a path, an address, a catalog id or alias, a hub
// name.
func (f *Files) Model(ref string) (*Resolved, error) {
	r, err := f.find(ref)
	if err == nil && r.Projector != nil {
		return nil, besideModel(r.ID)
	}
	return r, err
}

// find resolves a reference to a model or projector.
func (f *Files) find(ref string) (*Resolved, error) {
	if strings.HasPrefix(ref, Inlined) {
		return unpacked(ref)
	}
	if scheme, _, ok := strings.Cut(ref, ":"); ok && schemes[strings.ToLower(scheme)] {
		if strings.EqualFold(scheme, "ollama") {
			return f.ollama(ref)
		}
		return offline(ref, func() (*Resolved, error) { return f.remote(ref) })
	}
	d, err := openDisk(f.Options.Root)
	if err != nil {
		return nil, (&disk{root: true}).notFound(f.Options.Root, err)
	}
	defer d.close()
	d.families = f.Options.Families
	file := home(filepath.ToSlash(ref))
	if isPath(file) || d.isFolder(file) && d.holdsModel(file) {
		r, err := d.path(file)
		return byWords(ref, r, err)
	}
	return f.named(ref)
}

// offline asks the hub, and if it is unreachable interprets the words of the name.
func offline(ref string, ask func() (*Resolved, error)) (*Resolved, error) {
	r, err := ask()
	var nobody *Unreached
	if !errors.As(err, &nobody) {
		return r, err
	}
	read, unnamed := (memwall.Catalog{}).Model(ref)
	if unnamed != nil {
		return nil, err
	}
	note(read, "not_fetched", "%s; read by its name", nobody.Told.Message)
	return read, nil
}

// byWords interprets the words of a path that does not exist here, as in command lines from other machines.
func byWords(ref string, r *Resolved, err error) (*Resolved, error) {
	var told *memwall.Error
	if !errors.As(err, &told) || told.Code != memwall.UnknownModel {
		return r, err
	}
	if read, unnamed := (memwall.Catalog{}).Model(ref); unnamed == nil {
		return read, nil
	}
	return nil, err
}

// schemes are those of addresses.
var schemes = map[string]bool{"https": true, "http": true, "hf": true, "ollama": true, "modelscope": true, "s3": true}

// noRemote rejects an address if nothing may be fetched.
func noRemote(ref string) error {
	hint := "download the file, its folder or its config.json and give the path; memwall models lists what is known by name"
	if e, err := catalog.Find(strings.TrimPrefix(strings.TrimPrefix(ref, "hf:"), "https://huggingface.co/")); err == nil {
		hint = "the catalog has this model as " + e.ID + "; or download its files and give their path"
	}
	return &memwall.Error{Code: memwall.Remote, Field: "model", Value: ref, Message: fmt.Sprintf("%s is an address, and only catalog models and files are read here", format.Quote(ref)), Hint: hint}
}

// suffixes of files that hold models, or look like it.
var suffixes = map[string]bool{".gguf": true, ".safetensors": true, ".json": true, ".bin": true, ".pt": true, ".pth": true, ".ckpt": true, ".pkl": true, ".yaml": true, ".yml": true}

func isPath(ref string) bool {
	return ref == "." || ref == ".." || ref == "~" || path.IsAbs(ref) || filepath.IsAbs(filepath.FromSlash(ref)) ||
		strings.HasPrefix(ref, "./") || strings.HasPrefix(ref, "../") || strings.HasPrefix(ref, "~/") || suffixes[strings.ToLower(path.Ext(ref))]
}

// named resolves a catalog id or alias, or else a hub name.
func (f *Files) named(ref string) (*Resolved, error) {
	for _, host := range []string{"hf.co/", "huggingface.co/"} { // as Ollama and llama.cpp write it, without a scheme
		ref = strings.TrimPrefix(ref, host)
	}
	ref = naming.Unhosted(ref)
	if f.Options.Remote != nil && onHub(ref) && strings.ContainsAny(ref, ":@") {
		return offline(ref, func() (*Resolved, error) { return f.remote("hf:" + ref) }) // a file or revision, which the catalog does not have
	}
	r, err := memwall.Catalog{}.Model(ref)
	if err == nil && r.Assumed && f.Options.Remote != nil && onHub(ref) { // the hub knows better
		return offline(ref, func() (*Resolved, error) { return f.remote("hf:" + ref) })
	}
	var missing *catalog.NotFoundError
	if !errors.As(err, &missing) || !onHub(ref) || missing.Ambiguous && f.Options.Remote == nil { // ambiguous here; the hub knows which
		return r, err
	}
	if f.Options.Remote != nil {
		r, err := f.remote("hf:" + ref)
		return r, near(err, missing.Candidates)
	}
	return nil, near(&memwall.Error{Code: memwall.Remote, Field: "model", Value: ref,
		Message: fmt.Sprintf("%s is neither in the catalog nor a file or folder here, and the hub is not asked", format.Quote(ref)), Hint: "download its files, or its config.json alone, and give the path"}, missing.Candidates)
}

// onHub reports whether a name is of the form org/name, org/name:Q4_K_M or org/name@v1.
func onHub(ref string) bool {
	org, name, ok := strings.Cut(ref, "/")
	return ok && org != "" && name != ""
}

// near adds similar catalog names to an error.
func near(err error, names []string) error {
	var told *memwall.Error
	if len(names) == 0 || !errors.As(err, &told) || told.Code != memwall.Remote && told.Code != memwall.UnknownModel {
		return err
	}
	e := *told
	e.Hint = strings.TrimPrefix(e.Hint+"; the catalog has "+strings.Join(names, ", "), "; ")
	var nobody *Unreached
	if errors.As(err, &nobody) {
		return &Unreached{Told: &e}
	}
	return &e
}

// path reads a file or folder.
func (d *disk) path(file string) (*Resolved, error) {
	info, err := d.stat(file)
	switch {
	case err != nil:
		return nil, d.notFound(file, err)
	case info.IsDir():
		return d.folder(strings.TrimSuffix(file, "/") + "/")
	}
	switch ext := strings.ToLower(path.Ext(file)); ext {
	case ".gguf":
		return d.gguf(file)
	case ".safetensors":
		return d.safetensors(file)
	case ".json":
		return d.json(file)
	case ".yaml", ".yml":
		return d.described(file)
	case ".bin", ".pt", ".pth", ".ckpt", ".pkl":
		return nil, pickled(path.Base(file))
	}
	return d.detected(file)
}

// detected decides by the first bytes of a file whose name says nothing.
func (d *disk) detected(file string) (*Resolved, error) {
	switch kind := format.Detect(d.head(file)); kind {
	case format.GGUF:
		return d.gguf(file)
	case format.Safetensors:
		return d.safetensors(file)
	case format.JSON:
		return d.json(file)
	case format.Zip, format.Pickle:
		return nil, pickled(path.Base(file))
	default:
		return nil, badFile(path.Base(file), "", "this is "+kind.Is(), kind.Fix())
	}
}

// pickled rejects PyTorch's own files: reading one would execute code in it.
func pickled(name string) error {
	return &memwall.Error{Code: memwall.Unsupported, Field: name, Message: name + ": a PyTorch file is never read, because unpickling runs the code in it",
		Hint: "give safetensors or GGUF files, or the config.json for a model sized without its files"}
}

// safetensors reads a file, or the set it belongs to, with the accompanying config.json.
func (d *disk) safetensors(file string) (*Resolved, error) {
	s, err := d.shardsOf(file)
	if err != nil {
		return nil, err
	}
	return d.checkpoint(d.idOf(file), s)
}

// json reads a config.json of any name, or an index with its files.
func (d *disk) json(file string) (*Resolved, error) {
	dir, name := path.Split(file)
	switch {
	case strings.HasSuffix(name, ".safetensors.index.json"):
		s, err := d.indexed(file)
		if err != nil {
			return nil, err
		}
		return d.checkpoint(d.idOf(file), s)
	case name == "adapter_config.json":
		return nil, d.adapter(dir)
	case strings.HasSuffix(name, ".bin.index.json"):
		return nil, pickled(name)
	}
	c, err := d.readConfiguration(dir, name)
	if err != nil {
		return nil, err
	}
	return c.resolve(d.idOf(file))
}

// generic are uninformative file names, for which the folder's name is used.
var generic = map[string]bool{"config": true, "model": true, "pytorch_model": true, "consolidated": true, "params": true, "ggml-model": true}

// idOf names a model after its file, or after its folder if the file's name is generic.
func (d *disk) idOf(file string) string {
	name := path.Base(file)
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".json"), ".safetensors.index")
	name = strings.TrimSuffix(strings.TrimSuffix(name, path.Ext(file)), ".safetensors")
	if hit := numbered.FindStringSubmatch(path.Base(file)); hit != nil {
		name = hit[1]
	}
	if generic[name] {
		return path.Base(path.Dir(d.absolute(file)))
	}
	return name
}

// note adds a note.
func note(r *Resolved, code, text string, args ...any) {
	r.Notes = append(r.Notes, memwall.Note{Code: code, Severity: "info", Field: "model", Text: fmt.Sprintf(text, args...)})
}
