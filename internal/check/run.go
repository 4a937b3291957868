package check

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/fault"
	"github.com/memwall/memwall/internal/runfile"
)

// Checker asks plans. File reads a file of the state that is checked, by its path from where the program runs.
type Checker struct {
	Asker memwall.Asker
	File  func(name string) ([]byte, error)
}

// Check reads a file of plans and judges each.
func (c *Checker) Check(name string) (*Run, error) {
	text, err := c.File(name)
	if err != nil {
		return nil, fault.New(fmt.Sprintf("%s cannot be read: %v", name, err), "memwall check FILE, or a "+Name+" here")
	}
	plans, err := Parse(text)
	if err != nil {
		return nil, err
	}
	out := &Run{Schema: memwall.Schema, Version: memwall.Version, File: name, Outcome: Holds}
	asker := c.Asker.Remembering()
	for i := range plans {
		r := c.result(asker, &plans[i])
		out.Plans = append(out.Plans, r)
		out.Outcome = worst(out.Outcome, r.Outcome)
	}
	return out, nil
}

// result asks one plan.
func (c *Checker) result(asker *memwall.Asker, p *Plan) Result {
	r := Result{Name: p.Name, Line: p.Line, Ask: p.Ask}
	q, err := c.request(p, &r)
	var a *memwall.Answer
	if err == nil {
		r.Ask, r.Model, r.On = q.Ask, q.Model, q.Hardware
		r.Command = memwall.CommandLine(q)
		a, err = asker.Ask(q)
	}
	if err != nil {
		r.Outcome, r.Error = Unanswered, memwall.AsError(err)
		return r
	}
	r.Verdict, r.Figures, r.Plan = a.Verdict, figuresOf(a), q
	for i := range p.Must {
		j := judge(&p.Must[i], a.Verdict, &r.Figures)
		r.Musts, r.Outcome = append(r.Musts, j), worst(r.Outcome, j.Outcome)
	}
	return r
}

// request is what a plan asks: what From says, and over it what is set.
func (c *Checker) request(p *Plan, r *Result) (*memwall.Request, error) {
	q := &memwall.Request{}
	if len(p.From) > 0 {
		var err error
		if q, err = c.from(p, r); err != nil {
			return nil, err
		}
	}
	if p.Ask != "" {
		q.Ask = p.Ask
	}
	if q.Ask == "" {
		q.Ask = "fit"
	}
	merged, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	fields := map[string]any{}
	if err := json.Unmarshal(merged, &fields); err != nil {
		return nil, err
	}
	for k, v := range p.Set {
		fields[k] = v
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	q, err = memwall.Decode(text)
	if err != nil {
		return nil, err
	}
	if len(p.From) > 0 {
		for _, n := range memwall.DevicesOfText(q) {
			r.Notes = append(r.Notes, n.Text)
		}
	}
	return q, nil
}

// from reads commands and files, as those of a server or of a training run. A text that is of neither is an error of the one that is
// asked for.
func (c *Checker) from(p *Plan, r *Result) (*memwall.Request, error) {
	var texts [][]byte
	for _, f := range p.From {
		if strings.ContainsAny(strings.TrimSpace(f), " \n") {
			texts = append(texts, []byte(f))
			continue
		}
		text, err := c.File(f)
		if err != nil {
			return nil, &memwall.Error{Code: memwall.BadFile, Field: "from", Value: f,
				Message: fmt.Sprintf("%s cannot be read: %v", f, err), Hint: "a path from where memwall runs, or a command"}
		}
		all, _ := runfile.Gather(f, text, c.File)
		texts = append(texts, all...)
	}
	var q *memwall.Request
	var unread []string
	err := error(nil)
	if p.Ask != "train" && len(texts) == 1 {
		if q, unread, err = memwall.FromCommand(string(texts[0])); err == nil {
			q.Ask = "fit"
		}
	}
	if q == nil && p.Ask != "fit" {
		first := err
		if q, unread, err = memwall.FromTraining(texts); err == nil {
			q.Ask = "train"
		} else if first != nil {
			return nil, first
		}
	}
	if err != nil {
		return nil, err
	}
	if q == nil {
		return nil, &memwall.Error{Code: memwall.BadField, Field: "from",
			Message: "a server has one command or file, and several are listed", Hint: "a plan for each, or ask: train"}
	}
	for _, u := range unread {
		r.Notes = append(r.Notes, "not counted: "+u)
	}
	return q, nil
}

// figuresOf an answer.
func figuresOf(a *memwall.Answer) (f Figures) {
	for i := range a.Devices {
		d := &a.Devices[i]
		if room := float64(d.Usable - d.Needed); d.Usable > 0 && (f.Headroom == nil || room < *f.Headroom) {
			needed, usable := float64(d.Needed), float64(d.Usable)
			f.Headroom, f.Needed, f.Usable = &room, &needed, &usable
		}
		if needed := float64(d.Needed); f.Needed == nil && d.Usable == 0 {
			f.Needed = &needed
		}
	}
	if a.KV != nil && a.KV.MaxSequences != nil {
		n := float64(*a.KV.MaxSequences)
		f.Users = &n
	}
	if v := a.Speed; v != nil {
		f.TTFT, f.TPOT = thousandth(v.TTFT), thousandth(v.TPOT)
	}
	if t := a.Run; t != nil {
		days := t.Days
		f.Days, f.Dollars = &days, t.USD
	}
	return f
}

func thousandth(x *float64) *float64 {
	if x == nil {
		return nil
	}
	s := *x / 1000
	return &s
}

// judge says whether a bound holds.
func judge(m *Must, v memwall.Verdict, f *Figures) Judged {
	j := Judged{Name: m.Name, Bound: m.Bound, Line: m.Line, Outcome: Fails}
	if m.Name == fits {
		j.Found = strings.ReplaceAll(string(v), "_", " ")
		switch {
		case v == memwall.Unknown:
			j.Outcome = Unknown
		case m.Bound == "false" && v == memwall.DoesNotFit, m.Bound == "true" && v != memwall.DoesNotFit,
			m.Bound == "strict" && v == memwall.Fits:
			j.Outcome = Holds
		}
		return j
	}
	b := boundOf(m.Name)
	x := b.of(f)
	if x == nil {
		j.Found, j.Outcome = "unknown", Unknown
		return j
	}
	j.Found = b.print(*x)
	if b.least && *x >= m.limit || !b.least && *x <= m.limit {
		j.Outcome = Holds
	}
	return j
}
