package compare

import (
	"fmt"
	"reflect"
	"sort"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/question"
)

// Rebuilt is the request reconstructed from a log.
type Rebuilt struct {
	Log     *startup.Log
	Request api.Request
	// Notes report what the log lacks, and what was assumed.
	Notes []api.Note
	// noWeights is why the weights are undetermined; "" if determined.
	noWeights string
	// described reports that the device is described by the memory size in the log.
	described bool
}

// Rebuild reconstructs the request of a log, with overrides on top, and returns the source of its model.
func Rebuild(a *question.Env, log *startup.Log, overrides *api.Request) (*Rebuilt, api.ModelSource) {
	b := &Rebuilt{Log: log, Request: api.Request{Ask: "fit", Plan: log.Plan}}
	b.Request.Engine = b.engine()
	b.Request.Hardware = b.hardware()
	b.noteLog()
	b.override(overrides)
	b.Request.Ask = "fit"
	source := b.model(a, overrides)
	b.stored(overrides)
	b.settle(overrides)
	b.missing()
	return b, source
}

func (b *Rebuilt) note(code, severity, field, format string, args ...any) {
	b.Notes = append(b.Notes, api.Note{Code: code, Severity: severity, Field: field, Text: fmt.Sprintf(format, args...)})
}

// noteLog adopts the notes of the log's reader.
func (b *Rebuilt) noteLog() {
	for _, n := range b.Log.Notes {
		b.note(n.Code, "warn", "", "%s", n.Text)
	}
}

// override applies every given field.
func (b *Rebuilt) override(with *api.Request) {
	for _, f := range api.Fields() {
		if f.Name == "ask" || f.Name == "text" {
			continue
		}
		if v := f.Value(with); !v.IsZero() {
			f.Value(&b.Request).Set(reflect.ValueOf(v.Interface()))
		}
	}
}

// engine returns the engine with its version, or with the era that the lines are from.
func (b *Rebuilt) engine() string {
	l := b.Log
	switch {
	case l.Version != "":
		return l.Engine + "@" + l.Version
	case l.Era != "":
		if len(l.Notes) == 0 || !strings.Contains(l.Notes[len(l.Notes)-1].Code, "_engine") {
			b.note("version_not_printed", "warn", "engine",
				"the log does not print its version: its lines are of %s or later, and the rules of %s are used; "+
					"give engine to change that", l.Era, l.Era)
		}
		return l.Engine + "@" + l.Era
	}
	return l.Engine
}

// hardware returns the devices that the log names, as many as the plan's groups need; a device of unknown name but printed size is
// described by that size.
func (b *Rebuilt) hardware() string {
	l := b.Log
	used := l.Devices
	if l.Engine != "vllm" && l.Engine != "sglang" {
		if onHost(l) {
			return "cpu"
		}
		return b.known(startup.Hardware(used, 0))
	}
	n := int(min(l.Plan.Ranks(), 1<<16))
	sort.SliceStable(used, func(i, j int) bool { return len(used[i].Slot) < len(used[j].Slot) })
	named := b.known(startup.Hardware(used, n))
	if named != "" && len(used) < n {
		named = fmt.Sprintf("%dx%s", n, used[0].Name)
	}
	if f := l.Find("total"); named == "" && f != nil && f.Value > 0 {
		b.described = true
		b.note("device_by_size", "info", "hardware",
			"the log does not name the device: a device of the printed %s GiB is assumed; --on names the real one", f.Text)
		return strings.TrimPrefix(fmt.Sprintf("%dxname=device of %s GiB,memory=%d", n, f.Text, int64(f.Value*gib)), "1x")
	}
	return named
}

// onHost reports whether all buffers of the model are in host memory and no device takes part.
func onHost(l *startup.Log) bool {
	n := 0
	for i := range l.Figures {
		switch f := &l.Figures[i]; f.ID {
		case "model_buffer", "kv_buffer", "compute_buffer":
			if !strings.HasPrefix(f.Device, "CPU") {
				return false
			}
			n++
		}
	}
	return n > 0
}

// known returns the hardware if the catalog has it.
func (b *Rebuilt) known(name string) string {
	if name == "" {
		return ""
	}
	if _, _, err := hardware.Parse(name, 0); err != nil {
		b.note("unknown_hardware", "warn", "hardware", "the log names %s, which the catalog does not have; give hardware",
			api.Shorten(name))
		return ""
	}
	return name
}

// stored returns the weight format: the override, the file type, or the method with the model's name.
func (b *Rebuilt) stored(overrides *api.Request) {
	l := b.Log
	switch {
	case overrides.Weights != "", b.Request.Weights != "":
	case l.Metadata != nil, l.Quant != "" && (l.Engine == "llama-server" || l.Engine == "ollama"):
		b.fileType()
	case len(l.Models) > 0:
		recipe, known := question.StoredAs(l.Quant, modelName(l.Models[0]))
		if !known {
			b.noWeights = fmt.Sprintf("the log says %s, which does not tell how weights are stored: give weights", l.Quant)
			b.note("not_in_log", "warn", "weights", "%s", b.noWeights)
		}
		b.Request.Weights = recipe
	}
}

