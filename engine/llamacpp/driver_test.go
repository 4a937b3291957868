package llamacpp

import (
	"math"
	"testing"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/ledger"
)

// contextRows are CUDA contexts in MiB: of processes that hold nothing else, and after a first run
// (ggml-org/llama.cpp#15860, #23604, #24608; ollama/ollama#17482).
var contextRows = []struct {
	device string
	mib    float64
	run    bool
}{
	{"rtx-pro-6000", 555, false},
	{"rtx-4060-ti-16gb", 107, false},
	{"rtx-3090", 291, false},
	{"rtx-3090", 264, false},
	{"rtx-4090", 451, true},
	{"rtx-4090", 456, true},
	{"rtx-4090", 456, true},
}

func deviceOf(t *testing.T, id string) *hardware.Device {
	t.Helper()
	m, _, err := hardware.Parse(id, 1)
	if err != nil {
		t.Fatal(err)
	}
	return &m.Groups[0].Device
}

// TestContextFit does the least squares of driver.go again.
func TestContextFit(t *testing.T) {
	var n, x, y, xx, xy, grown, runs float64
	for _, r := range contextRows {
		if sms := float64(deviceOf(t, r.device).SMs.Value); !r.run {
			n, x, y, xx, xy = n+1, x+sms, y+r.mib, xx+sms*sms, xy+sms*r.mib
		}
	}
	slope := (n*xy - x*y) / (n*xx - x*x)
	base := (y - slope*x) / n
	for _, r := range contextRows {
		if r.run {
			grown, runs = grown+r.mib-base-slope*float64(deviceOf(t, r.device).SMs.Value), runs+1
		}
	}
	for _, c := range []struct {
		name      string
		have, fit float64
	}{{"base", contextBase, base}, {"for each multiprocessor", contextPerSM, slope}, {"growth", contextGrowth, grown / runs}} {
		if math.Abs(c.have-c.fit) > 0.005*math.Abs(c.fit)+0.05 {
			t.Errorf("%s: %.2f MiB, fitted %.2f", c.name, c.have, c.fit)
		}
	}
}

// TestContextBand: every row lies in the band of its device.
func TestContextBand(t *testing.T) {
	for _, r := range contextRows {
		it := driverItem(nil, &cuda, deviceOf(t, r.device))
		if it.Basis != ledger.Measured || r.mib < it.Low.MiB() || r.mib > it.High.MiB() {
			t.Errorf("%s: %s (%s to %s), measured %g MiB", r.device, it.Bytes, it.Low, it.High, r.mib)
		}
	}
}

// TestContexts: every backend has a context within a band, and a host buffer's name where it has one.
func TestContexts(t *testing.T) {
	for _, b := range []*backend{&cuda, &rocm, &musa, &sycl, &vulkan, &cann, &metal} {
		it := driverItem(nil, b, nil)
		if it.Bytes <= 0 || it.Low > it.Bytes || it.High <= it.Bytes || it.Source == "" {
			t.Errorf("%s: %s, %s to %s", b.name, it.Bytes, it.Low, it.High)
		}
	}
}
