package serving

import (
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/speed"
)

// scan of a recurrent layer: decoding reads and writes the states, a prompt runs through its tokens in chunks.
type scan struct {
	decode, prompt model.Features // bytes of decoding, operations of prompts
	peak           float64
	floor, memory  int
	multiply       int
}

func (b *book) scan(k *speed.Kernel) *scan {
	l := b.levels("scan")
	s := &scan{prompt: k.Prefill().FLOPs, peak: b.peak("bf16"), floor: b.need("scan.floor", l), memory: b.need("scan.memory", l), multiply: b.need("scan.multiply", l)}
	for i := range s.decode {
		s.decode[i] = k.Decode.CacheRead[i] + k.Decode.CacheWrite[i] + k.Decode.Activations[i]
	}
	return s
}

func (s *scan) uses() []int { return []int{s.floor, s.memory, s.multiply} }

// seconds are floor + bytes / (bandwidth × memory) of decoding, floor + FLOPs / (peak × multiply) of prompts.
func (s *scan) seconds(p *point, d *device, c []float64) (t float64) {
	if p.batch.Decodes > 0 {
		t += s.decoding(&p.decode, d, c)
	}
	if p.batch.Prefill > 0 {
		t += s.prefilling(p, d, c)
	}
	return t
}

func (s *scan) decoding(f *model.Features, d *device, c []float64) float64 {
	return c[s.floor] + dot(&s.decode, f)/(d.bandwidth*share(c[s.memory]))
}

func (s *scan) prefilling(p *point, _ *device, c []float64) float64 {
	return c[s.floor] + dot(&s.prompt, &p.prefill)/(s.peak*share(c[s.multiply]))
}

// pointwise is all that goes through memory once: norms, rotations, activations, sums.
type pointwise struct {
	perToken, perOutput float64 // bytes
	memory              int
}

func (b *book) pointwise() *pointwise {
	return &pointwise{memory: b.need("pointwise.memory", b.levels("pointwise"))}
}

func (w *pointwise) add(k *speed.Kernel) {
	w.perToken += float64(k.Count) * k.Decode.Activations[model.Tokens]
	w.perOutput += float64(k.Count) * k.Decode.Activations[model.Outputs]
}

func (w *pointwise) uses() []int { return []int{w.memory} }

func (w *pointwise) seconds(p *point, d *device, c []float64) float64 {
	return (p.tokens*w.perToken + p.outputs*w.perOutput) / (d.bandwidth * c[w.memory])
}
