package transformers

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/enginetest"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

func find(t *testing.T, items []ledger.Item, name string) *ledger.Item {
	t.Helper()
	for i := range items {
		if strings.Contains(items[i].Name, name) {
			return &items[i]
		}
	}
	return nil
}

// TestLogits: until 4.44 the logits of the whole prompt stood in 16 bits and in fp32 at once.
func TestLogits(t *testing.T) {
	c := enginetest.Case{Model: "llama-3.1-8b", Hardware: "h100", Version: engine.V(4, 44, 0),
		Plan: plan.Plan{Context: 8192, PromptTokens: 6144}}
	it := find(t, c.Ranks(t, Engine{})[0].Items, "logits")
	if it == nil || it.Bytes != 6144*128256*6 {
		t.Errorf("4.44: %+v", it)
	}
	old := c.Ranks(t, Engine{})[0].Needed().Bytes
	c.Version = engine.V(4, 45, 0)
	ranks := c.Ranks(t, Engine{})
	if it := find(t, ranks[0].Items, "logits"); it != nil {
		t.Errorf("4.45: the logits of one token decide: %s", it.Bytes)
	}
	if saved := old - ranks[0].Needed().Bytes; saved < 3*unit.GiB {
		t.Errorf("4.45 saves %s", saved)
	}
}

// TestCacheBytes of one token, worked out by hand.
func TestCacheBytes(t *testing.T) {
	for _, c := range []struct {
		model, kv string
		version   engine.Version
		want      unit.Bytes
		reckoned  string
	}{
		{"llama-3.1-8b", "", Latest, 131072, "32 × 2 × 8 × 128 × 2"},
		{"llama-3.1-8b", "f32", Latest, 262144, "in fp32"},
		{"llama-3.1-8b", "int8", Latest, 69632, "65536 × (1 + 4/64)"},
		{"llama-3.1-8b", "int4", Latest, 36864, "65536 × (0.5 + 4/64)"},
		{"llama-3.1-8b", "i2", Latest, 20480, "65536 × (0.25 + 4/64)"},
		{"deepseek-v3", "", Latest, 70272, "61 × 576 × 2"},
		{"deepseek-v3", "", engine.V(5, 14, 0), 4997120, "61 × 128 × (192 + 128) × 2"},
		{"mistral-7b-v0.1", "", engine.V(4, 55, 0), 131072, "windows kept in full"},
		{"mistral-7b-v0.1", "", engine.V(4, 56, 0), 0, "all layers slide"},
		{"gemma-3-27b", "", engine.V(4, 50, 0), 10 * 2 * 16 * 128 * 2, "10 full layers"},
	} {
		r := enginetest.Case{Model: c.model, Version: c.version, Plan: plan.Plan{Context: 65536, KV: c.kv}}.Ranks(t, Engine{})[0]
		if r.KV.PerToken != c.want {
			t.Errorf("%s in %q, %s: %d bytes, want %d (%s)", c.model, c.kv, c.version, r.KV.PerToken, c.want, c.reckoned)
		}
	}
}

// TestCacheOfALoad: windows stop growing, recent tokens of a quantised cache stay wide.
func TestCacheOfALoad(t *testing.T) {
	for _, c := range []struct {
		model, kv          string
		version            engine.Version
		context, sequences int64
		want               unit.Bytes
	}{
		{"llama-3.1-8b", "", Latest, 8192, 3, 3 * unit.GiB},
		{"mistral-7b-v0.1", "", Latest, 32768, 1, 512 * unit.MiB},
		{"mistral-7b-v0.1", "", engine.V(4, 55, 0), 32768, 1, 4 * unit.GiB},
		{"llama-3.1-8b", "int4", Latest, 1128, 1, 1000*36864 + 128*131072},
		{"llama-3.1-8b", "int4", Latest, 100, 1, 100 * 131072},
		{"mistral-7b-v0.1", "int4", Latest, 8320, 1, 8192*36864 + 128*131072}, // a quantised cache has no windows
	} {
		_, s := enginetest.Case{Model: c.model, Version: c.version, Plan: plan.Plan{Context: plan.Int(c.context), KV: c.kv}}.Sizer(t,
			Engine{})
		r := s.Size(nil, engine.Load{Context: c.context, Sequences: c.sequences})[0]
		if got := ledger.Find(r.Items, "kv_cache").Bytes; got != c.want {
			t.Errorf("%s in %q, %d × %d: %d bytes, want %d", c.model, c.kv, c.sequences, c.context, got, c.want)
		}
	}
}

