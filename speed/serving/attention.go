package serving

import (
	"math"

	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/speed"
)

// attention is the attention of one kind of layer: decoding reads the cache, prefill multiplies.
type attention struct {
	heads    float64        // query heads of the rank
	read     model.Features // bytes that decoding reads and writes
	decode   model.Features // operations of decoding
	prompt   model.Features // operations of prompts
	prefills model.Features // bytes that prompts read and write
	weights  float64        // bytes of the matrices that it owns
	peak     float64
	at       attentionCoefs
	// width is the number of tokens verified per sequence (speculation), else 1.
	width float64
}

type attentionCoefs struct{ floor, memory, multiply, prefill, half int }

// attentionClass returns the class of kernels; latent caches have their own.
func attentionClass(a *model.Attn, kvBytes float64) string {
	name := "heads"
	if a.Latent != nil {
		name = "latent"
	}
	if kvBytes < 1.5 {
		return name + "-8bit"
	}
	return name + "-16bit"
}

func (b *book) attentionCoefs(class string) attentionCoefs {
	l := b.levels(class)
	return attentionCoefs{b.need("attention.floor", l), b.need("attention.memory", l), b.need("attention.multiply", l), b.need("attention.prefill", l), b.need("attention.half", l)}
}

func (b *book) attention(k *speed.Kernel, kvBytes, width float64) *attention {
	prompt := k.Prefill()
	a := &attention{heads: float64(k.Attn.Heads), decode: k.Decode.FLOPs, prompt: prompt.FLOPs, weights: float64(k.Bytes), width: width,
		peak: b.peak("bf16"), at: b.attentionCoefs(attentionClass(k.Attn, kvBytes))}
	for i := range a.read {
		a.read[i] = k.Decode.CacheRead[i] + k.Decode.CacheWrite[i]
		a.prefills[i] = prompt.CacheRead[i] + prompt.CacheWrite[i]
	}
	return a
}

func (a *attention) seconds(p *point, d *device, c []float64) (t float64) {
	if p.batch.Decodes > 0 {
		t += a.decoding(&p.decode, d, c)
	}
	if p.batch.Prefill > 0 {
		t += a.prefilling(p, d, c)
	}
	return t
}

// decoding takes
//
//	floor + ((bytes / (bandwidth × memory))^p + (FLOPs / (peak × multiply))^p)^(1/p)
func (a *attention) decoding(f *model.Features, d *device, c []float64) float64 {
	return c[a.at.floor] + norm(a.sides(f, d, c))
}

// sides are the times of the memory and of the operations of decoding.
func (a *attention) sides(f *model.Features, d *device, c []float64) (memory, work float64) {
	bytes, flops := a.weights+dot(&a.read, f), a.width*dot(&a.decode, f)
	return bytes / (d.bandwidth * share(c[a.at.memory])), flops / (a.peak * share(c[a.at.multiply]))
}

// prefilling takes
//
//	floor + FLOPs / (peak × prefill × fill × rows × keys / (keys + half)),  keys = length + 2 × cached
//
// Short prompts fill fewer multiprocessors, and few rows behind many cached keys a part of their tile. Tiles that meet few
// keys spend more on their edges: half as many as its length on average over a prompt, those that are cached in full.
func (a *attention) prefilling(p *point, d *device, c []float64) float64 {
	work, _ := a.multiplying(p, d, c)
	return c[a.at.floor] + math.Max(work, dot(&a.prefills, &p.prefill)/d.bandwidth)
}

// multiplying is the time of the operations of prompts, that meet some keys each.
func (a *attention) multiplying(p *point, d *device, c []float64) (seconds, keys float64) {
	prompts := float64(max(1, p.batch.Prompts))
	length := float64(p.batch.Prefill) / prompts
	tiles := prompts * a.heads * math.Max(1, length/d.tile)
	cached := float64(p.batch.Cached)
	keys = length + 2*cached
	rows := math.Min(1, length/math.Max(1, math.Min(smallTile, cached)))
	used := math.Min(1, tiles/d.sms) * rows * keys / (keys + c[a.at.half])
	return dot(&a.prompt, &p.prefill) / (a.peak * share(c[a.at.prefill]) * used), keys
}

func (a *attention) slopes(p *point, d *device, c, out []float64, times float64) (t float64) {
	if p.batch.Decodes > 0 {
		memory, work := a.sides(&p.decode, d, c)
		byMemory, byWork := overlapping(memory, work)
		out[a.at.floor] += times * c[a.at.floor]
		slowed(a.at.memory, times*byMemory, c, out)
		slowed(a.at.multiply, times*byWork, c, out)
		t += c[a.at.floor] + norm(memory, work)
	}
	if p.batch.Prefill > 0 {
		work, keys := a.multiplying(p, d, c)
		bytes := dot(&a.prefills, &p.prefill) / d.bandwidth
		out[a.at.floor] += times * c[a.at.floor]
		if work > bytes {
			slowed(a.at.prefill, times*work, c, out)
			out[a.at.half] += times * work * c[a.at.half] / (keys + c[a.at.half])
		}
		t += c[a.at.floor] + math.Max(work, bytes)
	}
	return t
}

func dot(a, b *model.Features) (x float64) {
	for i := range a {
		x += a[i] * b[i]
	}
	return x
}
