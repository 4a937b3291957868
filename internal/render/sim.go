package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/unit"
)

// SimOptions select what is shown beyond the default.
type SimOptions struct {
	Notes bool // all notes
}

// Sim draws the outcome of a workload: whether it holds, waiting times, a table of percentiles, throughput, KV cache and queue over
// time, what runs out, and what techniques gain. A plan without memory for the model is drawn as by Fit.
func Sim(a *memwall.Answer, opt SimOptions, st term.Style) string {
	s := &screen{page: term.NewPage(st), a: a, opt: FitOptions{Notes: opt.Notes}}
	if a.Simulated == nil {
		s.page.Title(a.Verdict, asked(a))
		writeHeadline(s.page, a)
		s.suggestions()
		s.footnotes()
		s.notes()
		return s.page.String()
	}
	s.played()
	s.notes()
	return s.page.String()
}

func (s *screen) played() {
	s.simTitle()
	s.simHeadline()
	s.waits()
	s.became()
	s.versus()
	s.simSuggestions()
	s.runs()
}

// simTitle writes line 1: whether the load holds, the load, what serves it.
func (s *screen) simTitle() {
	m := simMark(s.a.Simulated)
	rest := asked(s.a)
	if n := s.a.Simulated.MostUsers; n != nil {
		s.mostTitle(*n, rest)
		return
	}
	if n := int64(s.a.Plan.Replicas); n > 1 {
		rest = append(rest, term.Plural(n, "replica", "replicas"))
	}
	s.page.Dotted(term.Join(term.Say(string(m.Sign)+" "+m.Word, m.Ink), term.Say("   ")), append([]string{loadWords(s.a)}, rest...))
}

// mostTitle writes line 1 for the most users: how many, within which bounds, and what serves them.
func (s *screen) mostTitle(n int64, rest []string) {
	m, words := term.MarkOf(memwall.Fits), "holds "+term.Users(n)
	if n == 0 {
		m, words = term.MarkOf(memwall.DoesNotFit), "holds no user"
	}
	if n > 0 {
		words += overBand(s.a.Simulated.MostUsersLow, s.a.Simulated.MostUsersHigh)
	}
	s.page.Dotted(term.Join(term.Say(string(m.Sign)+" "+words, m.Ink), term.Say("   ")), append(s.boundWords(), rest...))
}

func simMark(v *memwall.Simulated) term.Mark {
	switch {
	case v.Stopped:
		return term.Mark{Sign: '?', Word: "stopped", Ink: term.InkUnknown}
	case !v.Holds:
		return term.Mark{Sign: '✗', Word: "does not hold", Ink: term.InkBad}
	case v.GoalMet != nil && !*v.GoalMet:
		return term.Mark{Sign: '~', Word: "holds, goal missed", Ink: term.InkTight}
	}
	if slow := v.High; slow != nil && !slow.Holds {
		return term.Mark{Sign: '~', Word: "tight", Ink: term.InkTight}
	}
	return term.Mark{Sign: '✓', Word: "holds", Ink: term.Bold}
}

// loadWords describes the load.
func loadWords(a *memwall.Answer) string {
	w := a.Plan.Workload
	what := "requests"
	if w.Sessions != nil {
		what = "sessions"
	}
	switch w.Arrivals {
	case "closed":
		return term.Users(int64(w.Concurrency))
	case "burst":
		n := int64(w.Requests)
		if a.Simulated != nil {
			n = a.Simulated.Requests.Asked
		}
		return term.Plural(n, "request", "requests") + " at once"
	case "trace":
		return term.Shorten(w.Trace, 30, "…")
	case "gamma":
		return fmt.Sprintf("%s %s/s in bursts", unit.Rate(w.Rate), what)
	}
	return unit.Rate(w.Rate) + " " + what + "/s"
}

// simHeadline writes line 2: waiting times, or since when the queue grows.
func (s *screen) simHeadline() {
	v := s.a.Simulated
	var out []string
	switch n := v.MostUsers; {
	case n == nil:
	case *n == 0:
		out = append(out, "one user alone")
	default:
		out = append(out, "with as many")
	}
	if at := v.DivergesAt; at != nil {
		out = append(out, "the queue grows without bound from "+since(*at))
	} else if slow := v.High; v.Holds && slow != nil && !slow.Holds {
		out = append(out, "at the slow edge of the band the queue grows")
	}
	if p := v.TTFT; p != nil {
		out = append(out, "TTFT "+pair99(p))
	}
	if p := v.TPOT; p != nil {
		out = append(out, "TPOT "+pair99(p))
	}
	out = append(out, unserved(s.a)...)
	s.page.Para(term.Pad(term.Gap), term.Say(strings.Join(out, " · ")))
}

