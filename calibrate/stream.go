package calibrate

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine/llamacpp"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/speed/stream"
	"github.com/memwall/memwall/unit"
)

// Stream finds the formulas of single streams. It caches models; use one per file.
type Stream struct {
	Models memwall.ModelSource
	found  map[string]*memwall.Resolved
}

// Formula returns the formula of a figure of llama.cpp or Ollama on one device.
func (s *Stream) Formula(o *Observation) (*Formula, error) {
	switch {
	case o.Engine != "llama.cpp" && o.Engine != "ollama":
		return nil, fmt.Errorf("figures of %s are not calibrated yet", shownOr(o.Engine, "an engine that is not named"))
	case o.Test != Prefill && o.Test != Decode && o.Test != Mixed:
		return nil, errors.New("is not of a single stream")
	}
	in, layers, err := s.input(o)
	if err != nil {
		return nil, err
	}
	if err := whereLayers(o, layers); err != nil {
		return nil, err
	}
	m, err := stream.Compile(*in)
	if err != nil {
		return nil, err
	}
	table, err := stream.Fitted()
	if err != nil {
		return nil, err
	}
	kind := map[Test]string{Prefill: "prefill", Decode: "decode", Mixed: "both"}[o.Test]
	f := &Formula{Table: memwall.StreamTable, Coefs: table, Uses: m.Uses(), Value: tokensPerSecond(m, o),
		Best: 1 / m.Floor(kind, o.Prompt, o.Answer, o.Depth)}
	if o.Test != Mixed {
		f.Own = stream.Own(kind, &in.Stages[0], o.Engine)
	}
	f.setSpreads(table, figureOf(o.Test))
	return f, nil
}

// figureOf returns a test's name in the single-stream table: what it is mostly limited by.
func figureOf(t Test) string {
	if t == Prefill || t == TTFT {
		return "prefill"
	}
	return "decode"
}

// tokensPerSecond returns the rate of a test over the tokens that llama-bench counts, both kinds if both were timed.
func tokensPerSecond(m *stream.Model, o *Observation) func(c []float64) float64 {
	t := stream.Test{Prompt: o.Prompt, Generated: o.Answer, Depth: o.Depth}
	switch o.Test {
	case Prefill:
		t.Generated = 0
	case Decode:
		t.Prompt = 0
	}
	seconds := m.Seconds(t)
	return func(c []float64) float64 { return float64(t.Prompt+t.Generated) / seconds(c) }
}

func (s *Stream) input(o *Observation) (*stream.Input, int64, error) {
	d, err := oneDevice(o)
	if err != nil {
		return nil, 0, err
	}
	backend, err := backendOf(o.Backend, d)
	if err != nil {
		return nil, 0, err
	}
	r, err := s.model(o)
	if err != nil {
		return nil, 0, err
	}
	m := r.Model
	if m == nil {
		m = r.Spec.Model(r.ID)
	}
	w, err := weightsOf(o, r, m)
	if err != nil {
		return nil, 0, err
	}
	threads, _ := strconv.ParseFloat(o.Threads, 64)
	in := &stream.Input{Model: m, Weights: w, FileBytes: unit.Bytes(o.Bytes), Engine: o.Engine, Built: built(o), Flash: o.Flash,
		Variant: stream.Usual(o.Engine, backend, d),
		UBatch:  o.UBatch, KVBytes: cacheWidth(o),
		Stages: []stream.Stage{{Backend: backend, Device: d, Threads: max(0, threads), Dense: 1, Experts: 1, Head: 1}}}
	return in, int64(len(m.Decoder().Layers)), nil
}

// model resolves the name in the file: a local file, or what the name says.
func (s *Stream) model(o *Observation) (*memwall.Resolved, error) {
	if o.Model == "" {
		return nil, errors.New("the file does not name the model: give --model")
	}
	if r := s.found[o.Model]; r != nil {
		return r, nil
	}
	r, err := s.Models.Model(o.Model)
	if err != nil {
		if r, err = s.Models.Model(named(o)); err == nil && r.Guessed { // "llama 8B" is llama.cpp's name of the architecture
			return nil, fmt.Errorf("%q is not a known model: give --model", clip(named(o)))
		}
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%q is not a known model: give --model", clip(named(o)))
	case r.Model == nil && r.Spec == nil:
		return nil, fmt.Errorf("the architecture of %q is not known", clip(o.Model))
	}
	if s.found == nil {
		s.found = map[string]*memwall.Resolved{}
	}
	s.found[o.Model] = r
	return r, nil
}

