package memwall

import (
	"cmp"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"
	"github.com/memwall/memwall/internal/launch"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/plan"
)

// plausible are values of fields that engines take, so that many random plans can be run.
var plausible = map[string][]string{
	"context": {"2048", "4096", "8192", "10000"}, "sequences": {"1", "2", "4", "7"}, "tp": {"1", "2", "4"}, "pp": {"1", "2"},
	"dp": {"1", "2"}, "ep": {"2", "4", "8"},
	"kv": {"fp8", "bf16", "f16", "q8_0", "int8", "int4", "fp8_e5m2"}, "kv_v": {"q8_0", "q4_0", "f16"},
	"attention": {"auto", "flash", "sdpa", "eager"},
	"weights":   {"bf16", "fp8", "awq", "gptq", "nf4", "f16", "q4_k_m", "q8_0", "bnb-int8"}, "draft_model": {"llama-3.2-1b", "qwen3-0.6b"},
	"draft_tokens": {"3", "5"}, "draft_method": {"ngram"},
	"context_total": {"4096", "20000"}, "batch_tokens": {"1024", "4096"}, "ubatch": {"256", "1024"}, "gpu_layers": {"0", "7", "99", "-1"},
	"kv_unified": {"true", "false"},
	"swa_full":   {"true", "false"}, "split_mode": {"row", "none", "layer"}, "tensor_split": {"3,1,1,1", "1,1"}, "override_tensor": {`exps=CPU`, `blk\.[0-9]\.ffn_.*_exps=CPU`, `ffn_(up|gate)_exps=CPU`},
	"cpu_moe": {"-1", "5"}, "mmap": {"true", "false"}, "kv_offload": {"true", "false"}, "fit": {"on", "off"},
	"fit_target": {"2048", "512,1024"}, "main_gpu": {"0", "1"}, "mlock": {"true", "false"},
	"op_offload": {"true", "false"}, "cache_ram": {"0", "1024"}, "ctx_checkpoints": {"0", "8"}, "control_vector": {"true", "false"},
	"draft_gpu_layers": {"0", "-1"}, "draft_kv": {"q8_0"}, "draft_kv_v": {"q4_0", "f16"},
	"mla": {"0", "1", "2", "3"}, "attn_max_batch": {"512"}, "fused_moe": {"true", "false"}, "run_time_repack": {"true"},
	"smart_expert_reduction": {"6,1"},
	"mtp":                    {"true"}, "mmproj_offload": {"true", "false"}, "fit_ctx": {"4096"}, "mmproj": {"mmproj.gguf"},
	"gpu_memory_utilization": {"0.8", "0.95"}, "max_num_batched_tokens": {"4096", "16384"}, "max_num_seqs": {"16", "100"},
	"enforce_eager": {"true", "false"}, "block_size": {"16", "32", "64", "128"},
	"kv_cache_memory_bytes": {"4294967296"}, "cpu_offload_bytes": {"1073741824", "3221225472", "4000000000"}, "kv_host_bytes": {"64000000000"}, "kv_host_ratio": {"2", "1.5"},
	"mem_fraction_static": {"0.7", "0.5"}, "free_gpu_memory_fraction": {"0.8", "0.5"}, "prefix_cache": {"true", "false"},
	"chunked_prefill": {"true", "false"}, "mixed_chunk": {"true"}, "linear_backend": {"marlin"},
	"moe_backend": {"trtllm", "cutlass", "deepgemm", "triton", "marlin"}, "stream_interval": {"1", "8"},
	"scheduler_recv_interval": {"1", "10"}, "batch_wait_timeout_iters": {"4"}, "cuda_graph_max_bs": {"64", "512"},
	"language_model_only": {"true"}, "whole_tower": {"true"}, "state_format": {"f32", "bf16"}, "dcp": {"2"}, "redundant_experts": {"8"}, "dense_tp": {"1"},
	"kv_scales": {"true"}, "kv_pool_tokens": {"65536", "131072"}, "reserved_bytes": {"1073741824"},
}

