package llamacpp

import (
	"fmt"
	"math"
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// variant is a way to run a model.
type variant struct {
	name    string
	program Program
	version string
	devices int
	change  func(*plan.Plan)
}

var variants = []variant{
	{"defaults", CLI, "0.5.0", 1, nil},
	{"cpu", CLI, "0.5.0", 0, nil},
	{"server", Server, "0.5.0", 1, func(p *plan.Plan) { p.Sequences = 4 }},
	{"unified server", Server, "0.5.0", 1, func(p *plan.Plan) { p.Sequences, p.KVUnified = 4, yes(true) }},
	{"ollama", Ollama, "0.32.15", 1, nil},
	{"ollama's library", Ollama, "0.12.11", 2, func(p *plan.Plan) { p.Sequences = 2 }},
	{"two devices", CLI, "0.5.0", 2, nil},
	{"eager on two", CLI, "0.5.0", 2, func(p *plan.Plan) { p.Attention, p.TensorSplit = "eager", "3,1" }},
	{"partly", CLI, "0.5.0", 1, func(p *plan.Plan) { p.GPULayers = layers(9) }},
	{"partly, read", CLI, "0.5.0", 2, func(p *plan.Plan) { p.GPULayers, p.Mmap = layers(9), yes(false) }},
	{"none", CLI, "0.5.0", 1, func(p *plan.Plan) { p.GPULayers = layers(0) }},
	{"cache on the host", CLI, "0.5.0", 1, func(p *plan.Plan) { p.KVOffload = yes(false) }},
	{"overrides", CLI, "0.5.0", 2, func(p *plan.Plan) { p.OverrideTensor, p.Mmap = `ffn_down.*=CPU,blk\.1\..*=CUDA1`, yes(false) }},
	{"experts on the host", CLI, "0.5.0", 1, func(p *plan.Plan) { p.CPUMoE = layers(-1) }},
	{"rows", CLI, "0.5.0", 3, func(p *plan.Plan) { p.SplitMode = "row" }},
	{"one of two", CLI, "0.5.0", 2, func(p *plan.Plan) { p.SplitMode = "none" }},
	{"full windows", CLI, "0.5.0", 1, func(p *plan.Plan) { p.SWAFull = yes(true) }},
	{"b5716", Server, "b5716", 1, func(p *plan.Plan) { p.Sequences = 3 }},
	{"b4462 on two", CLI, "b4462", 2, func(p *plan.Plan) { p.Attention = "flash" }},
	{"b2447", CLI, "b2447", 1, nil},
	{"b941", CLI, "b941", 1, func(p *plan.Plan) { p.GPULayers = layers(12) }},
	{"two formats", CLI, "0.5.0", 2, func(p *plan.Plan) { p.KV, p.KVV, p.Attention = "q8_0", "q4_0", "flash" }},
	{"adapters", CLI, "0.5.0", 2, func(p *plan.Plan) { p.Adapters, p.GPULayers = []plan.Adapter{{Rank: 8}}, layers(9) }},
	{"quantised cache", CLI, "0.5.0", 1, func(p *plan.Plan) { p.KV, p.Attention = "q8_0", "flash" }},
}

var lawModels = []string{"llama-3.1-8b", "gemma-3-4b", "gemma-3n-e4b", "deepseek-v2-lite", "mixtral-8x7b", "qwen3-next-80b-a3b", "mamba2-2.7b", "nemotron-h-8b", "gpt-oss-20b", "phi-3-mini-4k", "glm-4.5-air", "command-r7b"}

// each calls f with every model in every variant that llama.cpp runs.
func each(t *testing.T, f func(t *testing.T, name string, e Engine, j *engine.Job, s engine.Sizer)) {
	t.Helper()
	ran := 0
	for _, id := range lawModels {
		for _, v := range variants {
			e := Engine{v.program}
			version, err := e.ParseVersion(v.version)
			if err != nil {
				t.Fatal(err)
			}
			j := jobOf(t, id, "q4_k_m", cards(t, v.devices), version, small(v.change))
			e.Defaults(j)
			if e.Check(j) != nil {
				continue
			}
			s, err := e.Sizer(j)
			if err != nil {
				t.Errorf("%s, %s: %v", id, v.name, err)
				continue
			}
			ran++
			f(t, id+", "+v.name, e, j, s)
		}
	}
	if ran < 9*len(lawModels)*len(variants)/10 {
		t.Errorf("%d plans of %d ran", ran, len(lawModels)*len(variants))
	}
}

// leaves of a rank, on the device and beside it.
func leaves(r *engine.Rank, f func(*ledger.Item)) {
	for _, items := range [][]ledger.Item{r.Items, r.Host} {
		ledger.Leaves(items, f)
		for i := range items {
			f(&items[i])
		}
	}
}

// TestFormulas: every item's formula gives the item, its band holds it, and a sizing without a book gives
// the same numbers.
func TestFormulas(t *testing.T) {
	each(t, func(t *testing.T, name string, _ Engine, j *engine.Job, s engine.Sizer) {
		b := &ledger.Book{}
		ranks, plain := s.Size(b, j.Load()), s.Size(nil, j.Load())
		for i := range ranks {
			var numbers []unit.Bytes
			leaves(&plain[i], func(it *ledger.Item) { numbers = append(numbers, it.Bytes, it.Low, it.High) })
			leaves(&ranks[i], func(it *ledger.Item) {
				if numbers[0] != it.Bytes || numbers[1] != it.Low || numbers[2] != it.High {
					t.Errorf("%s: %s is %d with a book and %d without", name, it.Name, it.Bytes, numbers[0])
				}
				numbers = numbers[3:]
				f := b.Formula(it.Why)
				if v, err := ledger.Eval(f.Text, f.Inputs); err != nil || math.Abs(v-float64(it.Bytes)) > 0.5 {
					t.Errorf("%s: %s: %s = %g, not %d (%v)", name, it.Name, f.Text, v, it.Bytes, err)
				}
				if it.Bytes < 0 || it.Low < 0 || it.Low > it.Bytes || it.High < it.Bytes || it.Source == "" {
					t.Errorf("%s: %s: %d in %d to %d, source %q", name, it.Name, it.Bytes, it.Low, it.High, it.Source)
				}
			})
		}
	})
}

// everywhere sums an item over devices and host; the cache's size is its own.
func everywhere(ranks []engine.Rank, ids ...string) (n int64) {
	for i := range ranks {
		n += bytesOf(ranks[i].Items, ids...) + bytesOf(ranks[i].Host, ids...)
	}
	return n
}

// TestEverythingLiesSomewhere: wherever weights and caches go, all of them are somewhere, and but for a
// tied head and rounding only once.
func TestEverythingLiesSomewhere(t *testing.T) {
	whole := map[string]int64{}
	each(t, func(t *testing.T, name string, _ Engine, j *engine.Job, s engine.Sizer) {
		ranks := s.Size(nil, j.Load())
		got := everywhere(ranks, "weights")
		stored, head := int64(j.Weights.Parts[0].Bytes()), int64(0)
		for _, st := range listed(&j.Model.Decoder().Pre, j.Weights.Parts[0].Pre) {
			if tied(j.Model.Decoder()) || headFirst[j.Model.Family] {
				head = max(head, int64(st.bytes))
			}
		}
		if got < stored || float64(got) > 1.01*float64(stored)+float64(head) {
			t.Errorf("%s: %d bytes of weights, stored %d, head %d", name, got, stored, head)
		}
		if j.Version == Latest && j.Plan.Sequences == 1 && j.Plan.KV == "f16" && j.Plan.Attention != "eager" && len(ranks) > 0 && name[len(j.Model.ID)+2:] != "full windows" {
			kv := everywhere(ranks, "kv_cache", "state")
			if want, ok := whole[j.Model.ID]; ok && want != kv {
				t.Errorf("%s: %d bytes of caches, elsewhere %d", name, kv, want)
			}
			whole[j.Model.ID] = kv
		}
	})
}

// TestMonotone: more context and more slots never need less of anything but compute buffers, whose holes
// change with every size (TestContextIsNotMonotone in engine/llamacpp/ggml).
func TestMonotone(t *testing.T) {
	each(t, func(t *testing.T, name string, _ Engine, j *engine.Job, s engine.Sizer) {
		grows := func(what string, loads []engine.Load) {
			last := []int64{}
			for _, l := range loads {
				ranks := s.Size(nil, l)
				now := []int64{}
				for i := range ranks {
					now = append(now, bytesOf(ranks[i].Items, "kv_cache", "state"), bytesOf(ranks[i].Items, "weights"), bytesOf(ranks[i].Host, "kv_cache", "state", "output", "weights"))
				}
				for i := range last {
					if now[i] < last[i] {
						t.Errorf("%s: figure %d falls from %d to %d at a %s of %+v", name, i, last[i], now[i], what, l)
						return
					}
				}
				last = now
			}
		}
		var contexts, slots []engine.Load
		n := int64(j.Plan.Sequences)
		for c := int64(1); c < 1<<20; c = c*3 + 61 {
			contexts = append(contexts, engine.Load{Context: c, Sequences: n})
		}
		for q := int64(1); q <= 256; q = q*2 + 1 {
			slots = append(slots, engine.Load{Context: 4096, Sequences: q})
		}
		grows("context", contexts)
		grows("slots", slots)
	})
}

// TestPlacementTwin: the path that sums layers gives what the path that looks at every tensor gives.
func TestPlacementTwin(t *testing.T) {
	for _, id := range lawModels {
		for _, devices := range []int{1, 2, 3} {
			for _, ngl := range []int64{-1, 0, 1, 7} {
				sums := map[string]string{}
				for _, override := range []string{"", "matches nothing=CPU"} {
					j := jobOf(t, id, "q4_k_m", cards(t, devices), Latest, small(func(p *plan.Plan) { p.GPULayers, p.OverrideTensor, p.Mmap = layers(ngl), override, yes(false) }))
					m := sizerOf(t, Engine{CLI}, j).buffers
					text := fmt.Sprint(m.plain.total(), m.pinned.total())
					for i := range m.device {
						text += fmt.Sprint(" ", m.device[i].total())
					}
					sums[override] = text
				}
				if sums[""] != sums["matches nothing=CPU"] {
					t.Errorf("%s, %d devices, %d layers: %v", id, devices, ngl, sums)
				}
			}
		}
	}
}

// TestMoved: what -ot and --n-cpu-moe take from the device is on the host. Rotary factors, 64 numbers in fp32, are
// held wherever a layer needs them (TENSOR_DUPLICATED).
func TestMoved(t *testing.T) {
	weights := func(id string, change func(*plan.Plan)) (device, host int64) {
		j := jobOf(t, id, "q4_k_m", cards(t, 1), Latest, small(change))
		r := sizerOf(t, Engine{CLI}, j).Size(nil, j.Load())
		return bytesOf(r[0].Items, "weights"), bytesOf(r[0].Host, "weights")
	}
	all, rest := weights("mixtral-8x7b", nil)
	if d, h := weights("mixtral-8x7b", func(p *plan.Plan) { p.OverrideTensor = ".*=CPU" }); d != 0 || h != all+rest {
		t.Errorf("%d bytes stay on the device, %d are on the host, of %d", d, h, all+rest)
	}
	none, last := int64(0), all
	for _, n := range []int64{0, 1, 8, 31, 32, 99, -1} {
		d, h := weights("mixtral-8x7b", func(p *plan.Plan) { p.CPUMoE = layers(n) })
		if d > last || d+h != all+rest {
			t.Errorf("--n-cpu-moe %d: %d bytes on the device, %d before; %d on the host, of %d", n, d, last, h, all+rest)
		}
		last, none = d, d
	}
	byName, _ := weights("mixtral-8x7b", func(p *plan.Plan) { p.OverrideTensor = `ffn_(up|down|gate)_exps=CPU` })
	if byName != none || none >= all/4 {
		t.Errorf("without experts %d bytes by name, %d by --cpu-moe, of %d", byName, none, all)
	}
	last = 0
	_, whole := weights("llama-3.1-8b", func(p *plan.Plan) { p.GPULayers = layers(0) })
	for n := int64(0); n < 36; n++ {
		d, h := weights("llama-3.1-8b", func(p *plan.Plan) { p.GPULayers = layers(n) })
		copied := int64(0)
		if n > 1 && n < 33 {
			copied = 64 * 4
		}
		if d < last || d+h != whole+copied {
			t.Errorf("-ngl %d: %d bytes on the device, %d before; %d on the host, of %d", n, d, last, h, whole)
		}
		last = d
	}
}

// TestUnequalDevices: without -ts the split hangs on what is free, and the band says so; with it, all is
// exact, and a split by the sizes of the cards lies in the band.
func TestUnequalDevices(t *testing.T) {
	ranks := func(split string) []engine.Rank {
		j := jobOf(t, "llama-3.1-70b", "iq2_m", machineOf(t, "rtx-4090+rtx-3060-12gb"), Latest, small(func(p *plan.Plan) { p.TensorSplit = split }))
		return sizerOf(t, Engine{CLI}, j).Size(nil, j.Load())
	}
	free, pinned := ranks(""), ranks("24,12")
	for i := range free {
		for k := range free[i].Items {
			a, b := &free[i].Items[k], &pinned[i].Items[k]
			if a.ID != "weights" && a.ID != "kv_cache" {
				continue
			}
			if a.Basis != ledger.Derived || b.Basis != ledger.Exact || b.Low != b.Bytes || b.High != b.Bytes || b.Bytes < a.Low || b.Bytes > a.High || a.Low == a.High {
				t.Errorf("device %d: %s %d to %d (%v) by free memory, %d (%v) by -ts", i, a.ID, a.Low, a.High, a.Basis, b.Bytes, b.Basis)
			}
		}
	}
}

// TestUnsized: parts without a rule make the sum unknown.
func TestUnsized(t *testing.T) {
	j := jobOf(t, "gemma-3-4b", "q4_k_m", cards(t, 1), Latest, small(func(p *plan.Plan) { p.MMProj = "mmproj.gguf" }))
	ranks := sizerOf(t, Engine{CLI}, j).Size(nil, j.Load())
	if !ranks[0].Needed().Unknown {
		t.Error("a projector of unknown size is left out")
	}
}

// TestPrints: the lines of a log, in its own unit and digits.
func TestPrints(t *testing.T) {
	j := jobOf(t, "qwen3-32b", "q4_k_m", cards(t, 1), Latest, small(func(p *plan.Plan) { p.Context, p.Attention = 20480, "flash" }))
	ranks := sizerOf(t, Engine{CLI}, j).Size(nil, j.Load())
	got := ""
	for _, p := range ranks[0].Prints {
		got += fmt.Sprintf("%s = %s %s\n", p.Name, p.Text, p.Unit)
		if p.Low > p.Value || p.High < p.Value {
			t.Errorf("%s: %g to %g around %g", p.Name, p.Low, p.High, p.Value)
		}
	}
	const want = `CUDA0 model buffer size = 18423.65 MiB
CUDA0 KV buffer size = 5120.00 MiB
CUDA0 compute buffer size = 306.75 MiB
CPU_Mapped model buffer size = 417.30 MiB
CUDA_Host output buffer size = 0.58 MiB
CUDA_Host compute buffer size = 40.01 MiB
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func FuzzParseVersion(f *testing.F) {
	for _, s := range []string{"b5716", "0.5.0", "5716 (d27b3ca1)", "b", "99999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, p := range []Program{CLI, Ollama} {
			v, err := (Engine{p}).ParseVersion(s)
			if err != nil {
				continue
			}
			if again, err := (Engine{p}).ParseVersion(v.String()); err != nil || again != v {
				t.Errorf("%q is %v, which is read as %v (%v)", s, v, again, err)
			}
			if r := rulesOf(p.llamaVersion(v)); r.pad.plain < 1 || r.batch.batch < 1 || r.maxSlots < 1 {
				t.Errorf("%q: rules %+v", s, r)
			}
		}
	})
}

func FuzzTensorSplit(f *testing.F) {
	for _, s := range []string{"3,1", "1/2", "0,0", "nan,1", "1e39,1", "-0,0"} {
		f.Add(s, 1)
	}
	f.Fuzz(func(t *testing.T, s string, devices int) {
		devices = 1 + int(uint(devices)%maxDevices)
		got, err := tensorSplit(s, devices)
		if err != nil {
			return
		}
		for _, x := range got {
			if !(x >= 0 && x <= 1e9) {
				t.Errorf("%q: %v", s, got)
			}
		}
	})
}

func FuzzOverride(f *testing.F) {
	for _, s := range []string{"exps=CPU", `blk\.(1|2)\.=CUDA0,.*=CPU`, "=", "((=CPU", "a{999}{999}=CPU"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		j := &engine.Job{Plan: &plan.Plan{LlamaCpp: plan.LlamaCpp{OverrideTensor: s}}}
		r := rulesOf(Latest)
		m, err := moverOf(j, &r)
		if err == nil && s != "" && len(m.rules) == 0 {
			t.Errorf("%q is read as nothing", s)
		}
	})
}