// since formats a time of the simulation.
func since(at float64) string {
	if at < 1 {
		return "the beginning"
	}
	return unit.Seconds(at).String()
}

// pair99 returns "p50 0.21 p99 0.94 s".
func pair99(p *memwall.Percentiles) string {
	scale, name := timeScale(p.P99)
	return "p50 " + rateOf(p.P50/scale) + " p99 " + rateOf(p.P99/scale) + term.NoBreak + name
}

// timeScale returns the unit for a time in milliseconds: its value in milliseconds, and its name.
func timeScale(ms float64) (worth float64, name string) {
	switch {
	case ms < 1000:
		return 1, "ms"
	case ms < 7_200_000:
		return 1000, "s"
	}
	return 3_600_000, "h"
}

// timed formats a time with two digits, or three from ten on.
func timed(ms, worth float64) string {
	if x := ms / worth; x >= 10 {
		return term.Significant(x, 3)
	}
	return term.Significant(ms/worth, 2)
}

// unserved describes rejected and unfinished requests, and preemptions.
func unserved(a *memwall.Answer) (out []string) {
	v := a.Simulated
	for _, x := range []struct {
		n    int64
		word string
	}{{v.Requests.Refused, "refused"}, {v.Requests.Failed, "failed"}, {v.Requests.HungUp, "gave up"}} {
		if x.n > 0 {
			out = append(out, unit.Count(x.n)+" "+x.word)
		}
	}
	switch p := PoolOf(a); {
	case p == nil:
	case p.Preempted == 0:
		out = append(out, "none preempted")
	default:
		out = append(out, unit.Count(p.Preempted)+" preempted")
	}
	return out
}

// waits writes percentiles of the times of a request.
func (s *screen) waits() {
	v := s.a.Simulated
	if v.TTFT == nil {
		return
	}
	low, high := edgesOf(v)
	tb := &term.Table{Sides: []term.Side{term.Left, term.Decimal, term.Decimal, term.Decimal, term.Decimal, term.Left}}
	tb.Row(dimmed("", "p50", "p90", "p99", "mean", "90 % band of p99")...)
	if v.Low == nil {
		tb.Rows[0][5] = nil
	}
	for i, x := range []struct {
		name, at string
		p        *memwall.Percentiles
	}{{"queue", "wait", v.Wait}, {"first token (TTFT)", "ttft", v.TTFT}, {"per token (TPOT)", "tpot", v.TPOT},
		{"between tokens (ITL)", "itl", v.ITL}, {"end to end", "e2e", v.E2E}} {
		if x.p == nil {
			continue
		}
		worth, name := timeScale(x.p.P99)
		row := []term.Text{term.Join(term.Say(x.name+", "), term.Say(name, term.Dim))}
		for _, f := range []struct {
			name string
			ms   float64
		}{{"p50", x.p.P50}, {"p90", x.p.P90}, {"p99", x.p.P99}, {"mean", x.p.Mean}} {
			row = append(row, term.LinkedNumber(timed(f.ms, worth), "/"+x.at+"_ms/"+f.name))
		}
		if low[i] != nil && high[i] != nil {
			row = append(row, term.Say(timed(low[i].P99, worth)+"–"+timed(high[i].P99, worth), term.Dim))
		}
		tb.Row(row...)
	}
	s.page.Blank()
	s.page.Add(tb)
}

// edgesOf returns the edges of the band, by table row; nil if they were not simulated.
func edgesOf(v *memwall.Simulated) (low, high [5]*memwall.Percentiles) {
	rows := func(e *memwall.Edge) (out [5]*memwall.Percentiles) {
		if e != nil {
			out[1], out[2], out[4] = e.TTFT, e.TPOT, e.E2E
		}
		return out
	}
	return rows(v.Low), rows(v.High)
}

