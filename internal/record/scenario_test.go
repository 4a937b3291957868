package record

import (
	"bytes"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/live"
	"github.com/memwall/memwall/trend"
	"github.com/memwall/memwall/unit"
)

var update = flag.Bool("update", false, "write docs/examples/watch.jsonl")

// example is the recording that the guide shows: drawn and not recorded, an hour of a server that starts, takes its load,
// and whose front leaks host memory.
const example = "../../docs/examples/watch.jsonl"

func drawn(t *testing.T) []byte {
	t.Helper()
	r, _, err := memwall.FromCommand("vllm serve meta-llama/Llama-3.1-70B-Instruct --tensor-parallel-size 2 --max-model-len 8192")
	if err != nil {
		t.Fatal(err)
	}
	r.Hardware = "2xh100-sxm-80gb,host=440GiB"
	a, err := memwall.Ask(r)
	if err != nil {
		t.Fatal(err)
	}
	said := &live.Prediction{On: []int{0, 1}, Answer: &memwall.Answer{Schema: a.Schema, Version: a.Version, Ask: a.Ask, Model: a.Model, Plan: a.Plan, Verdict: a.Verdict, Devices: a.Devices, KV: a.KV}}
	path := filepath.Join(t.TempDir(), "watch.jsonl")
	const began, every, hour = 1_790_000_000, 30, 3600
	file, err := create(path, began, "drawn")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for s := 0; s <= hour; s += every {
		if err := file.Add(second(float64(s), rng, began), map[int]*live.Prediction{701: said}); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// second of the drawn server.
func second(s float64, rng *rand.Rand, began float64) *live.Moment {
	gib := func(x float64) *unit.Bytes { b := unit.Bytes(x*1024) * unit.MiB; return &b }
	round := func(x float64) *float64 { x = math.Round(x*1000) / 1000; return &x }
	load := math.Min(1, s/300)
	kv := load * (0.62 + 0.05*math.Sin(s/200) + 0.02*rng.NormFloat64())
	leak := 1.1*s/3600 + 0.003*rng.NormFloat64()
	m := &live.Moment{At: began + s, Host: &live.Host{Total: 503 * unit.GiB, Free: *gib(452 - leak)}}
	process := func(pid int, name string, own float64, held ...live.Held) {
		m.Processes = append(m.Processes, live.Process{PID: pid, Name: name, Engine: 701, Own: gib(own), Resident: gib(own + 0.4), Held: held})
	}
	process(701, "vllm", 0.9+leak)
	process(710, "VLLM::EngineCore", 1.7)
	for i := range 2 {
		process(711+i, []string{"VLLM::Worker_TP0", "VLLM::Worker_TP1"}[i], 2.6, live.Held{Device: i, Bytes: gib(72.87)})
		m.Devices = append(m.Devices, live.Device{Index: i, Name: "NVIDIA H100 80GB HBM3", ID: "h100-sxm-80gb", Total: 81559 * unit.MiB, Used: gib(72.9), Free: gib(6.2), Busy: round(load * 0.9), ByProcess: true})
	}
	running := math.Round(2 * load)
	m.Processes = append(m.Processes, live.Process{PID: 902, Name: "Xorg", Held: []live.Held{{Device: 0, Bytes: gib(0.02)}}})
	m.Engines = []live.Engine{{PID: 701, Name: "vllm", Model: "meta-llama/Llama-3.1-70B-Instruct", Command: "/usr/local/bin/vllm serve meta-llama/Llama-3.1-70B-Instruct --tensor-parallel-size 2 --max-model-len 8192 --api-key REDACTED",
		Page: "http://127.0.0.1:8000/metrics", Reading: &live.Reading{Running: &running, Waiting: round(0), KVUsage: round(kv), KVTokens: round(29936), OutputRate: round(load * (68 + rng.NormFloat64())), PromptRate: round(load * (310 + 20*rng.NormFloat64())), HitRate: round(0.12), TTFT: round(0.74)}}}
	return m
}

// TestExample: what lies in the tree is what is drawn today; the leak of the drawn server is found, and its cache is none.
func TestExample(t *testing.T) {
	want := drawn(t)
	if *update {
		if err := os.WriteFile(example, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(example); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what is drawn (%v): go test ./internal/record -update", example, err)
	}
	var s live.Session
	if err := Replay(example, s.Predict, func(m *live.Moment) error { s.Add(m); return nil }); err != nil {
		t.Fatal(err)
	}
	p := s.Picture()
	if p.Finding.Code != live.Leaks || p.Finding.PID != 701 || p.Devices[0].Growth.Finding != trend.Level || !p.Devices[0].Off.Within {
		t.Errorf("%+v, %+v", p.Finding, p.Devices[0])
	}
}
