package llamacpp

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

type row map[string]string

func (r row) int(k string) int64 {
	n, _ := strconv.ParseInt(r[k], 10, 64)
	return n
}

func readRows(t testing.TB, path string) (out []row) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines[1:] {
		r := row{}
		for i, k := range lines[0] {
			r[k] = l[i]
		}
		out = append(out, r)
	}
	return out
}

type built struct {
	m *model.Model
	w *model.Weights
}

var builtModels = map[string]built{}

func build1(t testing.TB, id, recipe string) (*model.Model, *model.Weights) {
	t.Helper()
	if b, ok := builtModels[id+recipe]; ok {
		return b.m, b.w
	}
	e, err := catalog.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Spec()
	if err != nil {
		t.Fatal(err)
	}
	if recipe == "F16" {
		recipe = "gguf-f16"
	}
	r := dtype.FindRecipe(recipe)
	if r == nil {
		t.Fatalf("no recipe %s", recipe)
	}
	m := s.Converted().Model(id)
	b := built{m, m.Store(r)}
	builtModels[id+recipe] = b
	return b.m, b.w
}

func yes(b bool) *bool { return &b }

func jobOf(t testing.TB, r row, machine *hardware.Machine) *engine.Job {
	m, w := build1(t, r["model"], r["ftype"])
	p := &plan.Plan{KV: r["type_k"], KVV: r["type_v"], Sequences: plan.Int(r.int("n_seq"))}
	p.ContextTotal, p.UBatch, p.BatchTokens = plan.Int(r.int("n_ctx")), plan.Int(r.int("n_ubatch")), plan.Int(r.int("n_batch"))
	p.SWAFull, p.KVUnified, p.Mmap = yes(r["swa_full"] == "1"), yes(r["kv_unified"] == "1"), yes(false)
	p.Attention = "eager"
	if r["flash_attn"] == "1" {
		p.Attention = "flash"
	}
	p.LogitRows = plan.Int(r.int("n_outputs_max"))
	if p.LogitRows == 0 {
		p.LogitRows = p.BatchTokens
	}
	return &engine.Job{Model: m, Weights: w, Machine: machine, Plan: p, Version: Latest}
}

func TestExactRows(t *testing.T) {
	dir := os.Getenv("MEMWALL_SHARED")
	if dir == "" {
		return
	}
	e := Engine{CLI}
	counts := map[string][2]int{}
	score := func(what string, r row, got, want int64) {
		c := counts[what]
		c[1]++
		if got == want {
			c[0]++
		} else if c[1]-c[0] < 15 {
			t.Errorf("%s %s: got %d want %d (diff %d)", r["case"], what, got, want, got-want)
		}
		counts[what] = c
	}
	for _, r := range readRows(t, filepath.Join(dir, "data/llamacpp_exact.csv")) {
		j := jobOf(t, r, &hardware.Machine{CPUOnly: true})
		e.Defaults(j)
		if err := e.Check(j); err != nil {
			t.Errorf("%s: %v", r["case"], err)
			continue
		}
		s, err := e.Sizer(j)
		if err != nil {
			t.Fatal(err)
		}
		rank := s.Size(nil, j.Load())[0]
		score("model", r, bytesOf(rank.Items, "weights"), r.int("model_bytes"))
		score("kv", r, bytesOf(rank.Items, "kv_cache"), r.int("kv_bytes"))
		note("S "+r["arch"], r["case"], bytesOf(rank.Items, "compute"), r.int("compute_bytes"))
		score("rs", r, bytesOf(rank.Items, "state"), r.int("rs_bytes"))
	}
	t.Log(counts)
}

func bytesOf(items []ledger.Item, id string) (n int64) {
	for _, it := range items {
		if it.ID == id {
			n += int64(it.Bytes)
		}
	}
	return n
}

var _ = strings.Split
var _ = unit.MiB

