package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/speed/stream"
	"github.com/memwall/memwall/unit"
	"github.com/memwall/memwall/validation"
	"github.com/memwall/memwall/validation/fit/internal/study"
)

// row is a measurement with the model that predicts it.
type row struct {
	validation.StreamRow
	device  *hardware.Device
	model   *stream.Model
	predict func(c []float64) float64 // tokens a second
	weight  float64
}

func (r *row) hardware() string {
	return strings.TrimSuffix(r.Device, "-"+fmt.Sprint(int(r.device.Memory.Value>>30))+"gb")
}

// report is what one source measured on one kind of machine.
func (r *row) report() string {
	return fmt.Sprintf("%s/%s/%d×%s", r.Source, r.Backend, r.Count, r.hardware())
}

func (r *row) decodes() bool  { return strings.HasSuffix(r.Kind, "decode") }
func (r *row) prefills() bool { return strings.HasSuffix(r.Kind, "prefill") }

// figure that the row measures.
func (r *row) figure() string {
	if r.prefills() {
		return "prefill"
	}
	return "decode"
}

// spreads are the groups whose errors make the row's band.
func (r *row) spreads(p *stream.Predictor) []string {
	if r.decodes() || r.prefills() {
		return p.Spreads(r.figure())
	}
	return nil
}

// naive is what a rule of thumb says, in tokens a second: answers read the weights at 80 % of the memory's rate,
// prompts are multiplied at half the peak.
func (r *row) naive() float64 {
	share := 0.8
	if r.prefills() {
		share = 0.5
	}
	return share / r.model.Floor(r.Kind, r.Prompt, r.Generated, r.Depth)
}

func load() (rows []row, refused map[string]int, err error) {
	all, err := validation.Streams()
	if err != nil {
		return nil, nil, err
	}
	networks := study.NewNetworks()
	refused = map[string]int{}
	for _, s := range all {
		if s.Refused != "" {
			refused[s.Refused]++
			continue
		}
		r, err := newRow(networks, s)
		if err != nil {
			refused[err.Error()]++
			continue
		}
		rows = append(rows, *r)
	}
	slices.SortStableFunc(rows, func(a, b row) int { return min(a.Count, 2) - min(b.Count, 2) })
	weigh(rows)
	return rows, refused, nil
}

func newRow(networks *study.Networks, s validation.StreamRow) (*row, error) {
	if s.Kind == "both" {
		return nil, fmt.Errorf("one rate for prompt and answer together")
	}
	if s.Count > 1 && !layered[s.Engine] {
		return nil, fmt.Errorf("several devices that share every matrix")
	}
	m, w, err := networks.Stored(s.Model, recipe(&s))
	if err != nil {
		return nil, err
	}
	d, _, err := hardware.Find(s.Device)
	if err != nil {
		return nil, err
	}
	if spilled(&s, w, d) {
		return nil, fmt.Errorf("the weights are larger than the device's memory")
	}
	in := stream.Input{Model: m, Weights: w, FileBytes: fileBytes(&s), Engine: s.Engine, Variant: s.Variant,
		Built: stream.ParseBuilt(s.Built), Flash: s.Flash, UBatch: s.UBatch,
		Stages: stages(&s, d)}
	if err := threads(&in); err != nil {
		return nil, err
	}
	sm, err := stream.Compile(in)
	if err != nil {
		return nil, err
	}
	r := &row{StreamRow: s, device: d, model: sm}
	r.predict = rate(sm, &s)
	if floor := sm.Floor(s.Kind, s.Prompt, s.Generated, s.Depth); s.Count == 1 && s.Rate > 1.1/floor {
		return nil, fmt.Errorf("faster than the device can be")
	}
	return r, nil
}

func fileBytes(s *validation.StreamRow) unit.Bytes { return unit.Bytes(s.GiB * (1 << 30)) }

