package family

import (
	"math"
	"testing"
)

// TestPass: 50 steps of FLUX.1 dev at 1024 × 1024 take 3,719.50 TFLOP by the count of arXiv:2503.06923 (table 1); what the
// text adds to blocks of two streams is its own matrices and its share of attention.
func TestPass(t *testing.T) {
	m := readModel(t, `{"_class_name":"FluxTransformer2DModel","guidance_embeds":true}`)
	got, want := float64(m.Pass(4096, 512)), 3719.50e12/50
	if math.Abs(got/want-1) > 0.01 {
		t.Errorf("%.4g operations a step, published %.4g", got, want)
	}
	joint := readModel(t, `{"_class_name":"QwenImageTransformer2DModel","num_layers":1}`)
	const w = 24 * 128
	more := float64(joint.Pass(4096, 1024) - joint.Pass(4096, 512))
	matrices, attention := 2.*512*(12*w*w+3584*w), 4.*w*(5120*5120-4608*4608)
	if least := matrices + attention; more < least || more > 1.05*least {
		t.Errorf("512 tokens of text add %.4g operations, want %.4g and what is element by element", more, least)
	}
}

// TestPassReadsText: where the text is read by cross-attention, its tokens take only keys and values, and scores.
func TestPassReadsText(t *testing.T) {
	m := readModel(t, `{"_class_name":"PixArtTransformer2DModel","num_layers":1,"use_additional_conditions":false}`)
	const w = 16 * 72
	more := float64(m.Pass(1024, 300) - m.Pass(1024, 100))
	if want := 2.*200*2*w*w + 4*w*1024*200; more < want || more > 1.02*want {
		t.Errorf("200 tokens add %.4g operations, want %.4g", more, want)
	}
}