// labelled writes a line after a label.
func (s *screen) labelled(word string, parts ...term.Text) {
	s.page.Para(term.Join(term.Pad(term.Gap), term.Say(fmt.Sprintf("%-11s", word), term.Dim)), term.Join(parts...))
}

// became writes what the server did: throughput, goal, cache and queue over time, what ran out.
func (s *screen) became() {
	v := s.a.Simulated
	s.page.Blank()
	out := term.Join(term.LinkedNumber(rateOf(v.Throughput.Output), "/throughput/output_tokens_per_s"), term.Say(" tokens/s, "),
		term.LinkedNumber(rateOf(v.Throughput.Requests), "/throughput/requests_per_s"), term.Say(" requests/s"))
	if c := v.Capacity; c != nil {
		out = term.Join(out, term.Say("; at most "), term.LinkedNumber(rateOf(*c), "/holds_requests_per_s"),
			term.Say(" requests/s of this mix"))
	}
	s.labelled("out", out)
	s.goal()
	s.overTime()
	s.labelled("runs out", term.Say(runsOutWords(s.a)))
	s.pool()
}

func rateOf(x float64) string { return unit.Rate(x) }

func (s *screen) goal() {
	v := s.a.Simulated
	if v.GoalShare == nil {
		return
	}
	var bounds []string
	first, token := s.a.Plan.Goal.ForRequest()
	for _, b := range []struct {
		word string
		ms   float64
	}{{"TTFT", first}, {"TPOT", token}} {
		if b.ms > 0 {
			bounds = append(bounds, unit.Seconds(b.ms/1000).String()+" "+b.word)
		}
	}
	s.labelled("goal", term.Say(term.Percent(*v.GoalShare)+" of requests meet "+strings.Join(bounds, " and ")+": "+
		rateOf(*v.Goodput)+" requests/s"))
}

// overTime draws the use of the KV cache relative to its size, and the queue relative to its maximum.
func (s *screen) overTime() {
	v := s.a.Simulated
	p := PoolOf(s.a)
	if v.Series == nil || p == nil {
		return
	}
	longest := Peak(v.Series.Waiting)
	s.labelled("KV in use", term.Join(s.spark(v.Series.KV, 1, term.InkCache),
		term.Say(fmt.Sprintf("peak %s, mean %s of %s tokens", term.Percent(p.Peak), term.Percent(p.Mean), unit.Count(p.Tokens)))))
	if longest >= 1 {
		s.labelled("queue", term.Join(s.spark(v.Series.Waiting, longest, term.InkWorking),
			term.Say("up to "+term.Significant(longest, 3)+" wait")))
	}
}

// Peak returns the maximum of a series.
func Peak(all []float64) (most float64) {
	for _, x := range all {
		most = max(most, x)
	}
	return most
}

// spark draws a series in a few cells, followed by a gap; nothing if the page is narrow.
func (s *screen) spark(all []float64, whole float64, look term.Ink) term.Text {
	if s.page.Style.Cells() < term.Narrow || s.page.Style.Endless || len(all) == 0 {
		return nil // pages have charts
	}
	glyphs := []rune(term.SparkGlyphs)
	var b strings.Builder
	for _, x := range term.Sampled(all, 24) {
		level := int(x / whole * float64(len(glyphs)))
		b.WriteRune(glyphs[min(max(level, 0), len(glyphs)-1)])
	}
	return term.Join(term.Say(b.String(), look), term.Say(term.NoBreak+term.NoBreak))
}

// runsOutWords describes what queued requests wait for.
func runsOutWords(a *memwall.Answer) string {
	v := a.Simulated
	share := term.Percent(v.PromptShare)
	switch v.RunsOut {
	case "compute":
		return "compute: the budget of a step is full; prefill takes " + share + " of the compute time"
	case "kv_cache":
		return "KV cache: requests queue for room in it"
	case "max_loras":
		return "adapters: a step holds no more of them (max_loras)"
	case "max_num_seqs":
		if strings.HasPrefix(a.Plan.Engine, "llama") || strings.HasPrefix(a.Plan.Engine, "ollama") {
			return "slots: all are busy (--slots)"
		}
		seats := "the limit of sequences at once is reached"
		if n := int64(a.Plan.MaxSeqs); n > 0 {
			seats = unit.Count(n) + " run at once, the most allowed"
		}
		return "sequences: " + seats + " (max_num_seqs, slots)"
	}
	return "nothing; prefill takes " + share + " of the compute time"
}

