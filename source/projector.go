package source

import (
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/format"
	"github.com/memwall/memwall/format/gguf"
	"github.com/memwall/memwall/unit"
)

// Projector reads the header of a projector, from a file or an address.
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

// projector takes the keys that clip.cpp reads (tools/mtmd/clip-impl.h); a file may say them of its vision tower or of all.
func projector(f *gguf.File) *engine.Projector {
	p := &engine.Projector{Kind: firstText(f, "clip.projector_type", "clip.vision.projector_type", "clip.audio.projector_type"), Bytes: unit.Bytes(f.TensorBytes()), Tensors: int64(len(f.Tensors))}
	number := func(name string) int64 {
		n, ok := f.Int("clip.vision." + name)
		if !ok || n < 0 || n > mostOfTower {
			return 0
		}
		return n
	}
	p.Hidden, p.Inner, p.Heads, p.Layers = number("embedding_length"), number("feed_forward_length"), number("attention.head_count"), number("block_count")
	p.Image, p.Patch, p.Out = number("image_size"), number("patch_size"), number("projection_dim")
	p.Merge = max(number("spatial_merge_size"), number("projector.scale_factor"), 1)
	for i := range f.Tensors {
		if n := f.Tensors[i].Name; strings.HasPrefix(n, "v.deepstack.") && strings.HasSuffix(n, ".fc1.weight") {
			p.Deep++
		}
	}
	return p
}

// mostOfTower bounds a width or a count that is believed.
const mostOfTower = 1 << 20

// firstText is the first of some keys that a file has.
func firstText(f *gguf.File, keys ...string) string {
	for _, k := range keys {
		if s, ok := f.String(k); ok {
			return s
		}
	}
	return ""
}
