package compare

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"reflect"
	"sort"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine/llamacpp"
	"github.com/memwall/memwall/engine/sglang"
	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/engine/torch"
	"github.com/memwall/memwall/engine/vllm"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/snapshot"
)

// read tells by its first bytes what a file is.
func read(text io.Reader) (*startup.Log, error) {
	b := bufio.NewReaderSize(text, torch.Sniffed)
	head, err := b.Peek(torch.Sniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, LogError(err)
	}
	kind := torch.Sniff(head)
	if kind == torch.GZip {
		in, err := gzip.NewReader(b)
		if err != nil {
			return nil, &api.Error{Code: api.BadFile, Field: "text", Message: "the file begins as one of gzip and is none: " + err.Error(),
				Hint: "give it unpacked"}
		}
		b = bufio.NewReaderSize(in, torch.Sniffed)
		head, _ = b.Peek(torch.Sniffed)
		if kind = torch.Sniff(head); kind == torch.GZip {
			return nil, &api.Error{Code: api.BadFile, Field: "text", Message: "the file is packed twice", Hint: "give it unpacked"}
		}
	}
	if err := torch.Refused(kind); err != nil {
		return nil, LogError(err)
	}
	switch kind {
	case torch.Pickle:
		m, err := snapshot.Read(b)
		if err != nil {
			return nil, LogError(err)
		}
		return m.Report().Log(), nil
	case torch.TraceFile:
		t, err := torch.ReadTrace(b)
		if err != nil {
			return nil, LogError(err)
		}
		return t.Log(), nil
	case torch.StatsFile:
		l, err := torch.ReadStats(b)
		if err != nil {
			return nil, LogError(err)
		}
		return l, nil
	}
	return readLog(b)
}

// readLog gives every line to every reader; the one that knows most of them has read the log.
func readLog(text io.Reader) (*startup.Log, error) {
	readers := []startup.Reader{&vllm.Reader{}, &sglang.Reader{}, &llamacpp.LogReader{}, &torch.SummaryReader{}}
	n, err := startup.Read(text, readers...)
	if err != nil {
		return nil, LogError(err)
	}
	best := readers[0].Log()
	for _, r := range readers[1:] {
		if l := r.Log(); l.Signs > best.Signs {
			best = l
		}
	}
	if best.Signs == 0 {
		return nil, &api.Error{Code: api.BadFile, Field: "text",
			Message: fmt.Sprintf("none of the %d lines is from the start of a server that memwall knows", n),
			Hint: "give what vLLM, SGLang or llama.cpp printed from its start until it was ready, a trace of torch.profiler, or " +
				"torch.cuda.memory_summary()"}
	}
	return best, nil
}

// LogError gives an error of reading a text the form of the contract.
func LogError(err error) error {
	if e, ok := errors.AsType[*startup.Error](err); ok {
		return &api.Error{Code: api.BadFile, Field: "text", Message: e.Problem, Hint: e.Fix}
	}
	if e, ok := errors.AsType[*snapshot.Error](err); ok {
		return &api.Error{Code: api.BadFile, Field: "text", Message: e.Problem, Hint: e.Fix}
	}
	if e, ok := errors.AsType[*torch.Error](err); ok {
		return &api.Error{Code: api.BadFile, Field: "text", Message: e.Problem, Hint: e.Fix}
	}
	return &api.Error{Code: api.BadFile, Field: "text", Message: "the log cannot be read: " + err.Error(), Hint: "give it again"}
}

// Rebuild makes the request that the log shows, with overrides on top, and gives the source that finds its
// model.
func (c *Comparison) Rebuild(a *question.Env, overrides *api.Request) api.ModelSource {
	l := c.Log
	c.Request = api.Request{Ask: "fit", Plan: l.Plan}
	c.Request.Engine = c.engine()
	c.Request.Hardware = c.hardware()
	for _, n := range l.Notes {
		c.note(n.Code, "warn", "", "%s", n.Text)
	}
	c.override(overrides)
	c.Request.Ask = "fit"
	source := c.model(a, overrides)
	c.stored(overrides)
	c.settle(overrides)
	c.missing()
	return source
}

// override takes every field that is given.
func (c *Comparison) override(with *api.Request) {
	for _, f := range api.Fields() {
		if f.Name == "ask" || f.Name == "text" {
			continue
		}
		if v := f.Value(with); !v.IsZero() {
			f.Value(&c.Request).Set(reflect.ValueOf(v.Interface()))
		}
	}
}

// engine with its version, or with the era that the lines are of.
func (c *Comparison) engine() string {
	l := c.Log
	switch {
	case l.Version != "":
		return l.Engine + "@" + l.Version
	case l.Era != "":
		if len(l.Notes) == 0 || !strings.Contains(l.Notes[len(l.Notes)-1].Code, "_engine") {
			c.note("version_not_printed", "warn", "engine",
				"the log does not print its version: its lines are of %s or later, and the rules of %s are used; "+
					"give engine to change that", l.Era, l.Era)
		}
		return l.Engine + "@" + l.Era
	}
	return l.Engine
}

