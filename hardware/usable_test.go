package hardware

import (
	"math"
	"slices"
	"testing"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

// The torch-visible totals of cards, in GiB, as vLLM and torch print them in public logs (sources
// vllm-logs, oom-reports, mleng-mem of the catalog). The catalog must stand within their range.
func TestUsableMeasured(t *testing.T) {
	for _, c := range []struct {
		id        string
		low, high float64
	}{
		{"t4", 14.56, 14.76}, {"l4", 22.03, 22.16}, {"a10g", 21.99, 21.99}, {"rtx-3090", 23.58, 23.70}, {"rtx-4090", 23.52, 23.68},
		{"rx-7900-xtx", 23.98, 23.98}, {"rtx-5090", 31.36, 31.37}, {"rtx-5000-ada", 31.49, 31.49}, {"r9700", 31.86, 31.86},
		{"a100-sxm-40gb", 39.38, 39.56}, {"l40s", 44.39, 44.42}, {"rtx-a6000", 44.55, 44.55}, {"a100-sxm-80gb", 79.15, 79.25},
		{"h100-sxm-80gb", 79.11, 79.22}, {"h200-sxm-141gb", 139.72, 139.72}, {"mi300x", 191.45, 191.45},
		{"b200-sxm-180gb", 178.35, 178.36}, {"gb300", 276.50, 276.50}, {"rtx-pro-6000", 94.96, 94.98},
	} {
		d, _, err := Find(c.id)
		if err != nil {
			t.Errorf("%s: %v", c.id, err)
			continue
		}
		if g := d.Usable.Value.GiB(); g < c.low-0.005 || g > c.high+0.005 || d.Usable.Basis != ledger.Measured {
			t.Errorf("%s: usable %.2f GiB (%v), not %.2f to %.2f measured", c.id, g, d.Usable.Basis, c.low, c.high)
		}
	}
}

// both gives the NVIDIA devices that have a single figure of nvidia-smi and one of torch.
func both(t *testing.T) (ids []string, smi, torch []float64) {
	t.Helper()
	for r := range devices.rows() {
		rd := &reader{row: r}
		s, v := rd.size("smi_mib", unit.MiB), rd.size("torch_gib", unit.GiB)
		// A figure of nvidia-smi with a band depends on the driver; one of torch as wide as a GiB on ECC.
		if rd.text("vendor") != "NVIDIA" || !s.Known || !v.Known || s.Low != s.High || v.High-v.Low > unit.GiB || rd.text("unified") != "" {
			continue
		}
		ids, smi, torch = append(ids, r.id()), append(smi, s.Value.GiB()), append(torch, v.Value.GiB())
	}
	return ids, smi, torch
}

// The constants of the reserve are the least-squares fit over the catalog, and its band holds them all.
func TestReserveFit(t *testing.T) {
	ids, smi, torch := both(t)
	if len(ids) < 20 {
		t.Fatalf("only %d devices", len(ids))
	}
	var n, sx, sy, sxx, sxy float64
	for i := range ids {
		x, y := math.Log(smi[i]), math.Log(smi[i]-torch[i])
		n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	power := (n*sxy - sx*sy) / (n*sxx - sx*sx)
	factor := math.Exp((sy - power*sx) / n)
	if math.Abs(power-reservePower) > 0.0005 || math.Abs(factor-reserveFactor) > 0.0005 {
		t.Errorf("the fit is %.4f × size^%.4f, not %.4f × size^%.4f", factor, power, reserveFactor, reservePower)
	}
	for i, id := range ids {
		if ratio := (smi[i] - torch[i]) / (reserveFactor * math.Pow(smi[i], reservePower)); ratio < reserveLow || ratio > reserveHigh {
			t.Errorf("%s keeps %.2f of the fitted reserve, outside of %v..%v", id, ratio, reserveLow, reserveHigh)
		}
	}
}

// nvidia-smi against the nominal size, where the memory has no ECC of its own to pay for.
func TestNominalShare(t *testing.T) {
	var ratios []float64
	for _, d := range readAll(t) {
		if d.Vendor == "NVIDIA" && d.Reported.Known && d.Unified == nil && d.Reported.Source != "ecc-gddr" {
			if r := float64(d.Reported.Value) / float64(d.Memory.Value); r > 0.95 {
				ratios = append(ratios, r)
			}
		}
	}
	slices.Sort(ratios)
	median := ratios[len(ratios)/2]
	if ratios[0] < nominalLow || math.Abs(median-nominalMiddle) > 0.004 {
		t.Errorf("from %.4f, median %.4f; the constants say %v and %v", ratios[0], median, nominalLow, nominalMiddle)
	}
}

// GDDR server cards keep 1/16 of their memory for ECC: the rule behind the rows that cite ecc-gddr.
func TestECCShare(t *testing.T) {
	for _, id := range []string{"t4", "a10", "a40", "l4", "l40s"} {
		d, _, err := Find(id)
		if err != nil {
			t.Fatal(err)
		}
		if r := float64(d.Reported.Value) / float64(d.Memory.Value); math.Abs(r-15.0/16) > 0.001 {
			t.Errorf("%s: %.4f of the memory is reported, not 15/16", id, r)
		}
	}
}

// What macOS lets the GPU use, from recommendedMaxWorkingSetSize lines (source metal-logs), in MB.
func TestMetalShare(t *testing.T) {
	for _, c := range []struct {
		id              string
		earlier, later  float64
		basis           ledger.Basis
		onlyRuleEarlier bool
	}{
		{id: "m1", earlier: 11453.25, later: 12713.12, basis: ledger.Measured},
		{id: "m2-max-32gb", earlier: 22906.50, later: 26800.60, basis: ledger.Measured},
		{id: "m4-max-36gb", earlier: 28991.03, later: 30150.67, basis: ledger.Measured},
		{id: "m1-max", earlier: 51539.61, later: 55662.79, basis: ledger.Measured},
		{id: "m4-max", earlier: 103079.22, later: 115448.73, basis: ledger.Measured},
		{id: "m1-8gb", earlier: 5726.62, later: 5726.62, basis: ledger.Assumed},       // 2/3; no log of it
		{id: "m2-ultra", earlier: 154618.82, later: 173173.10, basis: ledger.Assumed}, // 3/4; later share of 128 GiB
	} {
		d, _, err := Find(c.id)
		if err != nil {
			t.Errorf("%s: %v", c.id, err)
			continue
		}
		low, high := float64(d.Usable.Value)/1e6, float64(d.Usable.High)/1e6
		if math.Abs(low-c.earlier) > 0.05 || math.Abs(high-c.later) > 0.05 || d.Usable.Basis != c.basis {
			t.Errorf("%s: %.2f to %.2f MB (%v), not %.2f to %.2f (%v)", c.id, low, high, d.Usable.Basis, c.earlier, c.later, c.basis)
		}
		if d.Unified == nil || d.Unified.Rule != "metal" || d.Unified.Raise == "" {
			t.Errorf("%s: %+v", c.id, d.Unified)
		}
	}
}

// The shares of metal.tsv lie on the rule: 2/3 or 3/4 earlier, never less later.
func TestMetalTable(t *testing.T) {
	last := 0.0
	for r := range metal.rows() {
		m := &reader{row: r}
		ram := memoryFact(m, r.id()).Value
		earlier, later := m.size("earlier_mb", unit.MB), m.size("later_mb", unit.MB)
		if earlier.Known && math.Abs(float64(earlier.Value)/float64(metalShare(fact(ram, ledger.Vendor, "wiki")).Low)-1) > 1e-4 {
			t.Errorf("%s GiB: earlier %v is off the rule", r.id(), earlier.Value)
		}
		if s := float64(later.Value) / float64(ram); s < last-1e-4 || s < 0.66 || s > 0.95 {
			t.Errorf("%s GiB: later share %.4f after %.4f", r.id(), s, last)
		} else {
			last = s
		}
	}
}

func TestSharedMemory(t *testing.T) {
	for _, c := range []struct {
		id, rule  string
		low, high float64 // GiB, around what may be used
	}{
		{"strix halo", "gtt", 62, 63}, // 62.47 of 128, torch on Linux as installed
		{"gb10", "shared", 115, 119},  // 119.68 to 121.69 seen, less the system
		{"jetson-agx-orin", "shared", 56, 61},
		{"mi300a", "shared", 120, 127},
	} {
		d, _, err := Find(c.id)
		if err != nil {
			t.Errorf("%s: %v", c.id, err)
			continue
		}
		if g := d.Usable.Value.GiB(); d.Unified == nil || d.Unified.Rule != c.rule || g < c.low || g > c.high || d.Unified.Raise == "" {
			t.Errorf("%s: %.2f GiB by %+v", c.id, g, d.Unified)
		}
	}
	h, _, _ := Find("h100")
	if h.Unified != nil || h.Attached != nil {
		t.Error("an H100 shares its memory")
	}
	g, _, _ := Find("gh200")
	if g.Unified != nil || g.Attached == nil || g.Attached.Memory.Value != 480*unit.GB || g.Attached.EachWay.Value != 450*gbs {
		t.Errorf("gh200 comes with %+v", g.Attached)
	}
}

func TestPCIe(t *testing.T) {
	for s, want := range map[string]float64{"3x16": 15.75, "4x16": 31.5, "5x16": 63.0, "6x16": 121, "4x8": 15.75, "5x8": 31.5,
		"4x4": 7.88} {
		p, ok := parsePCIe(s)
		if got := float64(p.EachWay.Value) / gbs; !ok || math.Abs(got-want) > 0.02 {
			t.Errorf("%s: %.3f GB/s each way, not %v", s, got, want)
		}
	}
	for _, s := range []string{"", "4", "x16", "2x16", "7x16", "4x0", "4x33", "4x-1", "NaNx16"} {
		if _, ok := parsePCIe(s); ok {
			t.Errorf("%q was read", s)
		}
	}
}

func TestLinksAreOneWay(t *testing.T) {
	for id, want := range map[string]float64{"h100": 450, "a100": 300, "b200": 900, "mi300x": 448, "v100": 150, "h800": 200} {
		d, _, err := Find(id)
		if err != nil || math.Abs(float64(d.Link.EachWay.Value)/gbs-want) > 1e-9 {
			t.Errorf("%s: %v each way, not %v GB/s (%v)", id, d.Link.EachWay.Value, want, err)
		}
	}
}