// pool writes how well the KV cache is used.
func (s *screen) pool() {
	p := PoolOf(s.a)
	if p == nil {
		return
	}
	if p.PrefixHitRate > 0 {
		s.labelled("prefixes", term.Say(term.Percent(p.PrefixHitRate)+" of all prompt tokens were in the cache"+tierWords(p)))
	}
	if p.Preemptions > 0 {
		s.labelled("preempted",
			term.Say(fmt.Sprintf("%s, %s in all: their KV cache is recomputed", term.Plural(p.Preempted, "request", "requests"),
				term.Plural(p.Preemptions, "time", "times"))))
	}
	s.labelled("waste", term.Say(wasteWords(&p.Waste)))
}

// PoolOf returns how the KV cache was used; nil if unknown.
func PoolOf(a *memwall.Answer) *memwall.PoolUse {
	if a.KV == nil {
		return nil
	}
	return a.KV.PoolUse
}

// wasteWords describes which slots of the cache are allocated but hold no token.
func wasteWords(w *memwall.Waste) string {
	out := share100(w.Total) + " of the KV cache is allocated and holds no token"
	var of []string
	for _, x := range []struct {
		share float64
		word  string
	}{{w.Internal, "in last pages"}, {w.Reserved, "reserved for later"}, {w.External, "too small for who waits"}} {
		if x.share >= 0.0005 && x.share < w.Total {
			of = append(of, share100(x.share)+" "+x.word)
		}
	}
	if len(of) > 0 {
		out += ": " + strings.Join(of, ", ")
	}
	return out
}

// share100 formats a fraction as a percentage, with a lower bound of a tenth of a percent.
func share100(x float64) string {
	if x > 0 && x < 0.001 {
		return "<0.1 %"
	}
	return term.Percent(x)
}

var versusNames = map[string]string{"static": "static batching", "contiguous-kv": "contiguous KV", "no-prefix-cache": "no prefix cache",
	"no-speculation": "no speculation"}

// ofTier is the prefix of a different size of the tier below the cache.
const ofTier = "kv-tier="

func ofTiers(all []memwall.Versus) bool {
	return slices.ContainsFunc(all, func(o memwall.Versus) bool { return strings.HasPrefix(o.Name, ofTier) })
}

// versusName describes an alternative compared with the plan.
func versusName(name string) string {
	if size, tiered := strings.CutPrefix(name, ofTier); tiered {
		return "KV tier of " + size
	}
	return versusNames[name]
}

// versus writes a row for the plan and one for each alternative.
func (s *screen) versus() {
	v := s.a.Simulated
	if len(v.Versus) == 0 {
		return
	}
	tb := &term.Table{Sides: []term.Side{term.Left, term.Decimal, term.Right, term.Decimal, term.Decimal, term.Right, term.Right}}
	tiers := ofTiers(v.Versus)
	header := []string{"instead", "holds/s", "we", "tokens/s", "TTFT p99, s", "waste", "papers"}
	if tiers {
		header = append(header[:5], "found")
	}
	tb.Row(dimmed(header...)...)
	tb.Row(outcome("the plan", "", &v.Load, nil, v.TTFT, PoolOf(s.a), tiers)...)
	for i := range v.Versus {
		o := &v.Versus[i]
		row := outcome(versusName(o.Name), fmt.Sprintf("/versus/%d", i), &o.Load, o.CapacityRatio, o.TTFT, o.Pool, tiers)
		if o.Published != "" && !tiers {
			row = append(row, term.Say(o.Published+" ×", term.Dim))
		}
		tb.Row(row...)
	}
	s.page.Blank()
	s.page.Add(tb)
	s.page.Para(term.Pad(term.Gap), term.Say(versusNote(v.Versus), term.Dim))
}

func dimmed(words ...string) (out []term.Text) {
	for _, w := range words {
		out = append(out, term.Say(w, term.Dim))
	}
	return out
}

// outcome returns a row with the outcome of a workload, at a pointer of the answer.
func outcome(name, at string, l *memwall.Load, ratio *float64, first *memwall.Percentiles, p *memwall.PoolUse, tiers bool) []term.Text {
	return []term.Text{term.Say(name), capacityOf(l, at), term.Say(times(ratio)),
		term.LinkedNumber(rateOf(l.Throughput.Output), at+"/throughput/output_tokens_per_s"), first99(first, at), wasted(p, tiers)}
}

