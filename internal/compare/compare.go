// Package compare sets the figures of a start-up log, a trace or a running server beside those of the plan that they
// show.
package compare

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/internal/planner"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/ledger"
)

// Compare lines up what an engine printed at its start with what memwall says: it reads the log, rebuilds
// the request, asks it, and sets figure beside figure. read.go rebuilds the request,
// model.go finds the model, and one file each has the figures of vLLM, SGLang and llama.cpp.

// Compare reads a log, a trace or a profile, and sets its figures beside those of the plan that it shows.
func Compare(a *question.Env, text io.Reader, overrides *api.Request) (*api.Answer, error) {
	log, err := read(text)
	if err != nil {
		return nil, err
	}
	return CompareFound(a, log, overrides)
}

// StartupLog is what a reader found of an engine: in its start-up log, or on the pages of a running server.
type StartupLog = startup.Log

// CompareFound does the same for what was found elsewhere than in a log.
func CompareFound(a *question.Env, log *startup.Log, overrides *api.Request) (*api.Answer, error) {
	c := &Comparison{Log: log}
	if log.Engine == "torch" {
		return c.torch(a, overrides)
	}
	if overrides.Ask == api.AskTrain {
		return nil, &api.Error{Code: api.BadField, Field: "ask", Value: api.AskTrain,
			Message: "this is the start of a server, and no run of training", Hint: "leave --train out"}
	}
	source := c.Rebuild(a, overrides)
	c.ask(&question.Env{Models: source})
	if err := c.size(); err != nil {
		return nil, err
	}
	c.lineUp()
	return c.answer(), nil
}

// Comparison is a log on its way to an answer.
type Comparison struct {
	Log     *startup.Log
	Request api.Request
	// Notes say what the log lacks, and what was taken for it.
	Notes []api.Note
	// noWeights says why weights cannot be told; "" when they can.
	noWeights string
	// described: the device is described by the memory that the log prints.
	described bool
	q         *question.Question
	ranks     []engine.Rank
	sized     *api.Answer // of the request; nil when it cannot be sized
	lines     []api.Line
	refused   error
}

func (c *Comparison) note(code, severity, field, format string, args ...any) {
	c.Notes = append(c.Notes, api.Note{Code: code, Severity: severity, Field: field, Text: fmt.Sprintf(format, args...)})
}

// ask sizes the rebuilt request. A request that cannot be sized leaves the printed figures.
func (c *Comparison) ask(a *question.Env) {
	q, err := a.Prepare(&c.Request)
	if err != nil {
		c.refused = err
		return
	}
	c.q, q.Book = q, &ledger.Book{}
	c.ranks = q.Sizer.Size(q.Book, q.Job.Load())
}

// size answers the rebuilt request.
func (c *Comparison) size() (err error) {
	if c.q != nil {
		c.sized, err = planner.Answer(c.q, c.ranks)
	}
	return err
}

// lineUp goes through the printed figures, then through what follows from some of them.
func (c *Comparison) lineUp() {
	of := map[string]func(*Comparison, *startup.Figure) estimate{"vllm": (*Comparison).vllm, "sglang": (*Comparison).sglang}[c.Log.Engine]
	if of == nil {
		of = (*Comparison).llamacpp
	}
	if c.Log.Teller != "" {
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
	switch c.Log.Engine {
	case "tensorrt-llm", "generic":
	case "vllm":
		c.vllmGiven()
	case "sglang":
		c.sglangGiven()
	default:
		if c.Log.Teller == "" {
			c.llamacppRest()
		}
	}
}

// each sets memwall's estimate beside every figure; the same figure of several devices is one line.
func (c *Comparison) each(estimated func(*startup.Figure) estimate) {
	seen := map[string]int{}
	for _, f := range c.Log.Figures {
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
func (c *Comparison) add(f *startup.Figure, e estimate, given string) {
	l := api.Line{Name: f.Name, Device: f.Device, Unit: f.Unit, Digits: f.Digits, Given: given, Why: e.why, At: f.Line}
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
func (c *Comparison) lacks(name, device, unit string, digits int, e estimate) {
	if !e.known {
		return
	}
	c.lines = append(c.lines, api.Line{Name: name, Device: device, Unit: unit, Digits: digits, Ours: &e.value, Low: &e.low, High: &e.high,
		Basis: &e.basis, Why: "the log does not print it"})
}

// answer is the fit answer of the rebuilt request with the lines beside it.
func (c *Comparison) answer() *api.Answer {
	a := c.sized
	if a == nil {
		e := api.AsError(c.refused)
		c.note("not_sized", "error", e.Field, "%s", strings.TrimSpace(e.Message+". "+e.Hint))
		p := c.Request
		a = &api.Answer{Verdict: api.Unknown, Plan: &p}
	}
	a.Compare, a.ReadAs, a.ComparedWith = c.lines, c.ReadAs(), "log"
	a.Notes = append(c.Notes, a.Notes...)
	if c.Log.Teller != "" {
		a.ComparedWith = c.Log.Teller
	}
	if c.Log.Teller == "server" {
		c.renameSpeaker(a)
	}
	return a
}

// renameSpeaker lets notes and reasons name who said it.
func (c *Comparison) renameSpeaker(a *api.Answer) {
	to := strings.NewReplacer("the log", "the "+c.Log.Teller, " prints", " says", " print ", " say ", "printed ", "stated ")
	for i := range c.Notes {
		a.Notes[i].Text = to.Replace(a.Notes[i].Text)
	}
	for i := range a.Compare {
		a.Compare[i].Why = to.Replace(a.Compare[i].Why)
	}
}

// ReadAs says in a line what the log was taken for.
func (c *Comparison) ReadAs() string {
	r := &c.Request
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
