package memwall

import (
	"math"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/timing"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/plan"
)

// grid is plans of every kind for a model.
func grid(id string) []Request {
	var out []Request
	for _, e := range Engines() {
		for _, on := range []string{"h100", "8xh200", "2xrtx-4090"} {
			for _, weights := range []string{"", "fp8", "q4_k_m"} {
				out = append(out, Request{Ask: "fit", Model: id, Hardware: on,
					Plan: plan.Plan{Engine: e, Weights: weights, Context: 4096, Sequences: 3}})
			}
		}
	}
	return out
}

// TestFormulasGiveTheirNumbers: over catalog × engines × plans, every printed formula with its printed
// inputs evaluates to the printed number.
func TestFormulasGiveTheirNumbers(t *testing.T) {
	t.Parallel()
	var asked, checked atomic.Int64
	t.Run("catalog", func(t *testing.T) {
		families := map[string]bool{}
		for i, id := range catalog.IDs() {
			m, err := catalogOnce.Model(id)
			if err != nil {
				t.Fatal(err)
			}
			first := !families[m.Spec.Family]
			families[m.Spec.Family] = true
			t.Run(id, func(t *testing.T) {
				t.Parallel()
				one, ask := asker().Remembering(), (*Asker).Ask // the first plan with all that would help, too
				for j, r := range grid(id) {
					if !chosen(i, j, first) {
						continue
					}
					r.Explain = true
					a, err := ask(one, &r)
					if err != nil {
						continue // refused: another test holds refusals
					}
					ask = explained
					asked.Add(1)
					checked.Add(int64(len(a.Explain)))
					checkFormulas(t, &r, a)
				}
			})
		}
	})
	t.Logf("%d plans, %d formulas", asked.Load(), checked.Load())
	if asked, checked := asked.Load(), checked.Load(); asked < 500 || checked < 20*asked {
		t.Errorf("only %d plans and %d formulas were checked", asked, checked)
	}
}

// explained is the answer to a fit with the formulas of its ledgers, figures and times, without the search for what would help, whose
// numbers are not formulas.
func explained(a *Asker, r *Request) (*Answer, error) {
	q, err := a.env().Prepare(r)
	if err != nil {
		return nil, err
	}
	q.Book = &ledger.Book{}
	ranks, err := q.Ledgers()
	if err != nil {
		return nil, err
	}
	out := timing.SizedAnswer(q, ranks)
	timing.ExplainSpeed(q.Explain, out.Speed, timing.Source(out.Speed))
	q.Explain.Rest(out)
	out.Explain = q.Explain.Out
	return out, nil
}

// chosen says which plans of the grid are asked of the i-th model. The first of a family is asked with every
// engine and format on one machine, the others with a third of these; engines, formats and machines change
// from model to model. Where the shared data are, all are asked.
func chosen(i, j int, first bool) bool {
	machine, format, engine := j/3%3, j%3, j/9
	return os.Getenv("MEMWALL_SHARED") != "" || (i+machine+format)%3 == 0 && (first || (i/3+engine+format)%3 == 0)
}

func checkFormulas(t *testing.T, r *Request, a *Answer) {
	t.Helper()
	for at, e := range a.Explain {
		inputs := make([]ledger.Input, len(e.Inputs))
		for i, in := range e.Inputs {
			inputs[i] = ledger.Input{Name: in.Name, Value: in.Value}
		}
		v, err := ledger.Eval(e.Formula, inputs)
		if err != nil || math.Abs(v-e.Value) > digits(at, e.Value) {
			t.Fatalf("%s with %s, %s: %s = %g, printed %g (%v)", r.Hardware, r.Engine, at, e.Formula, v, e.Value, err)
		}
		if e.Low > e.Value || e.High < e.Value {
			t.Fatalf("%s: %g..%g around %g", at, e.Low, e.High, e.Value)
		}
	}
}

// digits is how far a printed formula may be from the printed value: half a byte, and for times, which have four
// digits, half of the last and as much of each summand.
func digits(at string, v float64) float64 {
	if strings.HasPrefix(at, "/speed/") {
		return 2e-3 * math.Abs(v)
	}
	return 0.5
}

// TestLedgersSumToTheirTotals.
func TestLedgersSumToTheirTotals(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"llama-3.1-8b", "deepseek-v3", "qwen3-next-80b-a3b", "gemma-3-27b", "jamba-v0.1", "gpt-oss-20b"} {
		for _, r := range grid(id) {
			a, err := asker().Size(&r)
			if err != nil {
				continue
			}
			for _, d := range a.Devices {
				var sum, all int64
				for _, it := range d.Ledger {
					all += int64(it.Bytes)
					if it.ID != "pool_unused" {
						sum += int64(it.Bytes)
					}
				}
				if sum != int64(d.Needed) || all != int64(d.Used) {
					t.Errorf("%s, %s: items sum to %d and %d, needed %d, used %d", id, r.Engine, sum, all, d.Needed, d.Used)
				}
				if d.Headroom != d.Usable-d.Needed {
					t.Errorf("%s, %s: headroom %d", id, r.Engine, d.Headroom)
				}
			}
		}
	}
}

