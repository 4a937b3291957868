// Package cause finds why memory ran out: it reads a text with package diagnose, sizes the plan that it shows, and
// matches the failed allocation with what the plan holds.
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

// Diagnose answers what a program printed when memory ran out: what failed, which allocation it is likely to have been,
// and what to change. diagnose/ reads the text, plan.go rebuilds the plan that failed, match.go looks
// for the allocation, cause.go says why, fixes.go what helps.

// Diagnose reads what a program printed, and answers why memory ran out and what helps.
func Diagnose(a *question.Env, text io.Reader, overrides *api.Request) (*api.Answer, error) {
	if err := checkDiagnose(overrides); err != nil {
		return nil, err
	}
	log := bufio.NewReader(text)
	if head, _ := log.Peek(2); torch.Sniff(head) == torch.Pickle { // what cannot be read is an error of the reader
		return nil, &api.Error{Code: api.BadFile, Field: "text",
			Message: "the file is a pickle, as torch.cuda.memory._dump_snapshot writes, and no log", Hint: "memwall snapshot FILE"}
	}
	heard := newHeard()
	report, err := diagnose.Read(log, heard.listeners()...)
	if err != nil {
		return nil, compare.LogError(err)
	}
	d := &diagnosis{env: a, report: report, first: report.First(), overrides: overrides, heard: heard}
	if d.first == nil {
		return &api.Answer{Diagnosed: &api.Diagnosed{Kind: diagnose.None, Lines: report.Lines,
			Cause: "no line tells of memory that ran out"}}, nil
	}
	d.nameEngine()
	if err := d.rebuild(); err != nil {
		return nil, err
	}
	return d.answer(), nil
}

// nameEngine: where the message is a library's, the program is the one that is given, else the one whose start the text
// holds.
func (d *diagnosis) nameEngine() {
	if d.first.Engine != "pytorch" && d.first.Engine != "" {
		return
	}
	name, _, _ := strings.Cut(d.overrides.Engine, "@")
	if l := d.heard.log(); name == "" && l != nil {
		name = l.Engine
	}
	d.first.Engine = cmp.Or(name, d.first.Engine)
}

// checkDiagnose refuses fields that neither servers nor training have.
func checkDiagnose(r *api.Request) error {
	for i := range api.Fields() {
		if f := &api.Fields()[i]; !f.Value(r).IsZero() && !f.OfAsk(api.AskDiagnose) && !f.OfAsk("fit") && !f.OfAsk(api.AskTrain) {
			return &api.Error{Code: api.BadField, Field: f.Name, Value: f.Text(r),
				Message: fmt.Sprintf("%s is no field of %s", f.Name, api.AskDiagnose), Hint: f.BelongsElsewhere()}
		}
	}
	return nil
}

// diagnosis is a text on its way to an answer.
type diagnosis struct {
	env       *question.Env
	report    *diagnose.Report
	first     *diagnose.Finding
	overrides *api.Request
	heard     *heard
	notes     []api.Note
	// plan is the request that failed as far as the text and the overrides tell it, base memwall's answer to it; nil when
	// there is none.
	plan    *api.Request
	base    *api.Answer
	fit     *question.Question
	train   *training.Training
	readAs  string
	matches []api.Match
	// described: the device is described by the capacity that the message prints.
	described bool
}

// answer puts the parts together.
func (d *diagnosis) answer() *api.Answer {
	f := d.first
	d.matches = d.match()
	x := &api.Diagnosed{Kind: f.Kind, Engine: f.Engine, Backend: f.Backend, Device: f.Device, Place: f.Place, Requested: known(f.Requested),
		Free: known(f.Free), Total: known(f.Capacity),
		Allocated: known(f.Allocated), Unallocated: known(f.Unallocated), InUse: known(f.InUse), Others: known(f.Others),
		Limit: known(f.Limit), Short: d.missingBytes(), NeededTokens: f.Needed, AvailableTokens: f.Available,
		Fragmented: d.fragmented(), Matches: d.matches, MoreFound: d.report.More, Lines: d.report.Lines}
	if f.Step >= 0 {
		x.Step = &f.Step
	}
	x.Cause, x.Confidence = d.cause()
	x.Fixes, x.Asked = d.fixes(), d.plan
	x.Command = d.command(x.Fixes)
	x.Found = d.found()
	x.Grows = d.grows()
	if len(x.Grows) > 0 || f.Kind == diagnose.Growth {
		x.Frees = d.frees()
	}
	out := &api.Answer{Diagnosed: x, Plan: d.plan, ReadAs: d.readAs, Notes: d.notes}
	if d.base != nil {
		out.Model, out.Verdict, out.Plan = d.base.Model, d.base.Verdict, d.base.Plan
		out.Devices = d.base.Devices
		if len(d.base.Devices) > 0 {
			x.Ledger = d.base.Devices[0].Ledger
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

// missingBytes is what was missing; nil when the message does not tell.
func (d *diagnosis) missingBytes() *unit.Bytes {
	f := d.first
	if !f.Requested.Known || !f.Free.Known || f.Requested.Bytes <= f.Free.Bytes {
		return nil
	}
	n := f.Requested.Bytes - f.Free.Bytes
	return &n
}

func (d *diagnosis) found() (out []api.Found) {
	for i := range d.report.Findings {
		f := &d.report.Findings[i]
		out = append(out, api.Found{Kind: f.Kind, Engine: f.Engine, Device: f.Device, Place: f.Place, Requested: known(f.Requested),
			Free: known(f.Free), Line: f.Line, Times: f.Times, Ranks: f.Ranks, Text: f.Text, Cut: f.Cut})
	}
	return out
}

func (d *diagnosis) grows() (out []api.Rise) {
	for _, s := range d.report.Series {
		if s.Grows {
			out = append(out, api.Rise{Name: s.Name, Samples: s.Samples, From: s.First, To: s.Last,
				Each: (s.Last - s.First) / unit.Bytes(max(1, s.Samples-1))})
		}
	}
	return out
}
