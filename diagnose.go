package memwall

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/memwall/memwall/diagnose"
	"github.com/memwall/memwall/unit"
)

// Diagnose answers what a program printed when memory ran out: what failed, which allocation it is likely to have been,
// and what to change. diagnose/ reads the text, diagnose_plan.go rebuilds the plan that failed, diagnose_match.go looks
// for the allocation, diagnose_cause.go says why, diagnose_fixes.go what helps.

const askDiagnose = "diagnose"

// Diagnosed is the answer to a message of failure.
type Diagnosed struct {
	// Kind is what ran out; none when the text holds no such message.
	Kind diagnose.Kind `json:"kind"`
	// Engine is the program that printed it, Backend the driver below it, Device as the message calls it.
	Engine  string         `json:"engine,omitempty"`
	Backend string         `json:"backend,omitempty"`
	Device  string         `json:"device,omitempty"`
	Place   diagnose.Place `json:"place,omitempty"`
	// Figures of the message; null when it does not have them.
	Requested   *unit.Bytes `json:"requested_bytes"`
	Free        *unit.Bytes `json:"free_bytes"`
	Total       *unit.Bytes `json:"capacity_bytes,omitempty"`
	Allocated   *unit.Bytes `json:"allocated_bytes,omitempty"`
	Unallocated *unit.Bytes `json:"unallocated_bytes,omitempty"`
	InUse       *unit.Bytes `json:"process_bytes,omitempty"`
	Others      *unit.Bytes `json:"other_processes_bytes,omitempty"`
	Limit       *unit.Bytes `json:"limit_bytes,omitempty"`
	// Short is what was missing: requested less free.
	Short           *unit.Bytes `json:"short_bytes,omitempty"`
	NeededTokens    int64       `json:"needed_tokens,omitempty"`
	AvailableTokens int64       `json:"available_tokens,omitempty"`
	// Step of training at which it failed, where the log counts them.
	Step *int64 `json:"at_step,omitempty"`
	// Fragmented: enough was reserved, but in pieces.
	Fragmented bool   `json:"fragmented,omitempty"`
	Cause      string `json:"cause,omitempty"`
	// Confidence in the cause: high, medium or low.
	Confidence string `json:"confidence,omitempty"`
	// Matches are allocations of the plan that have the requested size.
	Matches []Match `json:"matches,omitempty"`
	// Ledger is what the plan holds on the device, by memwall.
	Ledger []Item `json:"ledger,omitempty"`
	Fixes  []Fix  `json:"fixes,omitempty"`
	// Asked is the plan as the text and the fields give it, without defaults: patches are for it.
	Asked *Request `json:"asked,omitempty"`
	// Command runs the plan with the first fix.
	Command string `json:"command,omitempty"`
	// Found are all messages of the text, this one among them.
	Found []Found `json:"found,omitempty"`
	// MoreFound were left out of found.
	MoreFound int `json:"more_found,omitempty"`
	// Grows are figures of the log that keep rising, Frees what gives such memory back and what does not.
	Grows []Rise `json:"grows,omitempty"`
	Frees []Fix  `json:"frees,omitempty"`
	Lines int    `json:"lines"`
}

// Match is an allocation of the plan that has the requested size, by memwall's own count.
type Match struct {
	Name    string     `json:"name"`
	Formula string     `json:"formula"`
	Bytes   unit.Bytes `json:"bytes"`
	// Exact: it has the size to the last printed digit. Solved: a number of tokens was chosen to make it so.
	Exact  bool  `json:"exact"`
	Solved bool  `json:"solved,omitempty"`
	Tokens int64 `json:"tokens,omitempty"`
	// item: it is one of the ledger, whose formula is in letters.
	item bool
}

// Fix is a change that helps.
type Fix struct {
	// When is now for what the next start can do, later for what changes more than its arguments.
	When    string         `json:"when"`
	Text    string         `json:"text"`
	Saves   *unit.Bytes    `json:"saves_bytes,omitempty"`
	Patch   map[string]any `json:"patch,omitempty"`
	Verdict Verdict        `json:"verdict,omitempty"`
	Speed   *float64       `json:"speed_ratio,omitempty"`
	Quality *Quality       `json:"quality,omitempty"`
}

// Found is one message of the text.
type Found struct {
	Kind      diagnose.Kind  `json:"kind"`
	Engine    string         `json:"engine,omitempty"`
	Device    string         `json:"device,omitempty"`
	Place     diagnose.Place `json:"place,omitempty"`
	Requested *unit.Bytes    `json:"requested_bytes,omitempty"`
	Free      *unit.Bytes    `json:"free_bytes,omitempty"`
	Line      int            `json:"line"`
	Times     int            `json:"times"`
	Ranks     []string       `json:"ranks,omitempty"`
	// Text is the message, cut, with keys and passwords blotted out.
	Text string `json:"text"`
	Cut  bool   `json:"cut,omitempty"`
}