func capacityOf(l *memwall.Load, at string) term.Text {
	if l.Capacity == nil {
		return term.Say("—")
	}
	return term.LinkedNumber(rateOf(*l.Capacity), at+"/holds_requests_per_s")
}

// tierWords describes how much the tiers below the device brought back.
func tierWords(p *memwall.PoolUse) string {
	out, names := "", map[string]string{"host": "host memory", "nvme": "NVMe", "store": "the shared store"}
	for _, t := range p.Tiers {
		out += ", " + term.Percent(t.HitRate) + " from " + names[t.On]
	}
	return out
}

func first99(p *memwall.Percentiles, at string) term.Text {
	if p == nil {
		return term.Say("—")
	}
	return term.LinkedNumber(timed(p.P99, 1000), at+"/ttft_ms/p99")
}

// wasted formats how much of the cache holds nothing or, with other tiers, how much of the prompts they held.
func wasted(p *memwall.PoolUse, tiers bool) term.Text {
	switch {
	case p == nil:
		return term.Say("—")
	case tiers:
		return term.Say(share100(p.PrefixHitRate))
	}
	return term.Say(share100(p.Waste.Total))
}

// versusNote explains the columns.
func versusNote(all []memwall.Versus) string {
	out := "holds/s: the most requests a second of this mix; we: how many times that the plan holds"
	if ofTiers(all) {
		return out + "; found: how much of the prompts lay in a cache, evicted or not"
	}
	for i := range all {
		if all[i].Published != "" {
			return out + ". Papers: lengths that vary more buy more; reserving wastes 30–50 %, pages 5–10 %"
		}
	}
	return out
}

// simSuggestions writes what would hold the load.
func (s *screen) simSuggestions() {
	for i := range s.a.Suggestions {
		x := &s.a.Suggestions[i]
		if flags := patchFlags(x); flags != "" {
			s.page.Blank()
			s.page.Para(term.Join(term.Pad(term.Gap), term.Say("next       ", term.Dim)),
				term.Join(term.Say("holds with "), term.Say(x.Change).LinkTo(&term.Place{Patch: x.Patch, Flags: flags}),
					term.Say(": "+flags)))
		}
	}
}

// runs writes how much was simulated.
func (s *screen) runs() {
	v, w := s.a.Simulated, s.a.Plan.Workload
	out := term.Plural(v.Requests.Finished, "request", "requests") + " in " + unit.Seconds(v.SimulatedS).String()
	if v.Requests.Finished < v.Requests.Asked {
		out = unit.Count(v.Requests.Finished) + " of " + term.Plural(v.Requests.Asked, "request", "requests") + " in " +
			unit.Seconds(v.SimulatedS).String()
	}
	out += uncounted(v)
	if w.Trace == "" || w.Arrivals != "trace" {
		out += ", seed " + strconv.FormatInt(int64(w.Seed), 10)
	}
	s.page.Blank()
	if out += wallWords(s.a.Wall); !s.page.Style.Endless {
		out += " · --csv --series --trace-out --svg for more"
	}
	s.page.Para(term.Pad(term.Gap), term.Say(out, term.Dim))
}

// uncounted describes how many requests are not in the times.
func uncounted(v *memwall.Simulated) string {
	if v == nil || v.Requests.Warmup == 0 {
		return ""
	}
	return ", the first " + unit.Count(v.Requests.Warmup) + " not counted"
}

// wallWords describes how long an answer took, if noticeable.
func wallWords(seconds float64) string {
	switch {
	case seconds == 0:
		return ""
	case seconds < 1:
		return ", simulated in under 1 s"
	}
	return ", simulated in " + unit.Seconds(seconds).String()
}

// SimHeadText returns the first lines of the screen.
func SimHeadText(a *memwall.Answer) []string {
	s := &screen{page: term.NewPage(term.Style{Width: 88}), a: a}
	if a.Simulated == nil {
		return HeadText(a)
	}
	s.simTitle()
	s.simHeadline()
	var out []string
	for _, l := range strings.Split(strings.TrimSpace(s.page.String()), "\n") {
		out = append(out, strings.Replace(strings.TrimSpace(l), "   ", ": ", 1))
	}
	return out
}
