package memwall

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/ledger"
)

// Compare lines up what an engine printed at its start with what memwall says: it reads the log, rebuilds
// the request, asks it, and sets figure beside figure. compare_read.go rebuilds the request,
// compare_model.go finds the model, and one file each has the figures of vLLM, SGLang and llama.cpp.

// Line is a figure of a log beside memwall's own.
type Line struct {
	// Name is in the engine's words; Device is the rank, device or buffer that the log names.
	Name   string `json:"name"`
	Device string `json:"device,omitempty"`
	Unit   string `json:"unit,omitempty"`
	// Digits behind the point that the engine prints.
	Digits int `json:"digits"`
	// Printed is null when the log does not have the figure, Ours when memwall has none: why says what
	// is missing then.
	Printed    *float64 `json:"printed"`
	Ours       *float64 `json:"ours"`
	Low        *float64 `json:"ours_low,omitempty"`
	High       *float64 `json:"ours_high,omitempty"`
	Difference *float64 `json:"difference"`
	// Equal: rounded to the printed digits, ours is the printed figure. With Given, the printed figure is
	// one that the printed input, rounded as it is, can lead to.
	Equal bool `json:"equal"`
	// Within: the printed figure lies in ours_low to ours_high.
	Within bool `json:"within"`
	// Given names the printed figure that ours was computed from; "" when ours follows from the request.
	Given string        `json:"given,omitempty"`
	Basis *ledger.Basis `json:"basis,omitempty"`
	Why   string        `json:"why,omitempty"`
	// At is the line of the log.
	At int `json:"line,omitempty"`
}

// Compare reads a log with the models of the catalog. overrides are request fields that the log lacks or
// that are known better; a zero Request overrides nothing.
func Compare(log string, overrides Request) (*Answer, error) {
	return (&Asker{}).Compare(strings.NewReader(log), overrides)
}

// Compare reads a log. Models that overrides name are found by the Asker's source; what the log itself
// names is looked up in the catalog only, so that a text never opens a file.
func (a *Asker) Compare(log io.Reader, overrides Request) (*Answer, error) {
	return compared(a.compare(log, &overrides))
}

func compared(out *Answer, err error) (*Answer, error) {
	if err != nil {
		e := asError(err)
		return &Answer{Schema: Schema, Version: Version, Ask: askCompare, Error: e}, e
	}
	out.Schema, out.Version, out.Ask = Schema, Version, askCompare
	return out, nil
}

const askCompare = "compare"

func (a *Asker) compare(text io.Reader, overrides *Request) (*Answer, error) {
	log, err := read(text)
	if err != nil {
		return nil, err
	}
	return a.compareFound(log, overrides)
}

// StartupLog is what a reader found of an engine: in its start-up log, or on the pages of a running server.
type StartupLog = startup.Log

// CompareFound is Compare for what was found elsewhere than in a log.
func (a *Asker) CompareFound(log *StartupLog, overrides Request) (*Answer, error) {
	return compared(a.compareFound(log, &overrides))
}

func (a *Asker) compareFound(log *startup.Log, overrides *Request) (*Answer, error) {
	c := &comparison{log: log}
	if log.Engine == "torch" {
		return c.torch(a, overrides)
	}
	if overrides.Ask == askTrain {
		return nil, &Error{Code: BadField, Field: "ask", Value: askTrain, Message: "this is the start of a server, and no run of training", Hint: "leave --train out"}
	}
	source := c.rebuild(a, overrides)
	c.ask(&Asker{Models: source})
	if err := c.size(); err != nil {
		return nil, err
	}
	c.lineUp()
	return c.answer(), nil
}

// comparison is a log on its way to an answer.
type comparison struct {
	log     *startup.Log
	request Request
	// notes say what the log lacks, and what was taken for it.
	notes []Note
	// noWeights says why weights cannot be told; "" when they can.
	noWeights string
	// described: the device is described by the memory that the log prints.
	described bool
	q         *question
	ranks     []engine.Rank
	sized     *Answer // of the request; nil when it cannot be sized
	lines     []Line
	refused   error
}

func (c *comparison) note(code, severity, field, format string, args ...any) {
	c.notes = append(c.notes, Note{Code: code, Severity: severity, Field: field, Text: fmt.Sprintf(format, args...)})
}

// ask sizes the rebuilt request. A request that cannot be sized leaves the printed figures.
func (c *comparison) ask(a *Asker) {
	q, err := a.prepare(&c.request)
	if err != nil {
		c.refused = err
		return
	}
	c.q, q.book = q, &ledger.Book{}
	c.ranks = q.sizer.Size(q.book, q.job.Load())
}

// size answers the rebuilt request.
func (c *comparison) size() (err error) {
	if c.q != nil {
		c.sized, err = c.q.answer(c.ranks)
	}
	return err
}

