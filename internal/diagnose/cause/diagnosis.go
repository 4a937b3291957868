// Package cause finds out why memory ran out: it reads a text with package diagnose, sizes the plan that the text
// shows, and matches the failed allocation with what the plan holds.
package cause

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/diagnose"
	"github.com/memwall/memwall/engine/torch"
	"github.com/memwall/memwall/internal/compare"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/training"
	"github.com/memwall/memwall/unit"
)

// Diagnose explains the output of a program that ran out of memory: what failed, which allocation it probably was, and what to
// change. Package diagnose reads the text, plan.go rebuilds the failed plan, match.go looks for the allocation, cause.go explains,
// and fixes.go lists what helps.

// Diagnose reads what a program printed, and answers why memory ran out and what helps.
func Diagnose(a *question.Env, text io.Reader, overrides *api.Request) (*api.Answer, error) {
	if err := checkDiagnose(overrides); err != nil {
		return nil, err
	}
	log := bufio.NewReader(text)
	if head, _ := log.Peek(2); torch.Sniff(head) == torch.Pickle { // the reader reports its errors
		return nil, &api.Error{Code: api.BadFile, Field: "text",
			Message: "the file is a pickle, as torch.cuda.memory._dump_snapshot writes, and no log", Hint: "memwall snapshot FILE"}
	}
	t := &reading{overrides: overrides, heard: newHeard()}
	report, err := diagnose.Read(log, t.heard.listeners()...)
	if err != nil {
		return nil, compare.LogError(err)
	}
	t.report, t.first = report, report.First()
	if t.first == nil {
		return &api.Answer{Diagnosed: &api.Diagnosed{Kind: diagnose.None, Lines: report.Lines,
			Cause: "no line tells of memory that ran out"}}, nil
	}
	t.nameEngine()
	p, err := rebuild(a, t)
	if err != nil {
		return nil, err
	}
	return p.diagnosed(), nil
}

// nameEngine sets the program of a library's message: the one given, else the one whose startup the text contains.
func (t *reading) nameEngine() {
	if t.first.Engine != "pytorch" && t.first.Engine != "" {
		return
	}
	name, _, _ := strings.Cut(t.overrides.Engine, "@")
	if l := t.heard.log(); name == "" && l != nil {
		name = l.Engine
	}
	t.first.Engine = cmp.Or(name, t.first.Engine)
}

// checkDiagnose rejects fields that neither serving nor training has.
func checkDiagnose(r *api.Request) error {
	for i := range api.Fields() {
		if f := &api.Fields()[i]; !f.Value(r).IsZero() && !f.OfAsk(api.AskDiagnose) && !f.OfAsk("fit") && !f.OfAsk(api.AskTrain) {
			return &api.Error{Code: api.BadField, Field: f.Name, Value: f.Text(r),
				Message: fmt.Sprintf("%s is not a field of %s", f.Name, api.AskDiagnose), Hint: f.BelongsElsewhere()}
		}
	}
	return nil
}

// reading is a text, with the first failure it reports.
type reading struct {
	report    *diagnose.Report
	first     *diagnose.Finding
	overrides *api.Request
	heard     *heard
}

// failed is the failed plan, as far as known from the text and the overrides, with the answer to it.
type failed struct {
	*reading
	notes  []api.Note
	plan   *api.Request       // nil if the text shows none
	base   *api.Answer        // nil if the plan cannot be sized
	fit    *question.Question // if serving
	train  *training.Training // if training
	readAs string
	// described reports that the device is described by the capacity in the message.
	described bool
}

// diagnosed returns the answer: the failure, its cause and what helps, with the failed plan.
func (p *failed) diagnosed() *api.Answer {
	f, matches := p.first, p.match()
	x := &api.Diagnosed{Kind: f.Kind, Engine: f.Engine, Backend: f.Backend, Device: f.Device, Place: f.Place, Requested: known(f.Requested),
		Free: known(f.Free), Total: known(f.Capacity),
		Allocated: known(f.Allocated), Unallocated: known(f.Unallocated), InUse: known(f.InUse), Others: known(f.Others),
		Limit: known(f.Limit), Short: missingBytes(f), NeededTokens: f.Needed, AvailableTokens: f.Available,
		Fragmented: fragmented(f), Matches: matches, MoreFound: p.report.More, Lines: p.report.Lines}
	if f.Step >= 0 {
		x.Step = &f.Step
	}
	why := p.cause(matches)
	x.Cause, x.Confidence = why.text, why.confidence
	x.Fixes, x.Asked = p.fixes(matches), p.plan
	x.Command = p.command(x.Fixes)
	x.Found, x.Grows = allFound(p.report), grows(p.report)
	if len(x.Grows) > 0 || f.Kind == diagnose.Growth {
		x.Frees = frees(f)
	}
	out := &api.Answer{Diagnosed: x, Plan: p.plan, ReadAs: p.readAs, Notes: p.notes}
	if p.base != nil {
		out.Model, out.Verdict, out.Plan = p.base.Model, p.base.Verdict, p.base.Plan
		out.Devices = p.base.Devices
		if len(p.base.Devices) > 0 {
			x.Ledger = p.base.Devices[0].Ledger
		}
	}
	return out
}

func known(a diagnose.Amount) *unit.Bytes {
	if !a.Known {
		return nil
	}
	return &a.Bytes
}

// missingBytes returns the shortage; nil if the message does not state it.
func missingBytes(f *diagnose.Finding) *unit.Bytes {
	if !f.Requested.Known || !f.Free.Known || f.Requested.Bytes <= f.Free.Bytes {
		return nil
	}
	n := f.Requested.Bytes - f.Free.Bytes
	return &n
}

func allFound(r *diagnose.Report) (out []api.Found) {
	for i := range r.Findings {
		f := &r.Findings[i]
		out = append(out, api.Found{Kind: f.Kind, Engine: f.Engine, Device: f.Device, Place: f.Place, Requested: known(f.Requested),
			Free: known(f.Free), Line: f.Line, Times: f.Times, Ranks: f.Ranks, Text: f.Text, Cut: f.Cut})
	}
	return out
}

func grows(r *diagnose.Report) (out []api.Rise) {
	for _, s := range r.Series {
		if s.Grows {
			out = append(out, api.Rise{Name: s.Name, Samples: s.Samples, From: s.First, To: s.Last,
				Each: (s.Last - s.First) / unit.Bytes(max(1, s.Samples-1))})
		}
	}
	return out
}
