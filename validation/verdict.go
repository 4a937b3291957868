package validation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// Verdicts are called right where a report says whether a plan ran: fits or tight for one that did, does_not_fit or
// tight for one that did not. Tight counts for both, and its share stands beside. A plan is counted once: of those
// that differ only in length or users, the largest.

// Call is a verdict on a plan whose outcome is reported.
type Call struct {
	Row   *Row
	Kind  string
	Ran   bool
	Ours  memwall.Verdict
	Needs string // what the deciding device needs, of what the plan may use
	// Refused says why there is no verdict of ours.
	Refused string
}

// Right reports whether the verdict agrees with the report.
func (c *Call) Right() bool {
	return c.Ours == memwall.Tight || (c.Ours == memwall.Fits) == c.Ran && c.Ours != memwall.Unknown
}

// Calls summarizes one kind of plans.
type Calls struct {
	Kind string
	// Ran and RanRight are plans that ran, and those of them called right; Failed and FailedRight are of the others.
	Ran, RanRight, Failed, FailedRight int
	// Tight verdicts are right either way.
	Tight   int
	Refused map[string]int
	Wrong   []Call
}

// Used counts the plans that were judged.
func (s *Calls) Used() int { return s.Ran + s.Failed }

// RightShare is the share of verdicts called right.
func (s *Calls) RightShare() float64 { return share(s.RanRight+s.FailedRight, s.Used()) }

// Decided is the share of verdicts that are not tight.
func (s *Calls) Decided() float64 { return 1 - share(s.Tight, s.Used()) }

// VerdictTarget is the target share of correct verdicts.
const VerdictTarget = 0.95

// Kinds of plans, by how their end is known.
const (
	vllmLogs    = "vLLM logs"
	vllmPools   = "vLLM logs, pool given"
	sglangLogs  = "SGLang logs"
	told        = "users' reports"
	servingRuns = "serving runs"
	streamRuns  = "llama.cpp runs"
)

var verdictKinds = []string{vllmLogs, vllmPools, sglangLogs, told, servingRuns, streamRuns}

// CallVerdicts evaluates the verdict on every plan whose outcome is reported.
func CallVerdicts(asker *memwall.Asker, sets []Set) ([]Call, error) {
	var all []Call
	for i := range sets {
		if sets[i].Name != trainingSet { // it has a measure of its own
			all = append(all, setCalls(&sets[i])...)
		}
	}
	reports, err := load("rows/reports/*.jsonl")
	if err != nil {
		return nil, err
	}
	for i := range reports {
		all = append(all, setCalls(&reports[i])...)
	}
	streams, err := streamCalls()
	if err != nil {
		return nil, err
	}
	all = slices.Concat(all, streams)
	for i := range all {
		all[i].ask(asker)
	}
	return all, nil
}

// setCalls are the plans of a set whose end is known, each once.
func setCalls(s *Set) []Call {
	var out []Call
	for i := range s.Rows {
		if c, ok := s.Rows[i].call(); ok {
			out = append(out, c)
		}
	}
	if s.Name == "serving" {
		return largest(out)
	}
	return out
}

// call is the plan of a row and its end; ok is false where the row does not tell it.
func (r *Row) call() (c Call, ok bool) {
	ran, known := r.ran()
	if !known || r.Refused != "" {
		return c, false
	}
	c = Call{Row: r, Ran: ran}
	switch {
	case r.Set == "reports":
		c.Kind = told
	case r.Set == "serving":
		return r.served(c), true
	case r.Set == "sglang":
		c.Kind = sglangLogs
	case r.Ask.Hardware == "":
		return r.pooled(c)
	default:
		c.Kind = vllmLogs
	}
	return c, true
}

// served asks for one of the users: programs let those wait who have no room, and that a run ended does not say how
// many had.
func (r *Row) served(c Call) Call {
	q := *r
	q.Ask.Sequences = 1
	if q.Ask.MemFractionStatic == nil && q.Ask.GPUMemoryUtilization == nil {
		q.Note = strings.TrimPrefix(q.Note+"; its memory share is unknown", "; ")
	}
	c.Kind, c.Row = servingRuns, &q
	return c
}

// pooled asks about the pool that a log printed, on any device that holds it, where the log names none.
func (r *Row) pooled(c Call) (Call, bool) {
	q := *r
	q.Ask.Hardware = fmt.Sprintf("%dxh200", r.Ask.Ranks())
	if !kvGiven(&q.Ask, r, 0) {
		return c, false
	}
	c.Kind, c.Row = vllmPools, &q
	return c, true
}

// ran reports what a row says of its plan's end: a program that printed its pool ran, unless one request of full length
// has no room in it. vLLM then does not start; SGLang does, and refuses the request.
func (r *Row) ran() (ran, known bool) {
	if v, ok := r.Got["ran"]; ok {
		return v.Mid > 0, true
	}
	if r.Set == "serving" {
		return true, true
	}
	tokens, printed := r.Got["tokens"]
	if r.Set == "sglang" {
		return tokens.Mid >= float64(r.Ask.Context), printed
	}
	if r.Set != "vllm" {
		return false, false
	}
	available, needed, longest, users := r.Got["kv_available"], r.Got["kv_needed"], r.Got["max_length"], r.Got["concurrency"]
	switch {
	case needed.Text != "" && needed.Mid > available.Mid, available.Mid < 0, longest.Text != "" && longest.Mid < float64(r.Ask.Context),
		users.Text != "" && users.Mid < 1:
		return false, true
	}
	return true, printed || users.Text != ""
}

