package dtype

import (
	"math"
	"testing"

	"github.com/memwall/memwall/unit"
)

// TestGGMLBlocks: bits per weight as llama.cpp prints them for its file types and ggml.h defines blocks.
func TestGGMLBlocks(t *testing.T) {
	for f, want := range map[*Format]float64{
		Q4_0: 4.5, Q4_1: 5, Q5_0: 5.5, Q5_1: 6, Q8_0: 8.5, Q2_K: 2.625, Q3_K: 3.4375, Q4_K: 4.5, Q5_K: 5.5, Q6_K: 6.5625, IQ2_XXS: 2.0625,
		IQ2_XS: 2.3125,
		IQ2_S:  2.5625, IQ3_XXS: 3.0625, IQ3_S: 3.4375, IQ1_S: 1.5625, IQ1_M: 1.75, IQ4_NL: 4.5, IQ4_XS: 4.25, TQ1_0: 1.6875, TQ2_0: 2.0625,
		MXFP4: 4.25, NVFP4: 4.5, F16: 16, BF16: 16,
	} {
		if f.Bits() != want {
			t.Errorf("%s: %g bits, want %g", f.Name, f.Bits(), want)
		}
		if ByGGML(uint32(f.GGML)) != f {
			t.Errorf("%s is not found by its number %d", f.Name, f.GGML)
		}
	}
}

func TestGGMLNumbersAreUnique(t *testing.T) {
	seen := map[int]string{}
	for _, f := range GGML {
		if other, ok := seen[f.GGML]; ok {
			t.Errorf("%s and %s share number %d", f.Name, other, f.GGML)
		}
		if _, gone := Retired(uint32(f.GGML)); gone {
			t.Errorf("%s has a retired number", f.Name)
		}
		seen[f.GGML] = f.Name
	}
}

// TestFloats: IEEE 754 and the OCP formats' published extremes.
func TestFloats(t *testing.T) {
	for _, c := range []struct {
		f                         *Format
		max, normal, sub, epsilon float64
	}{
		{F32, math.MaxFloat32, 1.1754943508222875e-38, math.SmallestNonzeroFloat32, math.Pow(2, -23)},
		{F16, 65504, 6.103515625e-05, 5.960464477539063e-08, math.Pow(2, -10)},
		{BF16, 3.3895313892515355e38, 1.1754943508222875e-38, 9.183549615799121e-41, math.Pow(2, -7)},
		{FP8E4M3, 448, 0.015625, 0.001953125, 0.125},
		{FP8E5M2, 57344, 6.103515625e-05, 1.52587890625e-05, 0.25},
		{FP4E2M1, 6, 1, 0.5, 0.5},
	} {
		g := c.f.Float
		if g.Max() != c.max || g.SmallestNormal() != c.normal || g.SmallestSubnormal() != c.sub || g.Epsilon() != c.epsilon {
			t.Errorf("%s: max %g normal %g subnormal %g epsilon %g", c.f.Name, g.Max(), g.SmallestNormal(), g.SmallestSubnormal(),
				g.Epsilon())
		}
	}
}

// TestSchemes: bits per weight from the papers and file layouts.
func TestSchemes(t *testing.T) {
	for _, c := range []struct {
		s    *Scheme
		want float64
		why  string
	}{
		{NF4Double, 4.127, "QLoRA, section 3: 0.127 bits for double quantisation"},
		{NF4Single, 4.5, "QLoRA: 32/64 bits for absmax"},
		{AWQ(128), 4 + 20.0/128, "f16 scale and 4-bit zero per 128"},
		{GPTQ(I4, 128), 4 + 20.0/128, "the same, and one index per column"},
		{MXFP4Split, 4.25, "8-bit scale per 32"},
		{NVFP4Split, 4.5, "8-bit scale per 16"},
		{FP8Block, 8 + 32.0/(128*128), "f32 per 128 × 128"},
		{Sparse24, 9, "half of 16 bits, 2 bits for each kept one"},
		{MLXGroup(I4, 64), 4.5, "two bf16 per 64"},
	} {
		if got := c.s.Bits(); math.Abs(got-c.want) > 0.005 {
			t.Errorf("%s: %.4f bits, want %.4f (%s)", c.s.Name, got, c.want, c.why)
		}
	}
}