// spilled reports whether the weights are larger than the devices: the host computes some of them. A processor and a
// device that shares its memory have all of it.
func spilled(s *validation.StreamRow, w *model.Weights, d *hardware.Device) bool {
	if d.IsCPU() || d.Unified != nil || !d.Usable.Known {
		return false
	}
	stored := fileBytes(s)
	if stored == 0 {
		stored = w.Bytes()
	}
	return float64(stored) > float64(s.Count)*float64(d.Usable.Value)
}

// threads moves the number of them from the variant to the first stage.
func threads(in *stream.Input) (err error) {
	for i, v := range in.Variant {
		if n, ok := strings.CutPrefix(v, "threads="); ok {
			in.Stages[0].Threads, err = strconv.ParseFloat(n, 64)
			in.Variant = slices.Delete(slices.Clone(in.Variant), i, i+1)
			return err
		}
	}
	return nil
}

// layered engines give each device some of the layers.
var layered = map[string]bool{"llama.cpp": true, "llama.cpp-latency": true, "ik_llama.cpp": true, "ollama": true, "llamafile": true,
	"exllama": true, "exllamav2": true, "transformers": true}

// stages are a row's devices, with as many layers each.
func stages(s *validation.StreamRow, d *hardware.Device) []stream.Stage {
	out := make([]stream.Stage, s.Count)
	for i := range out {
		share := 1 / float64(s.Count)
		out[i] = stream.Stage{Backend: s.Backend, Device: d, Dense: share, Experts: share}
	}
	out[len(out)-1].Head = 1
	return out
}

// rate of a row's test.
func rate(m *stream.Model, s *validation.StreamRow) func(c []float64) float64 {
	switch s.Kind {
	case "localscore-prefill":
		return mean(m, func(p, g int64) (stream.Test, float64) { return stream.Test{Prompt: p}, float64(p) })
	case "localscore-decode":
		return mean(m, func(p, g int64) (stream.Test, float64) {
			return stream.Test{Generated: g, Depth: p}, float64(g)
		})
	case "prefill":
		t := m.Seconds(stream.Test{Prompt: s.Prompt, Depth: s.Depth})
		return func(c []float64) float64 { return float64(s.Prompt) / t(c) }
	case "both":
		t := m.Seconds(stream.Test{Prompt: s.Prompt, Generated: s.Generated, Depth: s.Depth})
		return func(c []float64) float64 { return float64(s.Prompt+s.Generated) / t(c) }
	}
	n := s.Generated
	if n == 0 {
		n = 128
	}
	t := m.Seconds(stream.Test{Generated: n, Depth: s.Depth})
	return func(c []float64) float64 { return float64(n) / t(c) }
}

// mean of the rates of its tests.
func mean(m *stream.Model, test func(p, g int64) (stream.Test, float64)) func(c []float64) float64 {
	var times []func(c []float64) float64
	var tokens []float64
	for _, x := range validation.LocalScore {
		t, n := test(x[0], x[1])
		times, tokens = append(times, m.Seconds(t)), append(tokens, n)
	}
	return func(c []float64) (sum float64) {
		for i := range times {
			sum += tokens[i] / times[i](c) / float64(len(times))
		}
		return sum
	}
}

// fullRows of a report count in full. Those of more share a machine, a build and an owner: a report of four times as many weighs
// twice as much, whatever its rows agree on.
const fullRows = 8

// weigh rows by the report that they are of, so that one which contradicts all others of its device is one voice.
func weigh(rows []row) {
	n := map[string]int{}
	key := func(r *row) string { return r.report() + "/" + r.Engine + "/" + r.figure() }
	for i := range rows {
		n[key(&rows[i])]++
	}
	for i := range rows {
		rows[i].weight = math.Sqrt(fullRows / math.Max(fullRows, float64(n[key(&rows[i])])))
	}
}

// recipe of a row's weights.
func recipe(s *validation.StreamRow) string {
	if strings.HasPrefix(s.Weights, "exl2") {
		return "gptq"
	}
	return s.Weights
}