// Rise is a figure that a log prints again and again, and that rises.
type Rise struct {
	Name    string     `json:"name"`
	Samples int64      `json:"samples"`
	From    unit.Bytes `json:"from_bytes"`
	To      unit.Bytes `json:"to_bytes"`
	Each    unit.Bytes `json:"bytes_per_sample"`
}

// Diagnose reads a text with the models of the catalog. overrides are fields of the plan that the text lacks.
func Diagnose(text string, overrides Request) (*Answer, error) {
	return (&Asker{}).Diagnose(strings.NewReader(text), overrides)
}

// Diagnose reads a text of any length. Models that overrides name are found by the Asker's source; what the text itself
// names is looked up in the catalog only, so that a text never opens a file.
func (a *Asker) Diagnose(text io.Reader, overrides Request) (*Answer, error) {
	out, err := a.diagnose(text, &overrides)
	if err != nil {
		e := asError(err)
		return &Answer{Schema: Schema, Version: Version, Ask: askDiagnose, Error: e}, e
	}
	out.Schema, out.Version, out.Ask = Schema, Version, askDiagnose
	return out, nil
}

func (a *Asker) diagnose(text io.Reader, overrides *Request) (*Answer, error) {
	if err := overrides.ofDiagnose(); err != nil {
		return nil, err
	}
	heard := newHeard()
	report, err := diagnose.Read(text, heard.listeners()...)
	if err != nil {
		return nil, logError(err)
	}
	d := &diagnosis{asker: a, report: report, first: report.First(), overrides: overrides, heard: heard}
	if d.first == nil {
		return &Answer{Diagnosed: &Diagnosed{Kind: diagnose.None, Lines: report.Lines, Cause: "no line tells of memory that ran out"}}, nil
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

// ofDiagnose refuses fields that neither servers nor training have.
func (r *Request) ofDiagnose() error {
	for i := range Fields() {
		if f := &Fields()[i]; !f.Value(r).IsZero() && !f.OfAsk(askDiagnose) && !f.OfAsk("fit") && !f.OfAsk(askTrain) {
			return &Error{Code: BadField, Field: f.Name, Value: f.text(r), Message: fmt.Sprintf("%s is no field of %s", f.Name, askDiagnose), Hint: f.elsewhere()}
		}
	}
	return nil
}

// diagnosis is a text on its way to an answer.
type diagnosis struct {
	asker     *Asker
	report    *diagnose.Report
	first     *diagnose.Finding
	overrides *Request
	heard     *heard
	notes     []Note
	// plan is the request that failed as far as the text and the overrides tell it, base memwall's answer to it; nil when
	// there is none.
	plan    *Request
	base    *Answer
	fit     *question
	train   *training
	readAs  string
	matches []Match
	// described: the device is described by the capacity that the message prints.
	described bool
}

// answer puts the parts together.
func (d *diagnosis) answer() *Answer {
	f := d.first
	d.matches = d.match()
	x := &Diagnosed{Kind: f.Kind, Engine: f.Engine, Backend: f.Backend, Device: f.Device, Place: f.Place, Requested: known(f.Requested), Free: known(f.Free), Total: known(f.Capacity),
		Allocated: known(f.Allocated), Unallocated: known(f.Unallocated), InUse: known(f.InUse), Others: known(f.Others), Limit: known(f.Limit), Short: d.short(), NeededTokens: f.Needed, AvailableTokens: f.Available,
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
	out := &Answer{Diagnosed: x, Plan: d.plan, ReadAs: d.readAs, Notes: d.notes}
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

// short is what was missing; nil when the message does not tell.
func (d *diagnosis) short() *unit.Bytes {
	f := d.first
	if !f.Requested.Known || !f.Free.Known || f.Requested.Bytes <= f.Free.Bytes {
		return nil
	}
	n := f.Requested.Bytes - f.Free.Bytes
	return &n
}

func (d *diagnosis) found() (out []Found) {
	for i := range d.report.Findings {
		f := &d.report.Findings[i]
		out = append(out, Found{Kind: f.Kind, Engine: f.Engine, Device: f.Device, Place: f.Place, Requested: known(f.Requested), Free: known(f.Free), Line: f.Line, Times: f.Times, Ranks: f.Ranks, Text: f.Text, Cut: f.Cut})
	}
	return out
}

func (d *diagnosis) grows() (out []Rise) {
	for _, s := range d.report.Series {
		if s.Grows {
			out = append(out, Rise{Name: s.Name, Samples: s.Samples, From: s.First, To: s.Last, Each: (s.Last - s.First) / unit.Bytes(max(1, s.Samples-1))})
		}
	}
	return out
}
