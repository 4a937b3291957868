package step

import (
	"sync"

	"github.com/memwall/memwall/speed/coef"
)

// Coefficients, and what they are multiplied with.
const (
	coefMultiply = "multiply" // fraction of the peak reached by 16-bit matmuls
	coefNarrow   = "narrow"   // the same for 8-bit and 4-bit matmuls
	coefExperts  = "experts"  // fraction of that reached by expert matmuls
	coefAttend   = "attend"   // fraction of the peak reached by attention
	coefEdges    = "edges"    // tokens per sequence at which attention takes twice as long: half-empty tiles, prologues
	coefOperands = "operands" // of the time to move operands and results, the part not hidden by matmuls
	coefQuantise = "quantise" // time of quantizing activations, over bytes / memory rate
	coefSmall    = "small"    // time added by narrow matrices, over that of the product at its peak
	coefWaves    = "waves"    // fraction of a wave of tiles lost by matmuls
	coefAligned  = "aligned"  // the same for sides that are not a multiple of 64
	coefElement  = "element"  // time of element-wise work, over bytes / memory rate
	coefAdapters = "adapters" // the same next to adapters
	coefLoss     = "loss"     // of logits and their gradient
	coefPermute  = "permute"  // of sorting tokens by expert
	coefScan     = "scan"     // time of scans, over operations / peak
	coefScores   = "scores"   // of score matrices, over bytes / memory rate
	coefSum      = "sum"      // of summing gradients
	coefUnpack   = "unpack"   // of unpacking 4-bit weights
	coefSteps    = "steps"    // of unpacking by many operators
	coefLaunch   = "launch"   // seconds of host time per operator
	coefDispatch = "dispatch" // seconds of latency to send tokens to the experts of a layer
	coefLoop     = "loop"     // seconds that the host takes for one expert of a loop
	coefMatrix   = "matrix"   // seconds that the host takes for one expert's product of a group
	coefTensor   = "tensor"   // of the time that a tensor group sends at the link's rate, what shows
	coefGather   = "gather"   // time of gathering weights, over bytes / rate
	coefExposed  = "exposed"  // share of it that nothing hides
	coefInside   = "inside"   // of tokens sent to experts in a domain
	coefAcross   = "across"   // and between domains
	coefRing     = "ring"     // of keys and values passed around
	coefHop      = "hop"      // of what stages send
	coefReduce   = "reduce"   // of reducing gradients among replicas
	coefUpdate   = "update"   // time of the optimizer, over bytes / memory rate
	coefFixed    = "fixed"    // seconds of a step that depend on nothing
	coefBucket   = "bucket"   // seconds of a message of the optimizer's shards
	coefStraggle = "straggle" // share by which a step grows when the run spans twice as many domains
	coefReport   = "report"   // what a publication measures over what others do
)

// Start are the values before any offset.
var Start = map[string]float64{
	coefMultiply: 0.75, coefNarrow: 0.65, coefExperts: 0.8, coefAttend: 0.5, coefEdges: 600, coefOperands: 0.5, coefQuantise: 1.4, coefSmall: 0.15, coefWaves: 0.4, coefAligned: 0.3,
	coefElement: 1.5, coefAdapters: 1.5, coefLoss: 1.5, coefPermute: 1, coefScan: 5, coefScores: 0.8, coefSum: 0.7, coefUnpack: 4, coefSteps: 1.2, coefLaunch: 4e-5, coefDispatch: 1e-3, coefLoop: 2.4e-4, coefMatrix: 1e-5,
	coefTensor: 1.3, coefGather: 1.25, coefExposed: 0.5, coefInside: 0.33, coefAcross: 0.7, coefRing: 0.3, coefHop: 0.3, coefReduce: 1, coefUpdate: 1.5,
	coefFixed: 0.02, coefBucket: 7e-5, coefStraggle: 0.01, coefReport: 1,
}

// Sigma are the standard deviations of offsets by coefficient and level, in logarithms, before any row is seen.
var Sigma = map[string]map[string]float64{
	coefMultiply: {"all": 0.2, "power": 0.3, "vendor": 0.15, "form": 0.1, "architecture": 0.1, "family": 0.1, "device": 0.05, "class": 0.06, "framework": 0.04},
	coefNarrow:   {"all": 0.2, "power": 0.5, "vendor": 0.15, "architecture": 0.1, "family": 0.1, "device": 0.05, "class": 0.06, "framework": 0.04, "format": 0.2, "format-family": 0.1},
	coefExperts:  {"all": 0.2, "architecture": 0.1, "family": 0.1, "class": 0.15},
	coefAttend:   {"all": 0.4, "vendor": 0.3, "architecture": 0.2, "family": 0.2, "device": 0.05, "class": 0.25, "framework": 0.15, "class-family": 0.15},
	coefEdges:    {"all": 0.5}, coefOperands: {"all": 0.4}, coefQuantise: {"all": 0.4, "class": 0.2, "format": 0.2}, coefSmall: {"all": 0.4}, coefWaves: {"all": 0.4, "vendor": 0.2}, coefAligned: {"all": 0.5},
	coefElement:  {"all": 0.4, "class": 0.3, "framework": 0.15, "mixed": 0.3, "fused": 0.4, "class-fused": 0.2},
	coefAdapters: {"all": 0.3, "class": 0.3, "fused": 0.2},
	coefLoss:     {"all": 0.4, "class": 0.3, "fused": 0.3},
	coefPermute:  {"all": 0.5, "class": 0.7}, coefScan: {"all": 1.5, "class": 0.3}, coefScores: {"all": 0.4}, coefSum: {"all": 0.4},
	coefUnpack:   {"all": 0.5, "stored": 0.5, "framework": 0.2},
	coefSteps:    {"all": 0.2, "framework": 0.1},
	coefLaunch:   {"all": 0.5, "class": 0.7, "framework": 0.4, "fused": 0.4, "engine": 1},
	coefDispatch: {"all": 0.6, "class": 0.5, "framework": 0.3, "release": 0.35, "family": 0.3, "release-family": 0.3, "dropping": 0.5},
	coefLoop:     {"all": 0.5}, coefMatrix: {"all": 0.7, "release": 0.3, "form": 0.3, "class": 0.3},
	coefTensor: {"all": 0.4, "class": 0.6, "async": 0.3, "fabric": 0.2}, coefGather: {"all": 0.3, "fabric": 0.6}, coefExposed: {"all": 0.5, "class": 0.3, "framework": 0.3, "reach": 0.5},
	coefInside: {"all": 0.4, "class": 0.3}, coefAcross: {"all": 0.4, "class": 0.3, "pipeline": 0.4}, coefRing: {"all": 0.5}, coefHop: {"all": 0.5, "class": 0.6},
	coefReduce: {"all": 0.5, "class": 0.5, "framework": 0.3, "overlap": 1, "engine": 0.7}, coefUpdate: {"all": 0.3, "class": 0.3},
	coefFixed: {"all": 0.5, "class": 0.5, "engine": 0.5}, coefBucket: {"all": 0.5}, coefStraggle: {"all": 0.5, "class": 0.3},
	coefReport: {"report": 0.12, "report-model": 0.06},
}

