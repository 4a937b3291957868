package llamacpp

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/datatest"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
)

// printed is a figure of a log, in MiB; none when it is not compared.
type printed struct {
	value float64
	none  bool
}

func figure(t *testing.T, s string) printed {
	t.Helper()
	if s == "-" {
		return printed{none: true}
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return printed{value: x}
}

// check that a sum of items is as printed to the last digit, or, for compute buffers, that the band holds it.
func (p printed) check(t *testing.T, name string, items []ledger.Item, id string) {
	t.Helper()
	if p.none {
		return
	}
	got := float64(bytesOf(items, id)) / (1 << 20)
	if id != "compute" {
		if math.Abs(got-p.value) > 0.0051 {
			t.Errorf("%s: %s %.2f MiB, printed %.2f", name, id, got, p.value)
		}
		return
	}
	low, high := 0.0, 0.0
	for i := range items {
		if items[i].ID == id {
			low, high = low+items[i].Low.MiB(), high+items[i].High.MiB()
		}
	}
	if p.value < low-0.01 || p.value > high+0.01 {
		t.Errorf("%s: compute %.2f MiB (%.2f to %.2f), printed %.2f", name, got, low, high, p.value)
	}
}

func logJob(t *testing.T, m map[string]string) *engine.Job {
	v, err := Engine{}.ParseVersion(m["version"])
	if err != nil {
		t.Fatal(err)
	}
	machine := &hardware.Machine{CPUOnly: true}
	if m["hardware"] != "cpu" {
		h, _, err := hardware.Parse(m["hardware"], 0)
		if err != nil {
			t.Fatal(err)
		}
		machine = &h
	}
	p := plan.Plan{KV: m["k"], KVV: m["v"], Sequences: plan.Int(number64(t, m["slots"])), Attention: "eager"}
	p.ContextTotal, p.BatchTokens, p.UBatch = plan.Int(number64(t, m["context"])), plan.Int(number64(t, m["batch"])), plan.Int(number64(t, m["ubatch"]))
	if m["flash"] == "yes" {
		p.Attention = "flash"
	}
	if n := number64(t, m["gpu_layers"]); n >= 0 {
		p.GPULayers = layers(n)
	}
	if s := m["tensor_split"]; s != "-" {
		p.TensorSplit = s
	}
	p.KVOffload = yes(m["kv_offload"] == "yes")
	return jobOf(t, m["model"], m["recipe"], machine, v, p)
}

// TestBuildsOfUsers: what builds of 2024 and 2025 printed on machines of their users, on six backends, with
// layers on the host and without, on one device and several. Three quarters of their compute buffers are given
// to the printed digit.
func TestBuildsOfUsers(t *testing.T) {
	rows := datatest.Table(t, "testdata/logs.tsv", '\t')
	if len(rows) < 30 {
		t.Fatalf("%d rows", len(rows))
	}
	off := []float64{}
	for _, m := range rows {
		j := logJob(t, m)
		ranks := sizerOf(t, Engine{CLI}, j).Size(nil, j.Load())
		name := m["version"] + " " + m["model"]
		lists := map[string][]string{"weights": strings.Split(m["weights"], ","), "kv_cache": strings.Split(m["kv"], ","), "compute": strings.Split(m["compute"], ",")}
		for i := range ranks {
			for id, list := range lists {
				if list[0] == "-" {
					continue
				}
				p := figure(t, list[i])
				p.check(t, name+" on device "+strconv.Itoa(i), ranks[i].Items, id)
				if n := bytesOf(ranks[i].Items, id); id == "compute" && n > 0 {
					off = append(off, p.value*(1<<20)/float64(n))
				}
			}
		}
		held := ranks[0].Host
		if m["hardware"] == "cpu" {
			held = ranks[0].Items
		}
		figure(t, m["host_weights"]).check(t, name+" on the host", held, "weights")
		figure(t, m["host_kv"]).check(t, name+" on the host", held, "kv_cache")
		figure(t, m["host_compute"]).check(t, name+" on the host", held, "compute")
		figure(t, m["output"]).check(t, name, held, "output")
	}
	equal := 0
	for _, x := range off {
		if math.Abs(x-1) < 1e-4 {
			equal++
		}
	}
	t.Logf("compute buffers, printed over computed: %.3f; %d of %d equal", off, equal, len(off))
	if 4*equal < 3*len(off) {
		t.Errorf("%d of %d compute buffers are as printed", equal, len(off))
	}
}
