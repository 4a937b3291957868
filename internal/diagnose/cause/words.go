package cause

import (
	_ "embed" // remedies.tsv
	"slices"
	"strings"
	"sync"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/diagnose"
	"github.com/memwall/memwall/unit"
)

// remedy is what a practitioner changes first if no plan says more, for a kind of failure in certain programs and places. The first
// matching row applies; now and later are in the order to try.
type remedy struct {
	kind    diagnose.Kind
	engines []string // any if empty
	place   diagnose.Place
	now     []string
	later   []string
}

// trainer stands for any program whose text shows training: PyTorch itself both trains and infers.
const trainer = "trainer"

// onMac stands for any program using PyTorch's Metal backend: one device, sharing its memory with the system.
const onMac = "mps"

//go:embed remedies.tsv
var remediesText string

// remedies lists the rows of remedies.tsv, in its order.
var remedies = sync.OnceValue(func() (all []remedy) {
	for line := range strings.Lines(remediesText) {
		if line == "\n" || line[0] == '#' {
			continue
		}
		c := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(c) != 5 {
			panic("cause: a row of remedies.tsv has five cells: " + line) // embedded: a test reads them
		}
		all = append(all, remedy{diagnose.Kind(c[0]), strings.Fields(c[1]), diagnose.Place(c[2]), parts(c[3]), parts(c[4])})
	}
	return all
})

func parts(cell string) []string {
	if cell == "" {
		return nil
	}
	return strings.Split(cell, " | ")
}

// inWords returns the fixes of the matching row, for what the message and the plan leave open.
func (p *failed) inWords(matches []api.Match) (out []api.Fix) {
	if larger := largerThanAll(p.first, matches); larger.text != "" && len(matches) == 0 && maybeScores(p.first) {
		out = append(out, api.Fix{When: now, Text: "flash attention or SDPA, which never make all scores at once: " +
			"attn_implementation=\"sdpa\"; else smaller images or shorter sequences"})
	}
	r := findRemedy(p.first, p.trains())
	if r == nil {
		return nil
	}
	first, then := p.open(r.now), p.open(r.later)
	switch {
	case farShort(p.first, 1, 2):
		first, then = then, nil
	case farShort(p.first, 4, 5):
		first, then = then, first
	}
	for _, text := range first {
		out = append(out, api.Fix{When: now, Text: text})
	}
	for _, text := range then {
		out = append(out, api.Fix{When: later, Text: text})
	}
	return out
}

// open leaves out what the text says is so already.
func (p *failed) open(texts []string) (out []string) {
	for _, text := range texts {
		change, _, _ := strings.Cut(text, ":")
		if set := done[change]; !slices.Contains(p.report.Settings, set) {
			out = append(out, text)
		}
	}
	return out
}

// done is the setting after which a change, as rows begin it, has nothing left to change.
var done = map[string]diagnose.Setting{"gradient checkpointing": {Field: "recompute", Value: "full"},
	"a smaller micro-batch with more accumulation": {Field: "micro_batch", Value: "1"}}

// farShort reports whether a host lacks so much of a model's memory that no context compensates: above a fifth, try another model
// first; above half, there is no other way.
func farShort(f *diagnose.Finding, part, of unit.Bytes) bool {
	return f.Kind == diagnose.HostMemory && f.Free.Known && f.Requested.Known && f.Free.Bytes*of < f.Requested.Bytes*part
}

// maybeScores reports whether an unnamed allocation may be a full attention score matrix: nothing else in a model makes one larger
// than a device.
func maybeScores(f *diagnose.Finding) bool {
	elsewhere := []diagnose.Place{diagnose.Optimizer, diagnose.Loss, diagnose.Loading, diagnose.KVCache, diagnose.Saving, diagnose.Adapters,
		diagnose.Input, diagnose.Sampler}
	return f.Kind == diagnose.DeviceMemory && f.Backend != "tpu" && !slices.Contains(elsewhere, f.Place)
}

// findRemedy returns the row of a failure; nil if none matches.
func findRemedy(f *diagnose.Finding, trains bool) *remedy {
	program := f.Engine
	switch {
	case f.Backend == onMac:
		program = onMac
	case trains:
		program = trainer
	}
	all := remedies()
	for i := range all {
		r := &all[i]
		if r.kind == f.Kind && (r.place == "" || r.place == f.Place) && (len(r.engines) == 0 || slices.Contains(r.engines, program)) {
			return r
		}
	}
	return nil
}