// plausiblePlan sets a few of the fields that an engine takes.
func plausiblePlan(r *rand.Rand, engine, model string) *Request {
	out := &Request{Ask: "fit", Model: model, Hardware: []string{"4xh100", "h200", "8xh200", "2xrtx-4090", "b200", "rtx-4090+rtx-3060",
		"a100-sxm-80gb", "cpu,host=256GiB@200GB/s"}[r.IntN(8)]}
	out.Engine = engine
	for _, f := range Fields() {
		values := plausible[f.Name]
		if len(values) == 0 || !f.OwnedBy(engine) || r.IntN(7) > 0 {
			continue
		}
		if err := out.Set(f.Name, values[r.IntN(len(values))]); err != nil {
			panic(err)
		}
	}
	return out
}

// TestLaunchRoundTrip: for every engine, the command that runs a random plan is read as a request whose plan,
// ledgers, verdict and speeds are the same.
func TestLaunchRoundTrip(t *testing.T) {
	t.Parallel()
	ids := catalog.IDs()
	for _, engine := range append(Engines(), "vllm@0.8.5", "sglang@0.4.6") {
		if engine == "generic" {
			continue // nothing runs
		}
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(7, uint64(len(engine))))
			one, ran := asker().Remembering(), 0
			for i := range 500 {
				ran += sameAgain(t, one, plausiblePlan(r, engine, ids[(i*7)%len(ids)]), FromCommand)
			}
			t.Logf("%d plans ran", ran)
			if ran < 60 {
				t.Errorf("only %d plans could be run", ran)
			}
		})
	}
}

// sameAgain counts 1 when a plan can be run and its command gives it back.
func sameAgain(t *testing.T, one *Asker, ask *Request, read func(string) (*Request, []string, error)) int {
	t.Helper()
	first, command := settled(one, ask)
	if command == "" {
		return 0
	}
	second, unread, err := read(command)
	if err != nil || len(unread) > 0 {
		t.Errorf("%s\n  %v, unread %q", command, err, unread)
		return 0
	}
	completed(second, first.Plan)
	again, command2 := settled(one, second)
	if command2 != command {
		t.Errorf("%s\n gives\n%s", command, command2)
	}
	if d := diff.Diff(canonical(t, first), canonical(t, again)); d != "" {
		asked, _ := json.Marshal(ask)
		t.Errorf("%s\n%s\n%s", asked, command, d)
	}
	return 1
}

// completed gives a request that was read what its command does not say: where it runs, and what unsaid lists.
func completed(r, first *Request) {
	r.Hardware, r.Devices, r.Engine, r.EngineArgs = first.Hardware, first.Devices, first.Engine, nil
	r.Model = first.Model // the name of its checkpoint or file
	for _, u := range UnsaidBy(first.Engine) {
		f := FieldByName(u.Field)
		switch {
		case (u.Field == "dp" || u.Field == "tp") && f.Value(first).Int() <= 1: // a server that says nothing of replicas is one
		case f.Value(r).IsZero() || u.Field == "dp":
			f.Value(r).Set(f.Value(first))
		}
	}
}

// spelled are settings that say what the engine does by itself; a command leaves them out.
var spelled = map[string]string{
	"attention": `"auto"`, "stream_interval": "1", "scheduler_recv_interval": "1", "enforce_eager": "false", "chunked_prefill": "true", "prefix_cache": "true", "kv_unified": "false", "swa_full": "false", "mmap": "true",
	"kv_offload": "true", "mlock": "false", "op_offload": "true", "control_vector": "false", "mmproj_offload": "true", "cpu_moe": "0", "split_mode": `"layer"`, "ep": "1", "fused_moe": "true", "mla": "3",
}

