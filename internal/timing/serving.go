package timing

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/shard"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/serving"
	"github.com/memwall/memwall/speed/stream"
	"github.com/memwall/memwall/unit"
)

// serve predicts engines with continuous batching: a closed loop of the plan's sequences, all started at once.
func serve(q *question.Question, v *api.Speed, cache *api.KV) error {
	in, err := ServingInput(q, cache)
	if err != nil {
		return err
	}
	m, err := servingModel(q, v, in)
	if err != nil {
		return err
	}
	p := q.Request.Plan
	load := serving.Load{Users: int64(p.Sequences) * max(1, int64(p.Samples)), Prompt: int64(p.PromptTokens), Output: int64(p.OutputTokens),
		Burst: true}
	noteExperts(q, &in.Dispatch)
	f, err := closedLoop(q, m, load)
	if err == nil {
		err = sampled(q, m, &f, load)
	}
	if err != nil {
		return err
	}
	q.NoteCacheTransfer(&f)
	speculated(q, &f, in, load)
	if err := addOffload(q, &f, in, m.Decoding(load)); err != nil {
		return err
	}
	if err := addHostReads(q, &f, in, m.Decoding(load), load); err != nil {
		return err
	}
	if !f.PerToken.Known() {
		return fmt.Errorf("the time of a step on %s is not known", in.Device.Name)
	}
	ms := func(f speed.Figure) speed.Figure { return f.Times(1000) }
	Figure(f.FirstUnloaded.Inverse().Times(float64(load.Prompt)), &v.Prefill, &v.PrefillLow, &v.PrefillHigh)
	Figure(ms(f.PerToken), &v.TPOT, &v.TPOTLow, &v.TPOTHigh)
	Figure(ms(f.First), &v.TTFT, &v.TTFTLow, &v.TTFTHigh)
	if f.Knee {
		q.Job.Note("at_the_knee", "info", "users",
			"at the knee: the caches hold about %d sequences, and the first token takes %s or %s s by whether they hold all",
			int64(f.Batch), unit.Significant(f.First.Low, 2), unit.Significant(f.First.High, 2))
	}
	Figure(f.PerToken.Inverse(), &v.Decode, &v.DecodeLow, &v.DecodeHigh)
	Figure(f.Throughput, &v.Total, &v.TotalLow, &v.TotalHigh)
	if q.Brief {
		return nil
	}
	Figure(ms(f.FirstUnloaded), &v.Unloaded, &v.UnloadedLow, &v.UnloadedHigh)
	shares(v, m, load)
	v.Bound = f.Bound
	if v.RestsOn == "" {
		level, rows, early := m.Evidence()
		v.RestsOn = stream.Evidence(level, rows, in.Device.Name)
		if early > 0 {
			v.RestsOn += fmt.Sprintf(", %d of them of engines of 2024 and before", early)
		}
	}
	listParts(v, f.Parts, 1000*f.Others)
	formulas(q, v, m, load)
	derived(q, v)
	price(q, v, f.Throughput, 1)
	return nil
}

// shares computes the shares of datasheet rates that decoding and prefill reach.
func shares(v *api.Speed, m *serving.Model, l serving.Load) {
	memory, compute := m.Fractions(m.Decoding(l))
	v.BandwidthFraction, v.FLOPsFraction = question.Rounded(memory), question.Rounded(compute)
	_, prompt := m.Fractions(m.Prompting(l))
	v.PrefillFLOPsFraction = question.Rounded(prompt)
}

// listParts lists the parts of a decode step, and the milliseconds that other users' prompts add per token.
func listParts(v *api.Speed, parts []speed.Part, others float64) {
	for _, part := range ByName(parts) {
		v.Parts = append(v.Parts, api.SpeedPart{Name: Identifier(part.Name), MS: *question.Rounded(1000 * part.Seconds), Bound: part.Bound})
	}
	if others > 0 {
		v.Parts = append(v.Parts, api.SpeedPart{Name: "prompts_of_others", MS: *question.Rounded(others), Bound: speed.Compute})
	}
}

// unlisted returns the milliseconds per token not covered by the parts.
func unlisted(parts []speed.Part, token float64) float64 {
	rest := token
	for i := range parts {
		rest -= parts[i].Seconds
	}
	if rest < 0.0005*token {
		return 0
	}
	return 1000 * rest
}

// formulas records the formulas of the parts and of TTFT, if explanations are requested.
func formulas(q *question.Question, v *api.Speed, m *serving.Model, l serving.Load) {
	if q.Explain == nil {
		return
	}
	q.Explain.Nearest = nearest(m, l)
	f := loopFormulas(q, m, l)
	for i := range f {
		f[i].Part = Identifier(f[i].Part)
	}
	if Copied(v) {
		f = slices.DeleteFunc(f, func(x speed.Formula) bool { return strings.HasPrefix(x.Part, "ttft") })
	} else {
		f = append(f, totals(v, l))
	}
	q.Explain.Timing = append(q.Explain.Timing, f...)
}

// nearest describes the two measured runs closest to a load.
func nearest(m *serving.Model, l serving.Load) string {
	text := fmt.Sprintf("; %d measured runs of this engine on it; nearest: ", m.RunsOf())
	for i, r := range m.Nearest(l, 2) {
		if i > 0 {
			text += "; "
		}
		text += r.String()
	}
	return text
}

// Copied reports whether a step waits for link transfers, in which case figures of the loop alone are omitted.
func Copied(v *api.Speed) bool {
	return slices.ContainsFunc(v.Parts, func(p api.SpeedPart) bool { return p.Name == "copies" })
}

