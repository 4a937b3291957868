package hardware

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/memwall/memwall/ledger"
)

func TestPrices(t *testing.T) {
	kinds := []string{"on-demand", "spot", "reserved", "msrp", "street", "estimate"}
	n := 0
	for r := range prices.rows() {
		p, err := readPrice(r)
		if err != nil {
			t.Error(err)
			continue
		}
		n++
		if _, ok := devices.row(p.Device); !ok || !slices.Contains(kinds, p.Kind) || p.Provider == "" {
			t.Errorf("%+v", p)
		}
		if (p.PerHour > 0) == (p.Purchase > 0) {
			t.Errorf("rent or purchase, one of them: %+v", p)
		}
		// A device costs between a cent and 100 dollars an hour, and up to 100,000 to buy.
		if h := p.PerDeviceHour(); p.PerHour > 0 && (h < 0.01 || h > 100) || p.Purchase > 100_000 {
			t.Errorf("price out of all bounds: %+v", p)
		}
		if p.Date != "" && !plausibleDate(p.Date) {
			t.Errorf("date of %+v", p)
		}
		// An instance that is a node of the catalog has its devices.
		if node, ok := FindNode(p.Node); ok && (node.Devices != p.Devices || node.Device != p.Device) {
			t.Errorf("%+v against %s with %d of %s", p, node.ID, node.Devices, node.Device)
		}
	}
	if n < 402 {
		t.Errorf("%d prices", n)
	}
}

func plausibleDate(s string) bool {
	for _, layout := range []string{"2006-01-02", "2006-01", "2006"} {
		if d, err := time.Parse(layout, s); err == nil {
			return d.Year() >= 2010 && d.Year() <= 2026
		}
	}
	return false
}

// aws/karpenter-provider-aws prices of us-east-1 on 2026-07-20: p5.48xlarge 55.04 for eight.
func TestPricesByID(t *testing.T) {
	for _, id := range []string{"p5.48xlarge", "h100-sxm-80gb"} {
		found := false
		for _, p := range Prices(id) {
			found = found || p.Node == "p5.48xlarge" && math.Abs(float64(p.PerDeviceHour())-6.88) < 1e-9 && p.Date == "2026-07-20" &&
				p.Source == "karpenter-aws"
		}
		if !found {
			t.Errorf("%s: no price of p5.48xlarge in %+v", id, Prices(id))
		}
	}
	if Prices("no-such-device") != nil || Prices("") != nil {
		t.Error("prices of nothing")
	}
}

// Sources tell a price from a cost model.
func TestEstimatesAreNoPrices(t *testing.T) {
	for r := range prices.rows() {
		p, _ := readPrice(r)
		if (p.Source == "inferencex-cost") != (p.Kind == "estimate") {
			t.Errorf("%+v", p)
		}
	}
}

// te42kyfo/gpu-benches: H100 PCIe reads its L2 in 265.5 cycles at 1,755 MHz, 151.3 ns.
func TestLevels(t *testing.T) {
	var ns, fromCycles bool
	for _, l := range Levels("h100-pcie-80gb") {
		if l.Level == "l2" && l.Latency.Known {
			got := float64(l.Latency.Value) * 1e9
			ns = ns || math.Abs(got-151.3) < 0.01
			fromCycles = fromCycles || l.Cycles.Known && math.Abs(got-265.5/1.755) < 0.01 && l.Latency.Basis == ledger.Measured
		}
	}
	if !ns || !fromCycles {
		t.Errorf("%+v", Levels("h100-pcie-80gb"))
	}
	if Levels("no-such-device") != nil {
		t.Error("levels of nothing")
	}
	names := []string{"register", "smem", "l1", "l2", "device", "host", "c2c", "pcie", "nvme", "cxl"}
	for r := range levels.rows() {
		l, _ := readLevel(r)
		if !slices.Contains(names, l.Level) {
			t.Errorf("%s: level %q", l.Device, l.Level)
		}
	}
}

// A device's measured memory bandwidth is not above its datasheet's.
func TestMeasuredBandwidthIsBelowNominal(t *testing.T) {
	for r := range levels.rows() {
		l, _ := readLevel(r)
		row, ok := devices.row(l.Device)
		if !ok || l.Level != "device" || !l.Bandwidth.Known {
			continue
		}
		if d, _ := readDevice(row); l.Bandwidth.Value > d.Bandwidth.Value {
			t.Errorf("%s: %v measured, %v nominal", l.Device, l.Bandwidth.Value, d.Bandwidth.Value)
		}
	}
}
