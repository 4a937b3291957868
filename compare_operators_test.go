package memwall

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
)

func packedTrace(t *testing.T) string {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader([]byte(logFile(t, "torch", "testdata", "operators.json.gz"))))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func asTraining(model string) Request {
	r := Request{Ask: "train", Model: model, Hardware: "8xh100-sxm-80gb"}
	r.Framework, r.Sharding, r.SequenceLength, r.MicroBatch, r.Recompute = "torchtitan", "fsdp", 8192, 2, "none"
	return r
}

func row(a *Answer, name string) *OperatorLine {
	i := slices.IndexFunc(a.Operators, func(o OperatorLine) bool { return o.Name == name })
	if i < 0 {
		return nil
	}
	return &a.Operators[i]
}

// TestCompareOperators: the rows of a composed run. Of equal matrices one row; what each reached follows from its shapes.
func TestCompareOperators(t *testing.T) {
	a, err := Compare(packedTrace(t), asTraining("llama-3.1-8b"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, shape   string
		calls, ms     float64
		tflops, share float64
	}{
		{"gate_proj up_proj", "14336×4096", 192, 559.751, 660, 0.667}, {"down_proj", "4096×14336", 96, 279.876, 660, 0.667},
		{"q_proj o_proj", "4096×4096", 192, 159.929, 660, 0.667},
		{"k_proj v_proj", "1024×4096", 192, 54.976, 480, 0.485}, {"lm_head", "128256×4096", 3, 78.246, 660, 0.667},
		{"attention", "", 64, 643.2, 164, 0.166}, {"norms", "", 128, 21.475, 0, 0},
		{"loss", "", 2, 17.511, 0, 0}, {"optimizer", "", 1, 11.711, 0, 0}, {"weights and their gradients", "", 96, 272, 0, 0},
	} {
		r := row(a, c.name)
		if r == nil || r.Shape != c.shape || math.Abs(r.Calls-c.calls) > 1e-6 || math.Abs(*r.Printed-c.ms) > 0.01 || r.Ours == nil ||
			math.Abs(*r.Ratio - *r.Printed / *r.Ours) > 1e-3 {
			t.Errorf("%s: %+v", c.name, r)
			continue
		}
		if (r.FLOPs != nil) != (c.tflops > 0) || c.tflops > 0 &&
			(math.Abs(*r.FLOPs/1e12-c.tflops) > 0.5 || math.Abs(*r.PeakFraction-c.share) > 1e-3) {
			t.Errorf("%s reaches %v of %v", c.name, r.FLOPs, r.PeakFraction)
		}
	}
	if r := row(a, "gate_proj up_proj"); len(r.Of) != 3 || r.Of[0].Name != "aten::mm" || r.Of[0].Shape != "16384×14336×4096" ||
		r.Of[0].Pass != "forward" || r.Of[1].Pass != "weight gradient" || math.Abs(r.Of[0].Calls-64) > 1e-9 {
		t.Errorf("%+v", r.Of)
	}
	if r := row(a, "weights and their gradients"); math.Abs(*r.Bytes-(64*436224000+32*872448000)/0.272) > 1e9 {
		t.Errorf("%+v", r)
	}
}

// classLines are the lines of classes by the class of rows.
var classLines = map[string]string{
	"products": "matmuls", "experts": "experts", "attention": "attention", "elementwise": "element-wise", "loss": "loss",
	"optimizer": "optimizer", "unpacking": "unpacking of weights",
	"collectives": "collectives", "copies": "copies to and from the host", "other": "other kernels",
}

// TestOperatorRowsAddUp: whatever run a trace is said to be of, the rows of a class add up to the class's line, in the trace
// and in memwall's own figures.
func TestOperatorRowsAddUp(t *testing.T) {
	trace := packedTrace(t)
	requests := []Request{{}, {Model: "llama-3.1-8b"}, {Model: "llama-3.1-8b", Hardware: "h100-sxm-80gb"},
		{Model: "qwen3-30b-a3b", Hardware: "8xh100-sxm-80gb"}, {Model: "llama-3.1-8b", Hardware: "rtx-4090"}}
	for _, id := range []string{"llama-3.1-8b", "qwen3-30b-a3b", "gemma-3-27b", "deepseek-v3", "gpt-oss-20b", "mamba-2.8b", "gpt2"} {
		r := asTraining(id)
		requests = append(requests, r)
		r.TP, r.Framework, r.Sharding, r.Precision = 2, "megatron", "zero1", "fp8"
		requests = append(requests, r)
		r = asTraining(id)
		r.Method, r.Framework, r.LoRA = "lora", "transformers", []string{"all-linear"}
		requests = append(requests, r)
	}
	for _, r := range requests {
		a, err := Compare(trace, r)
		if err != nil {
			t.Errorf("%+v: %v", r.Model, err)
			continue
		}
		printed, ours := map[string]float64{}, map[string]float64{}
		for _, o := range a.Operators {
			if o.Printed == nil && o.Ours == nil || o.Printed == nil && o.Why == "" {
				t.Errorf("%s: %+v", r.Model, o)
			}
			if o.Printed != nil {
				printed[o.Class] += *o.Printed
			}
			if o.Ours != nil {
				ours[o.Class] += *o.Ours
			}
		}
		for class, name := range classLines {
			l := find(a, name, "")
			if l == nil && class == "elementwise" {
				l = find(a, "element-wise and norms", "")
			}
			if l == nil {
				continue
			}
			if math.Abs(*l.Printed-printed[class]) > 0.011 {
				t.Errorf("%s, %s: the rows of %s take %g of %g ms", r.Model, r.Framework, class, printed[class], *l.Printed)
			}
			if own := deref(l.Ours); math.Abs(own-ours[class]) > 2e-3*own {
				t.Errorf("%s, %s: memwall's rows of %s take %g of %g ms", r.Model, r.Framework, class, ours[class], own)
			}
		}
	}
}

func deref(x *float64) float64 {
	if x == nil {
		return 0
	}
	return *x
}

// TestCompareServedOperators: a server's step, whose queries, keys and values are one product, and gate and up another; one of
// queries' own size is then the output's.
func TestCompareServedOperators(t *testing.T) {
	var b strings.Builder
	b.WriteString(`[{"ph":"X","cat":"user_annotation","name":"execute_context_0(0)_generation_32(32)","pid":1,"tid":1,"ts":0,"dur":9000}`)
	id := 0
	launch := func(op, dims, kernel string, layers int, us float64) {
		for range layers {
			id++
			fmt.Fprintf(&b, `,{"ph":"X","cat":"cpu_op","name":"%s","pid":1,"tid":1,"ts":%d,"dur":1,"args":{"External id":%d%s}}`, op, id, id, dims)
			fmt.Fprintf(&b, `,{"ph":"X","cat":"kernel","name":"%s","pid":0,"tid":7,"ts":%d,"dur":%g,"args":{"External id":%d,"correlation":%d}}`, kernel, 100*id, us, id, 1<<20+id)
		}
	}
	for _, l := range []struct {
		n, k, layers int
		us           float64
	}{{6144, 4096, 32, 20}, {4096, 4096, 32, 14}, {28672, 4096, 32, 85}, {4096, 14336, 32, 44}, {128256, 4096, 1, 370}} {
		launch("aten::mm", fmt.Sprintf(`,"Input Dims":[[32,%d],[%d,%d]],"Input Strides":[[%d,1],[1,%d]],"Input type":["c10::BFloat16","c10::BFloat16"]`, l.k, l.k, l.n, l.k, l.k), "nvjet_tst", l.layers, l.us)
	}
	launch("_C::rotary_embedding", "", "void vllm::rotary_embedding_kernel<c10::BFloat16, true>()", 32, 4)
	launch("_C::silu_and_mul", "", "void vllm::act_and_mul_kernel<c10::BFloat16>()", 32, 5)
	launch("_C::fused_add_rms_norm", "", "void vllm::fused_add_rms_norm_kernel<c10::BFloat16>()", 65, 5)
	launch("vllm::unified_attention_with_output", "", "flash_fwd_splitkv_kernel", 32, 30)
	b.WriteString("]")
	r := Request{Model: "llama-3.1-8b", Hardware: "h100-sxm-80gb"}
	r.Engine, r.Sequences, r.PromptTokens, r.OutputTokens = "vllm", 32, 1000, 500
	a, err := Compare(b.String(), r)
	if err != nil {
		t.Fatal(err)
	}
	for name, calls := range map[string]float64{"q_proj k_proj v_proj": 32, "o_proj": 32, "gate_proj up_proj": 32, "down_proj": 32,
		"lm_head": 1, "attention": 32, "norms": 65, "rotary positions": 32, "activation": 32} {
		x := row(a, name)
		if x == nil || x.Calls != calls || x.Ours == nil || x.Ratio == nil || x.FLOPs != nil && (*x.Ratio < 0.5 || *x.Ratio > 2) {
			t.Errorf("%s: %+v", name, x)
		}
	}
}

// TestShardedShapes: matrices are compared as a rank has them.
func TestShardedShapes(t *testing.T) {
	r := asTraining("llama-3.1-8b")
	r.TP, r.Framework, r.Sharding = 4, "megatron", "zero1"
	a, err := Compare(packedTrace(t), r)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"q_proj": "1024×4096", "k_proj": "256×4096", "o_proj": "4096×1024", "gate_proj": "3584×4096",
		"down_proj": "4096×3584", "lm_head": "32064×4096"} {
		if x := row(a, name); x == nil && name != "q_proj" || x != nil && x.Shape != want {
			t.Errorf("%s: %+v, want %s", name, x, want)
		}
	}
	// what is k_proj of the whole model is q_proj of a rank
	if x := row(a, "q_proj"); x == nil || x.Printed == nil || math.Abs(*x.Printed-54.976) > 0.01 {
		t.Errorf("%+v", x)
	}
}