func gpus(t testing.TB, n int) *hardware.Machine {
	m, _, err := hardware.Parse("h100-sxm-80gb", n)
	if err != nil {
		t.Fatal(err)
	}
	return &m
}

func TestGPURows(t *testing.T) {
	dir := os.Getenv("MEMWALL_SHARED")
	if dir == "" {
		return
	}
	e := Engine{CLI}
	counts := map[string][2]int{}
	score := func(what string, r row, got, want int64) {
		c := counts[what]
		c[1]++
		if got == want {
			c[0]++
		} else if c[1]-c[0] < 15 {
			t.Errorf("%s %s: got %d want %d (diff %d)", r["case"], what, got, want, got-want)
		}
		counts[what] = c
	}
	for _, r := range readRows(t, filepath.Join(dir, "data/llamacpp_gpu_sim.csv")) {
		j := jobOf(t, r, gpus(t, int(r.int("n_gpu_sim"))))
		e.Defaults(j)
		if err := e.Check(j); err != nil {
			t.Errorf("%s: %v", r["case"], err)
			continue
		}
		s, err := e.Sizer(j)
		if err != nil {
			t.Fatal(err)
		}
		ranks := s.Size(nil, j.Load())
		for i, rank := range ranks {
			g := "gpu" + strconv.Itoa(i)
			score(g+"model", r, bytesOf(rank.Items, "weights"), r.int(g+"_model_bytes"))
			score(g+"context", r, bytesOf(rank.Items, "kv_cache")+bytesOf(rank.Items, "state"), r.int(g+"_context_bytes"))
		}
		for i, rank := range ranks {
			g := "gpu" + strconv.Itoa(i)
			note(g+" of "+r["n_gpu_sim"]+" fa"+r["flash_attn"], r["case"], bytesOf(rank.Items, "compute"), r.int(g+"_compute_bytes"))
			fell := s.(*sizer).fallen()
			switch {
			case fell:
				note("F "+r["n_gpu_sim"], r["case"], bytesOf(rank.Items, "compute"), r.int(g+"_compute_bytes"))
			case r["n_gpu_sim"] == "1":
				note("S "+r["arch"], r["case"], bytesOf(rank.Items, "compute"), r.int(g+"_compute_bytes"))
			default:
				note("P "+r["arch"], r["case"], bytesOf(rank.Items, "compute"), r.int(g+"_compute_bytes"))
			}
		}
		sh := s.(*sizer).set.shape(&s.(*sizer).rules, j.Load())
		note("host of "+r["n_gpu_sim"], r["case"], s.(*sizer).graph.hostBuffer(nil, &sh).Int(), r.int("host_compute_bytes"))
		b := s.(*sizer).buffers
		score("hostmodel", r, int64(b.plain.total()+b.pinned.total()), r.int("host_model_bytes"))
	}
	t.Log(counts)
	residuals(t)
}

type residual struct {
	err  float64
	name string
}

var noted = map[string][]residual{}

func note(group, name string, got, want int64) {
	noted[group] = append(noted[group], residual{float64(want)/float64(got) - 1, name})
}

func residuals(t *testing.T) {
	var groups []string
	for g := range noted {
		groups = append(groups, g)
	}
	sort.Strings(groups)
	for _, g := range groups {
		l := noted[g]
		sort.Slice(l, func(i, k int) bool { return math.Abs(l[i].err) < math.Abs(l[k].err) })
		abs := func(q float64) float64 { return 100 * math.Abs(l[min(len(l)-1, int(q*float64(len(l))))].err) }
		worst := l[len(l)-1]
		med, p90, most := abs(.5), abs(.9), abs(1)
		sort.Slice(l, func(i, k int) bool { return l[i].err < l[k].err })
		t.Logf("%-22s %4d rows: median %.2f p90 %.2f max %.2f %%  p5 %.3f p95 %.3f  %s", g, len(l), med, p90, most, l[len(l)/20].err, l[len(l)-1-len(l)/20].err, worst.name)
	}
	noted = map[string][]residual{}
}
