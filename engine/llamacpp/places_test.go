package llamacpp

import (
	"strings"
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// heldBytes sums the items of an id at a place.
func heldBytes(items []ledger.Item, id string, place ledger.Place) (n unit.Bytes) {
	for i := range items {
		if items[i].ID == id && items[i].Place == place {
			n += items[i].Bytes
		}
	}
	return n
}

// sized gives the ranks of a small plan on a machine.
func sized(t *testing.T, e Engine, id, hw, version string, change func(*plan.Plan)) []engine.Rank {
	t.Helper()
	v, err := e.ParseVersion(version)
	if err != nil {
		t.Fatal(err)
	}
	s := sizerOf(t, e, jobOf(t, id, "q4_k_m", machineOf(t, hw), v, small(change)))
	return s.Size(nil, s.job.Load())
}

// TestRowsOfBuilds: -sm row cuts matrices over all devices; before b3990 all else lies on the main device.
func TestRowsOfBuilds(t *testing.T) {
	rows := func(p *plan.Plan) { p.SplitMode, p.TensorSplit, p.MainGPU = "row", "1,1", layers(1) }
	for _, version := range []string{"b3000", "0.5.0"} {
		r := sized(t, Engine{CLI}, "llama-3.1-8b", "2xrtx-4090", version, rows)
		first, second := heldBytes(r[0].Items, "kv_cache", ledger.Device), heldBytes(r[1].Items, "kv_cache", ledger.Device)
		if old := version == "b3000"; old != (first == 0) || second == 0 {
			t.Errorf("%s: caches of %s and %s", version, first, second)
		}
		a, b := heldBytes(r[0].Items, "weights", ledger.Device), heldBytes(r[1].Items, "weights", ledger.Device)
		if a < b*9/10 || b < a*9/10 {
			t.Errorf("%s: matrices of %s and %s", version, a, b)
		}
	}
}

// TestTensorMode: -sm tensor gives each device its heads of every cache, its part of every matrix and all norms; it needs flash attention,
// a build that has it, and heads of their own.
func TestTensorMode(t *testing.T) {
	whole := sized(t, Engine{CLI}, "llama-3.1-8b", "rtx-4090", "0.5.0", nil)
	cut := sized(t, Engine{CLI}, "llama-3.1-8b", "2xrtx-4090", "0.5.0", func(p *plan.Plan) { p.SplitMode, p.TensorSplit = "tensor", "3,1" })
	for i, eighths := range []unit.Bytes{6, 2} { // of eight heads
		all, own := heldBytes(whole[0].Items, "kv_cache", ledger.Device), heldBytes(cut[i].Items, "kv_cache", ledger.Device)
		if own*8 != all*eighths {
			t.Errorf("device %d keeps %s of %s", i, own, all)
		}
	}
	all := heldBytes(whole[0].Items, "weights", ledger.Device)
	sum := heldBytes(cut[0].Items, "weights", ledger.Device) + heldBytes(cut[1].Items, "weights", ledger.Device)
	if sum <= all || sum > all+2*unit.MiB { // norms twice
		t.Errorf("parts of %s are %s together", all, sum)
	}
	for _, c := range []struct{ id, version, attention, kv string }{{"deepseek-v2-lite", "0.5.0", "", ""}, {"llama-3.1-8b", "b8000", "", ""},
		{"llama-3.1-8b", "0.5.0", "eager", ""}, {"llama-3.1-8b", "b9000", "", "q8_0"}} {
		v, _ := Engine{CLI}.ParseVersion(c.version)
		j := jobOf(t, c.id, "q4_k_m", machineOf(t, "2xrtx-4090"), v, small(func(p *plan.Plan) {
			p.SplitMode, p.Attention, p.KV, p.KVV = "tensor", c.attention, c.kv, c.kv
		}))
		if err := (Engine{CLI}).Check(j); err == nil {
			t.Errorf("%+v runs", c)
		}
	}
}

// TestRowsNeedBuffers: a backend without split buffers places layers as ever.
func TestRowsNeedBuffers(t *testing.T) {
	for hw, same := range map[string]bool{"2xrx-580": true, "2xrtx-4090": false} {
		whole := sized(t, Engine{CLI}, "llama-3.1-8b", hw, "0.5.0", nil)
		rows := sized(t, Engine{CLI}, "llama-3.1-8b", hw, "0.5.0", func(p *plan.Plan) { p.SplitMode = "row" })
		if got := heldBytes(whole[0].Items, "weights", ledger.Device) == heldBytes(rows[0].Items, "weights", ledger.Device); got != same {
			t.Errorf("%s: layers and rows alike is %v", hw, got)
		}
	}
}

// TestTiles: rows are cut at 64 where all devices are older than Volta.
func TestTiles(t *testing.T) {
	for hw, want := range map[string]int64{"2xtesla-p40": 64, "2xrtx-4090": 128, "tesla-p40+rtx-4090": 128, "2xmi100": 128} {
		j := jobOf(t, "llama-3.1-8b", "q4_k_m", machineOf(t, hw), Latest, small(nil))
		if got := tileRows(j, 2); got != want {
			t.Errorf("%s: %d, want %d", hw, got, want)
		}
	}
}

// TestMainDevice: with -sm none all lies on the main one, and its memory counts.
func TestMainDevice(t *testing.T) {
	r := sized(t, Engine{CLI}, "llama-3.1-8b", "rtx-3060-12gb+rtx-4090", "0.5.0", func(p *plan.Plan) { p.SplitMode, p.MainGPU = "none", layers(1) })
	if len(r) != 1 || r[0].Index != 1 || r[0].Usable.Bytes() < 20*unit.GiB {
		t.Errorf("%+v", r)
	}
}

// TestLocked: locked pages of a mapped file may not be taken back.
func TestLocked(t *testing.T) {
	for _, locked := range []bool{false, true} {
		r := sized(t, Engine{CLI}, "llama-3.1-8b", "rtx-4090", "0.5.0", func(p *plan.Plan) { p.GPULayers, p.MLock = layers(10), yes(locked) })
		if mapped, held := heldBytes(r[0].Host, "weights", ledger.Mapped), heldBytes(r[0].Host, "weights", ledger.Host); (held > 0) != locked || (mapped > 0) == locked {
			t.Errorf("locked %v: %s mapped, %s held", locked, mapped, held)
		}
	}
}

// TestOpOffload: without it no device copies tensors of the host, so that its compute buffer is smaller.
func TestOpOffload(t *testing.T) {
	at := func(on bool) unit.Bytes {
		r := sized(t, Engine{CLI}, "llama-3.1-70b", "rtx-4090", "0.5.0", func(p *plan.Plan) { p.GPULayers, p.OpOffload = layers(0), yes(on) })
		return heldBytes(r[0].Items, "compute", ledger.Device)
	}
	if with, without := at(true), at(false); without >= with {
		t.Errorf("%s with, %s without", with, without)
	}
}

// TestControlVector: a vector of f32 for every layer but the first, where the layer lies.
func TestControlVector(t *testing.T) {
	r := sized(t, Engine{CLI}, "llama-3.1-8b", "rtx-4090", "0.5.0", func(p *plan.Plan) { p.ControlVector, p.GPULayers = yes(true), layers(11) })
	if on, off := heldBytes(r[0].Items, "adapters", ledger.Device), heldBytes(r[0].Host, "adapters", ledger.Host); on != 10*4*4096 || off != 21*4*4096 {
		t.Errorf("%d on the device, %d on the host", on, off)
	}
}

// TestServerCaches: --cache-ram and --ctx-checkpoints replace their defaults.
func TestServerCaches(t *testing.T) {
	r := sized(t, Engine{Server}, "gemma-3-4b", "rtx-4090", "0.5.0", func(p *plan.Plan) { p.CacheRAM, p.Checkpoints = layers(512), layers(4) })
	d := sized(t, Engine{Server}, "gemma-3-4b", "rtx-4090", "0.5.0", nil)
	if got := heldBytes(r[0].Host, "prompt_cache", ledger.Host); got != 512*unit.MiB {
		t.Errorf("prompts take up to %s", got)
	}
	if got, usual := heldBytes(r[0].Host, "checkpoints", ledger.Host), heldBytes(d[0].Host, "checkpoints", ledger.Host); got*8 != usual || got == 0 {
		t.Errorf("checkpoints take up to %s, by default %s", got, usual)
	}
	none := sized(t, Engine{Server}, "gemma-3-4b", "rtx-4090", "0.5.0", func(p *plan.Plan) { p.CacheRAM, p.Checkpoints = layers(0), layers(0) })
	if n := heldBytes(none[0].Host, "prompt_cache", ledger.Host) + heldBytes(none[0].Host, "checkpoints", ledger.Host); n != 0 {
		t.Errorf("switched off they take %s", n)
	}
}

// TestDraftSettings: -ngld and -ctkd move and shrink what the draft model keeps.
func TestDraftSettings(t *testing.T) {
	at := func(change func(*plan.Plan)) []engine.Rank {
		j := jobOf(t, "llama-3.1-8b", "q4_k_m", machineOf(t, "rtx-4090"), Latest, small(func(p *plan.Plan) { p.DraftModel = "llama-3.2-1b"; change(p) }))
		d := jobOf(t, "llama-3.2-1b", "q8_0", nil, Latest, plan.Plan{})
		j.Draft = d
		s := sizerOf(t, Engine{Server}, j)
		return s.Size(nil, j.Load())
	}
	all := at(func(*plan.Plan) {})
	few := at(func(p *plan.Plan) { p.DraftLayers, p.DraftKV = layers(4), "q8_0" })
	w, h := heldBytes(few[0].Items, "draft.weights", ledger.Device), heldBytes(few[0].Host, "draft.weights", ledger.Mapped)
	if whole := heldBytes(all[0].Items, "draft.weights", ledger.Device); w >= whole/2 || h < whole/2 {
		t.Errorf("of %s, %s are on the device and %s on the host", whole, w, h)
	}
	kv := heldBytes(few[0].Items, "draft.kv_cache", ledger.Device) + heldBytes(few[0].Host, "draft.kv_cache", ledger.Host)
	if whole := heldBytes(all[0].Items, "draft.kv_cache", ledger.Device); kv*64 != whole*34 {
		t.Errorf("a cache of %s in q8_0, %s in f16", kv, whole)
	}
}

// TestOllamaContext: by the memory of all devices, where nobody says.
func TestOllamaContext(t *testing.T) {
	for hw, want := range map[string]plan.Int{"rtx-3060-12gb": 4096, "rtx-4090": 32768, "h100-sxm-80gb": 131072, "2xrtx-4090": 131072} {
		p := plan.Plan{Sequences: 1}
		p.Fit = "on"
		j := jobOf(t, "llama-3.1-8b", "q4_k_m", machineOf(t, hw), Engine{Ollama}.Latest(), p)
		Engine{Ollama}.Defaults(j)
		if j.Plan.Context != want {
			t.Errorf("%s: %d tokens, want %d", hw, j.Plan.Context, want)
		}
	}
}

// TestSettingsNeedTheirPlace: settings that nothing reads are refused.
func TestSettingsNeedTheirPlace(t *testing.T) {
	for _, c := range []struct {
		e      Engine
		field  string
		change func(*plan.Plan)
	}{
		{Engine{CLI}, "cache_ram", func(p *plan.Plan) { p.CacheRAM = layers(1) }},
		{Engine{CLI}, "ctx_checkpoints", func(p *plan.Plan) { p.Checkpoints = layers(1) }},
		{Engine{CLI}, "main_gpu", func(p *plan.Plan) { p.MainGPU, p.SplitMode = layers(1), "none" }},
		{Engine{CLI}, "draft_kv", func(p *plan.Plan) { p.DraftKV = "q8_0" }},
		{Engine{CLI}, "draft_gpu_layers", func(p *plan.Plan) { p.DraftLayers = layers(1) }},
		{Engine{CLI}, "draft_kv", func(p *plan.Plan) { p.DraftKV, p.DraftModel = "fp8", "llama-3.2-1b" }},
		{Engine{CLI}, "fit_target", func(p *plan.Plan) { p.FitTarget = "1,2" }},
	} {
		err := prepared(c.e, jobOf(t, "llama-3.1-8b", "q4_k_m", machineOf(t, "rtx-4090"), Latest, small(c.change)))
		if p, ok := err.(*plan.Problem); !ok || p.Field != c.field || p.Fix == "" {
			t.Errorf("%s: %v", c.field, err)
		}
	}
	old := jobOf(t, "llama-3.1-8b", "q4_k_m", machineOf(t, "rtx-4090"), build(7000), small(func(p *plan.Plan) { p.Fit = "on" }))
	if p, ok := prepared(Engine{CLI}, old).(*plan.Problem); !ok || p.Field != "fit" {
		t.Error("b7000 fits")
	}
}

// TestRPC: devices of another node come first, without host buffers, and their figures are no longer exact.
func TestRPC(t *testing.T) {
	j := jobOf(t, "llama-3.1-70b", "q4_k_m", machineOf(t, "2xp4d.24xlarge"), Latest, small(nil))
	s := sizerOf(t, Engine{CLI}, j)
	r := s.Size(nil, j.Load())
	if len(r) != 16 || r[0].Index != 8 || r[15].Index != 7 || !s.devices[0].backend.remote || s.devices[8].backend.remote {
		t.Fatalf("%d ranks, first %d, last %d", len(r), r[0].Index, r[len(r)-1].Index)
	}
	for i, basis := range map[int]ledger.Basis{0: ledger.Derived, 15: ledger.Exact} {
		if it := r[i].Items[0]; it.ID != "weights" || it.Basis != basis || (it.High > it.Bytes) != (basis == ledger.Derived) {
			t.Errorf("rank %d: %+v", i, it)
		}
	}
	if c := (Engine{CLI}).Command(j); !strings.Contains(c, "--rpc node2:50052") {
		t.Error(c)
	}
	rows := jobOf(t, "llama-3.1-70b", "q4_k_m", machineOf(t, "2xp4d.24xlarge"), Latest, small(func(p *plan.Plan) { p.SplitMode = "row" }))
	if p, ok := prepared(Engine{CLI}, rows).(*plan.Problem); !ok || p.Field != "split_mode" {
		t.Error("rows are cut over nodes")
	}
}

// TestIndexerCaches: GLM-5.2 has an indexer in 21 of 78 layers; its keys of 128 lie in none of them, in all, then in those.
func TestIndexerCaches(t *testing.T) {
	for version, layersKept := range map[string]int64{"b10118": 0, "b10119": 78, "b10242": 78, "b10243": 21, "0.5.0": 21} {
		r := sized(t, Engine{CLI}, "glm-5.2", "h200", version, func(p *plan.Plan) { p.Context = 4096 })
		got := bytesOf(r[0].Items, "kv_cache")
		if want := (78*576 + layersKept*128) * 2 * 4096; got != want {
			t.Errorf("%s: %d bytes of caches, %d by hand", version, got, want)
		}
	}
	for version, layersKept := range map[string]int64{"b9410": 0, "b9411": 61} {
		r := sized(t, Engine{CLI}, "deepseek-v3.2", "h200", version, func(p *plan.Plan) { p.Context = 4096 })
		if got, want := bytesOf(r[0].Items, "kv_cache"), (61*576+layersKept*128)*2*4096; got != want {
			t.Errorf("DeepSeek V3.2, %s: %d bytes of caches, %d by hand", version, got, want)
		}
	}
}
