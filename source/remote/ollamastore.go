package remote

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/memwall/memwall/source"
	"github.com/memwall/memwall/source/regular"
)

// ollamaStores are where Ollama keeps models: OLLAMA_MODELS alone when it is set, else below the user's folder, and
// below that of the service on Linux (docs/faq of ollama).
func (f *Finder) ollamaStores() (out []string) {
	if dir := f.env("OLLAMA_MODELS"); dir != "" {
		return []string{expand(dir, f.home)}
	}
	if f.home != "" {
		out = append(out, filepath.Join(f.home, ".ollama", "models"))
	}
	if runtime.GOOS == "linux" && f.home != "" {
		out = append(out, "/usr/share/ollama/.ollama/models")
	}
	return out
}

// ollamaStore finds a model that this machine holds whole; nil otherwise.
func (f *Finder) ollamaStore(n ollamaName) *source.Place {
	for _, dir := range f.ollamaStores() {
		text := firstOf(filepath.Join(dir, "manifests", strings.ReplaceAll(n.host, ":", "_"), n.space, n.model, n.tag), maxManifest)
		if text == "" {
			text = firstOf(filepath.Join(dir, "manifests", n.host, n.space, n.model, n.tag), maxManifest)
		}
		if text == "" {
			continue
		}
		if p := inStore(dir, n, []byte(text)); p != nil {
			return p
		}
	}
	return nil
}

// inStore is the place of a manifest of the store; nil when it is damaged or a layer is missing.
func inStore(dir string, n ollamaName, text []byte) *source.Place {
	m, err := parseManifest(text)
	if err != nil {
		return nil
	}
	p, models, err := m.place(n, "Ollama's store, "+n.short())
	if err != nil {
		return nil
	}
	files := blobs{}
	for i, name := range modelNames(n, len(models)) {
		files[name] = blobPath(dir, models[i].Digest)
		if info, err := os.Stat(files[name]); err != nil || info.Size() != models[i].Size {
			return nil
		}
	}
	for _, l := range m.layersOf("params") {
		parameters(p, []byte(firstOf(blobPath(dir, l.Digest), 64<<10)))
	}
	p.Files, p.Real = files, files[p.Path]
	return p
}

// blobPath is where a layer lies; a digest holds nothing that a path could be made of.
func blobPath(dir, digest string) string {
	return filepath.Join(dir, "blobs", strings.Replace(digest, ":", "-", 1))
}

// blobs are files of the store under the names that they are read as.
type blobs map[string]string

func (b blobs) Open(name string) (fs.File, error) {
	at, ok := b[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return regular.Open(at)
}
