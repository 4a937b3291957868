package validation

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/stat"
)

// Comparison is one figure of a row with its prediction.
type Comparison struct {
	Measure  *Measure
	Row      *Row
	Figure   string
	Measured Value
	Ours     Range
	// Naive is what a rule of thumb says; 0 where there is none.
	Naive float64
	// Error is (ours - measured) / measured; the plain difference when the measure is absolute.
	Error float64
	// Equal: ours is what was printed, to its last digit. Inside: the measurement lies in our band.
	Equal, Inside bool
	// Refused says why there is no figure of ours.
	Refused string
}

// Score summarizes a measure.
type Score struct {
	Measure *Measure
	// Group is what the rows have in common, when they were grouped.
	Group                  string
	Given, Used            int
	Equal, Inside          int
	Median, P90, Max, Bias float64
	// Width is the median width of our bands, relative to the figure.
	Width float64
	// Naive are the median and p90 error of a rule of thumb, where there is one.
	NaiveMedian, NaiveP90 float64
	Refused               map[string]int
	Worst                 []Comparison // the largest errors first
}

// Coverage is the share of measurements inside our bands.
func (s *Score) Coverage() float64 { return share(s.Inside, s.Used) }

// EqualShare is the share of figures that are equal.
func (s *Score) EqualShare() float64 { return share(s.Equal, s.Used) }

// Met reports whether the target is reached.
func (s *Score) Met() bool {
	if s.Measure.Exact {
		return s.Equal == s.Used
	}
	return s.Median <= s.Measure.Target
}

func share(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// Compare evaluates every row's question and compares the answers with the measurements.
func Compare(asker *memwall.Asker, sets []Set) []Comparison {
	var out []Comparison
	for i := range sets {
		one := asker.Remembering() // rows of a set are of few machines and models
		for j := range sets[i].Rows {
			out = append(out, compareRow(one, &sets[i].Rows[j])...)
		}
	}
	return out
}

func compareRow(asker *memwall.Asker, row *Row) (out []Comparison) {
	asked := &answers{asker: asker, row: row}
	for i := range Measures {
		m := &Measures[i]
		if !strings.HasPrefix(row.Set, m.Sets) || m.Given != nil && !m.Given(&memwall.Request{}, row, 0) {
			continue
		}
		for _, f := range m.Figures {
			if v, ok := row.Got[f]; ok {
				out = append(out, m.compare(asked, f, v))
			}
		}
	}
	return out
}

// answers remembers the answer to a row's plain question.
type answers struct {
	asker *memwall.Asker
	row   *Row
	plain *memwall.Answer
	err   error
}

func (a *answers) ask(m *Measure, side float64) (*memwall.Answer, error) {
	r := a.row.Ask
	if r.Hardware == "" {
		if !m.AnyDevice {
			return nil, errors.New("the report does not name the device")
		}
		r.Hardware = fmt.Sprintf("%dxh200", r.Ranks())
	}
	if m.Given != nil {
		m.Given(&r, a.row, side)
		return a.asker.Size(&r)
	}
	if a.plain == nil && a.err == nil {
		a.plain, a.err = a.asker.Size(&r)
	}
	return a.plain, a.err
}

func (m *Measure) compare(a *answers, figure string, v Value) Comparison {
	c := Comparison{Measure: m, Row: a.row, Figure: figure, Measured: v, Refused: a.row.Refused}
	if c.Refused != "" {
		return c
	}
	r, err := m.predict(a, figure, 0)
	if err == nil && m.Given != nil {
		var low, high Range
		low, err = m.predict(a, figure, -1)
		if err == nil {
			high, err = m.predict(a, figure, 1)
		}
		r.Low, r.High = low.Low, high.High
	}
	if err != nil {
		c.Refused = err.Error()
		return c
	}
	c.Ours = r
	c.judge()
	if m.Unfit != nil {
		c.Refused = m.Unfit(&c)
	}
	return c
}

func (m *Measure) predict(a *answers, figure string, side float64) (Range, error) {
	answer, err := a.ask(m, side)
	if err != nil {
		return Range{}, err
	}
	r, ok := m.Find(answer, figure)
	if !ok {
		return r, errors.New("the answer has no such figure")
	}
	return r, nil
}

func (c *Comparison) judge() {
	v, r := c.Measured, c.Ours
	c.Inside = r.Low <= v.High()+slack(v) && r.High >= v.Low()-slack(v)
	c.Equal = c.Inside
	if !c.Measure.Exact {
		c.Equal = math.Abs(r.Mid-v.Mid) <= v.Half+slack(v)
	}
	d := r.Mid - v.Mid
	if math.Abs(d) <= v.Half {
		d = 0
	}
	switch {
	case c.Measure.Absolute:
		c.Error = d / (1 << 30)
	case v.Mid != 0:
		c.Error = d / math.Abs(v.Mid)
	case d != 0:
		c.Error = math.Copysign(1, d)
	}
}

// slack covers the rounding of decimal fractions.
func slack(v Value) float64 { return math.Abs(v.Mid) * 1e-12 }

// everyMeasure lists what is asked through an Asker, then what is predicted beforehand.
func everyMeasure() []*Measure {
	var all []*Measure
	for i := range Measures {
		all = append(all, &Measures[i])
	}
	return slices.Concat(all, []*Measure{&newSourcePools}, StreamMeasures, ServingMeasures, []*Measure{&throughput}, AskedMeasures, WideMeasures,
		KernelMeasures, []*Measure{&hostCopies}, TrainingMeasures, TrainMeasures, SimulationMeasures)
}

// Scores summarizes comparisons by measure; keep selects those that count.
func Scores(all []Comparison, keep func(*Comparison) bool) []Score {
	var out []Score
	for _, m := range everyMeasure() {
		var mine []Comparison
		for _, c := range all {
			if c.Measure == m && (keep == nil || keep(&c)) {
				mine = append(mine, c)
			}
		}
		if len(mine) > 0 {
			out = append(out, score(m, mine))
		}
	}
	return out
}

func score(m *Measure, all []Comparison) Score {
	s := Score{Measure: m, Given: len(all), Refused: map[string]int{}}
	var errors, signed, widths, naive []float64
	for _, c := range all {
		if c.Refused != "" {
			s.Refused[c.Refused]++
			continue
		}
		s.Used++
		s.Equal += count(c.Equal)
		s.Inside += count(c.Inside)
		errors = append(errors, math.Abs(c.Error))
		signed = append(signed, c.Error)
		if c.Ours.Mid != 0 {
			widths = append(widths, (c.Ours.High-c.Ours.Low)/math.Abs(c.Ours.Mid))
		}
		if c.Naive > 0 {
			naive = append(naive, math.Abs(c.Naive/c.Measured.Mid-1))
		}
		s.Worst = append(s.Worst, c)
	}
	sort.SliceStable(s.Worst, func(i, j int) bool { return math.Abs(s.Worst[i].Error) > math.Abs(s.Worst[j].Error) })
	if s.Used > 0 {
		s.Median, s.P90, s.Max, s.Bias = stat.Median(errors), stat.Quantile(errors, 0.9), slices.Max(errors), stat.Median(signed)
	}
	if len(widths) > 0 {
		s.Width = stat.Median(widths)
	}
	if len(naive) > 0 {
		s.NaiveMedian, s.NaiveP90 = stat.Median(naive), stat.Quantile(naive, 0.9)
	}
	return s
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
