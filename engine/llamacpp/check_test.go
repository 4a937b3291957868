package llamacpp

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/plan"
)

// small is a plan of one short sequence.
func small(change func(*plan.Plan)) plan.Plan {
	p := plan.Plan{Context: 4096, Sequences: 1}
	if change != nil {
		change(&p)
	}
	return p
}

// prepared runs defaults, checks and the sizer.
func prepared(e Engine, j *engine.Job) error {
	e.Defaults(j)
	if err := e.Check(j); err != nil {
		return err
	}
	_, err := e.Sizer(j)
	return err
}

// TestRefusals: what llama.cpp itself refuses, by field and with a fix. Its own checks are in
// src/llama-context.cpp (llama_init_from_model), common/arg.cpp and src/llama-model.cpp.
func TestRefusals(t *testing.T) {
	off := "eager"
	for _, c := range []struct {
		model, machine, version string
		change                  func(*plan.Plan)
		field, message          string
	}{
		{"llama-3.1-8b", "", "", func(p *plan.Plan) { p.KVV, p.Attention = "q8_0", off }, "kv_v", "quantised values need flash attention"},
		{"llama-3.1-8b", "", "b5716", func(p *plan.Plan) { p.KVV, p.Attention = "q8_0", "auto" }, "kv_v", "quantised values need flash attention"},
		{"phi-2", "", "", func(p *plan.Plan) { p.KV, p.Attention = "q8_0", "flash" }, "kv", "blocks of 32 do not divide keys of 80"},
		{"phi-2", "", "", func(p *plan.Plan) { p.KVV, p.Attention = "q8_0", "flash" }, "kv_v", "do not divide values of 80"},
		{"llama-3.1-8b", "", "", func(p *plan.Plan) { p.KV = "fp8" }, "kv", "cannot keep its KV cache in that format"},
		{"deepseek-v2-lite", "", "", func(p *plan.Plan) { p.KV, p.KVV, p.Attention = "f16", "q8_0", "flash" }, "kv_v", "keys and values in one format"},
		{"llama-3.1-8b", "", "", func(p *plan.Plan) { p.Attention = "sdpa" }, "attention", "PyTorch"},
		{"llama-3.1-8b", "", "b2700", func(p *plan.Plan) { p.Attention = "flash" }, "attention", "no flash attention"},
		{"llama-3.1-8b", "2xh100", "", func(p *plan.Plan) { p.TensorSplit = "1,1,1" }, "tensor_split", "3 proportions for 2 devices"},
		{"llama-3.1-8b", "2xh100", "", func(p *plan.Plan) { p.TensorSplit = "1,x" }, "tensor_split", "not a proportion"},
		{"llama-3.1-8b", "2xh100", "", func(p *plan.Plan) { p.TensorSplit = "1,-2" }, "tensor_split", "not a proportion"},
		{"mixtral-8x7b", "h100", "", func(p *plan.Plan) { p.OverrideTensor = "exps" }, "override_tensor", "has no ="},
		{"mixtral-8x7b", "h100", "", func(p *plan.Plan) { p.OverrideTensor = "exps=CUDA7" }, "override_tensor", "names no buffer"},
		{"mixtral-8x7b", "h100", "", func(p *plan.Plan) { p.OverrideTensor = "ex(ps=CPU" }, "override_tensor", "not an expression"},
		{"mixtral-8x7b", "h100", "", func(p *plan.Plan) { p.OverrideTensor = strings.Repeat("a=CPU,", 1000) }, "override_tensor", "bytes long"},
		{"mixtral-8x7b", "h100", "", func(p *plan.Plan) { p.CPUMoE = layers(-2) }, "cpu_moe", "not a number of layers"},
		{"llama-3.1-8b", "h100", "b6950", func(p *plan.Plan) { p.Context, p.ContextTotal, p.Sequences = 0, 3, 8 }, "sequences", "leave none"},
		{"llama-3.1-8b", "h100", "", func(p *plan.Plan) { p.Sequences = 257 }, "sequences", "more than the 256"},
		{"llama-3.1-8b", "h100", "b6000", func(p *plan.Plan) { p.Sequences = 65 }, "sequences", "more than the 64"},
		{"llama-3.1-8b", "h100", "", func(p *plan.Plan) { p.ContextTotal, p.Sequences = 16384, 2 }, "context_total", "and context = 4096"},
		{"llama-3.1-8b", "h100", "b5000", func(p *plan.Plan) { p.KVUnified = yes(false) }, "kv_unified", "one cache for all slots"},
		{"llama-3.1-8b", "2xh100", "", func(p *plan.Plan) { p.TP = 2 }, "tp", "divides layers among devices by itself"},
		{"llama-3.1-8b", "2xh100", "", func(p *plan.Plan) { p.DP = 2 }, "dp", "one replica"},
		{"llama-3.1-8b", "h100", "", func(p *plan.Plan) { p.Offload = &plan.Offload{Weights: "nvme"} }, "offload.weights", "keeps nothing on disk"},
		{"llama-3.1-8b", "h100", "", func(p *plan.Plan) { p.Offload = &plan.Offload{Weights: "pool"} }, "offload.weights", "keeps nothing on a memory pool"},
		{"llama-3.1-8b", "tpu-v5e", "", nil, "hardware", "no backend"},
		{"llama-3.1-8b", "32xh100", "", nil, "devices", "more than the 16"},
		{"llama-3.1-8b", "20xrtx-3090", "", nil, "devices", "more than the 16"},
	} {
		v := Latest
		if c.version != "" {
			v, _ = Engine{}.ParseVersion(c.version)
		}
		j := jobOf(t, c.model, "q4_k_m", machineOf(t, c.machine), v, small(c.change))
		var problem *plan.Problem
		if err := prepared(Engine{CLI}, j); !errors.As(err, &problem) {
			t.Errorf("%s on %s: %v, want a problem of %s", c.model, c.machine, err, c.field)
			continue
		}
		if problem.Field != c.field || !strings.Contains(problem.Message, c.message) || problem.Fix == "" {
			t.Errorf("%s: %s: %q, fix %q; want %s: %q", c.model, problem.Field, problem.Message, problem.Fix, c.field, c.message)
		}
	}
}

