package rows

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/stat"
)

// DriftSchema is the schema of memwall-farm store drift.
const DriftSchema = "memwall/drift/1"

// Drift is the change of figures from one engine version to the next.
type Drift struct {
	Schema string   `json:"schema"`
	Store  string   `json:"store"`
	Rows   int      `json:"rows"`
	Series []Series `json:"series"`
	// Aside are rows that cannot be read here, such as those of a newer memwall.
	Aside []Aside `json:"aside,omitempty"`
}

// Aside is a row of a store that is left aside, and why.
type Aside struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

// Series is a figure of a model on the same devices, by engine version.
type Series struct {
	Model    string         `json:"model"`
	Weights  string         `json:"weights,omitempty"`
	Hardware string         `json:"hardware"`
	Engine   string         `json:"engine"`
	Figure   string         `json:"figure"` // as the engine or the benchmark calls it
	Kind     string         `json:"kind"`
	Versions []VersionPoint `json:"versions"` // oldest first
}

// VersionPoint is what a version measured. A ratio is the median of its figures; null if none was predicted.
type VersionPoint struct {
	Version     string `json:"version"`
	First       string `json:"first,omitempty"` // day of a run
	Last        string `json:"last,omitempty"`
	Figures     int    `json:"figures"`
	Quarantined int    `json:"quarantined,omitempty"`
	// Ratio is measured over predicted.
	Ratio *float64 `json:"ratio"`
	// Before is measured over measured by the version before, among plans and loads that both ran; null where there is none.
	Before *float64 `json:"before"`
	Pairs  int      `json:"pairs,omitempty"`
	// Moved: the figure is another than with the version before, by the rule of moved.
	Moved bool `json:"moved,omitempty"`
}

// A version moved a figure where the median of its pairs is further from one than the pairs are apart: three standard deviations
// by the median distance, and this many times at least, below which clocks and allocators differ from day to day.
const movedAtLeast = 1.05

// NewDrift groups the figures of rows by subject and version. Quarantined figures count too, and are marked, since a version that
// changed them all is what drift is about.
func NewDrift(store string, kept []Kept) *Drift {
	rows, aside := Readable(kept)
	out := &Drift{Schema: DriftSchema, Store: store, Rows: len(rows), Series: []Series{}, Aside: aside}
	doubtful := map[[2]int]bool{}
	for _, d := range Judge(rows) {
		doubtful[[2]int{d.Row, d.Figure}] = true
	}
	all := map[seriesKey]map[string]*sample{}
	for i, r := range rows {
		version := r.version()
		for j := range r.Figures {
			f := &r.Figures[j]
			if version == "" || f.Kind() == "" || !(f.Measured > 0) {
				continue
			}
			k := seriesKey{r.key(), f.Name, f.Kind()}
			if all[k] == nil {
				all[k] = map[string]*sample{}
			}
			if all[k][version] == nil {
				all[k][version] = &sample{loads: map[string][]float64{}}
			}
			all[k][version].take(r, f, doubtful[[2]int{i, j}])
		}
	}
	for k, versions := range all {
		out.Series = append(out.Series, seriesOf(k, versions))
	}
	stable.Sort(out.Series, func(a, b Series) int { return strings.Compare(a.order(), b.order()) })
	return out
}

type seriesKey struct {
	key
	figure, kind string
}

// order of series: machines, then models, then engines, and memory before speed as names fall.
func (s *Series) order() string {
	return strings.Join([]string{s.Hardware, s.Model, s.Weights, s.Engine, s.Kind, s.Figure}, "\x00")
}

// sample is what one version measured of a figure.
type sample struct {
	first, last  string
	figures, out int
	ratios       []float64            // logarithms
	loads        map[string][]float64 // logarithms of what was measured, by plan and load
}

func (s *sample) take(r *Row, f *Figure, doubtful bool) {
	s.figures++
	if doubtful {
		s.out++
	}
	if r.Date != "" && (s.first == "" || r.Date < s.first) {
		s.first = r.Date
	}
	s.last = max(s.last, r.Date)
	if x, ok := f.Ratio(); ok {
		s.ratios = append(s.ratios, math.Log(x))
	}
	k := r.load(f)
	s.loads[k] = append(s.loads[k], math.Log(f.Measured))
}

