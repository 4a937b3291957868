package remote

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/format/gguf"
	"github.com/memwall/memwall/source"
	"github.com/memwall/memwall/source/fetch"
)

// Downloading holds the options and callbacks of a download.
type Downloading struct {
	// Folder is for models of services that have none of their own here; the hub's lie in the hub's cache, where its tools find them.
	Folder string
	// Begin is told what is fetched before anything is: from where, how many files, and the bytes of them that are missing.
	Begin func(from string, files int, missing int64)
	// Told is told how far a file is.
	Told func(name string, here, size int64)
}

// Download brings the files of a model to this machine, each checked, and gives the path of the model: of its file, or of its folder.
// What is here already is not asked for, and what came of an interrupted download is taken up again. Errors are *memwall.Error.
func (f *Finder) Download(ctx context.Context, ref string, d Downloading) (string, error) {
	r, err := f.parse(ref)
	if err != nil {
		return "", err
	}
	if r.kind == onHub {
		r.revision = cmp.Or(r.revision, "main")
		if at := f.inHubCache(r); at != "" {
			return at, nil
		}
	}
	s, err := f.shelf(r, d)
	if err != nil || s.real != "" {
		return s.real, err
	}
	if err := s.choose(); err != nil {
		return "", err
	}
	return s.fill(ctx)
}

// inHubCache is a GGUF file of the hub's cache that lies there whole; "" for none. It is what the hub's tools put there.
func (f *Finder) inHubCache(r *reference) string {
	p := f.hubCache(r)
	if p == nil || !isGGUF(p.Path) {
		return ""
	}
	for _, n := range setOf(p.Path) {
		if info, err := fs.Stat(p.Files, n); err != nil || !info.Mode().IsRegular() {
			return ""
		}
	}
	repo, commit := f.snapshot(r)
	return filepath.Join(repo, "snapshots", commit, filepath.FromSlash(p.Path))
}

func isGGUF(name string) bool { return strings.EqualFold(path.Ext(name), ".gguf") }

// setOf are the files of a model whose first is named.
func setOf(name string) []string {
	if all := gguf.ShardNames(name); all != nil {
		return all
	}
	return []string{name}
}

// shelf is where the files of a model go.
type shelf struct {
	Downloading
	finder *Finder
	ref    *reference
	place  *source.Place
	list   *listing // nil: the service lists none
	real   string   // the model lies here already
	repo   string   // the hub's folder of it; "" for other services
	root   string   // folder of its files
	files  []*shelved
}

// shelved is a file and its place.
type shelved struct {
	fetch.File
	link string // leads to the file, by the name that the repository has for it; "" where that is its path
}

// shelf finds a model where its files can be had.
func (f *Finder) shelf(r *reference, d Downloading) (*shelf, error) {
	s := &shelf{Downloading: d, finder: f, ref: r}
	if r.kind == onHub {
		err := s.atHub()
		return s, err
	}
	var err error
	if s.place, err = f.elsewhere(r); err == nil && !s.place.Far {
		s.real = s.place.Real
	}
	return s, err
}

// atHub reads the list of a repository; nothing of a file is asked for yet.
func (s *shelf) atHub() (err error) {
	if s.repo = s.finder.hubFolder(s.ref); s.repo == "" {
		return &memwall.Error{Code: memwall.BadField, Field: "download", Value: s.ref.given,
			Message: "no folder of the hub's cache is known here", Hint: "HF_HOME names one"}
	}
	p := &repo{finder: s.finder, service: s.finder.hubService(), ref: s.ref}
	p.place = &source.Place{Name: s.ref.repo, Far: true, Files: &tree{find: p.find}}
	s.place = p.place
	if s.list, err = p.listed(); err != nil {
		return err
	}
	s.place.From = p.from(s.list)
	s.place.Path, err = pick(s.ref, s.list.names())
	return err
}

// choose decides which files are fetched, and where each goes.
func (s *shelf) choose() error {
	t, ok := s.place.Files.(*tree)
	names := setOf(s.place.Path)
	switch {
	case !ok || !isGGUF(s.place.Path) && s.list == nil:
		return &memwall.Error{Code: memwall.Unsupported, Field: "download", Value: redact(s.ref.given),
			Message: "the files of " + s.place.Name + " are not fetched from there", Hint: "hf:org/name, or the address of a GGUF file"}
	case !isGGUF(s.place.Path):
		names = wanted(s.list.names())
	}
	for _, name := range names {
		x, err := t.file("fetch", name)
		if err == nil {
			_, err = x.Size()
		}
		if err != nil {
			return err
		}
		s.add(x)
	}
	return nil
}

// add places a file: on the hub's shelf as its tools do (huggingface.co/docs/huggingface_hub/guides/manage-cache), else in a folder of
// its own state.
func (s *shelf) add(x *file) {
	to, link := fetch.File{Name: x.name, Size: x.size, Sum: x.sum, Version: x.etag, Open: x.rest}, ""
	switch {
	case s.repo == "" && s.root == "":
		s.root = filepath.Join(s.Folder, plainPath(s.place.Name), fetch.Short(cmp.Or(x.sum.Hex(), x.etag, x.url.String())))
	case s.repo != "":
		s.root = filepath.Join(s.repo, "snapshots", s.list.Commit)
	}
	to.To = filepath.Join(s.root, plainPath(x.name))
	if s.repo != "" {
		to.To = filepath.Join(s.root, filepath.FromSlash(x.name))
	}
	if s.repo != "" && x.sum.Hex() != "" && !sized(to.To, x.size) {
		to.To, link = filepath.Join(s.repo, "blobs", x.sum.Hex()), to.To
	}
	s.files = append(s.files, &shelved{to, link})
}

// sized: a file of that size lies there by itself, as where no links can be made.
func sized(name string, size int64) bool {
	info, err := os.Lstat(name)
	return err == nil && info.Mode().IsRegular() && info.Size() == size
}

// plainPath keeps of a name what every system takes in a path.
func plainPath(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-/", r) {
			return r
		}
		return '-'
	}, name)
	return filepath.FromSlash(strings.TrimPrefix(path.Clean("/"+name), "/"))
}

// model is the path that engines are given.
func (s *shelf) model() string {
	if isGGUF(s.place.Path) {
		return cmp.Or(s.files[0].link, s.files[0].To)
	}
	return s.root
}

// leftOut are weights that stand in a repository a second time, and what no engine reads.
var leftOut = []string{
	".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack", ".onnx", ".onnx_data", ".gguf", ".ot", ".tflite",
	".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".pdf", ".mp4", ".zip",
}

// wanted are the files of a checkpoint that engines read: its tensors once, and what stands beside them.
func wanted(names []string) (out []string) {
	tensors := slices.ContainsFunc(names, func(n string) bool {
		return path.Ext(n) == ".safetensors" && !strings.Contains(n, "/") && !consolidated(n)
	})
	for _, n := range slices.Sorted(slices.Values(names)) {
		other := slices.Contains(leftOut, strings.ToLower(path.Ext(n)))
		switch {
		case strings.HasPrefix(path.Base(n), ".git"), tensors && (other || consolidated(n) || strings.HasPrefix(n, "original/")):
		case !tensors && other && !strings.HasSuffix(n, ".bin"):
		default:
			out = append(out, n)
		}
	}
	return out
}

// consolidated tensors are Mistral's own form of those that stand beside them.
func consolidated(name string) bool { return strings.HasPrefix(path.Base(name), "consolidated") }