func machineOf(t testing.TB, name string) *hardware.Machine {
	t.Helper()
	if name == "" {
		return nil
	}
	m, _, err := hardware.Parse(name, 0)
	if err != nil {
		t.Fatal(err)
	}
	return &m
}

// TestNotRefused: plans at the edge of those above.
func TestNotRefused(t *testing.T) {
	for _, c := range []struct {
		model, machine string
		change         func(*plan.Plan)
	}{
		{"llama-3.1-8b", "h100", func(p *plan.Plan) { p.KV, p.KVV = "q8_0", "q4_0" }},
		{"phi-2", "h100", func(p *plan.Plan) { p.KV, p.Attention = "q8_0", "eager"; p.KVV = "f16" }},
		{"deepseek-v2-lite", "h100", func(p *plan.Plan) { p.KV, p.KVV, p.Attention = "q8_0", "q8_0", "flash" }},
		{"llama-3.1-8b", "h100", func(p *plan.Plan) { p.Sequences = 256 }},
		{"llama-3.1-8b", "8xh100", nil},
		{"llama-3.1-8b", "4xh100", func(p *plan.Plan) { p.TensorSplit = "0,0,0,0" }},
		{"llama-3.1-8b", "4xh100", func(p *plan.Plan) { p.TensorSplit = "1/0/0/3" }},
		{"llama-3.1-8b", "h100", func(p *plan.Plan) { p.Context, p.ContextTotal, p.Sequences = 8192, 16384, 2 }},
		{"mixtral-8x7b", "2xh100", func(p *plan.Plan) { p.OverrideTensor = `blk\.\d\.ffn_.*_exps=CUDA1,exps=CUDA_Host,norm=CPU` }},
	} {
		j := jobOf(t, c.model, "q4_k_m", machineOf(t, c.machine), Latest, small(c.change))
		if err := prepared(Engine{CLI}, j); err != nil {
			t.Errorf("%s on %s: %v", c.model, c.machine, err)
		}
	}
}