// TestEagerScoresStandInTheLedger, once the prompt is long enough for attention to be the widest moment.
func TestEagerScoresStandInTheLedger(t *testing.T) {
	c := enginetest.Case{Model: "llama-3.1-8b", Hardware: "h100", Plan: plan.Plan{Context: 8192, PromptTokens: 6144, Attention: "eager"}}
	eager := c.Ranks(t, Engine{})[0]
	it := find(t, eager.Items, "score matrix")
	if it == nil || it.ID != "activations" || it.Bytes != 32*6144*6144*10 {
		t.Fatalf("%+v", it)
	}
	for _, part := range []string{"attention mask", "keys and values repeated"} {
		if find(t, eager.Items, part) == nil {
			t.Errorf("no %s", part)
		}
	}
	for _, a := range []string{"sdpa", "flash"} {
		c.Plan.Attention = a
		r := c.Ranks(t, Engine{})[0]
		if find(t, r.Items, "score matrix") != nil || find(t, r.Items, "mask") != nil || find(t, r.Items, "repeated") != nil {
			t.Errorf("%s: %v", a, r.Items)
		}
		if saved := eager.Needed().Bytes - r.Needed().Bytes; saved < 10*unit.GiB {
			t.Errorf("%s saves %s", a, saved)
		}
	}
	c.Plan.Attention = "eager"
	j, _ := c.Sizer(t, Engine{})
	found := false
	for _, n := range j.Notes {
		found = found || n.Code == "eager_attention" && !strings.Contains(n.Text, "leaves it out")
	}
	if !found {
		t.Errorf("no remark: %v", j.Notes)
	}
}

// TestLargestPhase: what is booked is the largest of the phases, and no other is larger.
func TestLargestPhase(t *testing.T) {
	for _, model := range []string{"llama-3.1-8b", "deepseek-v3", "gemma-3-27b", "mixtral-8x7b", "qwen3-next-80b-a3b", "mamba2-2.7b",
		"bloom-7b1"} {
		for _, attention := range []string{"eager", "sdpa", "flash"} {
			for _, v := range []engine.Version{engine.V(4, 40, 0), engine.V(4, 53, 0), Latest} {
				_, es := enginetest.Case{Model: model, Version: v,
					Plan: plan.Plan{Context: 8192, PromptTokens: 6000, Attention: attention}}.Sizer(t, Engine{})
				s := es.(*sizer)
				for _, l := range []engine.Load{{Context: 2200, Sequences: 1}, {Context: 8192, Sequences: 7},
					{Context: 100000, Sequences: 1}} {
					w, prompt := &s.ranks[0].widths, engine.Prompt(s.job, l)
					got, most := s.largest(nil, w, l).bytes(), unit.Bytes(0)
					for _, p := range []phase{s.feedForward(nil, w, l, prompt), s.attention(nil, w, l, prompt), s.logits(nil, w, l, prompt),
						s.growth(nil, w, l)} {
						most = max(most, p.bytes())
					}
					if got != most {
						t.Errorf("%s, %s, %s: %s booked, %s needed", model, attention, v, got, most)
					}
				}
			}
		}
	}
}

// TestMasks: sdpa makes none for a single prompt shorter than its windows.
func TestMasks(t *testing.T) {
	for _, c := range []struct {
		model     string
		attention string
		version   engine.Version
		sequences int64
		prompt    int64
		want      int64
	}{
		{"llama-3.1-8b", "sdpa", Latest, 1, 5000, 0}, {"llama-3.1-8b", "sdpa", Latest, 2, 5000, 1},
		{"llama-3.1-8b", "sdpa", engine.V(4, 52, 0), 2, 5000, 2},
		{"llama-3.1-8b", "eager", Latest, 1, 5000, 2}, {"llama-3.1-8b", "flash", Latest, 9, 5000, 0},
		{"gemma-3-27b", "sdpa", Latest, 1, 1000, 0}, {"gemma-3-27b", "sdpa", Latest, 1, 1024, 1},
		{"mamba2-2.7b", "eager", Latest, 3, 100, 0},
	} {
		_, es := enginetest.Case{Model: c.model, Version: c.version, Plan: plan.Plan{Context: 8192, Attention: c.attention}}.Sizer(t,
			Engine{})
		s := es.(*sizer)
		if got, _ := s.mask(&s.ranks[0].widths, engine.Load{Context: 8192, Sequences: c.sequences}, c.prompt); got != c.want {
			t.Errorf("%s, %s, %s: %d bytes a pair, want %d", c.model, c.attention, c.version, got, c.want)
		}
	}
}

