package validation

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/speed/serving"
)

// Reports are how far servers that others describe were from what is said of them, by kind as of serving.ReportedKind, a vote for each
// source.
type Reports map[string]*coef.Votes

// reportCoverage is what a band is to hold of the figures of a further source.
const reportCoverage = 0.9

// servedFigures are the figures of servers, as kinds of spread.
var servedFigures = map[string]string{"tpot_ms": serving.SpreadPerToken, "decode_tokens_per_s": serving.SpreadPerToken,
	"total_tokens_per_s": serving.SpreadThroughput, "ttft_ms": serving.SpreadFirst, "prefill_tokens_per_s": serving.SpreadFirst}

// servers are the engines of which whole servers were measured.
var servers = []string{"sglang", "tensorrt-llm", "vllm"}

// NewReports collects the errors of comparisons of reported runs.
func NewReports(all []Comparison) Reports {
	out := Reports{}
	for i := range all {
		c := &all[i]
		kind := reportKind(c)
		if kind == "" || c.Refused != "" {
			continue
		}
		if out[kind] == nil {
			out[kind] = &coef.Votes{}
		}
		out[kind].Add(c.Row.Source, longer(c))
	}
	return out
}

// longer is the logarithm of the measured time over ours; rates are the inverse of times.
func longer(c *Comparison) float64 {
	if strings.HasSuffix(c.Figure, "_ms") {
		return math.Log(c.Measured.Mid / c.Ours.Mid)
	}
	return math.Log(c.Ours.Mid / c.Measured.Mid)
}

// reportKind tells a comparison apart; "" where it is not of a server.
func reportKind(c *Comparison) string {
	name, version := engineOf(c.Row)
	if !slices.Contains(servers, name) {
		return ""
	}
	return serving.ReportedKind(servedFigures[c.Figure], name, version)
}

func engineOf(r *Row) (name string, v engine.Version) {
	name, text, _ := strings.Cut(r.Ask.Engine, "@")
	v, _ = engine.ParseVersion(text) // no version is the newest
	return name, v
}

// Edges of a kind as all sources but one give them.
func (r Reports) Edges(kind, without string) (e serving.Reported) {
	v := r[kind]
	if v == nil {
		return e
	}
	e.Low, e.High = v.Interval(reportCoverage, without)
	e.Sources, e.Figures = v.Count(without)
	return e
}

// Table is speed/serving/reported.tsv: the edges of each kind.
func (r Reports) Table() []byte {
	b := bytes.NewBufferString(serving.ReportedHeader)
	for _, kind := range slices.Sorted(maps.Keys(r)) {
		b.WriteString(r.Edges(kind, "").Line(kind))
	}
	return b.Bytes()
}

// withoutSource gives figures of servers the bands that reports of other sources give: those of the answer rest on all.
func withoutSource(all []Comparison) {
	r := NewReports(all)
	for i := range all {
		c := &all[i]
		kind := reportKind(c)
		if kind == "" || c.Refused != "" {
			continue
		}
		spread := cmp.Or(rateKind(c.Figure), servedFigures[c.Figure])
		low, high := r.Edges(kind, c.Row.Source).Around(spread, c.Ours.Mid)
		least, most := r.Edges(kind, "").Around(spread, c.Ours.Mid)
		if spread == serving.SpreadThroughput {
			high = limited(high, most, c.Ours.High)
		} else {
			low = -limited(-low, -least, -c.Ours.Low)
		}
		c.Ours.Low, c.Ours.High = low, high
		c.judge()
	}
}

// limited is the fast edge of a band, narrowed to what the device can do where the answer's own is short of what reports give.
func limited(edge, reports, shipped float64) float64 {
	const rounded = 1e-3 // of figures in answers
	if shipped < reports-rounded*math.Abs(reports) {
		return math.Min(edge, shipped)
	}
	return edge
}

// asShipped gives a left-out prediction of a server's figure the band that answers have: at least that of reports.
func (c *Comparison) asShipped(kind string) {
	if c.Refused != "" {
		return
	}
	name, version := engineOf(c.Row)
	f := serving.Reports(kind, name, version, speed.Figure{Mid: c.Ours.Mid, Low: c.Ours.Low, High: c.Ours.High})
	c.Ours.Low, c.Ours.High = f.Low, f.High
	c.judge()
}

// rateKind is the kind of a figure that is the less the longer times are.
func rateKind(figure string) string {
	if strings.HasSuffix(figure, "_ms") {
		return ""
	}
	return serving.SpreadThroughput
}

// AskedReports are the comparisons of reported runs, and what they say of servers.
func AskedReports() (Reports, error) {
	_, all, err := CompareAsked(&memwall.Asker{})
	return NewReports(all), err
}

// ReportVotes summarizes reported runs of servers by kind, a vote for each source.
func ReportVotes(all []Comparison) (out []Vote) {
	of := map[string][]*Comparison{}
	for i := range all {
		if c := &all[i]; c.Refused == "" && (c.Measure == &askedTokens || c.Measure == &askedPrompts) {
			of[reportKind(c)] = append(of[reportKind(c)], c)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(of)) {
		if kind != "" {
			out = append(out, vote(of[kind][0].Measure, kind, of[kind], func(r *Row) string { return r.Source }))
		}
	}
	return out
}

func reportTable(b *strings.Builder, votes []Vote) {
	b.WriteString("\n## Servers that others report, a vote for each source\n\n" +
		"Runs asked as their authors describe them; no figure rests on them. What a question does not say of a machine (power limits,\n" +
		"clocks, hosts, drivers, kernels that the newest support of a model lacks) scatters more than runs of benchmarks do, so bands\n" +
		"of servers reach at least as far as these reports lie from the middle of a time " +
		"([reported.tsv](../speed/serving/reported.tsv)),\nunless the server was measured by its owner. *Cover* is of sources whose " +
		"own report had no part in the band. *Older* is an\nengine's version before the first that was measured.\n\n")
	votes = slices.Clone(votes)
	for i := range votes {
		e, _ := serving.ReportedOf(votes[i].Group)
		votes[i].Group = fmt.Sprintf("%s: %.2f to %.2f ×", votes[i].Group, math.Exp(e.Low), math.Exp(e.High))
	}
	writeVotes(b, "figure: edges of its time | sources", votes, nil)
}