// totals returns the rate of all users, each with its output after the first token and the others.
func totals(v *api.Speed, l serving.Load) speed.Formula {
	return speed.Formula{Part: "total_tokens_per_s", Text: "1000 × users × output / (ttft_ms + (output - 1) × tpot_ms)",
		Inputs: []speed.Term{
			{Name: "users", Value: float64(max(1, l.Users))}, {Name: "output", Value: float64(l.Output), Origin: "tokens of an answer"},
			{Name: "ttft_ms", Value: *v.TTFT}, {Name: "tpot_ms", Value: *v.TPOT},
		}}
}

// ByName merges parts with the same name, bound by what most of their time is.
func ByName(parts []speed.Part) (out []speed.Part) {
	for i := range parts {
		at := slices.IndexFunc(out, func(p speed.Part) bool { return p.Name == parts[i].Name })
		if at >= 0 {
			continue
		}
		var same []speed.Part
		sum := 0.0
		for _, p := range parts[i:] {
			if p.Name == parts[i].Name {
				same = append(same, p)
				sum += p.Seconds
			}
		}
		out = append(out, speed.Part{Name: parts[i].Name, Seconds: sum, Bound: speed.Largest(same)})
	}
	return out
}

// Identifier turns a name into one that formulas can use.
func Identifier(name string) string { return strings.NewReplacer("-", "_", " ", "_").Replace(name) }

// ServingInput returns the plan as input for package speed/serving.
func ServingInput(q *question.Question, cache *api.KV) (*serving.In, error) {
	p := q.Request.Plan
	par := shard.Parallel{TP: p.TP, PP: p.PP, EP: p.EP, Redundant: int64(p.RedundantExperts)}
	stages, err := slowestStages(q, q.Job.Model, &q.Job.Weights.Parts[0], par)
	if err != nil {
		return nil, err
	}
	in := &serving.In{Model: q.Job.Model, Stages: stages, Device: q.Job.Device(0), Link: q.Job.Machine.Intra, Engine: q.Engine.Name(),
		Version: q.Job.Version,
		Exec:    exec(q), Replicas: max(1, p.DP), MaxSequences: int64(p.MaxSeqs), ChunkTokens: int64(p.MaxBatchedTokens),
		Eager:          p.EnforceEager != nil && *p.EnforceEager,
		StreamInterval: int64(p.StreamInterval), AdmitEvery: int64(p.RecvInterval), BatchWait: int64(p.BatchWait),
		MoE: p.MoEBackend, Linear: p.LinearBackend}
	if e, ok := q.Engine.(engine.Scheduler); ok {
		in.GraphTokens = e.Schedule(q.Job).GraphTokens
	}
	if cache != nil && cache.CapacityTokens != nil {
		in.CacheTokens = *cache.CapacityTokens
	}
	if p.TP > q.Job.PerNode() {
		in.Link = q.Job.Machine.Inter
	}
	in.Dispatch = dispatch(q)
	return in, speculate(q, in)
}

// noteExperts notes the assumed exchange of tokens between nodes, and the imbalance of experts.
func noteExperts(q *question.Question, d *serving.Dispatch) {
	p := q.Request.Plan
	if shared := p.EP > max(1, p.TP); shared && d.Kernels == "" && p.EP > d.PerNode {
		q.Job.Note("experts_apart", "info", "all2all",
			"ranks that share experts span nodes, and their tokens cross between nodes by the engine's default dispatch; "+
				"DeepEP's kernels, --all2all deepep, send each only where it is wanted")
	}
	if d.Uneven > 1 {
		q.Job.Note("experts_uneven", "info", "expert_load", "the busiest rank computes %s times the mean of tokens, and all wait for it",
			unit.Significant(d.Uneven, 3))
	}
}

// dispatch describes how tokens reach experts on other ranks. Experts are loaded as the plan says; without replicas
// they are placed in order.
func dispatch(q *question.Question) serving.Dispatch {
	p := q.Request.Plan
	d := serving.Dispatch{Kernels: p.Worker().All2All, PerNode: q.Job.PerNode(), Wire: q.Job.Machine.Inter,
		TwoBatches: engine.On(p.TwoBatches, false)}
	loads, err := p.Loads(q.Job.Model.Traits.Experts)
	if err == nil && p.EP > 1 {
		d.Uneven, _ = shard.Busiest(loads, int64(p.RedundantExperts), p.EP)
	}
	return d
}

// stagesKey is all that the ranks of a network depend on, with layers divided evenly into stages.
type stagesKey struct {
	model      *model.Model
	weights    *model.PartWeights
	tp, pp, ep int64
	copies     int64 // of experts
}

// slowestStages returns the slowest rank of each stage.
func slowestStages(q *question.Question, m *model.Model, w *model.PartWeights, p shard.Parallel) ([]engine.Placed, error) {
	got := engine.Once(q.Job, stagesKey{m, w, p.TP, p.PP, p.EP, p.Redundant}, func() (out withError[[]engine.Placed]) {
		ranks, err := engine.Place(m.Decoder(), w, p)
		out.value, out.err = slowest(ranks), err
		return out
	})
	return got.value, got.err
}

// exec returns the widths that a step computes with.
func exec(q *question.Question) model.Exec {
	state := dtype.F32
	if q.Job.Model.State != nil {
		state = q.Job.Model.State
	}
	return model.Exec{ActBytes: 2, KVBytes: kvBytes(q), StateBytes: state.Bits() / 8}
}

// slowest returns the rank of each stage with the most layers and the largest shares: the first of its classes.
func slowest(ranks []engine.Placed) (out []engine.Placed) {
	for i := range ranks {
		if len(out) == 0 || ranks[i].Stage != out[len(out)-1].Stage {
			out = append(out, ranks[i])
		}
	}
	return out
}
