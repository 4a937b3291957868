package serving

import (
	"math"

	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/speed"
)

// attention of one kind of layer: decoding reads the cache, a prompt multiplies.
type attention struct {
	heads    float64        // query heads of the rank
	read     model.Features // bytes that decoding reads and writes
	decode   model.Features // operations of decoding
	prompt   model.Features // operations of prompts
	prefills model.Features // bytes that prompts read and write
	weights  float64        // bytes of the matrices that it owns
	peak     float64
	at       attentionCoefs
	// width is how many tokens of a sequence are verified at a time (speculation), else 1.
	width float64
}

type attentionCoefs struct{ floor, memory, multiply, prefill, half int }

// attentionClass names the kernels: latent caches have their own.
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
	a := &attention{heads: float64(k.Attn.Heads), decode: k.Decode.FLOPs, prompt: k.Prefill.FLOPs, weights: float64(k.Bytes), width: width,
		peak: b.peak("bf16"), at: b.attentionCoefs(attentionClass(k.Attn, kvBytes))}
	for i := range a.read {
		a.read[i] = k.Decode.CacheRead[i] + k.Decode.CacheWrite[i]
		a.prefills[i] = k.Prefill.CacheRead[i] + k.Prefill.CacheWrite[i]
	}
	return a
}

func (a *attention) uses(f func(int)) {
	for _, i := range []int{a.at.floor, a.at.memory, a.at.multiply, a.at.prefill, a.at.half} {
		f(i)
	}
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
	bytes, flops := a.weights+dot(&a.read, f), a.width*dot(&a.decode, f)
	return c[a.at.floor] + norm(bytes/(d.bandwidth*share(c[a.at.memory])), flops/(a.peak*share(c[a.at.multiply])))
}

// prefilling takes
//
//	floor + FLOPs / (peak × prefill × fill × length / (length + half))
//
// Short prompts fill fewer multiprocessors and spend more on the triangle's edge.
func (a *attention) prefilling(p *point, d *device, c []float64) float64 {
	prompts := float64(max(1, p.batch.Prompts))
	length := float64(p.batch.Prefill) / prompts
	tiles := prompts * a.heads * math.Max(1, length/tileRows)
	used := math.Min(1, tiles/d.sms) * length / (length + c[a.at.half])
	work := dot(&a.prompt, &p.prefill) / (a.peak * share(c[a.at.prefill]) * used)
	return c[a.at.floor] + math.Max(work, dot(&a.prefills, &p.prefill)/d.bandwidth)
}

func dot(a, b *model.Features) (x float64) {
	for i := range a {
		x += a[i] * b[i]
	}
	return x
}