func TestParseVersion(t *testing.T) {
	for _, c := range []struct {
		program Program
		text    string
		want    engine.Version
	}{
		{CLI, "0.5.0", engine.V(0, 5, 0)},
		{CLI, "v0.1", engine.V(0, 1, 0)},
		{CLI, "b5716", engine.V(0, 0, 5716)},
		{Server, "5716 (d27b3ca1)", engine.V(0, 0, 5716)},
		{CLI, " B941 ", engine.V(0, 0, 941)},
		{Ollama, "0.12.11", engine.V(0, 12, 11)},
		{Ollama, "v0.30.0", engine.V(0, 30, 0)},
	} {
		if got, err := (Engine{c.program}).ParseVersion(c.text); err != nil || got != c.want {
			t.Errorf("%q: %v, %v; want %v", c.text, got, err, c.want)
		}
	}
	for _, text := range []string{"", "x", "b", "b12", "build", "-1", "b99999999999"} {
		if v, err := (Engine{CLI}).ParseVersion(text); err == nil {
			t.Errorf("%q is read as %v", text, v)
		}
	}
}

// TestVersionName: a version is shown as it is asked for, builds by their number.
func TestVersionName(t *testing.T) {
	for _, c := range []struct {
		program Program
		text    string
	}{{CLI, "b5716"}, {Server, "b941"}, {CLI, "0.5"}, {CLI, "0.1.2"}, {Ollama, "0.12.11"}, {Ollama, "0.0.140"}} {
		e := Engine{c.program}
		v, err := e.ParseVersion(c.text)
		if got := engine.VersionName(e, v); err != nil || got != c.text {
			t.Errorf("%q is shown as %q (%v)", c.text, got, err)
		}
	}
}

// TestSpareSequence: from b1407 to b3910 llama-server had a sequence more than slots, so a row of logits and
// a state more; its cache did not grow.
func TestSpareSequence(t *testing.T) {
	sizes := func(program Program, version string) (rows, state, kv int64) {
		e := Engine{program}
		v, err := e.ParseVersion(version)
		if err != nil {
			t.Fatal(err)
		}
		j := jobOf(t, "jamba-v0.1", "q4_k_m", cards(t, 1), v, small(func(p *plan.Plan) { p.Sequences = 3 }))
		ranks := sizerOf(t, e, j).Size(nil, j.Load())
		return bytesOf(ranks[0].Host, "output") / (4 * j.Model.Vocab), bytesOf(ranks[0].Items, "state"), bytesOf(ranks[0].Items, "kv_cache")
	}
	oldRows, oldState, oldKV := sizes(Server, "b3900")
	rows, state, kv := sizes(Server, "b4000")
	cliRows, _, _ := sizes(CLI, "b3900")
	if oldRows != 4 || rows != 3 || cliRows != 3 || 3*oldState != 4*state || oldKV != kv {
		t.Errorf("%d and %d rows (%d in llama-cli), states of %d and %d, caches of %d and %d", oldRows, rows, cliRows, oldState, state, oldKV, kv)
	}
}

// TestVersionOrder: builds come before releases, and each Ollama carries a llama.cpp no older than the last.
func TestVersionOrder(t *testing.T) {
	last := engine.Version{}
	for _, s := range carried {
		if !s.Value.AtLeast(last) || !Latest.AtLeast(s.Value) {
			t.Errorf("ollama %v carries %v, and %v before", s.From, s.Value, last)
		}
		last = s.Value
	}
	if !engine.V(0, 1, 0).AtLeast(build(999999)) {
		t.Error("a build is newer than 0.1.0")
	}
}

