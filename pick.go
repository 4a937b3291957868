package memwall

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/search"
	"github.com/memwall/memwall/unit"
)

const askPick = "pick"

// Pick is a model that hardware runs, in the best format that leaves room for the context.
type Pick struct {
	Model      string            `json:"model"`
	Name       string            `json:"name"`
	Released   string            `json:"released"`
	Parameters int64             `json:"parameters"`
	Active     int64             `json:"active_parameters"`
	Weights    string            `json:"weights"`
	Contexts   []PickedAt        `json:"contexts"`
	MaxContext *int64            `json:"max_context"`
	Headroom   unit.Bytes        `json:"headroom_bytes"`
	Speed      *Speed            `json:"speed"`
	Quality    *Quality          `json:"quality"`
	Plan       *Request          `json:"plan"`
	Flags      map[string]string `json:"flags,omitempty"`
}

// PickedAt is what a pick needs at a context.
type PickedAt struct {
	Context int64      `json:"context"`
	Needed  unit.Bytes `json:"needed_bytes"`
	Verdict Verdict    `json:"verdict"`
}

// picker looks for models that hardware runs.
type picker struct {
	asker     *Asker
	asked     Request
	machine   hardware.Machine
	evaluated Evaluated
}

// pickContexts are the contexts that picks are sized at beside the one that was asked for.
var pickContexts = []int64{8192, 32768, 131072}

// usualPicks is how many are looked for, unless all are.
const usualPicks = 8

// pick answers which models a machine runs: the largest first, or the fastest, each in the best of the formats that
// are usually served and leave room for the context and its users. It stops early when its context ends.
func (a *Asker) pick(ctx context.Context, r *Request) (*Answer, error) {
	if r.Hardware == "" {
		return nil, &Error{Code: BadField, Field: "hardware", Message: "hardware is missing", Hint: "memwall pick --on rtx-4090"}
	}
	if err := r.Plan.Check(); err != nil {
		return nil, err
	}
	if r.Weights != "" && dtype.FindRecipe(r.Weights) == nil {
		return nil, &Error{Code: BadField, Field: "weights", Value: shorten(r.Weights), Message: fmt.Sprintf("weights = %q is no known format or recipe", shorten(r.Weights)), Hint: "memwall formats lists them: bf16, fp8, awq, q4_k_m, …"}
	}
	p := &picker{asker: a.remembering(), asked: *r}
	p.asked.Ask, p.asked.Goal = "fit", nil
	m, notes, err := p.asker.find(r.Hardware, int(r.Devices))
	if err != nil {
		return nil, err
	}
	p.machine = m
	if r.Context == 0 {
		p.asked.Context = plan.Int(pickContexts[0])
	}
	if p.asked.Engine == "" {
		p.asked.Engine = p.engine()
	}
	shown := p.asked
	shown.Ask = askPick
	out := &Answer{Plan: &shown}
	for _, n := range notes {
		out.Notes = append(out.Notes, Note{Code: n.Code, Severity: "info", Field: "hardware", Text: n.Text})
	}
	fastest := r.Goal != nil && r.Goal.Minimize == "latency"
	out.Picks, err = p.picks(ctx, fastest || r.All)
	if fastest {
		shown.Goal = r.Goal
		out.Picks = quickest(out.Picks)
	}
	if !r.All {
		out.Picks = out.Picks[:min(len(out.Picks), usualPicks)]
	}
	out.Evaluated = &p.evaluated
	return out, err
}

// quickest are the picks that no larger one is as fast as, the largest first: what size costs in speed.
func quickest(picks []Pick) []Pick {
	var out []Pick
	for _, i := range search.Front(len(picks), func(i, j int) (better, worse int) {
		return compare2(float64(picks[i].Parameters), float64(picks[j].Parameters), decodeOf(picks[i].Speed), decodeOf(picks[j].Speed))
	}) {
		out = append(out, picks[i])
	}
	return out
}

// compare2 says in how many of two figures the first thing is the larger one, and in how many the second is.
func compare2(a, b, c, d float64) (better, worse int) {
	for _, x := range [2]int{cmp.Compare(a, b), cmp.Compare(c, d)} {
		switch {
		case x > 0:
			better++
		case x < 0:
			worse++
		}
	}
	return better, worse
}

func decodeOf(v *Speed) float64 {
	if v == nil || v.Decode == nil {
		return 0
	}
	return *v.Decode
}

// engine is what people run on such devices: vLLM where the memory is a data centre's, llama.cpp elsewhere.
func (p *picker) engine() string {
	if len(p.machine.Groups) > 0 && strings.HasPrefix(p.machine.Groups[0].Device.Kind, "HBM") {
		return "vllm"
	}
	return "llama.cpp"
}

// listedModel is a model of the catalog.
type listedModel struct {
	entry  *catalog.Entry
	model  *model.Model
	params int64
}

