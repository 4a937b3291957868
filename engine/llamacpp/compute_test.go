package llamacpp

import (
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// computeOf is the compute items of every device, then the host's.
func computeOf(ranks []engine.Rank) (out []ledger.Item) {
	for i := range ranks {
		for _, it := range ranks[i].Items {
			if it.ID == "compute" {
				out = append(out, it)
			}
		}
	}
	for _, it := range ranks[0].Host {
		if it.ID == "compute" {
			out = append(out, it)
		}
	}
	return out
}

// TestComputeRows: the rows are of dry runs, and a dry run's buffers are given to the byte: on the CPU, one
// device and two, with attention that falls back to the host, and of the host itself. What is said to be
// exact is as printed, and the band of what is not holds it.
func TestComputeRows(t *testing.T) {
	scores := map[string]*tally{}
	rows := append(ownRows(t), sharedRows(t)...)
	for i := range rows {
		r := &rows[i]
		j := r.job(t)
		s := sizerOf(t, Engine{CLI}, j)
		sh := s.set.shape(&s.rules, j.Load())
		// more splits come with layers, of which not all are lowered
		if c, err := s.graph.compile(s.sizes(&sh, sh.tokens, sh.outputs)); err != nil || r.splits > 0 && r.splits < 6 && c.Splits != int(r.splits) {
			t.Errorf("%s: %d splits, printed %d (%v)", r.name, c.Splits, r.splits, err)
		}
		dry, items := s.graph.buffers(&sh).run, computeOf(s.Size(nil, j.Load()))
		printed := r.compute
		if r.devices > 0 {
			printed = append(slices.Clone(printed), r.hostCompute)
		}
		for d, want := range printed {
			what := strconv.Itoa(r.devices) + " devices, buffer " + strconv.Itoa(d)
			if scores[what] == nil {
				scores[what] = &tally{}
			}
			scores[what].check(t, r, what, int64(dry[d]), want)
			if it := items[d]; it.Basis == ledger.Exact && int64(it.Bytes) != want || int64(it.Low) > want || int64(it.High) < want {
				t.Errorf("%s, %s: %d in %d to %d, %s; printed %d", r.name, what, it.Bytes, it.Low, it.High, it.Basis, want)
			}
		}
	}
	for what, s := range scores {
		t.Logf("%s: %d of %d exact", what, s.equal, s.of)
	}
}

// TestRunAndDryRun: where norms are held matters behind the first device only, and a run that holds them
// copies less. Both are exact.
func TestRunAndDryRun(t *testing.T) {
	fewer := 0
	for _, id := range lawModels {
		asked := func(dry bool) []ledger.Item {
			j := jobOf(t, id, "q4_k_m", cards(t, 3), Latest, small(func(p *plan.Plan) { p.DryRun = &dry }))
			return computeOf(sizerOf(t, Engine{CLI}, j).Size(nil, j.Load()))
		}
		run, dry := asked(false), asked(true)
		for i := range run {
			if run[i].Bytes != dry[i].Bytes && (i == 0 || i == len(run)-1) || run[i].Bytes > dry[i].Bytes {
				t.Errorf("%s, buffer %d: %d in a run, %d in a dry run", id, i, run[i].Bytes, dry[i].Bytes)
			}
			for _, it := range []ledger.Item{run[i], dry[i]} {
				if it.Basis != ledger.Exact || it.Low != it.Bytes || it.High != it.Bytes {
					t.Errorf("%s, buffer %d: %d to %d, %s", id, i, it.Low, it.High, it.Basis)
				}
			}
			if run[i].Bytes < dry[i].Bytes {
				fewer++
			}
		}
	}
	if fewer < len(lawModels) {
		t.Errorf("%d buffers are smaller in a run", fewer)
	}
}

// TestComputeKeepsPrograms: a sizer compiles the graph of a kind of batch once, and then only replays.
func TestComputeKeepsPrograms(t *testing.T) {
	j := jobOf(t, "llama-3.1-8b", "q4_k_m", cards(t, 1), Latest, small(nil))
	s := sizerOf(t, Engine{CLI}, j)
	for c := int64(512); c < 1<<17; c *= 2 {
		s.Size(nil, engine.Load{Context: c, Sequences: 1})
	}
	if n := len(s.graph.compiled); n != 1 {
		t.Errorf("%d graphs compiled for contexts of one kind", n)
	}
	s.Size(nil, engine.Load{Context: 512, Sequences: 4})
	if n := len(s.graph.compiled); n != 2 {
		t.Errorf("%d graphs compiled for one stream and several", n)
	}
}

// TestHostProducts: with its layers on the host a device takes over large products, and needs room for the
// largest tensor; with few tokens it does not.
func TestHostProducts(t *testing.T) {
	size := func(ubatch plan.Int, ngl int64) (device, host unit.Bytes) {
		j := jobOf(t, "llama-3.1-8b", "q4_k_m", cards(t, 1), Latest, small(func(p *plan.Plan) { p.GPULayers, p.UBatch, p.LogitRows = layers(ngl), ubatch, 1 }))
		s := sizerOf(t, Engine{CLI}, j)
		c := computeOf(s.Size(nil, j.Load()))
		return c[0].Bytes, c[1].Bytes
	}
	// ffn_down of the first layers is stored in Q6_K: 14336 × 4096 elements of 210/256 bytes
	const largest = 14336 * 4096 * 210 / 256
	many, _ := size(512, 0)
	few, host := size(16, 0)
	whole, _ := size(512, -1)
	if many < largest || many > largest+whole {
		t.Errorf("a large batch of a model on the host takes %d of the device; its largest tensor %d", many, largest)
	}
	if few > largest || host == 0 {
		t.Errorf("a small batch takes %d of the device and %d of the host", few, host)
	}
}

// TestSizersAreShared: several callers of one sizer get what one alone gets.
func TestSizersAreShared(t *testing.T) {
	j := jobOf(t, "gemma-3-4b", "q4_k_m", cards(t, 2), Latest, small(nil))
	loads := []engine.Load{{Context: 4096, Sequences: 1}, {Context: 8192, Sequences: 3}, {Context: 65536, Sequences: 2}}
	var want [][]ledger.Item
	for _, l := range loads {
		want = append(want, computeOf(sizerOf(t, Engine{CLI}, j).Size(nil, l)))
	}
	s := sizerOf(t, Engine{CLI}, j)
	var all sync.WaitGroup
	for i, l := range loads {
		all.Go(func() {
			for range 20 {
				for k, it := range computeOf(s.Size(nil, l)) {
					if it.Bytes != want[i][k].Bytes {
						t.Errorf("%+v, buffer %d: %d bytes, alone %d", l, k, it.Bytes, want[i][k].Bytes)
					}
				}
			}
		})
	}
	all.Wait()
}

// TestTwoFormats: flash attention over keys and values in different formats runs on the device or, in builds
// without such kernels, on the host; the band holds both.
func TestTwoFormats(t *testing.T) {
	j := jobOf(t, "llama-3.1-8b", "q4_k_m", cards(t, 1), Latest, small(func(p *plan.Plan) { p.KV, p.KVV, p.Attention = "q8_0", "q4_0", "flash" }))
	c := computeOf(sizerOf(t, Engine{CLI}, j).Size(nil, j.Load()))
	row := unit.Bytes(34*1024/32 + 18*1024/32) // of one layer's keys and values, which the host must hold
	if c[1].High < c[1].Bytes+row*4096 || c[1].Basis != ledger.Derived {
		t.Errorf("%d to %d on the host, %s", c[1].Bytes, c[1].High, c[1].Basis)
	}
}