var partOf = pattern(`-\d{5}-of-\d{5}$`)

// named returns the name of a file from another machine without folder and extension, or the words of a table without
// the format: "qwen3moe 30B.A3B" is a model of that shape.
func named(o *Observation) string {
	name := strings.TrimSuffix(o.Model, " "+o.Weights)
	bare, isFile := strings.CutSuffix(name, ".gguf")
	family, _, sized := strings.Cut(name, " ")
	switch {
	case isFile:
	case sized && o.Params > 0:
		return cmp.Or(catalog.Shaped(family, o.Params), name)
	default:
		return name
	}
	return partOf().ReplaceAllString(bare[strings.LastIndexAny(bare, `/\`)+1:], "")
}

func weightsOf(o *Observation, r *memwall.Resolved, m *model.Model) (*model.Weights, error) {
	if r.Weights != nil {
		return r.Weights, nil
	}
	name := o.Weights
	if name == "" {
		name = r.Recipe
	}
	if name == "" {
		return nil, errors.New("the file does not say how the weights are stored: give --weights")
	}
	recipe := dtype.FindRecipe(name)
	if recipe == nil {
		return nil, fmt.Errorf("%q is not a known way to store weights: give --weights", clip(name))
	}
	return m.Store(recipe), nil
}

func oneDevice(o *Observation) (*hardware.Device, error) {
	if o.Hardware == "" {
		return nil, errors.New("the file does not name the device: give --on")
	}
	if o.Devices > 1 {
		return nil, fmt.Errorf("%d devices share the model: calibrate with one", o.Devices)
	}
	m, _, err := hardware.Parse(o.Hardware, 0)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%q is not known hardware: give --on, as memwall hardware lists it or described", clip(o.Hardware))
	case m.Devices() != 1:
		return nil, fmt.Errorf("%s is not one device: calibrate with one", clip(o.Hardware))
	}
	return &m.Groups[0].Device, nil
}

// backends are ggml's backends in the order of preference in which llama-bench's list decides.
var backends = []string{"cuda", "rocm", "metal", "vulkan", "sycl", "cpu"}

// backendOf parses "Metal,BLAS"; by default it is the vendor's own backend.
func backendOf(list string, d *hardware.Device) (string, error) {
	list = strings.ToLower(list)
	for _, b := range backends {
		if strings.Contains(list, b) || b == "rocm" && strings.Contains(list, "hip") {
			return b, nil
		}
	}
	own := map[string]string{"NVIDIA": "cuda", "AMD": "rocm", "Apple": "metal"}
	switch {
	case d.IsCPU() && (list == "" || strings.Contains(list, "blas")):
		return "cpu", nil
	case list == "" && own[d.Vendor] != "":
		return own[d.Vendor], nil
	}
	return "", fmt.Errorf("the backend %q is not one that is known: %s", clip(list), strings.Join(backends, ", "))
}

// whereLayers rejects a model partly on the host, whose speed depends on two machines.
func whereLayers(o *Observation, layers int64) error {
	n, err := strconv.ParseInt(o.GPULayers, 10, 64)
	if err != nil || n < 0 || n >= layers || strings.EqualFold(o.Backend, "cpu") {
		return nil
	}
	return fmt.Errorf("%d of %d layers lie on the device: calibrate with all of them", n, layers)
}

// cacheWidth returns the bytes per element of keys and values together; 0 if not stated.
func cacheWidth(o *Observation) float64 {
	k, v := dtype.FindFormat(o.TypeK), dtype.FindFormat(o.TypeV)
	if k == nil || v == nil {
		return 0
	}
	return (k.Bits() + v.Bits()) / 16
}

// built returns when the program was released, in years: from its build number, or else the month of the run, assuming
// that people benchmark recent builds. 0 means now.
func built(o *Observation) float64 {
	if v, err := (llamacpp.Engine{}).ParseVersion(o.Build); err == nil && o.Build != "" {
		return (llamacpp.Engine{}).Built(v)
	}
	if len(o.Date) < 7 {
		return 0
	}
	return stream.ParseBuilt(o.Date[:7])
}

func shownOr(s, empty string) string {
	if s == "" {
		return empty
	}
	return clip(s)
}