// largest keeps the plan with most tokens of those that differ only in length, users and what is measured.
func largest(all []Call) []Call {
	most := map[string]int{}
	var out []Call
	for _, c := range all {
		key := kindOfPlan(&c.Row.Ask)
		at, seen := most[key]
		switch {
		case !seen:
			most[key] = len(out)
			out = append(out, c)
		case tokensOf(&c.Row.Ask) > tokensOf(&out[at].Row.Ask):
			out[at] = c
		}
	}
	return out
}

// kindOfPlan is a request without its load.
func kindOfPlan(r *memwall.Request) string {
	q := *r
	q.Context, q.Sequences, q.PromptTokens, q.OutputTokens, q.StreamInterval = 0, 0, 0, 0, 0
	text, err := json.Marshal(&q)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func tokensOf(r *memwall.Request) int64 { return int64(r.Context) * max(1, int64(r.Sequences)) }

// streamCalls are the runs of llama.cpp with all of a model on devices whose memory is known.
func streamCalls() ([]Call, error) {
	rows, err := Streams()
	if err != nil {
		return nil, err
	}
	var out []Call
	for i := range rows {
		if row, ok := rows[i].planRow(); ok {
			out = append(out, Call{Row: row, Kind: streamRuns, Ran: true})
		}
	}
	return largest(out), nil
}

// planRow is the row's plan; ok is false where not all of the model can have lain on the device, or where nobody says
// how much memory the device has: a chip that comes with several, or shares that of its system.
func (r *StreamRow) planRow() (*Row, bool) {
	if r.Refused != "" || r.Engine != "llama.cpp" || r.Backend == "cpu" {
		return nil, false
	}
	m, notes, err := hardware.Parse(r.Device, r.Count)
	if err != nil || len(m.Groups) == 0 || slices.ContainsFunc(notes, func(n hardware.Note) bool { return n.Code == "memory_default" }) {
		return nil, false
	}
	d := &m.Groups[0].Device
	if d.Unified != nil && d.Unified.Rule != "metal" || r.GiB*float64(unit.GiB) > float64(d.Memory.Value)*float64(r.Count) {
		return nil, false
	}
	row := r.asRow()
	if r.Count > 1 {
		row.Note = "how the layers were split is unknown"
	}
	for _, x := range r.tests() {
		row.Ask.Context = max(row.Ask.Context, plan.Int(x[0]+x[1]))
	}
	row.Ask.UBatch = plan.Int(r.UBatch)
	row.Ask.Attention = map[string]string{"1": "flash", "0": "eager"}[r.Flash]
	return &row, true
}

func (c *Call) ask(asker *memwall.Asker) {
	a, err := asker.Size(&c.Row.Ask)
	if err != nil {
		c.Refused = err.Error()
		return
	}
	c.Ours = a.Verdict
	if len(a.Devices) > 0 {
		d := &a.Devices[0]
		c.Needs = fmt.Sprintf("%s (%s–%s) of %s GiB", gib(d.Needed), gib(d.NeededLow), gib(d.NeededHigh), gib(d.Usable))
	}
}

func gib(b unit.Bytes) string { return unit.Fixed(float64(b)/float64(unit.GiB), 2) }

// SumCalls sums calls by kind.
func SumCalls(all []Call) []Calls {
	var out []Calls
	for _, kind := range verdictKinds {
		s := Calls{Kind: kind, Refused: map[string]int{}}
		for i := range all {
			if all[i].Kind == kind {
				s.add(&all[i])
			}
		}
		if s.Used() > 0 {
			out = append(out, s)
		}
	}
	return out
}

func (s *Calls) add(c *Call) {
	if c.Refused != "" {
		s.Refused[c.Refused]++
		return
	}
	right := count(c.Right())
	if c.Ran {
		s.Ran++
		s.RanRight += right
	} else {
		s.Failed++
		s.FailedRight += right
	}
	s.Tight += count(c.Ours == memwall.Tight)
	if right == 0 {
		s.Wrong = append(s.Wrong, *c)
	}
}

// AllCalls returns the sum over all kinds.
func AllCalls(kinds []Calls) *Calls {
	out := &Calls{Kind: "all"}
	for i := range kinds {
		k := &kinds[i]
		out.Ran, out.RanRight = out.Ran+k.Ran, out.RanRight+k.RanRight
		out.Failed, out.FailedRight = out.Failed+k.Failed, out.FailedRight+k.FailedRight
		out.Tight += k.Tight
		out.Wrong = append(out.Wrong, k.Wrong...)
	}
	return out
}

// ByReport sorts wrong calls by what was reported, then by source.
func (s *Calls) ByReport() []Call {
	out := slices.Clone(s.Wrong)
	stable.Sort(out, func(a, b Call) int {
		return cmp.Or(cmp.Compare(count(a.Ran), count(b.Ran)), strings.Compare(a.Row.Source, b.Row.Source))
	})
	return out
}
