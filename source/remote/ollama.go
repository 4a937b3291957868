package remote

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/format"
	"github.com/memwall/memwall/source"
	"github.com/memwall/memwall/source/cache"
	"github.com/memwall/memwall/source/fetch"
	"github.com/memwall/memwall/unit"
)

// Ollama's registry speaks version 2 of the registry API of container images: /v2/NAME/manifests/TAG lists layers by
// their digests, /v2/NAME/blobs/DIGEST leads to where a layer is stored. The store on a machine has the same manifests
// and blobs as files.

// ollamaName is a name as ollama reads it: [host/][namespace/]model[:tag]. Part is the kind of layer that is meant: the model, or
// its projector where /projector follows the tag.
type ollamaName struct{ host, space, model, tag, part string }

// isDigest tells the name of a blob.
func isDigest(s string) bool {
	sum, ok := strings.CutPrefix(s, "sha256:")
	return ok && isHex(sum, 64)
}

const (
	ollamaRegistry = "registry.ollama.ai"
	ollamaForms    = "ollama:llama3.1:8b, ollama:user/model:tag, ollama:model:tag/projector"
)

// ollamaReference reads a name of Ollama. What Ollama fetches from the hub is read there.
func ollamaReference(ref, s string) (*reference, error) {
	for _, host := range []string{"hf.co/", "huggingface.co/"} {
		if rest, ok := strings.CutPrefix(s, host); ok {
			return repository(ref, onHub, strings.TrimSuffix(rest, ":latest"))
		}
	}
	if _, ok := ollamaNameOf(s); !ok {
		return nil, badReference(ref, "is not a name of a model in Ollama's registry", ollamaForms)
	}
	return &reference{given: ref, kind: onOllama, repo: s}, nil
}

func ollamaNameOf(s string) (n ollamaName, ok bool) {
	n = ollamaName{host: ollamaRegistry, space: "library", tag: "latest", part: "model"}
	if whole, ok := strings.CutSuffix(s, "/projector"); ok && strings.LastIndexByte(whole, ':') > strings.LastIndexByte(whole, '/') {
		s, n.part = whole, "projector"
	}
	if at := strings.LastIndexByte(s, ':'); at > strings.LastIndexByte(s, '/') {
		s, n.tag = s[:at], s[at+1:]
	}
	parts := strings.Split(s, "/")
	switch len(parts) {
	case 1:
		n.model = parts[0]
	case 2:
		n.space, n.model = parts[0], parts[1]
	case 3:
		n.host, n.space, n.model = parts[0], parts[1], parts[2]
	default:
		return n, false
	}
	return n, word(n.host, ".-:", 254) && word(n.space, ".-", 80) && word(n.model, ".-", 80) && word(n.tag, ".-", 80)
}

// short is the name as people write it.
func (n ollamaName) short() string {
	s := n.model + ":" + n.tag
	if n.space != "library" {
		s = n.space + "/" + s
	}
	if n.host != ollamaRegistry {
		s = n.host + "/" + s
	}
	return s
}

// manifest lists the layers of a model.
type manifest struct {
	Layers []layer `json:"layers"`
	digest string
}

type layer struct {
	Type   string `json:"mediaType"`
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
}

const (
	maxManifest = 8 << 20
	maxLayers   = 1 << 14
	layerType   = "application/vnd.ollama.image."
)

func parseManifest(data []byte) (*manifest, error) {
	m := &manifest{}
	if err := json.Unmarshal(data, m); err != nil || len(m.Layers) > maxLayers {
		return nil, refuse(tryLater, "the manifest cannot be read")
	}
	for _, l := range m.Layers {
		if !isDigest(l.Digest) || l.Size < 0 {
			return nil, refuse(tryLater, "the manifest names a layer %s of %d bytes, which cannot be", format.Quote(format40(l.Digest)),
				l.Size)
		}
	}
	sum := sha256.Sum256(data)
	m.digest = hex.EncodeToString(sum[:])
	return m, nil
}

// layersOf gives the layers of a kind.
func (m *manifest) layersOf(kind string) []layer {
	return slices.DeleteFunc(slices.Clone(m.Layers), func(l layer) bool { return l.Type != layerType+kind })
}