// canonical is an answer in one spelling: settings that say the engine's default are left out, so are drafted tokens
// where llama.cpp has nothing to draft with; a number above a model's layers is all of them; the context of all slots
// follows from that of one.
func canonical(t *testing.T, a *Answer) string {
	t.Helper()
	out := []any{nil, a.Devices, a.Host, a.KV, a.Verdict, a.Speed, a.Error}
	if a.Plan != nil {
		out[0] = canonicalPlan(t, a)
	}
	text, err := json.MarshalIndent(out, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func canonicalPlan(t *testing.T, a *Answer) map[string]any {
	t.Helper()
	p := *a.Plan
	if e, err := catalog.Find(p.DraftModel); err == nil {
		p.DraftModel = e.ID // or its name on the hub
	}
	if n := p.GPULayers; n != nil && (*n < 0 || int64(*n) > a.Model.Layers) {
		p.GPULayers = nil
	}
	if n := p.DraftLayers; n != nil && *n >= 99 {
		all := plan.Int(-1)
		p.DraftLayers = &all
	}
	p.DraftKVV = cmp.Or(p.DraftKVV, p.DraftKV)
	p.ContextTotal = 0
	text, err := json.Marshal(p)
	out := map[string]any{}
	if err != nil || json.Unmarshal(text, &out) != nil {
		t.Fatal(err)
	}
	for name, value := range spelled {
		var def any
		if err := json.Unmarshal([]byte(value), &def); err != nil {
			t.Fatal(err)
		}
		if name == "chunked_prefill" && strings.HasPrefix(p.Engine, "tensorrt") {
			def = false
		}
		if out[name] == def {
			delete(out, name)
		}
	}
	if strings.HasPrefix(p.Engine, "ollama") && p.Fit == "on" {
		delete(out, "fit") // by itself
	}
	if slices.Contains(launch.Ggml, strings.Split(p.Engine, "@")[0]) {
		delete(out, "context") // -c is that of all slots, padded
	}
	if strings.HasPrefix(p.Engine, "llama") || strings.HasPrefix(p.Engine, "ik_llama") {
		if p.Sequences <= 1 {
			delete(out, "kv_unified")
		}
		delete(out, "fit")       // all is pinned
		delete(out, "attention") // auto is said as what it comes to, which ledgers tell
		if p.DraftModel == "" && !question.IsTrue(p.MTP) {
			delete(out, "draft_tokens")
		}
	}
	return out
}

// TestLaunchFiles: compose files and Kubernetes manifests, Modelfiles and programs in Python say what the command says,
// and an image's tag says the version.
func TestLaunchFiles(t *testing.T) {
	t.Parallel()
	ids := catalog.IDs()
	for _, form := range LaunchForms()[1:] {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(9, uint64(len(form))))
			one, ran := asker().Remembering(), 0
			for i := range 700 {
				engine := []string{"vllm", "vllm@0.12.0", "sglang", "tensorrt-llm", "llama-server", "ollama", "transformers",
					"llama-server@b7500", "ollama@0.12.11", "llama-server@b8000"}[i%10]
				if form == "modelfile" && strings.Contains(engine, "@") {
					continue // only an image says its version
				}
				ran += sameFile(t, one, plausiblePlan(r, engine, ids[(i*11)%len(ids)]), form)
			}
			if ran < 8 {
				t.Errorf("only %d plans could be written", ran)
			}
		})
	}
}

// sameFile counts 1 when a plan can be written in a form and the file gives it back.
func sameFile(t *testing.T, one *Asker, ask *Request, form string) int {
	t.Helper()
	l, err := one.Launch(ask, form)
	if err != nil {
		checkErrorOf(t, form, err)
		return 0
	}
	version, devices := "", int64(0)
	n := sameAgain(t, one, ask, func(string) (*Request, []string, error) {
		r, unread, err := FromCommand(l.Text)
		if err == nil {
			version, devices = r.Engine, r.Devices
		}
		return r, unread, err
	})
	if n == 0 {
		t.Error(l.Text)
		return 0
	}
	if first, _ := settled(one, ask); form == "compose" || form == "kubernetes" {
		want, _, _ := strings.Cut(first.Plan.Engine, "@")
		if !strings.HasPrefix(version, want+"@") || devices > first.Plan.Devices {
			t.Errorf("%d devices of %s are read for %d of %s:\n%s", devices, version, first.Plan.Devices, first.Plan.Engine, l.Text)
		}
	}
	return n
}