// picks of the catalog, largest first.
func (p *picker) picks(ctx context.Context, all bool) (out []Pick, err error) {
	models := p.models()
	for i, l := range models {
		p.came(i, len(models), out)
		if err := ctx.Err(); err != nil {
			return out, err
		}
		if slices.ContainsFunc(out, func(o Pick) bool { return alike(&o, &l) }) {
			continue
		}
		if k, ok := p.best(&l); ok {
			out = append(out, k)
		}
		if len(out) == usualPicks && !all {
			break
		}
	}
	return out, nil
}

// alike: nearly as many parameters and the same first word: a newer one of the same line stands already.
func alike(o *Pick, l *listedModel) bool {
	a, _, _ := strings.Cut(o.Model, "-")
	b, _, _ := strings.Cut(l.entry.ID, "-")
	diff := o.Parameters - l.params
	return strings.TrimRight(a, "0123456789.") == strings.TrimRight(b, "0123456789.") && max(diff, -diff) < o.Parameters/25
}

// models of the catalog that write text, the largest first, of equals the newest.
func (p *picker) models() (out []listedModel) {
	entries := catalog.All()
	from := p.since(entries)
	for i := range entries {
		e := &entries[i]
		if e.Released < from {
			continue
		}
		s, err := e.Spec()
		if err != nil {
			continue
		}
		m := s.Model(e.ID)
		if !m.Samples() || !m.Remembers() || m.Context > 0 && m.Context < int64(p.asked.Context) {
			continue
		}
		out = append(out, listedModel{e, m, m.Params()})
	}
	slices.SortStableFunc(out, func(a, b listedModel) int {
		return cmp.Or(-cmp.Compare(a.params, b.params), -cmp.Compare(a.entry.Released, b.entry.Released))
	})
	return out
}

// recent is for how many years people go on asking for a model.
const recent = 2

// since is the first month of models that are looked at, unless all are.
func (p *picker) since(entries []catalog.Entry) string {
	if p.asked.All {
		return ""
	}
	newest := slices.MaxFunc(entries, func(a, b catalog.Entry) int { return cmp.Compare(a.Released, b.Released) }).Released
	year, month, _ := strings.Cut(newest, "-")
	n, err := strconv.Atoi(year)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d-%s", n-recent, month)
}

// usualFormats are those in which people run models of others, the best first.
var (
	usualGGUF = []string{"q8_0", "q6_k", "q5_k_m", "q4_k_m"}
	usualHub  = []string{"", "fp8", "awq"}
)

func (p *picker) formats(e *catalog.Entry) []string {
	switch {
	case p.asked.Weights != "":
		return []string{p.asked.Weights}
	case p.asked.Engine != "llama.cpp":
		return usualHub
	case e.Weights != "" && dtype.FindRecipe(e.Weights) != nil && dtype.FindRecipe(e.Weights).InGGUF() != nil:
		return []string{e.Weights} // quantised by its makers, and nothing larger is better
	}
	return usualGGUF
}

// best is the first format in which a model leaves room for the context and its users.
func (p *picker) best(l *listedModel) (Pick, bool) {
	for _, name := range p.formats(l.entry) {
		p.evaluated.Decided++
		if !p.mayFit(l, name) {
			continue
		}
		r := p.asked
		r.Model, r.Weights = l.entry.ID, name
		q, ranks, err := p.asker.sized(&r)
		p.evaluated.Full++
		if err != nil {
			return Pick{}, false // the engine does not load it
		}
		if q.verdict(ranks) != Fits {
			continue
		}
		return p.picked(l, q, ranks), true
	}
	return Pick{}, false
}

// mayFit: the weights alone are less than all devices hold.
func (p *picker) mayFit(l *listedModel, recipe string) bool {
	r := dtype.FindRecipe(cmp.Or(recipe, l.entry.Weights, "bf16"))
	room := p.machine.Memory()
	return r == nil || room == 0 || l.model.Store(r).Bytes() <= room
}

func (p *picker) picked(l *listedModel, q *question, ranks []engine.Rank) Pick {
	a := q.size(ranks)
	k := Pick{Model: l.entry.ID, Name: l.entry.Name, Released: l.entry.Released, Parameters: l.params, Active: l.model.ActiveParams(), Weights: q.request.Weights, Headroom: a.Devices[0].Headroom, Speed: a.Speed, Plan: a.Plan, Flags: q.flags()}
	asPublished := *a.Plan
	asPublished.Weights = cmp.Or(l.entry.Weights, dtype.BF16.Name)
	k.Quality = qualityOf(q.judged(), &asPublished, a.Plan)
	k.MaxContext = q.maxContext(q.job.Load().Sequences)
	if t := q.job.Model.Context; k.MaxContext != nil && t > 0 && *k.MaxContext > t {
		k.MaxContext = &t
	}
	for _, c := range pickContexts {
		if t := q.job.Model.Context; t > 0 && c > t {
			continue
		}
		ranks := q.sizes(engine.Load{Context: c, Sequences: q.job.Load().Sequences})
		decidingFirst(ranks)
		k.Contexts = append(k.Contexts, PickedAt{c, ranks[0].Needed().Bytes, q.verdict(ranks)})
	}
	return k
}