// TestStaticCache grows nothing.
func TestStaticCache(t *testing.T) {
	c := enginetest.Case{Model: "llama-3.1-8b", Plan: plan.Plan{Context: 131072, PromptTokens: 1024}}
	_, es := c.Sizer(t, Engine{})
	l := engine.Load{Context: 131072, Sequences: 1}
	s := es.(*sizer)
	if got, want := s.growth(nil, &s.ranks[0].widths, l).bytes(), unit.Bytes(131072*1024*2); got != want {
		t.Errorf("%d bytes copied, want %d", got, want)
	}
	c.Plan.EngineArgs = []string{"cache_implementation=static"}
	j, es := c.Sizer(t, Engine{})
	s = es.(*sizer)
	if got := s.growth(nil, &s.ranks[0].widths, l).bytes(); got != 0 {
		t.Errorf("%d bytes copied of a static cache", got)
	}
	if got := (Engine{}).Command(j); !strings.Contains(got, `cache_implementation="static"`) {
		t.Errorf("%s", got)
	}
}

// TestWholeLayersOnDevices: stages hold all layers, and the caches of their own.
func TestWholeLayersOnDevices(t *testing.T) {
	j, s := enginetest.Case{Model: "llama-3.1-70b", Hardware: "4xa100-sxm-80gb", Plan: plan.Plan{Context: 8192}}.Sizer(t, Engine{})
	if j.Plan.PP != 4 || j.Plan.TP != 1 || j.Plan.DP != 1 {
		t.Fatalf("%+v", j.Plan)
	}
	var weights, cache unit.Bytes
	for _, r := range s.Size(nil, j.Load()) {
		weights += ledger.Find(r.Items, "weights").Bytes * unit.Bytes(r.Count)
		cache += ledger.Find(r.Items, "kv_cache").Bytes * unit.Bytes(r.Count)
	}
	if weights != j.Weights.Bytes() || cache != 8192*327680 {
		t.Errorf("%d of weights, %d of cache", weights, cache)
	}
}

// TestLaws over kinds of models, machines and versions.
func TestLaws(t *testing.T) {
	for _, model := range []string{"llama-3.1-8b", "deepseek-v3", "gpt-oss-20b", "gemma-3-27b", "qwen3-next-80b-a3b", "mamba2-2.7b",
		"mixtral-8x7b", "bloom-7b1"} {
		for _, on := range []string{"h100", "2xrtx-4090", "8xh200", ""} {
			for _, v := range []engine.Version{engine.V(4, 36, 0), engine.V(4, 44, 0), engine.V(4, 55, 0), Latest} {
				for _, attention := range []string{"eager", "sdpa", "flash"} {
					j, s := enginetest.Case{Model: model, Hardware: on, Version: v,
						Plan: plan.Plan{Context: 9001, Sequences: 5, PromptTokens: 7000, Attention: attention}}.Sizer(t, Engine{})
					b := &ledger.Book{}
					for _, r := range s.Size(b, j.Load()) {
						enginetest.CheckRank(t, b, &r)
					}
					enginetest.CheckMonotone(t, s)
				}
			}
		}
	}
}

// TestBitsAndBytes: 4.127 bits for linear layers, the rest as it was, and one matrix unpacked at a time.
func TestBitsAndBytes(t *testing.T) {
	r := enginetest.Case{Model: "llama-3.1-8b", Hardware: "rtx-4090", Plan: plan.Plan{Weights: "nf4", Context: 8192}}.Ranks(t, Engine{})[0]
	linear := 32 * (4096*4096*2 + 2*1024*4096 + 3*14336*4096)
	want := float64(linear)*4.127/8 + 2*2*128256*4096
	if got := float64(ledger.Find(r.Items, "weights").Bytes); math.Abs(got/want-1) > 0.001 {
		t.Errorf("%.0f bytes of weights, want %.0f", got, want)
	}
	if it := find(t, r.Items, "unpacked"); it == nil || it.Bytes != 2*14336*4096 {
		t.Errorf("%+v", it)
	}
}

