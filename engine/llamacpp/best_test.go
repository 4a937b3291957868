package llamacpp

import (
	"errors"
	"fmt"
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// judged sizes a placement as a request with its patch is sized.
func judged(t *testing.T, e Engine, j *engine.Job, patch map[string]any) []engine.Rank {
	t.Helper()
	p := *j.Plan
	if v, ok := patch["gpu_layers"].(int64); ok {
		p.GPULayers = layers(v)
	}
	if v, ok := patch["cpu_moe"].(int64); ok {
		p.CPUMoE = layers(v)
	}
	p.TensorSplit, _ = patch["tensor_split"].(string)
	p.OverrideTensor, _ = patch["override_tensor"].(string)
	k := *j
	k.Plan, k.Notes = &p, nil
	return sizerOf(t, e, &k).Size(nil, k.Load())
}

func within(ranks []engine.Rank, r Room) bool {
	for i := range ranks {
		if ledger.At(ranks[i].Items, ledger.Device).High > r.Devices[i] {
			return false
		}
	}
	return r.Host == 0 || hostUse(ranks) <= r.Host
}

// TestBestFits: the placement fits when it is sized from its own words, and neither a layer nor a layer's experts
// more do.
func TestBestFits(t *testing.T) {
	for _, c := range fitCases {
		for _, v := range []string{"0.5.0", "b5716"} {
			t.Run(c.model+" on "+c.hardware+" "+v, func(t *testing.T) {
				e := Engine{Server}
				version, err := e.ParseVersion(v)
				if err != nil {
					t.Fatal(err)
				}
				j := jobOf(t, c.model, "q4_k_m", machineOf(t, c.hardware), version, plan.Plan{Context: 8192, Sequences: 1})
				bestFits(t, e, j)
			})
		}
	}
}

func bestFits(t *testing.T, e Engine, j *engine.Job) {
	room := RoomOf(j)
	s, err := newSearch(e, j, room)
	if err != nil {
		t.Fatal(err)
	}
	at, ok := s.run()
	if !ok {
		t.Fatal("no placement")
	}
	b := s.placement(at)
	if ranks := judged(t, e, j, b.Patch); !within(ranks, room) {
		t.Errorf("%v does not fit", b.Patch)
	}
	if b.AllOnDevice() {
		return
	}
	for _, n := range s.near(at) {
		if s.better(n, at) && s.judge(n).fits {
			t.Errorf("%+v fits, and %+v was chosen", n, at)
		}
	}
}

// TestBestAgainstAll: no placing of a small model beats the one that was found.
func TestBestAgainstAll(t *testing.T) {
	for _, c := range []struct {
		model string
		gib   []float64
		host  float64
	}{
		{"llama-3.2-1b", []float64{1}, 0}, {"llama-3.2-1b", []float64{0.8, 0.9}, 0}, {"llama-3.2-1b", []float64{4, 4}, 0},
		{"olmoe-1b-7b", []float64{2}, 0}, {"olmoe-1b-7b", []float64{3}, 0}, {"gemma-3-1b", []float64{1, 0.7}, 0}, {"olmoe-1b-7b", []float64{2, 1.5}, 0}, {"llama-3.2-1b", []float64{0.5}, 0},
	} {
		t.Run(fmt.Sprint(c.model, c.gib), func(t *testing.T) {
			hw := "rtx-4090"
			if len(c.gib) == 2 {
				hw = "rtx-3060-12gb+rtx-4090"
			}
			j := jobOf(t, c.model, "q4_k_m", machineOf(t, hw), Latest, plan.Plan{Context: 4096, Sequences: 1})
			room := Room{Host: unit.Bytes(c.host * float64(unit.GiB))}
			for _, g := range c.gib {
				room.Devices = append(room.Devices, unit.Bytes(g*float64(unit.GiB)))
			}
			againstAll(t, j, room)
		})
	}
}

func againstAll(t *testing.T, j *engine.Job, room Room) {
	s, err := newSearch(Engine{Server}, j, room)
	if err != nil {
		t.Fatal(err)
	}
	at, ok := s.run()
	tried := 0
	s.all(func(o placing) {
		if ok && !s.better(o, at) {
			return
		}
		tried++
		if s.judge(o).fits {
			t.Errorf("%+v fits with %+v; chosen was %+v with %+v", o, s.cost(o), at, s.cost(at))
			at, ok = o, true
		}
	})
	t.Logf("chosen %+v; %d better ones do not fit", at, tried)
}

// all calls f with every placing on one or two devices; experts that stay away are those of a device's first
// layers.
func (s *search) all(f func(placing)) {
	end := s.layers + 1
	hosts := func(first, last int) int {
		if s.job.Model.Traits.Experts == 0 {
			return 0
		}
		return min(last, s.layers) - first
	}
	for first := range end + 1 {
		for mid := first; mid <= end; mid++ {
			if len(s.mass) == 1 && mid != end {
				continue
			}
			for n := 0; n <= max(0, hosts(first, mid)); n++ {
				at := placing{[]slice{{first, mid, n}}}
				if len(s.mass) == 2 {
					at.slices = append(at.slices, slice{mid, end, 0})
				}
				f(at)
			}
		}
	}
}

// TestBestOfTwo: of two cards that hold a model together, the faster holds as much as it can.
func TestBestOfTwo(t *testing.T) {
	j := jobOf(t, "qwen3-32b", "q4_k_m", machineOf(t, "rtx-3060-12gb+rtx-4090"), Latest, plan.Plan{Context: 8192, Sequences: 1})
	b, err := Engine{Server}.Best(j, RoomOf(j))
	if err != nil || !b.AllOnDevice() {
		t.Fatalf("%+v, %v", b, err)
	}
	ranks := judged(t, Engine{Server}, j, b.Patch)
	fast, slow := ranks[1].Needed().High, ranks[0].Needed().High
	if fast < 2*slow || !within(ranks, RoomOf(j)) {
		t.Errorf("%s on the faster card, %s on the slower: %v", fast, slow, b.Patch)
	}
}

// TestHostIsABudget: what does not fit on the devices must fit on the host, and what fits nowhere is said.
func TestHostIsABudget(t *testing.T) {
	j := jobOf(t, "llama-3.1-70b", "q4_k_m", machineOf(t, "rtx-4090"), Latest, plan.Plan{Context: 8192, Sequences: 1})
	room := RoomOf(j)
	for _, c := range []struct {
		host unit.Bytes
		ok   bool
	}{{64 * unit.GiB, true}, {16 * unit.GiB, false}} {
		room.Host = c.host
		b, err := Engine{CLI}.Best(j, room)
		if (err == nil) != c.ok || err != nil && !errors.Is(err, ErrNoRoom) {
			t.Errorf("a host of %s: %+v, %v", c.host, b, err)
		}
	}
}

func BenchmarkBest(b *testing.B) {
	for _, c := range fitCases {
		b.Run(c.model+" on "+c.hardware, func(b *testing.B) {
			j := jobOf(b, c.model, "q4_k_m", machineOf(b, c.hardware), Latest, plan.Plan{Context: 8192, Sequences: 1})
			room := RoomOf(j)
			for b.Loop() {
				s, err := newSearch(Engine{Server}, j, room)
				if err != nil {
					b.Fatal(err)
				}
				s.run()
			}
		})
	}
}