// hardware: the devices that the log names, as many as the plan's groups take; a device whose name is not
// known, but whose size is printed, is described by that size.
func (c *Comparison) hardware() string {
	l := c.Log
	used := l.Devices
	if l.Engine != "vllm" && l.Engine != "sglang" {
		if onHost(l) {
			return "cpu"
		}
		return c.known(startup.Hardware(used, 0))
	}
	n := int(min(l.Plan.Ranks(), 1<<16))
	sort.SliceStable(used, func(i, j int) bool { return len(used[i].Slot) < len(used[j].Slot) })
	named := c.known(startup.Hardware(used, n))
	if named != "" && len(used) < n {
		named = fmt.Sprintf("%dx%s", n, used[0].Name)
	}
	if f := l.Find("total"); named == "" && f != nil && f.Value > 0 {
		c.described = true
		c.note("device_by_size", "info", "hardware",
			"the log does not name the device: one of the printed %s GiB stands in; give hardware for the rules of its kind", f.Text)
		return strings.TrimPrefix(fmt.Sprintf("%dxname=device of %s GiB,memory=%d", n, f.Text, int64(f.Value*gib)), "1x")
	}
	return named
}

// onHost reports whether all buffers of the model lie in host memory and no device takes part.
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

// known is the hardware when the catalog has it.
func (c *Comparison) known(name string) string {
	if name == "" {
		return ""
	}
	if _, _, err := hardware.Parse(name, 0); err != nil {
		c.note("unknown_hardware", "warn", "hardware", "the log names %s, which the catalog does not have; give hardware",
			api.Shorten(name))
		return ""
	}
	return name
}

// stored says what the weights are in: the override, the file type, or the method with the model's name.
func (c *Comparison) stored(overrides *api.Request) {
	l := c.Log
	switch {
	case overrides.Weights != "", c.Request.Weights != "":
	case l.Metadata != nil, l.Quant != "" && (l.Engine == "llama-server" || l.Engine == "ollama"):
		c.fileType()
	case len(l.Models) > 0:
		recipe, known := question.StoredAs(l.Quant, modelName(l.Models[0]))
		if !known {
			c.noWeights = fmt.Sprintf("the log says %s, which does not tell how weights are stored: give weights", l.Quant)
			c.note("not_in_log", "warn", "weights", "%s", c.noWeights)
		}
		c.Request.Weights = recipe
	}
}

// fileType of a GGUF file: "Q4_K - Medium".
func (c *Comparison) fileType() {
	if r := dtype.FindRecipe(c.Log.Quant); r != nil && r.InGGUF() != nil {
		c.Request.Weights = r.InGGUF().Name
		return
	}
	if r := ggufRecipe(c.Log.Quant); r != nil {
		c.Request.Weights = r.Name
		return
	}
	c.noWeights = fmt.Sprintf("the file type %q is not known: give weights", c.Log.Quant)
	c.Request.Weights = "gguf-f16"
	c.note("not_in_log", "warn", "weights", "%s; f16 stands in, so that caches can be sized", c.noWeights)
}

// ggufRecipe finds a file type by its title; "all F32" and "F16" are titles of GGUF recipes too.
func ggufRecipe(title string) *dtype.Recipe {
	title = strings.TrimPrefix(strings.ToLower(title), "mostly ")
	for _, r := range dtype.Recipes() {
		if r.Store == dtype.GGUF && (strings.EqualFold(r.Title, title) || "gguf-"+title == r.Name) {
			return r
		}
	}
	return nil
}

// settle makes fields of the log agree with each other and with overrides.
func (c *Comparison) settle(overrides *api.Request) {
	p := &c.Request.Plan
	if overrides.Context > 0 && overrides.ContextTotal == 0 {
		p.ContextTotal = 0
	}
	if p.ContextTotal > 0 {
		p.Context = 0
	}
	if p.KVCacheMemory > 0 {
		p.GPUMemoryUtilization = nil
	}
	if c.Log.Metadata != nil && p.Sequences == 0 {
		p.Sequences = 1
	}
	if u := p.GPUMemoryUtilization; u != nil && (*u <= 0 || *u > 1) {
		p.GPUMemoryUtilization = nil
	}
	if p.MaxSeqs > p.MaxBatchedTokens && p.MaxBatchedTokens > 0 {
		p.MaxSeqs = p.MaxBatchedTokens // vLLM caps it too
	}
	c.slots()
}

// slots: llama.cpp pads a printed context to the slots; a cache for all of them needs no padding.
func (c *Comparison) slots() {
	p := &c.Request.Plan
	if p.Sequences > p.ContextTotal && p.ContextTotal > 0 {
		p.Sequences = p.ContextTotal
	}
}

// missing lists what the log does not tell and the figures depend on.
func (c *Comparison) missing() {
	r := &c.Request
	lack := func(field, text string) { c.note("not_in_log", "info", field, "%s", text) }
	if r.Model == "" {
		c.note("not_in_log", "warn", "model", "the log does not name a model that the catalog has: give model")
	}
	if r.Hardware == "" {
		lack("hardware", "the log does not name the device: figures that depend on it are left out; give hardware")
	}
	if len(c.Log.Devices) > 1 && r.TensorSplit == "" && c.Log.Metadata != nil {
		lack("tensor_split", "the log does not say how layers are split over devices: give tensor_split")
	}
	if r.Context == 0 && r.ContextTotal == 0 {
		lack("context", "the log does not say how long a sequence may be; give context")
	}
	if c.Log.Engine != "vllm" {
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
