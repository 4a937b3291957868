package family

import "github.com/memwall/memwall/dtype"

// mobileNetV5 is the encoder of images of Gemma 3n ("mobilenetv5_300m_enc"; timm, models/mobilenetv5.py): a stem, four
// stages of inverted bottlenecks, of which two alternate with attention of one key and value head, and an adapter that joins
// the last two stages. Its config names it and gives no sizes.
func mobileNetV5(out int64) *Tower {
	const stem, last, joined = 64, 1280, 640 + 1280
	t := &Tower{Width: last, Before: []Weight{mapping(dtype.VisionStem, 3*9, stem, true), norms(dtype.VisionStemNorm, RMS, stem)}}
	t.Before = append(t.Before, edgeStage(stem)...)
	t.Before = append(t.Before, bottleneck(128, 768, 256, 3, 5)...)
	for i := range 4 {
		t.Before = append(t.Before, bottleneck(256, 1024, 256, int64(5-2*(i%2)), 0)...)
	}
	t.Before = append(t.Before, bottleneck(256, 1536, 640, 5, 5)...)
	for range 7 {
		t.Before = append(t.Before, bottleneck(640, 2560, 640, 5, 0)...)
	}
	t.Before = append(t.Before, bottleneck(640, 640, 640, 0, 0)...)
	third := append(multiQuery(640, 12, 64, true), bottleneck(640, 1280, 640, 0, 0)...)
	for range 14 {
		t.Before = append(t.Before, third...)
	}
	t.Before = append(t.Before, bottleneck(640, 3840, last, 5, 5)...)
	t.Layers = rows(19, "multi-query attention", append(multiQuery(last, 16, 96, false), bottleneck(last, 2560, last, 0, 0)...)...)
	t.After = []Weight{mapping(dtype.VisionStageUp, joined, 2*joined, false), norms(dtype.VisionStageNorm, RMS, 2*joined), mapping(dtype.VisionStageDown, 2*joined, out, false), norms(dtype.VisionStageNorm, RMS, out),
		norms(dtype.VisionHeadNorm, RMS, out)}
	return t
}

// edgeStage has bottlenecks whose first convolution is over all channels.
func edgeStage(in int64) (out []Weight) {
	const wide = 128
	for _, mid := range []int64{256, 512, 512} {
		out = append(out, mapping(dtype.VisionStageUp, 9*in, mid, false), norms(dtype.VisionStageNorm, RMS, mid), mapping(dtype.VisionStageDown, mid, wide, false), norms(dtype.VisionStageNorm, RMS, wide))
		in = wide
	}
	return out
}

// bottleneck is a universal inverted bottleneck (arXiv:2404.10518): depthwise convolutions of a kernel before and within two
// maps of each pixel; 0 for none.
func bottleneck(in, mid, to, before, within int64) (out []Weight) {
	if before > 0 {
		out = append(out, mapping(dtype.VisionDepthwise, before*before, in, false), norms(dtype.VisionStageNorm, RMS, in))
	}
	out = append(out, mapping(dtype.VisionStageUp, in, mid, false), norms(dtype.VisionStageNorm, RMS, mid))
	if within > 0 {
		out = append(out, mapping(dtype.VisionDepthwise, within*within, mid, false), norms(dtype.VisionStageNorm, RMS, mid))
	}
	return append(out, mapping(dtype.VisionStageDown, mid, to, false), norms(dtype.VisionStageNorm, RMS, to), mixesIn(dtype.VisionStageScale, to))
}

// multiQuery is attention among pixels with one head of keys and values, which are of a smaller image where shrinks.
func multiQuery(w, heads, dim int64, shrinks bool) []Weight {
	out := []Weight{norms(dtype.AttnNorm, RMS, w), branched(mapping(dtype.AttnQ, w, heads*dim, false))}
	for _, role := range []dtype.Role{dtype.AttnK, dtype.AttnV} {
		if shrinks {
			out = append(out, mapping(dtype.VisionDepthwise, 9, w, false), norms(dtype.VisionStageNorm, RMS, w))
		}
		out = append(out, branched(mapping(role, w, dim, false)))
	}
	return append(out, attends(heads, dim), mapping(dtype.AttnOutput, heads*dim, w, false), mixesIn(dtype.VisionStageScale, w))
}