// TestOtherModel: a trace of other shapes than the model's is said to be that of another one.
func TestOtherModel(t *testing.T) {
	for id, other := range map[string]bool{"llama-3.1-8b": false, "qwen3-14b": true} {
		if a, err := Compare(packedTrace(t), asTraining(id)); err != nil || noted(a, "other_shapes") != other {
			t.Errorf("%s: %+v, %v", id, a.Notes, err)
		}
	}
}

// TestOperatorsNotTold: traces without shapes or without links say so, keep the lines of classes and never guess.
func TestOperatorsNotTold(t *testing.T) {
	trace := packedTrace(t)
	unlinked := strings.ReplaceAll(trace, `"External id"`, `"Other id"`)
	a, err := Compare(unlinked, asTraining("llama-3.1-8b"))
	if err != nil || len(a.Operators) != 0 || find(a, "matmuls", "").Ours == nil || !noted(a, "no_operators") {
		t.Errorf("%d rows, %v, %v", len(a.Operators), a.Notes, err)
	}
	a, err = Compare(strings.ReplaceAll(trace, `"Input Dims"`, `"Dims"`), asTraining("llama-3.1-8b"))
	if err != nil || !noted(a, "no_shapes") || a.Operators[0].Class != "products" || a.Operators[1].Class == "products" ||
		!strings.Contains(a.Operators[0].Name, "down_proj") {
		t.Errorf("%+v, %v", a.Operators, err)
	}
	a, err = Compare(strings.ReplaceAll(trace, `"Input Strides"`, `"Strides"`), asTraining("llama-3.1-8b"))
	if err != nil || !noted(a, "no_strides") || row(a, "lm_head") == nil {
		t.Errorf("%+v, %v", a.Operators, err)
	}
}

func noted(a *Answer, code string) bool {
	return slices.ContainsFunc(a.Notes, func(n Note) bool { return n.Code == code })
}
