package api

import (
	"slices"
	"strings"

	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/unit"
)

// PhaseBytes is a phase of a training step and the memory live in it.
type PhaseBytes struct {
	Name   string     `json:"name"`
	Bytes  unit.Bytes `json:"bytes"`
	Ledger []Item     `json:"ledger,omitempty"`
}

// Occupied returns the phases of a device including what allocator and driver hold beyond tensors, so that the peak
// equals what is needed.
func (d *Device) Occupied() []PhaseBytes {
	inPhase := func(id string) bool {
		return slices.ContainsFunc(d.Phases, func(p PhaseBytes) bool {
			return slices.ContainsFunc(p.Ledger, func(it Item) bool { return it.ID == id })
		})
	}
	out := slices.Clone(d.Phases)
	for i := range out {
		out[i].Ledger = slices.Clone(out[i].Ledger)
		for _, it := range d.Ledger {
			if !inPhase(it.ID) {
				out[i].Ledger = append(out[i].Ledger, it)
				out[i].Bytes += it.Bytes
			}
		}
	}
	return out
}

// PerDevice describes the worst rank as various counters see it: what must fit, what torch calls allocated and
// reserved, what nvidia-smi, or another vendor's program, shows.
type PerDevice struct {
	Peak      unit.Bytes `json:"peak_bytes"`
	PeakPhase string     `json:"peak_phase"`

	Allocated     unit.Bytes `json:"allocated_bytes"`
	AllocatedLow  unit.Bytes `json:"allocated_bytes_low"`
	AllocatedHigh unit.Bytes `json:"allocated_bytes_high"`
	Reserved      unit.Bytes `json:"reserved_bytes"`
	ReservedLow   unit.Bytes `json:"reserved_bytes_low"`
	ReservedHigh  unit.Bytes `json:"reserved_bytes_high"`
	SMI           unit.Bytes `json:"nvidia_smi_bytes"`
	SMILow        unit.Bytes `json:"nvidia_smi_bytes_low"`
	SMIHigh       unit.Bytes `json:"nvidia_smi_bytes_high"`

	// Monitor is the vendor's program that shows it; empty if there is none.
	Monitor string `json:"monitor,omitempty"`
}

// When returns the phase of the peak, worded for a sentence.
func (p *PerDevice) When() string { return PhaseWords(p.PeakPhase) }

// PhaseWords returns a phase of a step worded for a sentence: "backward, ends" becomes "the end of backward".
func PhaseWords(name string) string {
	phase, part, _ := strings.Cut(name, ", ")
	switch part {
	case "begins":
		return "the beginning of " + phase
	case "ends":
		return "the end of " + phase
	}
	return name
}

// TrainingStep is the duration of a training step over all devices. MFU and HFU are shares of the dense 16-bit peak: of
// the model's own FLOPs, and of all FLOPs computed, including recomputation (package train/step).
type TrainingStep struct {
	Seconds     float64     `json:"seconds"`
	SecondsLow  float64     `json:"seconds_low"`
	SecondsHigh float64     `json:"seconds_high"`
	Tokens      float64     `json:"tokens"` // per step
	PerDevice   float64     `json:"tokens_per_s_per_device"`
	Low         float64     `json:"tokens_per_s_per_device_low"`
	High        float64     `json:"tokens_per_s_per_device_high"`
	TFLOPs      float64     `json:"model_tflops_per_device"`
	MFU         float64     `json:"mfu"`
	HFU         float64     `json:"hfu"`
	Bound       speed.Bound `json:"bound,omitempty"`
	Parts       []StepPart  `json:"parts,omitempty"`
}

// StepPart is the share of one kind of work in a step; the parts add up to the step. Parts in host memory and on NVMe
// have bands of their own.
type StepPart struct {
	Name    string      `json:"name"`
	Seconds float64     `json:"seconds"`
	Low     float64     `json:"seconds_low,omitempty"`
	High    float64     `json:"seconds_high,omitempty"`
	Bound   speed.Bound `json:"bound"`
}

// Label returns the display name of the part.
func (p *StepPart) Label() string { return labelOf(p.Name) }

// Label returns the display name of the operator class.
func (r *OperatorLine) Label() string { return labelOf(r.Class) }

func labelOf(name string) string {
	if name == "products" {
		return "matmuls"
	}
	return name
}

// TrainingRun is a whole run over a number of tokens. Cost and energy are nil if no sourced data exists; energy covers
// the devices only.
type TrainingRun struct {
	Tokens   int64    `json:"tokens"`
	Steps    float64  `json:"steps"`
	Seconds  float64  `json:"seconds"`
	Days     float64  `json:"days"`
	DaysLow  float64  `json:"days_low"`
	DaysHigh float64  `json:"days_high"`
	USD      *float64 `json:"usd"`
	KWh      *float64 `json:"kwh"`
	Price    string   `json:"price,omitempty"`
}
