package calibrate

import (
	"errors"
	"math"
	"math/rand"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memwall/memwall/speed/coef"
)

// bench is a machine of our own: a token takes its bytes over a share of the memory rate, and a fixed time.
type bench struct{ table *coef.Table }

const (
	bytesRead = 4.6e9
	rate      = 1e12
	launch    = 1e-3
)

func newBench(t *testing.T) bench {
	table, err := coef.Parse([]byte("coefficient\tlevel\tkey\tvalue\tstderr\trows\n" +
		"read\t\t\t0.8\t\t\nread\tdevice\t*\t0.15\t\t\nread\tdevice\tknown\t0.100\t0.050\t9\n" +
		"launch\t\t\t0.001\t\t\nlaunch\tdevice\t*\t0.3\t\t\nlaunch\tall\tall\t0.000\t0.010\t9\n"))
	if err != nil {
		t.Fatal(err)
	}
	return bench{table}
}

func (b bench) Formula(o *Observation) (*Formula, error) {
	if o.Hardware == "" {
		return nil, errors.New("no device is named")
	}
	levels := []coef.Level{{Name: "all", Key: "all"}, {Name: deviceLevel, Key: o.Hardware}}
	depth := float64(o.Depth)
	return &Formula{Table: "bench", Coefs: b.table, Uses: []coef.Use{{Name: "read", Levels: levels}, {Name: "launch", Levels: levels}},
		Best: rate / bytesRead, Repeat: 0.04, Machines: 0.1,
		Value: func(c []float64) float64 { return 1 / (c[1] + (bytesRead+depth*131072)/(c[0]*rate)) }}, nil
}

// observed are what a machine would print whose coefficients are these, each off by a bit.
func observed(device string, read, launchTime, noise float64, n int) (out []Observation) {
	chance := rand.New(rand.NewSource(1))
	for i := range n {
		depth := int64(i) * 4096
		v := 1 / (launchTime + (bytesRead+float64(depth)*131072)/(read*rate))
		out = append(out, Observation{At: strings.Repeat("i", i+1), Hardware: device, Test: Decode, Answer: 1, Depth: depth,
			Value: v * math.Exp(noise*chance.NormFloat64())})
	}
	return out
}

// TestFitFinds: a machine slower than the table is predicted as it is, and better than before when a figure
// is left out; another machine is not touched.
func TestFitFinds(t *testing.T) {
	b := newBench(t)
	for _, device := range []string{"known", "unseen"} {
		obs := observed(device, 0.75, 1.4e-3, 0.01, 8)
		p, refused, err := Fit(obs, b)
		if err != nil || len(refused) > 0 {
			t.Fatal(err, refused)
		}
		if p.Observations != 8 || *p.After > 0.03 || *p.Before < 2*(*p.After) {
			t.Errorf("%s: %d observations, median error %.3f before and %.3f left out", device, p.Observations, *p.Before, *p.After)
		}
		table := p.Apply("bench", b.table)
		tuned := bench{table}
		for _, o := range []Observation{{Hardware: device, Depth: 2000}, {Hardware: device, Depth: 50000}} {
			want := 1 / (1.4e-3 + (bytesRead+float64(o.Depth)*131072)/(0.75*rate))
			if got := value(t, tuned, &o); math.Abs(got/want-1) > 0.03 {
				t.Errorf("%s at %d: %.1f tokens/s, want %.1f", device, o.Depth, got, want)
			}
		}
		other := &Observation{Hardware: "other"}
		if value(t, tuned, other) != value(t, b, other) {
			t.Error("a device that was not measured changed")
		}
		levels := []coef.Level{{Name: deviceLevel, Key: device}}
		if now, old := table.At(coef.Use{Name: "read", Levels: levels}).Var,
			b.table.At(coef.Use{Name: "read", Levels: levels}).Var; device == "unseen" && now >= old {
			t.Errorf("the doubt of %s went from %g to %g", device, old, now)
		}
	}
}

func value(t *testing.T, b bench, o *Observation) float64 {
	t.Helper()
	f, err := b.Formula(o)
	if err != nil {
		t.Fatal(err)
	}
	c := make([]float64, len(f.Uses))
	for i, u := range f.Uses {
		c[i] = f.Coefs.At(u).Value
	}
	return f.Value(c)
}

// TestFitRefuses: what is of another device or unit is named, and the rest is used.
func TestFitRefuses(t *testing.T) {
	obs := observed("known", 0.8, launch, 0, 3)
	obs = append(obs, Observation{At: "a", Test: Decode, Value: 100}, Observation{At: "b", Hardware: "known", Test: Decode, Value: 260},
		Observation{At: "c", Hardware: "known", Test: Decode, Value: 2})
	p, refused, err := Fit(obs, newBench(t))
	if err != nil {
		t.Fatal(err)
	}
	if p.Observations != 3 {
		t.Errorf("%d are used", p.Observations)
	}
	for i, says := range []string{"no device", "datasheet allows", "times the prediction"} {
		if i >= len(refused) || !strings.Contains(refused[i].Why, says) {
			t.Fatalf("%+v, want one that says %q", refused, says)
		}
	}
}

func TestFitOfOne(t *testing.T) {
	p, _, err := Fit(observed("unseen", 0.7, launch, 0, 1), newBench(t))
	if err != nil || p.After != nil || p.Before == nil || len(p.Offsets) != 2 {
		t.Errorf("%+v %v", p, err)
	}
	if p, _, err := Fit(nil, newBench(t)); err != nil || len(p.Offsets) != 0 || p.Before != nil {
		t.Errorf("%+v %v", p, err)
	}
}

func TestProfile(t *testing.T) {
	p, _, err := Fit(observed("known", 0.7, launch, 0.01, 4), newBench(t))
	if err != nil {
		t.Fatal(err)
	}
	text, err := p.Write()
	if err != nil {
		t.Fatal(err)
	}
	back, err := ReadProfile(text)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(p, back); d != "" {
		t.Error(d)
	}
	if !back.Of("bench", "known") || back.Of("bench", "other") {
		t.Error("the profile is of known alone")
	}
	for _, bad := range []string{"", "{}", `{"schema":"memwall/calibration/2"}`, `{"schema":"memwall/calibration/1","offsets":[{"table":"t","coefficient":"c","key":"k","value":9}]}`,
		`{"schema":"memwall/calibration/1","offsets":[{}]}`, string(text) + "{}", `{"schema":"memwall/calibration/1","more":1}`} {
		if _, err := ReadProfile([]byte(bad)); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}
