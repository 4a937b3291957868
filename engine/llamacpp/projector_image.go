package llamacpp

import (
	"slices"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// The compute buffer of an image (tools/mtmd/clip.cpp, alloc_compute_meta). It is taken when a model is loaded, for one image of the
// size that is warmed up with, and grows when a larger one comes.

// picture is an image as a tower takes it: Patches at the start, Most of them when the largest one comes.
type picture struct {
	patches, most int64
	hidden, heads int64
	pixels        int64 // numbers of a patch
	windows       bool  // some layers attend within windows, by masks
	deep          int64 // numbers of a patch that layers give besides
}

// imageSizes of towers that take images of any size.
type imageSizes struct {
	kinds, families string
	// warm and most are tokens; merge patches of each side become one, where the file does not say.
	warm, most, merge int64
	frames            int64 // that a patch's weights are of
}

// sizesOfImages are the limits that clip.cpp sets (set_limit_image_tokens, set_warmup_n_tokens).
var sizesOfImages = []imageSizes{
	{"qwen2vl_merger qwen2.5vl_merger qwen3vl_merger", "qwen2vl qwen3vl qwen3vlmoe qwen35 qwen35moe", 46 * 46, 4096, 2, 2},
	{"gemma4v", "gemma4", 256, 280, 3, 1},
	{"pixtral lightonocr", "", 256, 1024, 1, 1},
	{"lfm2", "", 1024, 1024, 2, 1},
}

func sizesOf(kind, family string) *imageSizes {
	for i := range sizesOfImages {
		s := &sizesOfImages[i]
		if slices.Contains(strings.Fields(s.kinds), kind) || slices.Contains(strings.Fields(s.families), family) {
			return s
		}
	}
	return nil
}

// picture of the file, or of the published tower; its patches are 0 where the size of an image is not known.
func (s *sizer) picture() picture {
	if s.job.Projector != nil {
		return s.fromFile()
	}
	im := s.fromTower()
	if sizes := sizesOf("", s.job.Model.Family); sizes != nil {
		im.patches, im.most = sizes.warm*sizes.merge*sizes.merge, sizes.most*sizes.merge*sizes.merge
		im.pixels /= sizes.frames
	}
	return im
}

func (s *sizer) fromFile() picture {
	f := s.job.Projector
	im := picture{hidden: f.Hidden, heads: f.Heads, pixels: 3 * f.Patch * f.Patch, windows: f.Kind == "qwen2.5vl_merger"}
	merge := max(f.Merge, 1)
	if sizes := sizesOf(f.Kind, ""); sizes != nil {
		merge = max(merge, sizes.merge)
		im.patches, im.most = sizes.warm*merge*merge, sizes.most*merge*merge
	} else if f.Patch > 0 {
		side := f.Image / f.Patch
		im.patches, im.most = side*side, side*side
	}
	im.deep = f.Deep * f.Out / (merge * merge)
	return im
}

func (s *sizer) fromTower() (im picture) {
	s.job.Vision.Each(func(k *model.Kind, _ int64) {
		for i := range k.Ops {
			switch o := &k.Ops[i]; {
			case o.Role == dtype.VisionPosition:
				im.patches, im.most = o.W[0].Rows(), o.W[0].Rows()
			case o.Role == dtype.VisionPatch:
				im.pixels = o.W[0].Cols
			case o.Attn != nil:
				im.heads, im.hidden = o.Attn.Heads, o.Attn.Heads*o.Attn.DimK
				im.windows = im.windows || o.Attn.Chunk > 0
			}
		}
	})
	return im
}

// imageGraph: with flash attention six states of every patch beside its pixels; else the scores of every patch with every other
// too. Masks of windows are of every pair, in fp32, and flash attention has them in f16 once more.
func (s *sizer) imageGraph(b *ledger.Book) ledger.Item {
	im := s.picture()
	if im.patches == 0 || im.most > mostPatches || im.heads == 0 || im.hidden == 0 {
		return s.openGraph(b, im)
	}
	p := b.Int("patches", im.patches, "of the image that is warmed up with")
	states := b.Add(b.Mul(b.Lit(6), b.Int("hidden", im.hidden, "vision tower")), b.Int("pixels", im.pixels+im.deep, "numbers of a patch, and of layers that are given besides"))
	n := b.Mul(b.Lit(4), p, states)
	pairs := s.bytesOfPair(&im)
	if pairs > 0 {
		n = b.Add(n, b.Mul(b.Int("bytes_of_pair", pairs, "scores of all heads, masks of windows"), p, p))
	}
	it := ledger.Known("mmproj.compute", "graph of an image", n, ledger.Measured, ledger.Ephemeral, ledger.Device, clipFile)
	least := 4 * im.patches * (6*im.hidden + im.pixels)
	most := 4*im.most*(7*im.hidden+im.pixels+2*im.deep) + pairs*im.most*im.most // what states are beyond six: assumed
	return it.Band(unit.Bytes(least-least/16), unit.Bytes(most))
}

// Patches of a picture where the model takes any size and clip.cpp's limit for it is not known: of a small one, of a page of 900 × 900
// pixels in patches of 14, and of the largest that a limit of others allows.
const fewPatches, usualPatches, manyPatches = 256, 4096, 16384

// What the graph of an image takes of towers of which no width is known: as of those that are, from the least to the most.
const leastGraph, usualGraph, mostGraph = 20 * unit.MiB, 256 * unit.MiB, 1536 * unit.MiB

// openGraph is of a picture whose size is open: all that the text takes is sized, and this part has a band.
func (s *sizer) openGraph(b *ledger.Book, im picture) ledger.Item {
	const name = "graph of an image of any size"
	if im.heads == 0 || im.hidden == 0 {
		n := b.In("assumed", float64(usualGraph), "towers whose widths are known take 0.02 to 1.5 GiB")
		return ledger.Known("mmproj.compute", name, n, ledger.Assumed, ledger.Ephemeral, ledger.Device, clipFile).Band(leastGraph, mostGraph)
	}
	width := im.hidden*6 + im.pixels
	n := b.Mul(b.Lit(4), b.Int("patches", usualPatches, "assumed: pictures of any size"), b.Int("states", width,
		"six of the tower's width, and a patch's pixels"))
	pairs := s.bytesOfPair(&im)
	most := manyPatches*(4*(width+im.hidden)+2*im.deep) + pairs*manyPatches*manyPatches
	it := ledger.Known("mmproj.compute", name, n, ledger.Assumed, ledger.Ephemeral, ledger.Device, clipFile)
	return it.Band(unit.Bytes(4*fewPatches*width), unit.Bytes(most))
}

// mostPatches of an image that is believed: one of 14 million pixels has a hundredth of them.
const mostPatches = 1 << 22

// bytesOfPair are those that every two patches have together.
func (s *sizer) bytesOfPair(im *picture) (n int64) {
	flash := s.rules.towerFlash && s.job.Plan.Attention != "eager"
	if im.windows {
		n += 4
	}
	switch {
	case !flash:
		n += 4 * im.heads
	case im.windows:
		n += 2
	}
	return n
}
