package source

import (
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/format"
	"github.com/memwall/memwall/format/gguf"
	"github.com/memwall/memwall/unit"
)

// Projector reads the header of a projector from a file or URL.
func (f *Files) Projector(ref string) (*engine.Projector, error) {
	r, err := f.find(ref)
	if err != nil {
		return nil, err
	}
	if r.Projector == nil {
		return nil, &memwall.Error{Code: memwall.BadFile, Field: "mmproj", Value: ref, Message: format.Quote(ref) + " is a model and no projector", Hint: "the file that has mmproj in its name"}
	}
	return r.Projector, nil
}

func isProjector(f *gguf.File) bool {
	kind, _ := f.String("general.type")
	return f.Architecture() == "clip" || kind == "mmproj"
}

func besideModel(field string) error {
	return &memwall.Error{Code: memwall.Unsupported, Field: field, Value: "clip", Message: "this is a projector (mmproj), which goes beside a model", Hint: "give the language model's file, and this one with --mmproj"}
}

// projector reads the keys that clip.cpp reads (tools/mtmd/clip-impl.h), specific to the vision tower or general.
func projector(f *gguf.File) *engine.Projector {
	p := &engine.Projector{Kind: firstText(f, "clip.projector_type", "clip.vision.projector_type", "clip.audio.projector_type"), Bytes: unit.Bytes(f.TensorBytes())}
	number := func(name string, most int64) int64 {
		n, ok := f.Int("clip.vision." + name)
		if !ok || n < 0 || n > most {
			return 0
		}
		return n
	}
	p.Hidden, p.Heads = number("embedding_length", mostWide), number("attention.head_count", mostCount)
	p.Image, p.Patch, p.Out = number("image_size", mostWide), number("patch_size", mostCount), number("projection_dim", mostWide)
	p.Merge = max(number("spatial_merge_size", mostMerged), number("projector.scale_factor", mostMerged), 1)
	for i := range f.Tensors {
		if n := f.Tensors[i].Name; p.Deep < mostCount && strings.HasPrefix(n, "v.deepstack.") && strings.HasSuffix(n, ".fc1.weight") {
			p.Deep++
		}
	}
	return p
}

// Limits on a tower's numbers, so that their products cannot overflow.
const (
	mostWide   = 1 << 16
	mostCount  = 1 << 10
	mostMerged = 16
)

// firstText returns the first of the keys that a file has.
func firstText(f *gguf.File, keys ...string) string {
	for _, k := range keys {
		if s, ok := f.String(k); ok {
			return s
		}
	}
	return ""
}
