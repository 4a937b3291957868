package train

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/training"
	"github.com/memwall/memwall/train"
	"github.com/memwall/memwall/unit"
)

// tally counts and remembers plans that a search does not keep.
type tally struct {
	evaluated api.Evaluated
	refused   []*api.Error    // reasons for refusal, each once
	seen      map[string]bool // list words that a plan was sized with
	model     *api.ModelInfo  // of the first plan sized
	nearest   *api.Candidate  // does not fit
}

// refuse remembers why plans were refused, each reason once.
func (t *tally) refuse(e *api.Error) {
	const enough = 64
	if len(t.refused) < enough && !slices.ContainsFunc(t.refused,
		func(x *api.Error) bool { return x.Field == e.Field && x.Message == e.Message }) {
		t.refused = append(t.refused, e)
	}
}

// refusal returns why nothing was sized: the reason about a given field, else the first.
func (f *found) refusal() error {
	for _, e := range f.refused {
		if given := api.FieldByName(e.Field); given != nil && !given.Value(f.original).IsZero() {
			return e
		}
	}
	if len(f.refused) > 0 {
		return f.refused[0]
	}
	return &api.Error{Code: api.ImpossiblePlan, Message: "no grouping of these devices fits these settings",
		Hint: "give less: what is absent is searched"}
}

// reason returns why a word was refused.
func (t *tally) reason(word string) string {
	for _, e := range t.refused {
		if e.Value == word || strings.Contains(e.Message, word) {
			return e.Message
		}
	}
	return "it does not go with the rest"
}

// keepNearest keeps the plan with the smallest shortage, on devices or on the host.
func (f *found) keepNearest(x *site, r *api.Request, t *training.Training, worst *train.Rank, ranks []engine.Rank) {
	c := missed(r, t, ranks)
	if f.nearest != nil && c.Lacks <= f.nearest.Lacks {
		return
	}
	p := &candidate{request: *r, site: x}
	c.Change, c.Capacity, c.USDPerHour = p.words(f.original), x.capacity, x.perHour
	c.Plan, c.Patch = t.Question.Plan(), f.patch(r)
	if c.Why = fills(worst); c.Lacks < c.Headroom {
		c.Why = "what it keeps in the memory of a node"
	}
	f.nearest = &c
}

// missed describes the shortage of a plan that does not fit, on devices and on the host.
func missed(r *api.Request, t *training.Training, ranks []engine.Rank) api.Candidate {
	room := question.Headroom(&ranks[0])
	c := api.Candidate{Verdict: api.DoesNotFit, Headroom: room, Lacks: room}
	if r.Offload != nil {
		left := hostLeft(t, ranks)
		c.HostHeadroom, c.Lacks = &left, min(room, left)
	}
	if c.Lacks >= 0 {
		c.Verdict = api.Tight
	}
	return c
}

// hostLeft returns what a plan leaves of a node's host memory, or of what such a host usually has if that is unknown.
func hostLeft(t *training.Training, ranks []engine.Rank) unit.Bytes {
	m := t.Question.Job.Machine
	needs := question.HostNeeds(t.Question.Job, ranks).High
	if host, known := question.HostCapacity(m); known {
		return host.Bytes() - needs
	}
	return question.SpareHost(m) - needs
}

// fills describes what fills a device at its peak.
func fills(r *train.Rank) string {
	phase := &r.Phases[r.Peak]
	var name string
	var most unit.Bytes
	for _, it := range question.OnDevice(phase.Items) {
		if it.Bytes > most {
			name, most = it.Name, it.Bytes
		}
	}
	return fmt.Sprintf("%s are %s of %s at %s", name, most, r.Usable.Bytes(), api.PhaseWords(phase.Name))
}
