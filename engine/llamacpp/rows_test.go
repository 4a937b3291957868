package llamacpp

import (
	"strconv"
	"strings"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/datatest"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/plan"
)

// row is a plan and what llama.cpp reports for it, in bytes; lists have one entry for each device.
type row struct {
	name, model, recipe                 string
	devices                             int
	context, slots, batch, ubatch, rows int64
	flash, fullSWA, unified             bool
	k, v                                string
	weights, caches, compute            []int64
	hostWeights, output, hostCompute    int64 // those of the host are -1 on the CPU
	splits                              int64 // of the graph; 0 when not printed
}

func number64(t testing.TB, s string) int64 {
	t.Helper()
	if s == "-" || s == "" {
		return -1
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func numbers(t testing.TB, s string) (out []int64) {
	for _, one := range strings.Split(s, ",") {
		out = append(out, number64(t, one))
	}
	return out
}

// ownRows are those of testdata/rows.tsv.
func ownRows(t testing.TB) (out []row) {
	for _, m := range datatest.Table(t, "testdata/rows.tsv", '\t') {
		n := func(name string) int64 { return number64(t, m[name]) }
		out = append(out, row{
			name: m["case"], model: m["model"], recipe: m["recipe"], devices: int(n("devices")), context: n("context"), slots: n("slots"), batch: n("batch"), ubatch: n("ubatch"), rows: n("logit_rows"),
			flash: m["flash"] == "yes", fullSWA: m["swa_full"] == "yes", unified: m["unified"] == "yes", k: m["k"], v: m["v"],
			weights: numbers(t, m["weights"]), caches: numbers(t, m["caches"]), compute: numbers(t, m["compute"]), hostWeights: n("host_weights"), output: n("output"), hostCompute: n("host_compute"),
		})
	}
	return out
}

// sharedRows are all rows of the data folder, when there is one.
func sharedRows(t testing.TB) (out []row) {
	for _, file := range []string{"llamacpp_exact.csv", "llamacpp_gpu_sim.csv"} {
		for _, m := range datatest.Shared(t, file) {
			out = append(out, sharedRow(t, m))
		}
	}
	return out
}

func sharedRow(t testing.TB, m map[string]string) row {
	n := func(name string) int64 { return number64(t, m[name]) }
	r := row{
		name: m["case"], model: m["model"], recipe: m["ftype"], context: n("n_ctx"), slots: n("n_seq"), batch: n("n_batch"), ubatch: n("n_ubatch"), rows: n("n_outputs_max"),
		flash: m["flash_attn"] == "1", fullSWA: m["swa_full"] == "1", unified: m["kv_unified"] == "1", k: m["type_k"], v: m["type_v"], output: n("output_bytes"),
	}
	if m["n_gpu_sim"] == "" {
		r.weights, r.caches, r.compute = []int64{n("model_bytes")}, []int64{n("kv_bytes") + n("rs_bytes")}, []int64{n("compute_bytes")}
		r.hostWeights, r.hostCompute = -1, -1
		return r
	}
	r.devices, r.splits = int(n("n_gpu_sim")), n("n_splits")
	r.hostWeights, r.hostCompute = n("host_model_bytes"), n("host_compute_bytes")
	for i := range r.devices {
		gpu := "gpu" + strconv.Itoa(i)
		r.weights, r.caches, r.compute = append(r.weights, n(gpu+"_model_bytes")), append(r.caches, n(gpu+"_context_bytes")), append(r.compute, n(gpu+"_compute_bytes"))
	}
	return r
}

// cards are n equal devices, or a processor for none.
func cards(t testing.TB, n int) *hardware.Machine {
	t.Helper()
	if n == 0 {
		return &hardware.Machine{CPUOnly: true}
	}
	m, _, err := hardware.Parse("h100-sxm-80gb", n)
	if err != nil {
		t.Fatal(err)
	}
	return &m
}

type storedModel struct {
	m *model.Model
	w *model.Weights
}

var storedModels = map[string]storedModel{}

// gguf is a model of the catalog as a GGUF file has it.
func gguf(t testing.TB, id, recipe string) (*model.Model, *model.Weights) {
	t.Helper()
	if s, ok := storedModels[id+" "+recipe]; ok {
		return s.m, s.w
	}
	e, err := catalog.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := e.Spec()
	if err != nil {
		t.Fatal(err)
	}
	r := dtype.FindRecipe(recipe)
	if r == nil || r.InGGUF() == nil {
		t.Fatalf("no recipe %q of GGUF", recipe)
	}
	m := spec.Converted().Model(id)
	s := storedModel{m, m.Store(r.InGGUF())}
	storedModels[id+" "+recipe] = s
	return s.m, s.w
}

func yes(b bool) *bool { return &b }

func layers(n int64) *plan.Int { p := plan.Int(n); return &p }

// jobOf is a job without defaults.
func jobOf(t testing.TB, id, recipe string, machine *hardware.Machine, v engine.Version, p plan.Plan) *engine.Job {
	t.Helper()
	m, w := gguf(t, id, recipe)
	return &engine.Job{Model: m, Weights: w, Machine: machine, Plan: &p, Version: v}
}

// sizerOf takes a job through defaults and checks.
func sizerOf(t testing.TB, e Engine, j *engine.Job) *sizer {
	t.Helper()
	e.Defaults(j)
	if err := e.Check(j); err != nil {
		t.Fatalf("%s: %v", j.Model.ID, err)
	}
	s, err := e.Sizer(j)
	if err != nil {
		t.Fatalf("%s: %v", j.Model.ID, err)
	}
	return s.(*sizer)
}

func (r *row) job(t testing.TB) *engine.Job {
	p := plan.Plan{KV: r.k, KVV: r.v, Sequences: plan.Int(r.slots), Attention: "eager"}
	p.ContextTotal, p.UBatch, p.BatchTokens, p.LogitRows = plan.Int(r.context), plan.Int(r.ubatch), plan.Int(r.batch), plan.Int(r.rows)
	p.SWAFull, p.KVUnified, p.Mmap, p.DryRun = yes(r.fullSWA), yes(r.unified), yes(false), yes(true)
	if r.flash {
		p.Attention = "flash"
	}
	if r.rows == 0 {
		p.LogitRows = p.BatchTokens
	}
	return jobOf(t, r.model, r.recipe, cards(t, r.devices), Latest, p)
}

// bytesOf sums the items of an id.
func bytesOf(items []ledger.Item, ids ...string) (n int64) {
	for i := range items {
		for _, id := range ids {
			if items[i].ID == id {
				n += int64(items[i].Bytes)
			}
		}
	}
	return n
}

// tally counts equal figures and shows the first that are not.
type tally struct{ equal, of int }

func (s *tally) check(t *testing.T, r *row, what string, got, want int64) {
	t.Helper()
	s.of++
	if got == want {
		s.equal++
	} else if s.of-s.equal < 10 {
		t.Errorf("%s, %s: %d bytes, want %d", r.name, what, got, want)
	}
}

// checkExact compares all but the compute buffers.
func checkExact(t *testing.T, rows []row) map[string]*tally {
	scores := map[string]*tally{}
	check := func(r *row, what string, got, want int64) {
		if scores[what] == nil {
			scores[what] = &tally{}
		}
		scores[what].check(t, r, what, got, want)
	}
	for i := range rows {
		r := &rows[i]
		j := r.job(t)
		ranks := sizerOf(t, Engine{CLI}, j).Size(nil, j.Load())
		on := "cpu"
		for d := range ranks {
			if r.devices > 0 {
				on = "device " + strconv.Itoa(d)
			}
			check(r, on+" weights", bytesOf(ranks[d].Items, "weights"), r.weights[d])
			check(r, on+" caches", bytesOf(ranks[d].Items, "kv_cache", "state"), r.caches[d])
		}
		if r.devices == 0 {
			check(r, "cpu output", bytesOf(ranks[0].Items, "output"), r.output)
			continue
		}
		check(r, "host weights", bytesOf(ranks[0].Host, "weights"), r.hostWeights)
		check(r, "host output", bytesOf(ranks[0].Host, "output"), r.output)
	}
	return scores
}

// TestRows: every buffer but compute is exact.
func TestRows(t *testing.T) {
	rows := ownRows(t)
	if len(rows) < 100 {
		t.Fatalf("%d rows", len(rows))
	}
	checkExact(t, append(rows, sharedRows(t)...))
}

// TestSharedRows reports how many figures of each kind are exact.
func TestSharedRows(t *testing.T) {
	for what, s := range checkExact(t, sharedRows(t)) {
		t.Logf("%-18s %d of %d exact", what, s.equal, s.of)
	}
}
