package autoscale

import (
	"fmt"
	"slices"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/unit"
)

// StartPart is a part of the time until a new replica serves, in seconds.
type StartPart struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"s"`
	Low     float64 `json:"s_low"`
	High    float64 `json:"s_high"`
	Basis   string  `json:"basis"` // given, derived, assumed
	How     string  `json:"how"`
}

// What is assumed of a start where nobody measured it. They are judgements: the start-up logs among this repository's tests load weights
// at 0.2 to 2.2 GB/s and capture graphs in 4 to 73 s, after compilation; the fast ends are of a local NVMe disk and a warm cache.
const (
	diskRate, diskLow, diskHigh          = 1.5e9, 0.2e9, 6e9
	importing, importingLow, importHigh  = 20.0, 8.0, 45.0
	capturing, capturingLow, captureHigh = 40.0, 4.0, 120.0
	native, nativeLow, nativeHigh        = 2.0, 1.0, 5.0
)

// startParts predicts how long a new replica takes: its weights come from the disk of its machine, and its engine starts.
func startParts(a *memwall.Answer, node float64) (parts []StartPart) {
	if node > 0 {
		parts = append(parts, StartPart{"machine", node, node, node, "given", "--node-start"})
	}
	parts = append(parts, weightsPart(a))
	if slices.Contains(compiled, engineName(a.Plan.Engine)) {
		return append(parts, StartPart{"program", native, nativeLow, nativeHigh, "assumed", "a program without compilation"})
	}
	parts = append(parts, StartPart{"program", importing, importingLow, importHigh, "assumed", "imports, contexts of devices, collectives"})
	if a.Plan.EnforceEager == nil || !*a.Plan.EnforceEager {
		parts = append(parts, StartPart{"graphs", capturing, capturingLow, captureHigh, "assumed",
			"compilation and graphs; a cache of compiled code halves it"})
	}
	return parts
}

// compiled engines are programs that import and compile nothing.
var compiled = []string{"llama.cpp", "llama-server", "ollama", "ik_llama.cpp"}

func weightsPart(a *memwall.Answer) StartPart {
	bytes := float64(a.Model.WeightsBytes)
	p := StartPart{Name: "weights", Basis: "assumed", Seconds: bytes / diskRate, Low: bytes / diskHigh, High: bytes / diskLow,
		How: fmt.Sprintf("%s from a disk of 1.5 GB/s; say yours: --on …,nvme=4TB@7GB/s", unit.Bytes(bytes))}
	if m, _, err := hardware.Parse(a.Plan.Hardware, int(a.Plan.Devices)); err == nil && m.NVMe.Bandwidth.Known {
		rate := float64(m.NVMe.Bandwidth.Value)
		t := bytes / rate
		p.Basis, p.Seconds, p.Low, p.High = "derived", t, t, t
		p.How = fmt.Sprintf("%s from a disk of %s", unit.Bytes(bytes), m.NVMe.Bandwidth.Value)
	}
	return p
}

func startSeconds(parts []StartPart) (mid, low, high float64) {
	for _, p := range parts {
		mid, low, high = mid+p.Seconds, low+p.Low, high+p.High
	}
	return mid, low, high
}