// TestRanksHoldTheModel: whatever the groups, the ranks of a plan together hold every weight of the model at
// least once, and of data parallel replicas at most once each.
func TestRanksHoldTheModel(t *testing.T) {
	asked := 0
	for _, id := range []string{"llama-3.1-8b", "qwen3-30b-a3b", "deepseek-v2-lite", "gpt-oss-20b", "jamba-v0.1"} {
		for _, e := range []string{"vllm", "sglang", "tensorrt-llm", "transformers", "generic"} {
			for _, p := range []plan.Plan{{}, {TP: 2}, {TP: 8}, {PP: 2}, {DP: 2}, {DP: 8}, {TP: 2, DP: 4}, {TP: 4, EP: 4}, {TP: 8, EP: 2},
				{EP: 8}, {DP: 4, EP: 8}, {TP: 2, DP: 2, EP: 4}, {TP: 2, PP: 4, EP: 2}, {TP: 2, EP: 8}} {
				p.Engine = e
				a, err := asker().Size(&Request{Model: id, Hardware: "8xh200", Plan: p})
				if err != nil {
					continue
				}
				asked++
				var all, ranks int64
				for _, d := range a.Devices {
					all += int64(d.Sum("weights")) * d.Count
					ranks += d.Count
				}
				if whole := int64(a.Model.WeightsBytes); all < whole || all > whole*ranks*11/10 {
					t.Errorf("%s with %s, %+v: %d ranks hold %d bytes of %d", id, e, p, ranks, all, whole)
				}
			}
		}
	}
	if asked < 200 {
		t.Errorf("only %d plans are taken", asked)
	}
}

// TestDefaultGroups: what a plan leaves open is filled up to the devices there are.
func TestDefaultGroups(t *testing.T) {
	for _, c := range []struct{ given, want plan.Plan }{
		{plan.Plan{}, plan.Plan{TP: 8, PP: 1, DP: 1}}, {plan.Plan{DP: 2}, plan.Plan{TP: 4, PP: 1, DP: 2}},
		{plan.Plan{DP: 8}, plan.Plan{TP: 1, PP: 1, DP: 8}},
		{plan.Plan{PP: 2}, plan.Plan{TP: 4, PP: 2, DP: 1}}, {plan.Plan{PP: 2, DP: 2}, plan.Plan{TP: 2, PP: 2, DP: 2}},
		{plan.Plan{TP: 2}, plan.Plan{TP: 2, PP: 1, DP: 1}},
	} {
		a, err := asker().Size(&Request{Model: "llama-3.1-8b", Hardware: "8xh100", Plan: c.given})
		if err != nil {
			t.Errorf("%+v: %v", c.given, err)
			continue
		}
		if p := a.Plan.Plan; p.TP != c.want.TP || p.PP != c.want.PP || p.DP != c.want.DP {
			t.Errorf("tp %d, pp %d, dp %d given: tp %d, pp %d, dp %d, want %d, %d, %d", c.given.TP, c.given.PP, c.given.DP, p.TP, p.PP,
				p.DP, c.want.TP, c.want.PP, c.want.DP)
		}
	}
}

// TestMonotone: more context and more sequences never need less.
func TestMonotone(t *testing.T) {
	for _, id := range []string{"llama-3.1-8b", "deepseek-v2-lite", "qwen3-next-80b-a3b", "gemma-3-12b", "mamba2-2.7b", "gpt-oss-20b"} {
		for _, e := range Engines() {
			r := Request{Ask: "fit", Model: id, Hardware: "8xh200", Plan: plan.Plan{Engine: e}}
			q, err := asker().env().Prepare(&r)
			if err != nil {
				continue
			}
			monotone(t, id+" "+e, q)
		}
	}
}

func monotone(t *testing.T, name string, q *question.Question) {
	t.Helper()
	// Compute buffers of llama.cpp may shrink with the context, so that its caches alone are compared.
	caches := engine.ReadsGGUF(q.Engine)
	need := func(context, sequences int64) (n int64) {
		for _, r := range q.Sizer.Size(nil, engine.Load{Context: context, Sequences: sequences}) {
			if n += cacheBytes(&r); !caches {
				n += int64(r.Needed().Bytes)
			}
		}
		return n
	}
	last := int64(0)
	for c := int64(256); c <= 1<<17; c = c*3/2 + 7 {
		n := need(c, 4)
		if n < last {
			t.Errorf("%s: %d bytes at %d tokens, %d before", name, n, c, last)
		}
		last = n
	}
	last = 0
	for s := int64(1); s <= 512; s = s*2 + 1 {
		n := need(4096, s)
		if n < last {
			t.Errorf("%s: %d bytes for %d sequences, %d before", name, n, s, last)
		}
		last = n
	}
}

// cacheBytes are what a load decides.
func cacheBytes(r *engine.Rank) (n int64) {
	ledger.Leaves(append(r.Items, r.Host...), func(it *ledger.Item) {
		if it.ID == "kv_cache" || it.ID == "state" {
			n += int64(it.Bytes)
		}
	})
	return n
}

// TestLimitsAreTheEdge: the stated largest context and number of users fit, one more does not.
func TestLimitsAreTheEdge(t *testing.T) {
	for _, id := range []string{"llama-3.1-8b", "qwen3-30b-a3b", "gemma-3-12b", "deepseek-v2-lite"} {
		q, err := asker().env().Prepare(&Request{Ask: "fit", Model: id, Hardware: "h100"})
		if err != nil {
			t.Fatal(err)
		}
		l := q.Job.Load()
		if n := q.MaxSequences(l.Context); n == nil || q.RoomLeft(engine.Load{Context: l.Context, Sequences: *n}) < 0 ||
			q.RoomLeft(engine.Load{Context: l.Context, Sequences: *n + 1}) >= 0 {
			t.Errorf("%s: %v users are not the edge", id, n)
		}
		if n := q.MaxContext(1); n == nil || q.RoomLeft(engine.Load{Context: *n, Sequences: 1}) < 0 ||
			q.RoomLeft(engine.Load{Context: *n + 1, Sequences: 1}) >= 0 {
			t.Errorf("%s: %v tokens are not the edge", id, n)
		}
	}
}
