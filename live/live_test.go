package live

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/trend"
	"github.com/memwall/memwall/unit"
)

// predicted is what memwall says of a plan on two cards.
func predicted(t testing.TB) *Prediction {
	t.Helper()
	return predictedAt(t, "8192")
}

// predictedAt is that at a context.
func predictedAt(t testing.TB, context string) *Prediction {
	t.Helper()
	r, _, err := memwall.FromCommand("vllm serve meta-llama/Llama-3.1-70B-Instruct --tensor-parallel-size 2 --enforce-eager --max-model-len " +
		context)
	if err != nil {
		t.Fatal(err)
	}
	r.Hardware = "2xh100-sxm-80gb"
	a, err := memwall.Ask(r)
	if err != nil {
		t.Fatal(err)
	}
	return &Prediction{Answer: a, On: []int{0, 1}}
}

func size(gib float64) *unit.Bytes {
	b := unit.Bytes(gib * float64(unit.GiB))
	return &b
}

func number(x float64) *float64 { return &x }

// moment of two cards, each held by a worker.
func moment(at, gib, kv float64) *Moment {
	m := &Moment{At: at, Host: &Host{Total: 512 * unit.GiB, Free: 400 * unit.GiB}}
	for i := range 2 {
		m.Devices = append(m.Devices, Device{Index: i, Name: "NVIDIA H100 80GB HBM3", Total: 81559 * unit.MiB, Used: size(gib + 0.1),
			Free: size(79 - gib), ByProcess: true})
		m.Processes = append(m.Processes, Process{PID: 11 + i, Name: "worker", Engine: 10, Own: size(2), Resident: size(3),
			Held: []Held{{i, size(gib)}}})
	}
	m.Processes = append(m.Processes, Process{PID: 902, Name: "Xorg", Held: []Held{{0, size(0.02)}}})
	m.Engines = []Engine{{PID: 10, Name: "vllm", Reading: &Reading{KVUsage: number(kv), Running: number(3), Waiting: number(0)}}}
	return m
}

// watched is a session of so many seconds.
func watched(t testing.TB, seconds int, gib, kv func(i int) float64) *Picture {
	var s Session
	s.Predict(10, predicted(t))
	for i := range seconds {
		s.Add(moment(float64(i), gib(i), kv(i)))
	}
	return s.Picture()
}

func always(x float64) func(int) float64 { return func(int) float64 { return x } }

// TestFindings: what a picture says first of what happens.
func TestFindings(t *testing.T) {
	for _, c := range []struct {
		name    string
		gib, kv func(int) float64
		want    string
	}{
		{"as said", always(72.8), always(0.3), AsSaid},
		{"more than said", always(77.5), always(0.3), MoreThanSaid},
		{"still loading", always(30), always(0), LessThanSaid},
		{"a leak", func(i int) float64 { return 72.6 + 0.5*float64(i)/1200 }, always(0.3), Leaks},
		{"a cache that fills", always(72.8), func(i int) float64 { return float64(i) / 1500 }, KVFullSoon},
		{"a step at load", func(i int) float64 { return 72.6 + 0.5*float64(i/600) }, always(0.3), AsSaid},
		{"growth with its load", func(i int) float64 { return 72.6 + 0.5*float64(i)/1200 },
			func(i int) float64 { return 0.2 + 0.1*float64(i)/1200 }, GrowsLoaded},
	} {
		p := watched(t, 1200, c.gib, c.kv)
		if p.Finding.Code != c.want {
			t.Errorf("%s: %+v, want %s; %+v, off %+v", c.name, p.Finding, c.want, p.Devices[0].Growth, p.Devices[0].Off)
		}
	}
}

// TestLeakEnds: a leak of 1.5 GiB an hour ends when its free memory does.
func TestLeakEnds(t *testing.T) {
	p := watched(t, 1800, func(i int) float64 { return 72 + 1.5*float64(i)/3600 }, always(0.3))
	g := p.Devices[0].Growth
	if g.Finding != trend.Growing || g.Out == nil || g.Slope.Value/float64(unit.GiB) < 1.49 || g.Slope.Value/float64(unit.GiB) > 1.51 {
		t.Fatalf("%+v", g)
	}
	free := p.Devices[0].Free.GiB()
	if want := free / 1.5 * 3600; g.Out.Seconds < 0.99*want || g.Out.Seconds > 1.01*want || g.Out.Low > g.Out.Seconds ||
		g.Out.High != nil && *g.Out.High < g.Out.Seconds {
		t.Errorf("%+v, want %g", g.Out, want)
	}
}

// TestExplains: a difference as large as a line of the ledger is that line.
func TestExplains(t *testing.T) {
	s := accountOf(&predictedAt(t, "16384").Answer.Devices[0])
	find := func(id string) unit.Bytes {
		for _, it := range s.Ledger {
			if it.ID == id {
				return it.Bytes
			}
		}
		t.Fatal(id)
		return 0
	}
	for _, c := range []struct {
		measured unit.Bytes
		within   bool
		line     string
	}{
		{s.Bytes, true, ""},
		{s.Bytes + 300*unit.MiB, true, "collectives"},
		{s.Bytes - find("weights"), false, "weights"},
		{s.Bytes + find("kv_cache") + 5*unit.MiB, false, "kv_cache"},
		{0, false, ""},
	} {
		o := s.against(c.measured)
		if o.Within != c.within || o.Line != c.line || o.Why == "" || o.Bytes != c.measured-s.Bytes {
			t.Errorf("%s: %+v, want %v %q", c.measured, o, c.within, c.line)
		}
	}
}