// lineUp goes through the printed figures, then through what follows from some of them.
func (c *comparison) lineUp() {
	of := map[string]func(*comparison, *startup.Figure) estimate{"vllm": (*comparison).vllm, "sglang": (*comparison).sglang}[c.log.Engine]
	if of == nil {
		of = (*comparison).llamacpp
	}
	if c.log.Teller != "" {
		of = c.served(of)
	}
	c.each(func(f *startup.Figure) estimate {
		if c.q == nil {
			return unknown("memwall could not size the request")
		}
		return of(c, f)
	})
	if c.q == nil {
		return
	}
	switch c.log.Engine {
	case "tensorrt-llm", "generic":
	case "vllm":
		c.vllmGiven()
	case "sglang":
		c.sglangGiven()
	default:
		if c.log.Teller == "" {
			c.llamacppRest()
		}
	}
}

// each sets memwall's estimate beside every figure; the same figure of several devices is one line.
func (c *comparison) each(estimated func(*startup.Figure) estimate) {
	seen := map[string]int{}
	for _, f := range c.log.Figures {
		if f.ID == "cells" {
			continue // the caches' sizes say it
		}
		key := f.ID + "\x00" + f.Name + "\x00" + f.Text
		if i, ok := seen[key]; ok && !strings.HasSuffix(f.ID, "_buffer") {
			c.lines[i].Device = alsoOn(c.lines[i].Device, f.Device)
			continue
		}
		seen[key] = len(c.lines)
		c.add(&f, estimated(&f), "")
	}
}

// alsoOn joins the names of devices that print the same figure.
func alsoOn(have, more string) string {
	if more == "" || have == more || strings.HasSuffix(have, " "+more) || strings.Contains(have, more+",") {
		return have
	}
	if have == "" {
		return more
	}
	return have + ", " + more
}

// estimate is memwall's figure in the unit of the printed one.
type estimate struct {
	value, low, high float64
	basis            ledger.Basis
	known            bool
	why              string
}

func exactly(x float64) estimate {
	return estimate{value: x, low: x, high: x, known: true}
}

func unknown(format string, args ...any) estimate {
	return estimate{why: fmt.Sprintf(format, args...)}
}

// times changes the unit.
func (e estimate) times(x float64) estimate {
	e.value, e.low, e.high = e.value*x, e.low*x, e.high*x
	return e
}

// total is an estimate in bytes.
func total(t ledger.Total) estimate {
	return estimate{value: float64(t.Bytes), low: float64(t.Low), high: float64(t.High), basis: t.Basis, known: !t.Unknown}
}

// add sets an estimate beside a printed figure. given names the printed input of the estimate.
func (c *comparison) add(f *startup.Figure, e estimate, given string) {
	l := Line{Name: f.Name, Device: f.Device, Unit: f.Unit, Digits: f.Digits, Given: given, Why: e.why, At: f.Line}
	printed := f.Value
	l.Printed = &printed
	if e.known {
		difference := e.value - printed
		l.Ours, l.Low, l.High, l.Difference, l.Basis = &e.value, &e.low, &e.high, &difference, &e.basis
		half := f.Half() * (1 + 1e-9)
		l.Equal = math.Abs(difference) <= half
		l.Within = e.low-half <= printed && printed <= e.high+half
		if given != "" {
			l.Equal = l.Within
		}
	}
	c.lines = append(c.lines, l)
}

// lacks adds a figure that the engine prints and this log does not have.
func (c *comparison) lacks(name, device, unit string, digits int, e estimate) {
	if !e.known {
		return
	}
	c.lines = append(c.lines, Line{Name: name, Device: device, Unit: unit, Digits: digits, Ours: &e.value, Low: &e.low, High: &e.high, Basis: &e.basis, Why: "the log does not print it"})
}

// answer is the fit answer of the rebuilt request with the lines beside it.
func (c *comparison) answer() *Answer {
	a := c.sized
	if a == nil {
		e := asError(c.refused)
		c.note("not_sized", "error", e.Field, "%s", strings.TrimSpace(e.Message+". "+e.Hint))
		p := c.request
		a = &Answer{Verdict: Unknown, Plan: &p}
	}
	a.Compare, a.ReadAs, a.ComparedWith = c.lines, c.readAs(), "log"
	a.Notes = append(c.notes, a.Notes...)
	if c.log.Teller != "" {
		a.ComparedWith = c.log.Teller
	}
	if c.log.Teller == "server" {
		c.retold(a)
	}
	return a
}

// retold lets notes and reasons name who said it.
func (c *comparison) retold(a *Answer) {
	to := strings.NewReplacer("the log", "the "+c.log.Teller, " prints", " says", " print ", " say ", "printed ", "stated ")
	for i := range c.notes {
		a.Notes[i].Text = to.Replace(a.Notes[i].Text)
	}
	for i := range a.Compare {
		a.Compare[i].Why = to.Replace(a.Compare[i].Why)
	}
}

// readAs says in a line what the log was taken for.
func (c *comparison) readAs() string {
	r := &c.request
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
		{"tp", r.TP}, {"pp", r.PP}, {"ep", r.EP}, {"dp", r.DP}, {"context", int64(r.Context)}, {"context_total", int64(r.ContextTotal)}, {"sequences", int64(r.Sequences)},
		{"max_num_seqs", int64(r.MaxSeqs)}, {"max_num_batched_tokens", int64(r.MaxBatchedTokens)}, {"batch", int64(r.BatchTokens)}, {"ubatch", int64(r.UBatch)},
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
