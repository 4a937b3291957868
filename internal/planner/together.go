package planner

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/internal/planner/change"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/model"
)

// What no single change fixes at a sensible price, smaller formats on more devices often do: they halve the number of devices to
// buy or rent.

// joint is a search for several changes at once.
type joint struct{ *Planner }

// together returns the cheapest simultaneous change of formats and number of devices that holds the plan; nil if none costs less
// than below.
func (p joint) together(below float64) (best *change.Setting) {
	m := p.Question.Job.Machine
	if m == nil || len(m.Groups) != 1 || m.Node != "" {
		return nil
	}
	now, formats := m.Groups[0].Count, p.smallerFormats()
	consider := func(s change.Setting) {
		if s.Price < below && p.holds(&s) {
			best, below = &s, s.Price
		}
	}
	for _, f := range formats {
		for _, k := range append(p.knobs(), p.attendingApart()...) {
			consider(bothOf(f, k))
		}
	}
	for _, g := range granted(p.Planner) {
		for _, c := range p.CacheAxis(p.Question).Settings[1:] {
			consider(bothOf(c, g))
		}
		for _, w := range p.WeightsAxis(p.Question).Settings[1:] {
			if math.IsInf(below, 1) {
				consider(bothOf(w, g))
			}
		}
	}
	for n := 2 * now; growsByDevices(m) && n <= mostDevices(p.Planner, m); n *= 2 {
		for _, f := range formats {
			for _, k := range p.knobs() {
				for _, more := range p.soMany(n) {
					consider(bothOf(bothOf(f, k), more))
				}
			}
		}
	}
	return best
}

// soMany returns layouts over n devices of the same kind: as the engine shares them and, for a mixture of experts within a node,
// with expert parallelism, which 8-bit blocks often need because a tensor group of eight would cut them (vLLM's recipe for MiniMax
// M2).
func (p joint) soMany(n int) []change.Setting {
	as := withDevices(p.Question, n)
	d := &p.Question.Job.Machine.Groups[0].Device
	mixed := p.Question.Job.Model.ActiveParams() < p.Question.Job.Model.Params()
	if p.gguf() || !mixed || p.pinned("tp") || p.pinned("ep") || d.PerNode.Known && int64(n) > int64(d.PerNode.Value) {
		return []change.Setting{as}
	}
	ep := change.Setting{Words: fmt.Sprintf("tp %d, ep %d", n, n), Price: otherLayout,
		Set: func(r *api.Request) { r.TP, r.EP, r.DP, r.PP = int64(n), int64(n), 0, 0 }}
	ep.Short = ep.Words
	return []change.Setting{as, bothOf(as, ep)}
}

// attendingApart returns the layouts with data-parallel attention and shared experts: tensor parallelism does not divide a latent
// common to all heads, but copies it to each rank (SGLang, DP attention for DeepSeek).
func (p joint) attendingApart() (out []change.Setting) {
	latent := false
	for _, k := range p.Question.Job.Model.Decoder().Kinds {
		k.Caches(func(c model.Cache) { latent = latent || c.Class == model.LatentKV })
	}
	n := int64(p.Question.Job.Machine.Devices())
	if !latent || n > p.Question.Job.PerNode() || int64(p.Question.Request.Sequences) < n || p.gguf() {
		return nil
	}
	for _, w := range p.addLayout(nil, Layout{1, 1, n, n}) {
		out = append(out, change.Setting{Words: w.words, Short: w.words, Set: w.Set, Price: w.price})
	}
	return out
}

// lastPercent is the price of using the last percent of a device's memory.
const lastPercent = 5

// knobs returns engine settings that free a little memory without loss: as given, and all of them at once.
func (p joint) knobs() []change.Setting {
	all := change.Setting{Price: lastPercent}
	for _, a := range []Axis{utilizationAxis(p.Question), batchedAxis(p.Question)} {
		if len(a.Settings) > 1 && !p.pinned(a.Field) {
			all = bothOf(all, a.Settings[1])
		}
	}
	if all.Set == nil {
		return []change.Setting{{}}
	}
	return []change.Setting{{}, all}
}

// smallerFormats returns joint settings of weight and KV cache formats.
func (p joint) smallerFormats() (out []change.Setting) {
	for _, w := range p.WeightsAxis(p.Question).Settings {
		for _, c := range p.CacheAxis(p.Question).Settings {
			if wide(w.Short, c.Short) {
				out = append(out, bothOf(w, c))
			}
		}
	}
	return out
}

// wide reports whether people serve with these formats other than as a last resort: at least four bits per weight, eight per key.
func wide(weights, cache string) bool {
	r, f := dtype.FindRecipe(weights), dtype.FindFormat(strings.TrimPrefix(cache, "KV "))
	return (r == nil || r.BulkBits() >= 4) && (f == nil || f.Bits() >= 8)
}

// oneMoreChange is the price of each change after the first: a single setting is easier to explain, try and revert.
const oneMoreChange = 2

// bothOf combines two settings; an empty one leaves the other as is.
func bothOf(a, b change.Setting) change.Setting {
	if a.Set == nil {
		b.Price += a.Price
		return b
	}
	if b.Set == nil {
		a.Price += b.Price
		return a
	}
	return change.Setting{Words: a.Words + ", " + b.Words, Short: a.Short + " + " + b.Short, Price: a.Price + b.Price + oneMoreChange,
		Set: func(r *api.Request) { a.Set(r); b.Set(r) }}
}

// holds reports whether the plan certainly fits with a setting.
func (p joint) holds(s *change.Setting) bool {
	if s.Set == nil {
		return false
	}
	r := p.Asked
	if s.Set(&r); changes(change.PatchOf(&p.Asked, &r)) > mostChanges {
		return false
	}
	q, ranks, err := p.env.SizedRanks(&r)
	return err == nil && q.Verdict(ranks) == api.Fits && p.spared(q, question.HostNeeds(q.Job, ranks).Bytes)
}

// mostChanges is the most changes that anybody makes at once.
const mostChanges = 3

// changes returns the number of changes in a patch; the grouping of devices counts with their number.
func changes(patch map[string]any) (n int) {
	for field := range patch {
		n += btoi(!slices.Contains([]string{"tp", "pp", "dp", "ep", "devices"}, field))
	}
	return n
}

// withMoreHost returns the plan with the host memory it lacks, if it lacks nothing else.
func (p joint) withMoreHost() (api.Candidate, bool) {
	h := p.base.Host
	if h == nil || h.Capacity == 0 || h.Needed <= h.Capacity || p.base.Devices[0].Headroom < 0 {
		return api.Candidate{}, false
	}
	r := p.Asked
	t, ok := p.onLargerHost(p.Question, &r, h.Needed, "the host")
	if !ok {
		return api.Candidate{}, false
	}
	return t.completed(p.Planner), true
}

// withHost returns a machine's name with its host memory replaced.
func withHost(hardware string, gib int64) string {
	parts := strings.Split(hardware, ",")
	host := fmt.Sprintf("host=%dGiB", gib)
	for i, part := range parts {
		if _, rate, ok := strings.Cut(part, "@"); strings.HasPrefix(part, "host=") {
			if parts[i] = host; ok {
				parts[i] += "@" + rate
			}
			return strings.Join(parts, ",")
		}
	}
	return hardware + "," + host
}

// priceOfDevices returns the price of n devices in place of now, charged per doubling.
func priceOfDevices(n, now int) float64 {
	return change.PriceOfMoreDevices * math.Log2(float64(n)/float64(now))
}