// ollama finds a model: in the store of this machine, else in the registry.
func (f *Finder) ollama(r *reference) (*source.Place, error) {
	name, _ := ollamaNameOf(r.repo)
	if p := f.ollamaStore(name); p != nil {
		return p, nil
	}
	p, err := f.ollamaRegistry(r, name)
	if err != nil {
		return nil, f.ollamaFault(r, name, "", err)
	}
	return p, nil
}

// modelNames are the files that the layers of a model are read as: one, or a split set.
func modelNames(n ollamaName, count int) (out []string) {
	if count == 1 {
		return []string{n.short2() + ".gguf"}
	}
	for i := range count {
		out = append(out, fmt.Sprintf("%s-%05d-of-%05d.gguf", n.short2(), i+1, count))
	}
	return out
}

// short2 is the name as that of a file.
func (n ollamaName) short2() string { return n.model + ":" + n.tag }

// place makes the place of a manifest whose layers open gives.
func (m *manifest) place(n ollamaName, from string) (*source.Place, []layer, error) {
	models := m.layersOf(n.part)
	if len(models) == 0 && n.part == "projector" {
		return nil, nil, &memwall.Error{Code: memwall.Unsupported, Field: "mmproj", Value: "ollama:" + n.short(),
			Message: n.short() + " has no projector beside it", Hint: "leave mmproj out"}
	}
	if len(models) == 0 {
		if len(m.layersOf("tensor")) > 0 {
			return nil, nil, &memwall.Error{Code: memwall.Unsupported, Field: "model", Value: "ollama:" + n.short(),
				Message: n.short() + " is stored tensor by tensor, not as a GGUF file", Hint: "another tag, or the model's name on the hub"}
		}
		return nil, nil, &memwall.Error{Code: memwall.UnknownModel, Field: "model", Value: "ollama:" + n.short(),
			Message: n.short() + " holds no model that runs here", Hint: "ollama.com/library lists what there is"}
	}
	p := &source.Place{Path: modelNames(n, len(models))[0], Name: n.short(), Library: n.short(),
		From: from + " at sha256:" + m.digest[:12] + ", layer " + models[0].Digest[:19]}
	if n.part == "model" {
		m.remark(n, p)
	}
	return p, models, nil
}

// remark tells what stands beside the model.
func (m *manifest) remark(n ollamaName, p *source.Place) {
	note := func(code, text string) {
		p.Notes = append(p.Notes, memwall.Note{Code: code, Severity: "info", Field: "model", Text: text})
	}
	for _, l := range m.layersOf("projector") {
		note("projector_beside",
			fmt.Sprintf("its projector of %s lies beside it, and Ollama loads it: --mmproj ollama:%s/projector adds it", unit.Bytes(l.Size),
				n.short()))
	}
	if a := m.layersOf("adapter"); len(a) > 0 {
		var sum int64
		for _, l := range a {
			sum += min(l.Size, maxSize)
		}
		note("adapter_beside", fmt.Sprintf("%d adapters of %s come with it, and are not counted", len(a), unit.Bytes(sum)))
	}
}

const maxSize = 1 << 48

// parameters tells what the name sets, of what changes the memory.
func parameters(p *source.Place, data []byte) {
	var set map[string]any
	if json.Unmarshal(data, &set) != nil {
		return
	}
	flags := map[string]string{"num_ctx": "--ctx", "num_batch": "--batch", "num_gpu": "--gpu-layers"}
	var said []string
	for _, key := range []string{"num_ctx", "num_batch", "num_gpu"} {
		if v, ok := set[key].(float64); ok && v == float64(int64(v)) {
			said = append(said, fmt.Sprintf("%s %d (%s)", key, int64(v), flags[key]))
		}
	}
	if len(said) > 0 {
		p.Notes = append(p.Notes, memwall.Note{Code: "ollama_parameters", Severity: "info", Field: "model",
			Text: "the name sets " + strings.Join(said, ", ") + ", which the flags may repeat"})
	}
}