// Use is a coefficient with the levels that apply to it.
type Use = coef.Use

// order of the coefficients in the list.
const (
	atMultiply = iota
	atNarrow
	atExperts
	atAttend
	atEdges
	atOperands
	atQuantise
	atSmall
	atWaves
	atAligned
	atElement
	atAdapters
	atLoss
	atPermute
	atScan
	atScores
	atSum
	atUnpack
	atSteps
	atLaunch
	atDispatch
	atLoop
	atMatrix
	atTensor
	atGather
	atExposed
	atInside
	atAcross
	atRing
	atHop
	atReduce
	atUpdate
	atFixed
	atBucket
	atStraggle
	atReport
	coefficients
)

var names = [coefficients]string{coefMultiply, coefNarrow, coefExperts, coefAttend, coefEdges, coefOperands, coefQuantise, coefSmall, coefWaves, coefAligned, coefElement, coefAdapters, coefLoss, coefPermute,
	coefScan, coefScores, coefSum, coefUnpack, coefSteps, coefLaunch, coefDispatch, coefLoop, coefMatrix, coefTensor, coefGather, coefExposed, coefInside, coefAcross, coefRing, coefHop, coefReduce,
	coefUpdate, coefFixed, coefBucket, coefStraggle, coefReport}

// numbers are the places of coefficients in the list.
var numbers = sync.OnceValue(func() map[string]int {
	out := map[string]int{}
	for i, name := range names {
		out[name] = i
	}
	return out
})

// Uses are the coefficients that the run depends on, each with the levels that it has offsets for.
func (m *Model) Uses() []Use {
	all, of := m.levels(), make([]uint64, 0, 32)
	for i := range all {
		of = append(of, usedBy()[all[i].Name])
	}
	out := make([]Use, coefficients)
	room := make([]coef.Level, 0, len(all)*coefficients/3)
	for i, name := range names {
		from := len(room)
		for j := range all {
			if of[j]>>i&1 == 1 {
				room = append(room, all[j])
			}
		}
		out[i] = Use{Name: name, Levels: room[from:len(room):len(room)]}
	}
	return out
}

// levels that apply to the run, general ones first.
func (m *Model) levels() []coef.Level {
	out := append(make([]coef.Level, 0, 24), coef.Level{Name: "all"})
	out = m.deviceLevels(out)
	out = m.softwareLevels(out)
	out = m.settingLevels(out)
	report := m.in.Extras.Report
	return append(out, coef.Level{Name: "report", Key: report}, coef.Level{Name: "report-model", Key: report + "/" + m.in.Model.ID})
}

// usedBy are the coefficients with offsets at a level, as bits.
var usedBy = sync.OnceValue(func() map[string]uint64 {
	out := map[string]uint64{}
	for i, name := range names {
		for level := range Sigma[name] {
			out[level] |= 1 << i
		}
	}
	return out
})

// settingLevels are those of how the run is set up.
func (m *Model) settingLevels(out []coef.Level) []coef.Level {
	family, name, release := Family(m.device), m.format.name, m.release()
	reach := "node"
	if m.groups.devices > m.groups.domain && m.in.Training.Sharding != "hsdp" {
		reach = "across"
	}
	out = append(out, coef.Level{Name: "class-family", Key: m.class() + "/" + family}, coef.Level{Name: "reach", Key: reach}, coef.Level{Name: "fabric", Key: m.fabric()})
	for _, l := range []struct {
		name, key string
		applies   bool
	}{
		{"format", name, m.format.special()}, {"format-family", name + "/" + family, m.format.special()}, {"stored", m.in.Weights.Name, m.step.unpack > 0},
		{"release", release, release != ""}, {"release-family", release + "/" + family, release != ""},
		{"async", "tensor", m.in.Extras.AsyncTP}, {"dropping", "tokens", m.in.Extras.DropTokens}, {"pipeline", "stages", m.groups.pp > 1},
	} {
		if l.applies {
			out = append(out, coef.Level{Name: l.name, Key: l.key})
		}
	}
	return out
}

// fabric is what the devices of a node talk over.
func (m *Model) fabric() string {
	if m.groups.devices == 1 || m.in.Machine.Intra.Name == "" {
		return "none"
	}
	if m.in.Machine.Intra.Name == "PCIe" {
		return "pcie"
	}
	return "switched"
}
