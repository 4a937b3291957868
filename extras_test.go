package memwall

import (
	"testing"

	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// ask answers a request that has an answer.
func ask(t *testing.T, r Request) *Answer {
	t.Helper()
	r.Ask = "fit"
	a, err := asker().Ask(&r)
	if err != nil {
		t.Fatalf("%s on %s: %v", r.Model, r.Hardware, err)
	}
	return a
}

// held sums the items of a ledger with an id.
func held(items []Item, id string) (b unit.Bytes) {
	for _, it := range items {
		if it.ID == id {
			b += it.Bytes
		}
	}
	return b
}

// TestAlso: models that share hardware each find what the others leave, and the worst verdict is that of
// all.
func TestAlso(t *testing.T) {
	generic := plan.Plan{Engine: "generic"}
	big, small := Request{Model: "qwen3-32b", Plan: generic}, Request{Model: "llama-3.2-1b", Plan: generic}
	alone := ask(t, Request{Model: "llama-3.1-8b", Hardware: "h200", Plan: generic})
	a := ask(t, Request{Model: "llama-3.1-8b", Hardware: "h200", Plan: generic, Also: []Request{big, small}})
	if len(a.Also) != 2 || a.Verdict != Fits {
		t.Fatalf("%s with %d others", a.Verdict, len(a.Also))
	}
	others := a.Also[0].Devices[0].Used + a.Also[1].Devices[0].Used
	if left := alone.Devices[0].Usable - others; a.Devices[0].Usable != left || a.Devices[0].Needed != alone.Devices[0].Needed {
		t.Errorf("usable %d, want %d less %d", a.Devices[0].Usable, alone.Devices[0].Usable, others)
	}
	for _, o := range a.Also {
		if o.Schema != Schema || o.Ask != "fit" || o.Plan.Hardware != "h200" {
			t.Errorf("an answer beside without its envelope: %+v", o)
		}
	}
	big.Model = "llama-3.1-70b"
	if a := ask(t, Request{Model: "llama-3.1-8b", Hardware: "h200", Plan: generic, Also: []Request{small, big}}); a.Verdict != DoesNotFit {
		t.Errorf("70B in bf16 beside 8B: %s", a.Verdict)
	}
}

// TestSeveralServersStart: the one that gets the rest starts last; the others are given the least share that holds them, of the whole
// device since vLLM 0.9.2, with what is held already before it (#14376) and of what is free on SGLang; and what all hold, contexts
// too, is no more than there is.
func TestSeveralServersStart(t *testing.T) {
	for engine, want := range map[string]struct{ first, second, rest float64 }{
		"vllm@0.24": {0.19, 0.04, 0.73}, "vllm@0.8.5": {0.25, 0.37, 0.9}, "sglang@0.5.9": {0.19, 0.05, 0},
	} {
		p := plan.Plan{Engine: engine, Weights: "fp8"}
		small, big := Request{Model: "qwen3-0.6b", Plan: p}, Request{Model: "qwen3-8b", Plan: p}
		big.Sequences = 4
		a := ask(t, Request{Model: "llama-3.1-8b", Hardware: "h100", Plan: p, Also: []Request{small, big}})
		share := func(a *Answer) float64 {
			if u := a.Plan.GPUMemoryUtilization; u != nil {
				return *u
			}
			return *a.Plan.MemFractionStatic
		}
		small8, big8 := a.Also[0], a.Also[1]
		if big8.Start != 1 || small8.Start != 2 || a.Start != 3 {
			t.Errorf("%s: turns %d, %d, %d", engine, big8.Start, small8.Start, a.Start)
		}
		if share(big8) != want.first || share(small8) != want.second || want.rest > 0 && share(a) != want.rest {
			t.Errorf("%s: shares %g, %g, %g, want %v", engine, share(big8), share(small8), share(a), want)
		}
		all := unit.Bytes(0)
		for _, o := range []*Answer{a, small8, big8} {
			all += o.Devices[0].Used
			if o.Verdict != Fits {
				t.Errorf("%s: %s %s", engine, o.Model.Name, o.Verdict)
			}
		}
		if all+unit.GiB > a.Devices[0].Capacity {
			t.Errorf("%s: %s of %s are held", engine, all, a.Devices[0].Capacity)
		}
	}
}

// TestDraft: a draft model adds its weights, whole or cut as the model is, and the cache of its layers.
func TestDraft(t *testing.T) {
	draft := ask(t, Request{Model: "llama-3.2-1b", Hardware: "h100"})
	without := ask(t, Request{Model: "llama-3.1-8b", Hardware: "h100"})
	with := ask(t, Request{Model: "llama-3.1-8b", Hardware: "h100", Plan: plan.Plan{DraftModel: "llama-3.2-1b"}})
	if got := held(with.Devices[0].Ledger, "draft.weights"); got != draft.Model.WeightsBytes {
		t.Errorf("draft.weights %d, want %d", got, draft.Model.WeightsBytes)
	}
	if got, want := with.KV.BytesPerToken, without.KV.BytesPerToken+draft.KV.BytesPerToken; got != want {
		t.Errorf("%d bytes per token, want %d", got, want)
	}
	half := ask(t, Request{Model: "llama-3.1-8b", Hardware: "2xh100", Plan: plan.Plan{TP: 2, DraftModel: "llama-3.2-1b"}})
	whole := draft.Model.WeightsBytes
	if got := held(half.Devices[0].Ledger, "draft.weights"); got < whole/2 || got > whole*51/100 {
		t.Errorf("half of the draft of %d is %d", whole, got)
	}
	// qwen2.5-0.5b has 14 heads, which 4 ranks do not divide: each holds it whole.
	uneven := ask(t, Request{Model: "qwen2.5-72b", Hardware: "4xh100", Plan: plan.Plan{TP: 4, DraftModel: "qwen2.5-0.5b"}})
	if got, want := held(uneven.Devices[0].Ledger, "draft.weights"),
		ask(t, Request{Model: "qwen2.5-0.5b"}).Model.WeightsBytes; got != want {
		t.Errorf("a draft that cannot be cut: %d, want %d", got, want)
	}
}

// TestAdapters: rank × (inputs + outputs) of every matrix an adapter sits on. The parameters of these
// adapters on Llama-3-8B are what PEFT's print_trainable_parameters says: 6,815,744 and 41,943,040.
func TestAdapters(t *testing.T) {
	for _, c := range []struct {
		adapters []plan.Adapter
		bytes    unit.Bytes
	}{
		{[]plan.Adapter{{Rank: 16, Targets: []string{"q_proj", "v_proj"}}}, 2 * 6815744},
		{[]plan.Adapter{{Rank: 16}}, 2 * 41943040},
		{[]plan.Adapter{{Rank: 16, Format: "f32"}}, 4 * 41943040},
		{[]plan.Adapter{{Rank: 8}, {Rank: 8, Targets: []string{"all-linear"}}}, 2 * 41943040},
	} {
		for _, e := range []string{"vllm", "sglang", "tensorrt-llm", "transformers", "generic"} {
			a := ask(t, Request{Model: "llama-3.1-8b", Hardware: "h100", Plan: plan.Plan{Engine: e, Adapters: c.adapters}})
			if got := held(a.Devices[0].Ledger, "adapters"); got != c.bytes {
				t.Errorf("%+v with %s: %d bytes, want %d", c.adapters, e, got, c.bytes)
			}
		}
	}
	// q_proj's adapter on two ranks: its inputs whole and half of its outputs on each.
	a := ask(t, Request{Model: "llama-3.1-8b", Hardware: "2xh100",
		Plan: plan.Plan{Engine: "generic", TP: 2, Adapters: []plan.Adapter{{Rank: 16, Targets: []string{"q_proj"}}}}})
	if got, want := held(a.Devices[0].Ledger, "adapters"), unit.Bytes(16*2*32*(4096+2048)); got != want {
		t.Errorf("cut in two: %d, want %d", got, want)
	}
}

// TestOffload: what is kept elsewhere leaves the device and stands in the other ledger, to the byte. Of weights
// the device keeps room for the widest group of layers, through which they pass.
func TestOffload(t *testing.T) {
	for _, c := range []struct {
		model   string
		offload plan.Offload
		id      string
		room    unit.Bytes
	}{
		{"llama-3.1-8b", plan.Offload{Weights: "host"}, "weights", 2 * (128256*4096 + 4096)},
		{"llama-3.1-8b", plan.Offload{KV: "host"}, "kv_cache", 0},
		{"llama-3.1-8b", plan.Offload{KV: "nvme"}, "kv_cache", 0},
		{"qwen3-30b-a3b", plan.Offload{Experts: "host"}, "weights", 2 * 128 * 3 * 2048 * 768},
		{"jamba-v0.1", plan.Offload{KV: "host"}, "state", 0},
	} {
		r := Request{Model: c.model, Hardware: "h100", Plan: plan.Plan{Engine: "generic"}}
		home := ask(t, r)
		r.Offload = &c.offload
		away := ask(t, r)
		elsewhere := away.Host
		if c.offload.KV == "nvme" {
			elsewhere = away.Disk
		}
		if elsewhere == nil || held(elsewhere.Ledger, c.id) == 0 {
			t.Errorf("%s %+v: nothing of %s elsewhere", c.model, c.offload, c.id)
			continue
		}
		if home.Devices[0].Needed+c.room != away.Devices[0].Needed+elsewhere.Needed {
			t.Errorf("%s %+v: %d at home, %d and %d away", c.model, c.offload, home.Devices[0].Needed, away.Devices[0].Needed,
				elsewhere.Needed)
		}
	}
}

// TestOffloadInWordsOfLlamaCpp: the general words mean the engine's own settings.
func TestOffloadInWordsOfLlamaCpp(t *testing.T) {
	none, all, no := plan.Int(0), plan.Int(-1), false
	for _, c := range []struct {
		offload plan.Offload
		own     plan.LlamaCpp
	}{
		{plan.Offload{Weights: "host"}, plan.LlamaCpp{GPULayers: &none}},
		{plan.Offload{Experts: "host"}, plan.LlamaCpp{CPUMoE: &all}},
		{plan.Offload{KV: "host"}, plan.LlamaCpp{KVOffload: &no}},
	} {
		r := Request{Model: "qwen3-30b-a3b", Hardware: "rtx-4090", Plan: plan.Plan{Engine: "llama.cpp", Weights: "q4_k_m"}}
		own := r
		own.LlamaCpp = c.own
		r.Offload = &c.offload
		a, b := ask(t, r), ask(t, own)
		if a.Devices[0].Needed != b.Devices[0].Needed || a.Host.Needed != b.Host.Needed || a.Verdict != b.Verdict {
			t.Errorf("%+v: %d and %d, its own words %d and %d", c.offload, a.Devices[0].Needed, a.Host.Needed, b.Devices[0].Needed,
				b.Host.Needed)
		}
	}
}

// TestLayersSumToTheModel: over the catalog, the groups of layers hold every parameter and every byte once.
func TestLayersSumToTheModel(t *testing.T) {
	for _, id := range catalog.IDs() {
		r := Request{Ask: "fit", Model: id, Plan: plan.Plan{Engine: "generic"}}
		groups, err := asker().Layers(&r)
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		var bytes unit.Bytes
		var layers, parameters int64
		for _, g := range groups {
			bytes += unit.Bytes(g.Count) * g.Weights
			parameters += g.Count * g.Parameters
			if g.Part == groups[0].Part && g.Layers != "before" && g.Layers != "after" {
				layers += g.Count
			}
		}
		a, err := asker().Size(&r)
		if err != nil {
			t.Fatal(err)
		}
		if m := a.Model; bytes != m.WeightsBytes || layers != m.Layers || parameters != m.Parameters+m.ParametersMTP {
			t.Errorf("%s: groups of %d layers, %d parameters and %d bytes; the model has %d, %d + %d and %d", id, layers, parameters, bytes,
				m.Layers, m.Parameters, m.ParametersMTP, m.WeightsBytes)
		}
	}
}

// TestSizeIsAskWithoutOutlook: the same ledgers, and nothing that takes a search.
func TestSizeIsAskWithoutOutlook(t *testing.T) {
	for _, r := range grid("llama-3.1-70b") {
		a, err := asker().Ask(&r)
		b, err2 := asker().Size(&r)
		if (err == nil) != (err2 == nil) {
			t.Errorf("%s on %s: %v and %v", r.Engine, r.Hardware, err, err2)
		}
		if err != nil {
			continue
		}
		if a.Verdict != b.Verdict || a.Devices[0].Needed != b.Devices[0].Needed || a.Devices[0].NeededHigh != b.Devices[0].NeededHigh ||
			a.KV.PoolBytes != b.KV.PoolBytes {
			t.Errorf("%s on %s: Ask and Size differ", r.Engine, r.Hardware)
		}
		if b.Suggestions != nil || b.Rungs != nil || b.Reasons != nil || b.Explain != nil {
			t.Errorf("%s on %s: Size searches", r.Engine, r.Hardware)
		}
	}
}

// TestSet: a field takes the spellings of a command line, and its errors name it.
func TestSet(t *testing.T) {
	for _, c := range []struct{ field, text, want string }{
		{"context", "32k", "32768"}, {"context_total", "1M", "1048576"}, {"context", "8192", "8192"}, {"prompt_tokens", "2k", "2048"},
		{"devices", "4", "4"}, {"tp", "2", "2"}, {"sequences", "1e3", "1000"}, {"gpu_layers", "-1", "-1"},
		{"reserved_bytes", "2GiB", "2.00 GiB"}, {"kv_cache_memory_bytes", "80GB", "74.51 GiB"}, {"acceptance", "0.7", "0.7"},
		{"mmap", "false", "false"},
		{"kv", "fp8", "fp8"}, {"engine_args", "--a,--b", "[--a --b]"}, {"tensor_split", "3,1", "3,1"}, {"attention", "flash", "flash"},
	} {
		var r Request
		if err := r.Set(c.field, c.text); err != nil {
			t.Errorf("%s = %s: %v", c.field, c.text, err)
			continue
		}
		got := FieldByName(c.field).Text(&r)
		if s, ok := FieldByName(c.field).Value(&r).Interface().(plan.Size); ok {
			got = unit.Bytes(s).String()
		}
		if got != c.want {
			t.Errorf("%s = %s is %s, want %s", c.field, c.text, got, c.want)
		}
	}
	for _, c := range [][2]string{
		{"context", "long"}, {"context", "-1"}, {"context", "1.5"}, {"tp", "two"}, {"tp", ""}, {"acceptance", "NaN"}, {"acceptance", "70%"},
		{"mmap", "perhaps"}, {"attention", "slow"},
		{"reserved_bytes", "2 parsecs"}, {"contxt", "8k"}, {"override", "kv_heads"}, {"gpu_layers", "1e300"},
	} {
		var r Request
		e, ok := r.Set(c[0], c[1]).(*Error)
		if !ok || e.Field != c[0] || e.Code != BadField || e.Hint == "" {
			t.Errorf("%s = %q: %+v", c[0], c[1], e)
		}
	}
}