// version that ran, as the engine named itself, or as the plan names it; "" where neither does.
func (r *Row) version() string {
	for _, named := range []string{r.Engine, r.plan.Engine} {
		if _, v, ok := strings.Cut(named, "@"); ok {
			return v
		}
	}
	return ""
}

// RanBy reports whether an engine ran the row, as vllm or vllm@0.13 name it: a version stands for those that begin with it.
func (r *Row) RanBy(named string) bool {
	name, version, _ := strings.Cut(named, "@")
	rest, ok := strings.CutPrefix(r.version(), version)
	return engineKey(r.plan.Engine) == engineKey(name) && ok && (version == "" || rest == "" || rest[0] < '0' || rest[0] > '9')
}

// load is what was run and asked, whatever version ran it.
func (r *Row) load(f *Figure) string {
	p := *r.plan
	p.Engine, p.Hardware, p.Devices = engineKey(p.Engine), hardwareKey(p.Hardware, p.Devices), 0
	text, err := json.Marshal(&p)
	if err != nil {
		return ""
	}
	n := func(x int64) string { return strconv.FormatInt(x, 10) }
	return strings.Join([]string{string(text), f.Device, n(f.Prompt), n(f.Answer), n(f.Depth), n(f.Users), f.Unit}, "\x00")
}

// seriesOf puts versions in order and sets each beside the one before.
func seriesOf(k seriesKey, versions map[string]*sample) Series {
	out := Series{Model: k.model, Weights: k.weights, Hardware: k.hardware, Engine: k.engine, Figure: k.figure, Kind: k.kind}
	var last *sample
	for _, name := range inOrder(versions) {
		s := versions[name]
		p := VersionPoint{Version: name, First: s.first, Last: s.last, Figures: s.figures, Quarantined: s.out, Ratio: middleOf(s.ratios)}
		if last != nil {
			pairs := s.timesOf(last)
			p.Before, p.Pairs, p.Moved = middleOf(pairs), len(pairs), moved(pairs)
		}
		out.Versions, last = append(out.Versions, p), s
	}
	return out
}

// timesOf are the logarithms of what was measured over what an older version measured, one for each plan and load of both.
func (s *sample) timesOf(old *sample) (out []float64) {
	for k, x := range s.loads {
		if y := old.loads[k]; len(y) > 0 {
			out = append(out, stat.Median(x)-stat.Median(y))
		}
	}
	slices.Sort(out)
	return out
}

// moved is the rule by which a version counts as a change.
func moved(pairs []float64) bool {
	if len(pairs) == 0 {
		return false
	}
	middle := stat.Median(pairs)
	apart := make([]float64, len(pairs))
	for i := range pairs {
		apart[i] = math.Abs(pairs[i] - middle)
	}
	return math.Abs(middle) > max(math.Log(movedAtLeast), spread*1.4826*stat.Median(apart))
}

func middleOf(logs []float64) *float64 {
	if len(logs) == 0 {
		return nil
	}
	x := math.Exp(stat.Median(logs))
	return &x
}

var (
	releases = regexp.MustCompile(`^v?\d+\.\d`)
	builds   = regexp.MustCompile(`^b?(\d{3,6})$`)
)

// numbered reads a release or the number of a build; false for what tells no order, such as a commit.
func numbered(version string) (engine.Version, bool) {
	if m := builds.FindStringSubmatch(version); m != nil {
		version = m[1] + ".0"
	}
	if !releases.MatchString(version) {
		return engine.Version{}, false
	}
	v, err := engine.ParseVersion(version)
	return v, err == nil
}

// inOrder are the versions from the oldest on: by their numbers, and those without after them by the day of their first run.
func inOrder(versions map[string]*sample) (out []string) {
	for name := range versions {
		out = append(out, name)
	}
	slices.Sort(out)
	stable.Sort(out, func(a, b string) int {
		x, xn := numbered(a)
		y, yn := numbered(b)
		switch {
		case xn != yn:
			return map[bool]int{true: -1, false: 1}[xn]
		case !xn:
			return strings.Compare(versions[a].first, versions[b].first)
		case x == y:
			return 0
		case x.Before(y):
			return -1
		}
		return 1
	})
	return out
}
