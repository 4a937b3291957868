package cost_test

import (
	"math"
	"testing"

	"github.com/memwall/memwall/cost"
	"github.com/memwall/memwall/hardware"
)

func device(t testing.TB, name string) *hardware.Device {
	t.Helper()
	d, _, err := hardware.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestPowerIsWithinLimits: of every device of the catalog, at any load, watts rise with the load, stay between
// nothing and the limit, and lie in their band.
func TestPowerIsWithinLimits(t *testing.T) {
	known := 0
	for _, d := range hardware.All() {
		if !d.TDP.Known {
			if w := cost.Watts(&d, cost.Load{Memory: 0.5}); w.Known() {
				t.Errorf("%s has no limit and draws %v W", d.ID, w.Mid)
			}
			continue
		}
		known++
		for _, m := range []float64{0, 0.1, 0.5, 1} {
			last := 0.0
			for _, c := range []float64{0, 0.01, 0.1, 0.5, 1} {
				w := cost.Watts(&d, cost.Load{Memory: m, Compute: c})
				if !(w.Low <= w.Mid && w.Mid <= w.High && w.Low > 0 && w.High <= float64(d.TDP.Value)) {
					t.Fatalf("%s at %g, %g: %+v of %v W", d.ID, m, c, w, d.TDP.Value)
				}
				if w.Mid < last {
					t.Errorf("%s draws less at compute %g than below it", d.ID, c)
				}
				last = w.Mid
			}
		}
	}
	if known < 200 {
		t.Errorf("only %d devices have a limit", known)
	}
}

// TestUnseenIsWider: devices say what was measured of them, and those that were not are not known better.
func TestUnseenIsWider(t *testing.T) {
	for _, l := range []cost.Load{{Memory: 0.05, Compute: 0.01}, {Memory: 0.2, Compute: 0.02}, {Memory: 0.5, Compute: 0.01}} {
		down := func(name, on string) float64 {
			w := cost.Watts(device(t, name), l)
			if w.On != on {
				t.Errorf("%s rests on %q, want %q", name, w.On, on)
			}
			return w.Low / w.Mid
		}
		low := down("h100-sxm-80gb", "device")
		for name, on := range map[string]string{"h100-pcie-80gb": "family", "mi300x": "all"} {
			if l := down(name, on); l > low+0.01 {
				t.Errorf("%s reaches down to %.2f, the measured device to %.2f", name, l, low)
			}
		}
	}
}

// TestJoules: 700 W and 2,000 tokens a second on two devices are 0.7 J a token, and both errors count.
func TestJoules(t *testing.T) {
	j := cost.JoulesPerToken(cost.Figure{Mid: 700, Low: 600, High: 800}, 2, cost.Figure{Mid: 2000, Low: 1600, High: 2500})
	if math.Abs(j.Mid-0.7) > 1e-12 {
		t.Errorf("%+v", j)
	}
	up := math.Log(j.High / j.Mid)
	if a, b := math.Log(800./700), math.Log(2000./1600); up <= max(a, b) || up >= a+b {
		t.Errorf("the band reaches %.3f up, of parts %.3f and %.3f", up, a, b)
	}
	if cost.JoulesPerToken(cost.Figure{}, 1, cost.Figure{Mid: 1, Low: 1, High: 1}).Known() {
		t.Error("unknown watts give known joules")
	}
}

// TestRent: instances are rented whole, the range is ordered, and the row named is one that was asked.
func TestRent(t *testing.T) {
	one, nine := cost.Rent("h200-sxm-141gb", 1), cost.Rent("h200-sxm-141gb", 9)
	if !one.PerHour.Known() || one.Price.Kind != "on-demand" || one.Source == "" {
		t.Fatalf("%+v", one)
	}
	for _, r := range []cost.Rate{one, nine} {
		if p := r.PerHour; !(p.Low <= p.Mid && p.Mid <= p.High) {
			t.Errorf("%+v", p)
		}
	}
	if instances := math.Ceil(9 / float64(nine.Price.Devices)); nine.PerHour.Mid != instances*float64(nine.Price.PerHour) {
		t.Errorf("nine devices for %v $/h from %+v", nine.PerHour.Mid, nine.Price)
	}
	if r := cost.Rent("no-such-device", 1); r.PerHour.Known() || cost.PerMillion(r, cost.Figure{Mid: 1, Low: 1, High: 1}).Known() {
		t.Error("a device without rows has a price")
	}
}

// TestPerMillion: 3.6 $/h at 1,000 tokens a second are 1 $ for a million.
func TestPerMillion(t *testing.T) {
	r := cost.Rate{PerHour: cost.Figure{Mid: 3.6, Low: 1.8, High: 7.2}}
	p := cost.PerMillion(r, cost.Figure{Mid: 1000, Low: 500, High: 2000}) // what others ask is not an error of the rate
	for _, c := range []struct{ got, want float64 }{{p.Mid, 1}, {p.Low, 0.5}, {p.High, 2}} {
		if math.Abs(c.got-c.want) > 1e-12 {
			t.Errorf("%+v", p)
		}
	}
}

// TestOwn: purchase over life and energy add up; without terms there is no price.
func TestOwn(t *testing.T) {
	watts := cost.Figure{Mid: 400, Low: 300, High: 450}
	terms := cost.Terms{LifetimeHours: 1000, PerKWh: 0.5, Overhead: 2}
	r := cost.Own("rtx-4090", 2, watts, terms)
	want := 2*float64(r.Price.Purchase)/1000 + 2*2*0.4*0.5
	if math.Abs(r.PerHour.Mid-want) > 1e-9 {
		t.Errorf("%v $/h, want %v", r.PerHour.Mid, want)
	}
	for _, bad := range []cost.Terms{{}, {LifetimeHours: 1000, PerKWh: 0.5}, {LifetimeHours: -1, PerKWh: 0.5, Overhead: 1},
		{LifetimeHours: math.NaN(), PerKWh: 1, Overhead: 1}} {
		if cost.Own("rtx-4090", 1, watts, bad).PerHour.Known() {
			t.Errorf("%+v give a price", bad)
		}
	}
	if cost.Own("rtx-4090", 1, cost.Figure{}, terms).PerHour.Known() {
		t.Error("unknown watts give a price")
	}
}

func BenchmarkWatts(b *testing.B) {
	d := device(b, "h100")
	for b.Loop() {
		cost.Watts(d, cost.Load{Memory: 0.4, Compute: 0.1})
	}
}

// TestRentByProvider: two devices cost no provider more than the cheapest of its instances that hold them, and
// more devices never cost less.
func TestRentByProvider(t *testing.T) {
	last := 0.0
	for _, n := range []int{1, 2, 4, 8, 16, 17} {
		r := cost.Rent("h100-sxm-80gb", n)
		providers := map[string]float64{}
		for _, p := range hardware.Prices("h100-sxm-80gb") {
			if p.Kind != "on-demand" || p.Devices > n { // others rent out as few as are needed
				continue
			}
			price := math.Ceil(float64(n)/float64(p.Devices)) * float64(p.PerHour)
			if least, ok := providers[p.Provider]; !ok || price < least {
				providers[p.Provider] = price
			}
		}
		if r.Rows != len(providers) || r.PerHour.Mid != providers[r.Price.Provider] {
			t.Errorf("%d devices: %v $/h of %d rows, %s asks %v of %d", n, r.PerHour.Mid, r.Rows, r.Price.Provider,
				providers[r.Price.Provider], len(providers))
		}
		if r.PerHour.Mid < last {
			t.Errorf("%d devices cost %v $/h, fewer %v", n, r.PerHour.Mid, last)
		}
		last = r.PerHour.Mid
	}
}

// TestRateDevices: instances are rented whole.
func TestRateDevices(t *testing.T) {
	for _, c := range []struct{ instance, needed, rented int }{{8, 1, 8}, {8, 8, 8}, {8, 9, 16}, {1, 3, 3}, {0, 2, 2}} {
		r := cost.Rate{Price: hardware.Price{Devices: c.instance}}
		if got := r.Devices(c.needed); got != c.rented {
			t.Errorf("%d of instances of %d: %d, want %d", c.needed, c.instance, got, c.rented)
		}
	}
}