// TestRefusals name the field, the value and the fix.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name, field string
		test        enginetest.Case
	}{
		{"old tp", "tp", enginetest.Case{Model: "llama-3.1-8b", Hardware: "2xh100", Version: engine.V(4, 40, 0), Plan: plan.Plan{TP: 2}}},
		{"old sdpa", "attention", enginetest.Case{Model: "llama-3.1-8b", Hardware: "h100", Version: engine.V(4, 30, 0),
			Plan: plan.Plan{Attention: "sdpa"}}},
		{"flash on T4", "attention", enginetest.Case{Model: "llama-3.1-8b", Hardware: "t4", Plan: plan.Plan{Attention: "flash"}}},
		{"file", "weights", enginetest.Case{Model: "llama-3.1-8b", Hardware: "h100", Plan: plan.Plan{Weights: "q4_k_m"}}},
		{"format", "kv", enginetest.Case{Model: "llama-3.1-8b", Hardware: "h100", Plan: plan.Plan{KV: "fp8"}}},
		{"old quantised", "kv", enginetest.Case{Model: "llama-3.1-8b", Hardware: "h100", Version: engine.V(4, 40, 0),
			Plan: plan.Plan{KV: "int4"}}},
		{"two formats", "kv_v", enginetest.Case{Model: "llama-3.1-8b", Hardware: "h100", Plan: plan.Plan{KV: "int8", KVV: "bf16"}}},
	} {
		if c.test.Version == (engine.Version{}) {
			c.test.Version = Latest
		}
		j := c.test.Job(t)
		Engine{}.Defaults(j)
		err := Engine{}.Check(j)
		var p *plan.Problem
		if !errors.As(err, &p) || p.Field != c.field || p.Value == "" || p.Fix == "" || p.Message == "" {
			t.Errorf("%s: %#v", c.name, err)
		}
	}
}

// TestCommand says what differs from the defaults.
func TestCommand(t *testing.T) {
	j, _ := enginetest.Case{Model: "llama-3.1-8b", Hardware: "rtx-4090",
		Plan: plan.Plan{Context: 8192, Weights: "bnb-int8", Attention: "flash", KV: "int4"}}.Sizer(t, Engine{})
	want := `AutoModelForCausalLM.from_pretrained("llama-3.1-8b", dtype="bfloat16", device_map="auto", attn_implementation="flash_attention_2", quantization_config=BitsAndBytesConfig(load_in_8bit=True))` +
		`.generate(**inputs, max_length=8192, cache_implementation="quantized", cache_config={"backend": "hqq", "nbits": 4})`
	if got := (Engine{}).Command(j); got != want {
		t.Errorf("%s", got)
	}
}

func BenchmarkSize(b *testing.B) {
	_, s := enginetest.Case{Model: "deepseek-v3", Hardware: "8xh200", Plan: plan.Plan{Context: 8192}}.Sizer(b, Engine{})
	b.ReportAllocs()
	for i := range b.N {
		s.Size(nil, engine.Load{Context: int64(4096 + i&4095), Sequences: 4})
	}
}

// TestDiffusersCall: the transformer of a diffusion model is loaded by its class, not by a class for text.
func TestDiffusersCall(t *testing.T) {
	const want = `diffusers.FluxTransformer2DModel.from_pretrained("flux.1-dev", subfolder="transformer", torch_dtype=torch.bfloat16).to("cuda")`
	if got := (Engine{}).Command(enginetest.Case{Model: "flux.1-dev"}.Job(t)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestAutoClass: each kind of model is loaded by the class for what it does.
func TestAutoClass(t *testing.T) {
	for id, want := range map[string]string{
		"llama-3.1-8b": "AutoModelForCausalLM", "bge-m3": "AutoModel", "dinov2-large": "AutoModel",
		"qwen2.5-vl-7b": "AutoModelForImageTextToText",
		"flan-t5-base":  "AutoModelForSeq2SeqLM", "whisper-base": "AutoModelForSpeechSeq2Seq",
	} {
		if got := autoClass(enginetest.Case{Model: id}.Job(t).Model); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
}
