// Package source turns a reference to a model into a model.Model with its weights and where they come
// from: a catalog id, a GGUF file, a safetensors file or folder, a config.json, a description in YAML, and what a Remote
// finds at an address. It is the only package that opens model files.
//
// Open resolve.go for what a reference may be; remote.go for how addresses are read; gguf.go, safetensors.go and config.go for how each source
// is read; names.go for what the files of the hub call their tensors; quantisation.go for what a config.json
// says of its weights, and recipe.go for what becomes of it.
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

// Resolved is what a reference leads to.
type Resolved = memwall.Resolved

// Options limit what a reference may reach.
type Options struct {
	// Root is the only folder that references may name files in; relative ones start there. Paths outside,
	// also by way of links, are refused as if there were nothing. Empty: every path that the process can read.
	Root string
	// Remote finds what lies at addresses and on hubs; nil: nothing is fetched.
	Remote Remote
	// Families gives family files for architectures that no family reads; it is asked when there is one. nil: there are none.
	Families func() ([]*dropin.Family, error)
}

// Files finds models among files and folders and in the catalog. The zero value has no limits.
type Files struct{ Options Options }

// New gives a source with options.
func New(o Options) *Files { return &Files{Options: o} }

// Model resolves a reference: the first that matches of a config.json written out, a path, an address, an id or alias of the catalog, and a name
// on the hub.
func (f *Files) Model(ref string) (*Resolved, error) {
	r, err := f.find(ref)
	if err == nil && r.Projector != nil {
		return nil, besideModel(r.ID)
	}
	return r, err
}

// find gives what a reference leads to, a model or what goes beside one.
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

// offline asks the hub, and where it cannot be asked reads the words of the name.
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

// byWords reads the words of a path where no file is, as in lines that come from other machines.
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

// schemes of addresses.
var schemes = map[string]bool{"https": true, "http": true, "hf": true, "ollama": true, "modelscope": true, "s3": true}

// noRemote refuses an address where nothing is fetched.
func noRemote(ref string) error {
	hint := "download the file, its folder or its config.json and give the path; memwall models lists what is known by name"
	if e, err := catalog.Find(strings.TrimPrefix(strings.TrimPrefix(ref, "hf:"), "https://huggingface.co/")); err == nil {
		hint = "the catalog has this model as " + e.ID + "; or download its files and give their path"
	}
	return &memwall.Error{Code: memwall.Remote, Field: "model", Value: ref, Message: fmt.Sprintf("%s is an address, and only catalog models and files are read here", format.Quote(ref)), Hint: hint}
}

// suffixes of files that hold models or look as if they did.
var suffixes = map[string]bool{".gguf": true, ".safetensors": true, ".json": true, ".bin": true, ".pt": true, ".pth": true, ".ckpt": true, ".pkl": true, ".yaml": true, ".yml": true}

func isPath(ref string) bool {
	return ref == "." || ref == ".." || ref == "~" || path.IsAbs(ref) || filepath.IsAbs(filepath.FromSlash(ref)) ||
		strings.HasPrefix(ref, "./") || strings.HasPrefix(ref, "../") || strings.HasPrefix(ref, "~/") || suffixes[strings.ToLower(path.Ext(ref))]
}

// named finds an id or alias of the catalog, and otherwise a name on the hub.
func (f *Files) named(ref string) (*Resolved, error) {
	for _, host := range []string{"hf.co/", "huggingface.co/"} { // as Ollama and llama.cpp write it, without a scheme
		ref = strings.TrimPrefix(ref, host)
	}
	ref = naming.Unhosted(ref)
	if f.Options.Remote != nil && onHub(ref) && strings.ContainsAny(ref, ":@") {
		return offline(ref, func() (*Resolved, error) { return f.remote("hf:" + ref) }) // a file or a revision, which the catalog has none of
	}
	r, err := memwall.Catalog{}.Model(ref)
	if err == nil && r.Assumed && f.Options.Remote != nil && onHub(ref) { // the hub knows better
		return offline(ref, func() (*Resolved, error) { return f.remote("hf:" + ref) })
	}
	var missing *catalog.NotFoundError
	if !errors.As(err, &missing) || !onHub(ref) || missing.Ambiguous && f.Options.Remote == nil { // of several here, the hub knows which
		return r, err
	}
	if f.Options.Remote != nil {
		r, err := f.remote("hf:" + ref)
		return r, near(err, missing.Candidates)
	}
	return nil, near(&memwall.Error{Code: memwall.Remote, Field: "model", Value: ref,
		Message: fmt.Sprintf("%s is neither in the catalog nor a file or folder here, and the hub is not asked", format.Quote(ref)), Hint: "download its files, or its config.json alone, and give the path"}, missing.Candidates)
}

// onHub tells names such as org/name, org/name:Q4_K_M and org/name@v1.
func onHub(ref string) bool {
	org, name, ok := strings.Cut(ref, "/")
	return ok && org != "" && name != ""
}

// near adds the names of the catalog that a name resembles.
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

// path reads a file or a folder.
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

// detected goes by the first bytes of a file whose name tells nothing.
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

// pickled refuses PyTorch's own files: reading one runs the code in it.
func pickled(name string) error {
	return &memwall.Error{Code: memwall.Unsupported, Field: name, Message: name + ": a PyTorch file is never read, because unpickling runs the code in it",
		Hint: "give safetensors or GGUF files, or the config.json for a model sized without its files"}
}

// safetensors reads a file, or the set that it belongs to, with the config.json beside it.
func (d *disk) safetensors(file string) (*Resolved, error) {
	s, err := d.shardsOf(file)
	if err != nil {
		return nil, err
	}
	return d.checkpoint(d.idOf(file), s)
}

// json reads a config.json under any name, or an index with its files.
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

// generic are names of files that say nothing of the model: its folder does.
var generic = map[string]bool{"config": true, "model": true, "pytorch_model": true, "consolidated": true, "params": true, "ggml-model": true}

// idOf names a model after its file, or after its folder where the file's name is that of every model.
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

// note adds a remark.
func note(r *Resolved, code, text string, args ...any) {
	r.Notes = append(r.Notes, memwall.Note{Code: code, Severity: "info", Field: "model", Text: fmt.Sprintf(text, args...)})
}