// TestRanks reads groups as answers write them.
func TestRanks(t *testing.T) {
	for text, want := range map[string]int{"0": 1, "0-7": 8, "0-3,6": 5, "": 0, "x": 0, "0-99999999": maxRanks, "5-2": 0, "-1": 0} {
		if n := len(ranks(text)); n != want {
			t.Errorf("%q: %d, want %d", text, n, want)
		}
	}
}

// TestMeasuredBy: what counts as the engines' where drivers tell processes apart, and where they do not.
func TestMeasuredBy(t *testing.T) {
	var s Session
	s.Predict(10, predicted(t))
	m := moment(1, 72.8, 0.3)
	s.Add(m)
	if p := s.Picture(); p.Devices[0].Measured != "process" || *p.Devices[0].Engines != *size(72.8) {
		t.Errorf("%+v", p.Devices[0])
	}
	m = moment(2, 72.8, 0.3)
	m.Processes[0].Held[0].Bytes = nil // as in containers and under Windows
	s.Add(m)
	if p := s.Picture(); p.Devices[0].Measured != "device" || *p.Devices[0].Engines != *size(72.9)-*size(0.02) {
		t.Errorf("%+v", p.Devices[0])
	}
	m = &Moment{At: 3, Engines: []Engine{{PID: 10}}}
	s.Add(m)
	if p := s.Picture(); len(p.Devices) != 0 || p.Host != nil || p.Finding.Code != NotMeasured {
		t.Errorf("%+v", p)
	}
	s.Add(&Moment{At: 1})
	if p := s.Picture(); p.At != 3 {
		t.Error("a clock that was set back")
	}
}

// TestBars: the stretches of a bar sum up to the device, whatever is held.
func TestBars(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	d := predicted(t).Answer.Devices[0]
	for range 500 {
		s := accountOf(&d)
		if rng.IntN(4) == 0 {
			s = nil
		}
		used := unit.Bytes(rng.Int64N(int64(d.Capacity)))
		measured := unit.Bytes(rng.Int64N(int64(used) + 1))
		var off *Off
		if s != nil {
			off = s.against(measured)
		}
		var taken *float64
		if rng.IntN(2) == 0 {
			taken = number(rng.Float64())
		}
		var sum, held unit.Bytes
		for _, x := range stretches(s, off, &measured, &used, d.Capacity, taken) {
			if x.Bytes <= 0 {
				t.Fatalf("%+v", x)
			}
			if sum += x.Bytes; x.ID != Missing && x.ID != Others && x.ID != Free {
				held += x.Bytes
			}
		}
		if held != measured || sum < d.Capacity {
			t.Fatalf("held %s of %s, %s of %s", held, measured, sum, d.Capacity)
		}
	}
}

// TestJSON: the document is what docs/guides/watch.md says, in every key.
func TestJSON(t *testing.T) {
	text, err := json.Marshal(watched(t, 900, always(72.8), always(0.5)))
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields("schema version ask at_s seconds moments finding engines devices host others notes cost") {
		if doc[name] == nil {
			t.Errorf("no %s", name)
		}
	}
	for _, name := range strings.Fields(`"measured_by":"process" "engines_bytes" "said" "off" "percent" "within" "growth" "finding":"level" "drift_bytes" "bytes_per_hour" "out_of_memory" "bar" "kv_usage" "said_kv_tokens" "kv_usage_before"`) {
		if !strings.Contains(string(text), name) {
			t.Errorf("no %s", name)
		}
	}
}

// TestReport: peaks, means and the difference of the peak.
func TestReport(t *testing.T) {
	var s Session
	s.Predict(10, predicted(t))
	for i := range 10 {
		s.Add(moment(float64(i), 70+float64(i%2)*5, 0.1*float64(i)))
	}
	r := s.Report()
	d := r.Devices[0]
	if d.Peak != *size(75) || d.Mean != *size(72.5) || d.Last != *size(75) || d.Off == nil || d.Off.Bytes != d.Peak-d.Said.Bytes ||
		r.Moments != 10 {
		t.Errorf("%+v", d)
	}
	if e := r.Engines[0]; *e.KVPeak != 0.9 || *e.RunningMean != 3 {
		t.Errorf("%+v", e)
	}
	if p := r.Processes[0]; p.Peak != *size(75) || *p.HostPeak != *size(2) || p.Engine != 10 {
		t.Errorf("%+v", p)
	}
	if (&Session{}).Report() != nil || (&Session{}).Picture() != nil {
		t.Error("of nothing")
	}
}

func BenchmarkMoment(b *testing.B) {
	var s Session
	s.Predict(10, predicted(b))
	i := 0.0
	for b.Loop() {
		s.Add(moment(i, 72.8, 0.3))
		s.Picture()
		i++
	}
}