func TestSchemeBytes(t *testing.T) {
	// DeepSeek-V3's kv_a projection: 576 × 7168 in e4m3 with scales of 5 × 56
	if got := FP8Block.Bytes(1, 576, 7168); got != 576*7168+4*5*56 {
		t.Errorf("%d", got)
	}
	// Llama-3 8B's down projection in AWQ: 4096 × 14336
	if got := AWQ(128).Bytes(1, 4096, 14336); got != 4096*14336/2+4096*112*2+4096*112/2 {
		t.Errorf("%d", got)
	}
	if got := Of(Q4_K).Bytes(8, 14336, 4096); got != 8*14336*4096/256*144 {
		t.Errorf("%d", got)
	}
}

// TestValues: what the hub counts as elements of a quantised file: words and scales.
func TestValues(t *testing.T) {
	if got := FP8Block.Values(1, 256, 256, 1); got != 256*256+4 {
		t.Errorf("fp8 block: %d", got)
	}
	if got := MXFP4Split.Values(1, 2880, 2880, 1); got != 2880*2880/2+2880*90 {
		t.Errorf("mxfp4: %d", got)
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"Q4_K_M": "q4_k_m", "Q4_K - Medium": "q4_k_m", "bfloat16": "bf16", "BF16": "bf16", "fp16": "f16", "awq": "awq", "GPTQ-Int4": "gptq",
		"nf4": "nf4", "FP8": "fp8", "mxfp4": "mxfp4",
		"MXFP4_MOE": "mxfp4_moe", "IQ4_XS": "iq4_xs", "w4a16": "int4", "bitsandbytes": "nf4", "F16": "f16", "float32": "f32",
		"nvfp4": "nvfp4", "q8_0": "q8_0",
	} {
		if r := FindRecipe(name); r == nil || r.Name != want {
			t.Errorf("FindRecipe(%q) = %v, want %s", name, r, want)
		}
	}
	if FindRecipe("q9_k") != nil || FindRecipe("") != nil {
		t.Error("a made-up recipe is found")
	}
	for name, want := range map[string]*Format{"float16": F16, "fp8_e4m3": FP8E4M3, "e5m2": FP8E5M2, "q8_0": Q8_0, "int8": I8} {
		if FindFormat(name) != want {
			t.Errorf("FindFormat(%q) = %v", name, FindFormat(name))
		}
	}
}

func TestRecipeNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Recipes() {
		if seen[r.Name] {
			t.Errorf("%s stands twice", r.Name)
		}
		seen[r.Name] = true
		if FindRecipe(r.Name) != r {
			t.Errorf("%s finds another recipe", r.Name)
		}
	}
	if FindRecipe("f16").InGGUF().Name != "gguf-f16" || FindRecipe("awq").InGGUF() != nil {
		t.Error("recipes do not translate to GGUF")
	}
}

// TestSlowTwin: rows that end inside a block take a whole block.
func TestRows(t *testing.T) {
	for _, f := range append(append([]*Format{}, Plain...), GGML...) {
		for _, n := range []int64{0, 1, 7, 31, 32, 100, 256, 4097} {
			blocks := unit.Bytes(0)
			for left := n; left > 0; left -= f.BlockElems {
				blocks += unit.Bytes(f.BlockBytes)
			}
			if got := f.Row(n); got != blocks {
				t.Errorf("%s: a row of %d takes %d, counted %d", f.Name, n, got, blocks)
			}
		}
	}
}

// TestExpertsStayAsPublished: sizes that llama-bench prints for files of gpt-oss 20B are those of MXFP4 experts whatever the rest is in:
// F16 12.83 GiB, Q8_0 11.27, Q4_K - Medium 10.81 (rows of validation name the same files).
func TestExpertsStayAsPublished(t *testing.T) {
	facts := &Facts{Arch: "gpt-oss", Experts: 32}
	experts := Site{Role: FFNUpExps, Dims: 3, Batch: 32, Rows: 2880, Cols: 2880, Model: facts}
	q := Site{Role: AttnQ, Dims: 2, Batch: 1, Rows: 4096, Cols: 2880, Model: facts}
	for name, rest := range map[string]*Format{"gguf-f16": F16, "q8_0": Q8_0, "mxfp4_moe": Q8_0} {
		r := FindRecipe(name)
		if got := r.Pick(&experts); got.Elem != MXFP4 {
			t.Errorf("%s: experts in %s", name, got.Elem.Name)
		}
		if got := r.Pick(&q); got.Elem != rest {
			t.Errorf("%s: queries in %s", name, got.Elem.Name)
		}
	}
	experts.Model = &Facts{Arch: "qwen3moe", Experts: 32}
	if got := FindRecipe("q8_0").Pick(&experts); got.Elem != Q8_0 {
		t.Errorf("another's experts in %s", got.Elem.Name)
	}
}
