package serving

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/speed"
)

//go:embed reported.tsv
var reported []byte

// What others report is told apart by figure and, of tokens, by whether the engine's version is older than those that were measured here.
const (
	ReportedPrompts = "prompts"
	ReportedTokens  = "tokens"
	ReportedOlder   = "tokens, older versions"
)

// Reported is the logarithm of times that others report over what is said of them: nine of ten sources are to lie between. It has what a
// question does not say of a machine: power limits, clocks, hosts, drivers, flags, kernels that a model's newest support has not.
type Reported struct {
	Low, High        float64
	Sources, Figures int
}

var reportsTable = sync.OnceValues(func() (map[string]Reported, error) { return parseReports(string(reported)) })

// ReportedHeader heads the table of edges.
const ReportedHeader = "figure\tlow\thigh\tsources\tfigures\n"

// Line is a line of the table.
func (r Reported) Line(kind string) string {
	return fmt.Sprintf("%s\t%.3f\t%.3f\t%d\t%d\n", kind, r.Low, r.High, r.Sources, r.Figures)
}

func parseReports(text string) (out map[string]Reported, err error) {
	out = map[string]Reported{}
	for _, line := range strings.Split(strings.TrimSpace(text), "\n")[1:] {
		cells := strings.Split(line, "\t")
		if len(cells) != 5 {
			return out, fmt.Errorf("%d cells, want 5: %q", len(cells), line)
		}
		if out[cells[0]], err = parseReported(cells[1:]); err != nil {
			return out, fmt.Errorf("%q: %w", line, err)
		}
	}
	return out, nil
}

func parseReported(cells []string) (r Reported, err error) {
	for i, at := range []*float64{&r.Low, &r.High} {
		if *at, err = strconv.ParseFloat(cells[i], 64); err != nil {
			return r, err
		}
	}
	for i, at := range []*int{&r.Sources, &r.Figures} {
		if *at, err = strconv.Atoi(cells[2+i]); err != nil {
			return r, err
		}
	}
	return r, nil
}

// ReportedKind is what a kind of figure of an engine's version is told apart by.
func ReportedKind(kind, name string, v engine.Version) string {
	switch {
	case kind == SpreadFirst:
		return ReportedPrompts
	case Older(name, v):
		return ReportedOlder
	}
	return ReportedTokens
}

// ReportedOf returns the edges of a kind, as of ReportedKind.
func ReportedOf(kind string) (r Reported, ok bool) {
	t, err := reportsTable()
	if err != nil {
		return r, false
	}
	r, ok = t[kind]
	return r, ok
}

// Around is the band of what others would report of a figure; rates are the less the longer the times.
func (r Reported) Around(kind string, mid float64) (low, high float64) {
	if kind == SpreadThroughput {
		return mid * math.Exp(-r.High), mid * math.Exp(-r.Low)
	}
	return mid * math.Exp(r.Low), mid * math.Exp(r.High)
}

// Reports widens a figure's band to what others would report of it: how far runs that were left out are off is of machines that are kept
// as benchmarks keep them.
func Reports(kind, name string, v engine.Version, f speed.Figure) speed.Figure {
	r, ok := ReportedOf(ReportedKind(kind, name, v))
	if !ok || !f.Known() {
		return f
	}
	low, high := r.Around(kind, f.Mid)
	f.Low, f.High = math.Min(f.Low, low), math.Max(f.High, high)
	return f
}