// TestCommand: the flags of the build asked for, and only those that differ from its defaults.
func TestCommand(t *testing.T) {
	for _, c := range []struct {
		program                 Program
		model, machine, version string
		change                  func(*plan.Plan)
		want                    string
	}{
		{Server, "qwen3-32b", "rtx-5090", "", func(p *plan.Plan) { p.Context, p.Attention = 20480, "flash" }, "llama-server -m qwen3-32b-q4_k_m.gguf -c 20480 -np 1 -ngl 99 -fa on"},
		{Server, "llama-3.1-8b", "rtx-4090", "b5716", func(p *plan.Plan) { p.Sequences, p.Attention, p.KV, p.GPULayers = 4, "flash", "q8_0", layers(20) },
			"llama-server -m llama-3.1-8b-q4_k_m.gguf -c 16384 -np 4 -ngl 20 -fa -ctk q8_0 -ctv q8_0"},
		{Server, "mixtral-8x7b", "2xrtx-3090", "", func(p *plan.Plan) {
			p.CPUMoE, p.TensorSplit, p.Mmap, p.Attention = layers(8), "3,1", yes(false), "eager"
		},
			"llama-server -m mixtral-8x7b-q4_k_m.gguf -c 4096 -np 1 -ngl 99 -ts 3,1 --n-cpu-moe 8 --no-mmap -fa off"},
		{Server, "gemma-3-27b", "rtx-4090", "", func(p *plan.Plan) {
			p.SWAFull, p.KVOffload, p.UBatch, p.Sequences, p.KVUnified = yes(true), yes(false), 1024, 4, yes(true)
		},
			"llama-server -m gemma-3-27b-q4_k_m.gguf -c 16384 -ngl 99 -fa on --swa-full -nkvo -ub 1024"},
		{Ollama, "llama-3.1-8b", "rtx-4090", "", func(p *plan.Plan) { p.KV, p.Attention = "q8_0", "flash" }, "cat > Modelfile <<'EOF'\nFROM llama-3.1-8b-q4_k_m.gguf\nPARAMETER num_ctx 4096\nEOF\nOLLAMA_CONTEXT_LENGTH=4096 OLLAMA_NUM_PARALLEL=1 OLLAMA_FLASH_ATTENTION=1 OLLAMA_KV_CACHE_TYPE=q8_0 ollama serve &\nollama create llama-3.1-8b-q4_k_m-memwall -f Modelfile"},
	} {
		e := Engine{c.program}
		v := e.Latest()
		if c.version != "" {
			v, _ = e.ParseVersion(c.version)
		}
		j := jobOf(t, c.model, "q4_k_m", machineOf(t, c.machine), v, small(c.change))
		if err := prepared(e, j); err != nil {
			t.Errorf("%s: %v", c.model, err)
			continue
		}
		if got := e.Command(j); got != c.want {
			t.Errorf("%s:\n got  %s\n want %s", c.model, got, c.want)
		}
	}
}

// TestDefaults: the programs differ where llama.cpp's tools, its server and Ollama do.
func TestDefaults(t *testing.T) {
	for _, c := range []struct {
		program Program
		version string
		want    string // batch, ubatch, rows of logits, unified, full windows
	}{
		{CLI, "0.5.0", "2048 512 512 false false"},
		{Server, "0.5.0", "2048 512 2 false false"},
		{CLI, "b5716", "2048 512 512 true false"},
		{CLI, "b2400", "512 512 512 true false"},
		{Ollama, "0.32.15", "512 512 2 false false"},
		{Ollama, "0.12.11", "1024 512 512 false true"},
	} {
		e := Engine{c.program}
		v, err := e.ParseVersion(c.version)
		if err != nil {
			t.Fatal(err)
		}
		j := jobOf(t, "gemma-3-27b", "q4_k_m", cards(t, 1), v, plan.Plan{Context: 8192, Sequences: 2})
		e.Defaults(j)
		p := j.Plan
		got := fmt.Sprint(p.BatchTokens, p.UBatch, p.LogitRows, *p.KVUnified, *p.SWAFull)
		if got != c.want {
			t.Errorf("%s %s: %s, want %s", e.Name(), c.version, got, c.want)
		}
	}
}
