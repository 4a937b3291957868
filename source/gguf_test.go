package source

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format/gguf"
	"github.com/memwall/memwall/internal/datatest"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog"
)

type headerFile struct {
	name, model, ftype string
	file               *gguf.File
}

// headers reads the GGUF headers of the shared data, when there are any.
func headers(t *testing.T) (out []headerFile) {
	for _, r := range datatest.Shared(t, "gguf_headers/INDEX.csv") {
		raw := datatest.Unpacked(t, datatest.Path("gguf_headers/"+r["file"]))
		size, _ := strconv.ParseInt(r["file_bytes"], 10, 64)
		h, err := gguf.ReadHeader(bytes.NewReader(raw), int64(len(raw)), size)
		if err != nil {
			t.Fatalf("%s: %v", r["file"], err)
		}
		out = append(out, headerFile{r["file"], r["model"], r["ftype"], h})
	}
	return out
}

// TestRecipesMatchHeaders: config and recipe give the type and bytes of every tensor of every header.
func TestRecipesMatchHeaders(t *testing.T) {
	for _, h := range headers(t) {
		r, err := GGUF(h.model, h.file)
		if err != nil {
			t.Errorf("%s: %v", h.name, err)
			continue
		}
		e, err := catalog.Find(h.model)
		if err != nil {
			t.Errorf("%s: %v", h.name, err)
			continue
		}
		spec, err := e.Spec()
		if err != nil {
			t.Fatal(err)
		}
		m := spec.Converted().Model(h.model)
		recipe := dtype.FindRecipe("gguf-" + h.ftype)
		if recipe == nil {
			recipe = dtype.FindRecipe(h.ftype)
		}
		compare(t, h, m, m.Store(recipe), r.Weights)
	}
}

func compare(t *testing.T, h headerFile, m *model.Model, recipe, file *model.Weights) {
	t.Helper()
	want := map[string]*gguf.Tensor{}
	for i := range h.file.Tensors {
		want[h.file.Tensors[i].Name] = &h.file.Tensors[i]
	}
	seen, wrong := 0, 0
	p := m.Decoder()
	w := &recipe.Parts[0]
	at := map[int]int{}
	p.Tensors(func(layer int, x *model.Tensor) {
		i := at[layer]
		at[layer]++
		var s model.Stored
		switch layer {
		case model.InPre:
			s = w.Pre[i]
		case model.InPost:
			s = w.Post[i]
		default:
			s = w.Variants[w.Layers[layer]].Tensors[i]
		}
		g := want[x.GGUF(layer)]
		seen++
		if g == nil {
			t.Errorf("%s: model has %s, the file has not", h.name, x.GGUF(layer))
			return
		}
		if s.Scheme == nil || s.Scheme.Elem != g.Format || int64(s.Bytes) != g.Bytes {
			if wrong++; wrong < 4 {
				name := "nothing"
				if s.Scheme != nil {
					name = s.Scheme.Name
				}
				t.Errorf("%s: %s is %s (%d B) by the recipe, %s (%d B) in the file", h.name, x.GGUF(layer), name, s.Bytes, g.Format.Name, g.Bytes)
			}
		}
	})
	if seen != len(want) {
		t.Errorf("%s: %d tensors of %d", h.name, seen, len(want))
	}
	if file.Extra != 0 {
		t.Errorf("%s: %d extra bytes", h.name, file.Extra)
	}
}

// TestTwins: the config route and the GGUF route give the same network.
func TestTwins(t *testing.T) {
	for _, h := range headers(t) {
		r, err := GGUF(h.model, h.file)
		if err != nil {
			continue
		}
		e, err := catalog.Find(h.model)
		if err != nil {
			continue
		}
		s, err := e.Spec()
		if err != nil {
			t.Fatal(err)
		}
		s, r.Spec = s.Converted(), r.Spec.Converted()
		for i := range s.Layers {
			a, b := s.Layers[i], r.Spec.Layers[i]
			if a != b {
				t.Errorf("%s layer %d:\n config %+v\n gguf   %+v", h.name, i, a, b)
				break
			}
		}
		g := *r.Spec
		c := *s
		c.Layers, g.Layers, c.MTP, g.MTP, c.Vision, g.Vision = nil, nil, nil, nil, nil, nil
		c.Trailing = g.Trailing // a file may be converted without prediction layers
		if strings.TrimSpace(specText(c)) != strings.TrimSpace(specText(g)) {
			t.Errorf("%s:\n config %s\n gguf   %s", h.name, specText(c), specText(g))
		}
	}
}