// ollamaRegistry asks the registry.
func (f *Finder) ollamaRegistry(r *reference, n ollamaName) (*source.Place, error) {
	base := &url.URL{Scheme: "https", Host: n.host, Path: "/v2/" + n.space + "/" + n.model + "/"}
	var notes []memwall.Note
	m, err := f.ollamaManifest(base, n, &notes)
	if err != nil {
		return nil, err
	}
	p, models, err := m.place(n, n.host+"/"+n.space+"/"+n.model+":"+n.tag)
	if err != nil {
		return nil, err
	}
	p.Far, p.Notes = true, append(notes, p.Notes...)
	files := map[string]*file{}
	blob := func(name string, l layer) *file {
		return &file{finder: f, name: name, url: base.JoinPath("blobs", l.Digest), expect: l.Size,
			sum: fetch.SHA256(strings.TrimPrefix(l.Digest, "sha256:")), key: "blob " + l.Digest,
			explain: func(name string, err error) error { return f.ollamaFault(r, n, name, err) }}
	}
	for i, name := range modelNames(n, len(models)) {
		files[name] = blob(name, models[i])
	}
	var asking sync.WaitGroup
	asking.Go(func() {
		_, _ = files[p.Path].ReadAt(make([]byte, 1),
			0)
	}) // while the parameters are asked for; reading tells the error again
	for _, l := range m.layersOf("params") {
		if data := verified(blob("params.json", l), l); data != nil {
			parameters(p, data)
		}
	}
	asking.Wait()
	p.Files = &tree{find: func(name string) (*file, error) {
		if f := files[name]; f != nil {
			return f, nil
		}
		return nil, fs.ErrNotExist
	}}
	return p, nil
}

// verified reads a small layer whole; nil when it is not what its digest says. Parameters are remarks only.
func verified(f *file, l layer) []byte {
	const most = 64 << 10
	data := make([]byte, min(l.Size, most))
	if _, err := f.ReadAt(data, 0); err != nil || l.Size > most || !sums(data, l.Digest) {
		return nil
	}
	f.finish()
	return data
}

// sums reports whether data is what a digest says.
func sums(data []byte, digest string) bool {
	sum := sha256.Sum256(data)
	return digest == "sha256:"+hex.EncodeToString(sum[:])
}

// ollamaManifest gets the manifest of a tag: from the cache for a while, else from the registry.
func (f *Finder) ollamaManifest(base *url.URL, n ollamaName, notes *[]memwall.Note) (*manifest, error) {
	key := "manifest " + base.Host + base.Path + " " + n.tag
	old, data, kept := f.cache.Get(key)
	if kept && (f.offline || f.believed(old)) {
		return parseManifest(data)
	}
	fetched, err := f.small(query{url: base.JoinPath("manifests", n.tag), to: -1,
		accept: "application/vnd.docker.distribution.manifest.v2+json"}, maxManifest)
	if _, answered := errors.AsType[*statusError](err); err != nil && kept && !answered {
		*notes = append(*notes, memwall.Note{Code: "remote_kept", Severity: "warning", Field: "model",
			Text: fmt.Sprintf("%s could not be asked (%s): this is what it said on %s", n.host, reason(err), old.At.Format("2006-01-02"))})
		return parseManifest(data)
	}
	if err != nil {
		return nil, err
	}
	m, err := parseManifest(bytes.TrimSpace(fetched))
	if err == nil {
		f.cache.Put(cache.Record{Key: key, Size: int64(len(fetched)), At: f.now(), About: n.host + "/" + n.short()}, fetched)
	}
	return m, err
}

// ollamaFault says what an answer of the registry means.
func (f *Finder) ollamaFault(r *reference, n ollamaName, name string, err error) error {
	e, ok := errors.AsType[*statusError](err)
	if ok && (e.status == 404 || e.status == 401 || e.status == 400) {
		return &memwall.Error{Code: memwall.UnknownModel, Field: "model", Value: r.given,
			Message: fmt.Sprintf("%s has no %s", n.host, n.short()),
			Hint:    "ollama.com/library lists models and their tags; one of your own is read from Ollama's store (OLLAMA_MODELS)"}
	}
	return f.fault(n.host, &reference{given: r.given, kind: onOllama, repo: cmp.Or(n.short(), r.repo)}, name, err)
}
