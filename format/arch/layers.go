package arch

import (
	"github.com/memwall/memwall/format/yaml"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/unit"
)

// maxLayers is the maximum total of layers, as for a config.json.
const maxLayers = 1 << 12

// norms maps their names in a description.
var norms = map[string]family.NormKind{"none": family.NoNorm, "rms": family.RMS, "layernorm": family.LayerNormBias,
	"layernorm_weight": family.LayerNorm, "layernorm_plain": family.PlainNorm}

func (o *object) norm(key string, otherwise family.NormKind) family.NormKind {
	w := o.word(key, "", "none", "rms", "layernorm", "layernorm_weight", "layernorm_plain")
	if w == "" {
		return otherwise
	}
	return norms[w]
}

// places maps names to the place of norms in a layer.
var places = map[string]family.NormPlace{
	"pre": family.PreNorm, "post": family.PostNorm, "sandwich": family.Sandwich, "parallel": family.Parallel,
	"parallel_two": family.Parallel2, "single": family.Single, "after_sum": family.AfterSum,
}

// runs reads layers: each entry is repeated count times, or is a repeating pattern.
func (o *object) runs(width int64, norm family.NormKind) (out []family.Layer) {
	o.list("layers", func(n *yaml.Node, path string) {
		r := o.r.object(n, path)
		if r.has("repeat") {
			out = append(out, r.repeated(width, norm)...)
		} else {
			out = append(out, r.run(width, norm)...)
		}
		r.close()
	})
	return out
}

// repeated reads a pattern of layers and its number of repetitions.
func (o *object) repeated(width int64, norm family.NormKind) (out []family.Layer) {
	times := o.need("repeat")
	var pattern []family.Layer
	o.list("layers", func(n *yaml.Node, path string) {
		r := o.r.object(n, path)
		pattern = append(pattern, r.run(width, norm)...)
		r.close()
	})
	if len(pattern) == 0 {
		o.missing("layers", "is missing", "the layers that repeat, as a list")
		return nil
	}
	if !o.room("repeat", times, (times-1)*int64(len(pattern))) {
		return nil
	}
	for range times {
		out = append(out, pattern...)
	}
	return out
}

// room checks the total number of layers before they are allocated.
func (o *object) room(key string, n, more int64) bool {
	if o.r.err != nil {
		return false
	}
	if n > maxLayers || o.r.layers+more > maxLayers {
		o.fail(key, unit.Count(n), "makes more than "+unit.Count(maxLayers)+" layers", "at most "+unit.Count(maxLayers)+" in all")
		return false
	}
	o.r.layers += more
	return true
}

// run reads one layer, repeated count times.
func (o *object) run(width int64, norm family.NormKind) []family.Layer {
	count := o.positive("count", 1)
	l := family.Layer{Norm: o.norm("norm", norm),
		Place: places[o.word("norms", "pre", "pre", "post", "sandwich", "parallel", "parallel_two", "single", "after_sum")]}
	if a := o.sub("attention"); a != nil {
		l.Attn = a.attention(width)
	}
	if s := o.sub("state"); s != nil {
		l.SSM = s.state(width)
	}
	if f := o.sub("ffn"); f != nil {
		l.FFN = f.ffn()
	}
	if e := o.sub("experts"); e != nil {
		l.MoE = e.experts(l.FFN.Inner > 0)
	}
	l.LayerScale = o.flag("layer_scale", false)
	o.checkHalves(&l)
	if !o.room("count", count, count) {
		return nil
	}
	out := make([]family.Layer, count)
	for i := range out {
		out[i] = l
	}
	return out
}

// checkHalves rejects empty layers, and those whose halves do not match the place of the norms.
func (o *object) checkHalves(l *family.Layer) {
	mixes, feeds := l.Attn.Heads > 0 || l.SSM.Inner > 0, l.FFN.Inner > 0 || l.MoE.Experts > 0
	parallel := l.Place == family.Parallel || l.Place == family.Parallel2
	switch {
	case !mixes && !feeds:
		o.missing("attention", "is missing, and so are state, ffn and experts", "a layer has at least one of them")
	case l.Place == family.Single && mixes && feeds:
		o.fail("norms", "single", "is of layers with one branch, and this one has two", "pre, or two layers")
	case parallel && !(mixes && feeds):
		o.fail("norms", "parallel", "is of layers with two branches, and this one has one", "single")
	}
}