// fileType sets the type of a GGUF file: "Q4_K - Medium".
func (b *Rebuilt) fileType() {
	if r := dtype.FindRecipe(b.Log.Quant); r != nil && r.InGGUF() != nil {
		b.Request.Weights = r.InGGUF().Name
		return
	}
	if r := ggufRecipe(b.Log.Quant); r != nil {
		b.Request.Weights = r.Name
		return
	}
	b.noWeights = fmt.Sprintf("the file type %q is not known: give weights", b.Log.Quant)
	b.Request.Weights = "gguf-f16"
	b.note("not_in_log", "warn", "weights", "%s; f16 stands in, so that caches can be sized", b.noWeights)
}

// ggufRecipe returns the recipe of a file type's title; "all F32" and "F16" are titles of GGUF recipes too.
func ggufRecipe(title string) *dtype.Recipe {
	title = strings.TrimPrefix(strings.ToLower(title), "mostly ")
	for _, r := range dtype.Recipes() {
		if r.Store == dtype.GGUF && (strings.EqualFold(r.Title, title) || "gguf-"+title == r.Name) {
			return r
		}
	}
	return nil
}

// settle makes fields of the log consistent with each other and with overrides.
func (b *Rebuilt) settle(overrides *api.Request) {
	p := &b.Request.Plan
	if overrides.Context > 0 && overrides.ContextTotal == 0 {
		p.ContextTotal = 0
	}
	if p.ContextTotal > 0 {
		p.Context = 0
	}
	if p.KVCacheMemory > 0 {
		p.GPUMemoryUtilization = nil
	}
	if b.Log.Metadata != nil && p.Sequences == 0 {
		p.Sequences = 1
	}
	if u := p.GPUMemoryUtilization; u != nil && (*u <= 0 || *u > 1) {
		p.GPUMemoryUtilization = nil
	}
	if p.MaxSeqs > p.MaxBatchedTokens && p.MaxBatchedTokens > 0 {
		p.MaxSeqs = p.MaxBatchedTokens // vLLM caps it too
	}
	b.slots()
}

// slots adjusts a printed context, which llama.cpp pads to the slots; a unified cache needs no padding.
func (b *Rebuilt) slots() {
	p := &b.Request.Plan
	if p.Sequences > p.ContextTotal && p.ContextTotal > 0 {
		p.Sequences = p.ContextTotal
	}
}

// missing notes what the figures depend on but the log does not state.
func (b *Rebuilt) missing() {
	r := &b.Request
	lack := func(field, text string) { b.note("not_in_log", "info", field, "%s", text) }
	if r.Model == "" {
		b.note("not_in_log", "warn", "model", "the log does not name a model that the catalog has: give model")
	}
	if r.Hardware == "" {
		lack("hardware", "the log does not name the device: figures that depend on it are left out; give hardware")
	}
	if len(b.Log.Devices) > 1 && r.TensorSplit == "" && b.Log.Metadata != nil {
		lack("tensor_split", "the log does not say how layers are split over devices: give tensor_split")
	}
	if r.Context == 0 && r.ContextTotal == 0 {
		lack("context", "the log does not say how long a sequence may be; give context")
	}
	if b.Log.Engine != "vllm" {
		return
	}
	if r.GPUMemoryUtilization == nil && r.KVCacheMemory == 0 {
		lack("gpu_memory_utilization", "the log does not print gpu_memory_utilization: the default is used")
	}
	if r.MaxSeqs == 0 {
		lack("max_num_seqs", "the log does not print max_num_seqs: the version's default is used")
	}
	if r.MaxBatchedTokens == 0 {
		lack("max_num_batched_tokens", "the log does not print max_num_batched_tokens: the version's default is used")
	}
}

// ReadAs describes in a line how a log was interpreted, by the request it shows.
func ReadAs(r *api.Request) string {
	var parts []string
	for _, f := range []struct{ name, value string }{
		{"", r.Engine}, {"", r.Framework}, {"", r.Method}, {"model", r.Model}, {"weights", r.Weights}, {"kv", r.KV}, {"on", r.Hardware},
	} {
		if f.value != "" {
			parts = append(parts, strings.TrimLeft(f.name+" "+f.value, " "))
		}
	}
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"tp", r.TP}, {"pp", r.PP}, {"ep", r.EP}, {"dp", r.DP}, {"context", int64(r.Context)}, {"context_total", int64(r.ContextTotal)},
		{"sequences", int64(r.Sequences)},
		{"max_num_seqs", int64(r.MaxSeqs)}, {"max_num_batched_tokens", int64(r.MaxBatchedTokens)}, {"batch", int64(r.BatchTokens)},
		{"ubatch", int64(r.UBatch)},
		{"sequence_length", int64(r.SequenceLength)}, {"micro_batch", int64(r.MicroBatch)},
	} {
		if f.value > 1 || f.value == 1 && (f.name == "sequences" || f.name == "micro_batch") {
			parts = append(parts, fmt.Sprint(f.name, " ", f.value))
		}
	}
	if u := r.GPUMemoryUtilization; u != nil {
		parts = append(parts, fmt.Sprint("gpu_memory_utilization ", *u))
	}
	if m := r.MemFractionStatic; m != nil {
		parts = append(parts, fmt.Sprint("mem_fraction_static ", *m))
	}
	if g := r.GPULayers; g != nil {
		parts = append(parts, fmt.Sprint("gpu_layers ", int64(*g)))
	}
	if len(parts) == 0 {
		return "read as: a run of which the file says neither model nor device"
	}
	return "read as: " + strings.Join(parts, ", ")
}
