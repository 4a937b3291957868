package rows

import (
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall/calibrate"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/stat"
)

// ReportSchema is the schema of memwall rows.
const ReportSchema = "memwall/rows/1"

// Report is what a store holds.
type Report struct {
	Schema string `json:"schema"`
	Path   string `json:"path"`
	// Added and Had are set after rows were added: how many, and how many were there already.
	Added   *int                `json:"added,omitempty"`
	Had     int                 `json:"had,omitempty"`
	Refused []calibrate.Refusal `json:"refused,omitempty"`
	Rows    int                 `json:"rows"`
	Groups  []Group             `json:"groups"`
	Doubts  []NamedDoubt        `json:"quarantined,omitempty"`
}

// Group is the rows of one model on the same devices with one engine.
type Group struct {
	Model    string   `json:"model"`
	Weights  string   `json:"weights,omitempty"`
	Hardware string   `json:"hardware"`
	Engine   string   `json:"engine"`
	Rows     int      `json:"rows"`
	Figures  int      `json:"figures"`
	Sources  []string `json:"sources"` // with their licences
	// Ratio is the middle of measured over predicted; null where nothing was predicted.
	Ratio *float64 `json:"ratio"`
}

// NamedDoubt is a figure in quarantine, by names.
type NamedDoubt struct {
	Model    string  `json:"model"`
	Hardware string  `json:"hardware"`
	Figure   string  `json:"figure"`
	Measured float64 `json:"measured"`
	Unit     string  `json:"unit"`
	Source   string  `json:"source"`
	Why      string  `json:"why"`
}

// NewReport judges a store's rows and groups them.
func NewReport(path string, rows []*Row) *Report {
	out := &Report{Schema: ReportSchema, Path: path, Rows: len(rows), Groups: []Group{}}
	doubtful := map[[2]int]bool{}
	for _, d := range Judge(rows) {
		r := rows[d.Row]
		f := &r.Figures[d.Figure]
		doubtful[[2]int{d.Row, d.Figure}] = true
		out.Doubts = append(out.Doubts, NamedDoubt{r.plan.Model, r.plan.Hardware, f.Name, f.Measured, f.Unit, r.Source, d.Why})
	}
	at, ratios := map[key]int{}, map[key][]float64{}
	for i, r := range rows {
		k := r.key()
		if _, ok := at[k]; !ok {
			at[k] = len(out.Groups)
			out.Groups = append(out.Groups, Group{Model: k.model, Weights: k.weights, Hardware: k.hardware, Engine: k.engine})
		}
		out.Groups[at[k]].take(r)
		for j := range r.Figures {
			if x, ok := r.Figures[j].Ratio(); ok && r.Figures[j].Kind() != "" && !doubtful[[2]int{i, j}] {
				ratios[k] = append(ratios[k], math.Log(x))
			}
		}
	}
	for k, x := range ratios {
		middle := math.Exp(stat.Median(x))
		out.Groups[at[k]].Ratio = &middle
	}
	stable.Sort(out.Groups, func(a, b Group) int { return strings.Compare(a.Hardware+" "+a.Model, b.Hardware+" "+b.Model) })
	return out
}

// take counts a row.
func (g *Group) take(r *Row) {
	g.Rows++
	g.Figures += len(r.Figures)
	if s := r.Source + " (" + r.Licence + ")"; !slices.Contains(g.Sources, s) {
		g.Sources = append(g.Sources, s)
	}
}

// Written is a row on its way to others: what it is called, the text, and what of the plan stays here.
type Written struct {
	Schema string `json:"schema"`
	As     string `json:"as"`
	Row    *Row   `json:"row"`
	// Shown is the row as people read it.
	Shown string   `json:"-"`
	Left  []string `json:"left_out,omitempty"`
	// Name of the file, "" for an address; Text is what it holds, or the address.
	Name string `json:"file,omitempty"`
	Text string `json:"text"`
}

// Written gives a row the form in which it is handed on.
func (s *Shared) Written(as string) (*Written, error) {
	shown, err := s.Row.Shown()
	if err != nil {
		return nil, err
	}
	w := &Written{Schema: ReportSchema, As: as, Row: s.Row, Shown: shown, Left: s.Left}
	switch as {
	case AsIssue:
		w.Text, err = s.Row.Issue()
	case AsPatch:
		w.Name = strings.TrimSuffix(s.Row.FileName(), ".json") + ".patch"
		w.Text, err = s.Row.Patch()
	default:
		w.Name = s.Row.FileName()
		var line []byte
		line, err = s.Row.Line()
		w.Text = string(line)
	}
	return w, err
}
