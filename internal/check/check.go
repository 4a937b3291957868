// Package check judges the plans listed in a repository's memwall.yaml. Each is a launch line, a manifest, the files of
// a training run or the fields of a plan, with conditions it must meet. The same check on an earlier state of the files
// is its base, and changes since then are shown with each plan.
//
// See file.go for the file, run.go for how a plan is evaluated and judged, changes.go for comparison with a base, and
// formats.go for JUnit, SARIF and Markdown. Files are read through an interface; nothing is written.
package check

import "github.com/memwall/memwall"

// Name of the file that is looked for.
const Name = "memwall.yaml"

// Plan is an entry of the file.
type Plan struct {
	Name string
	Line int
	// Ask is fit or train; "" leaves it to what From holds.
	Ask string
	// From are a command, or the files of one or of a run.
	From []string
	// Set are fields of a request, in JSON.
	Set  map[string]any
	Must []Must
}

// Must is something that has to hold: a figure, and its bound as it stands in the file.
type Must struct {
	Name, Bound string
	Line        int
	limit       float64
}

// Outcome of a plan or of a bound.
type Outcome string

// Outcomes. Unanswered is of a plan that cannot be asked.
const (
	Holds      Outcome = "holds"
	Fails      Outcome = "fails"
	Unknown    Outcome = "unknown"
	Unanswered Outcome = "error"
)

// Run is what became of all plans.
type Run struct {
	Schema  string   `json:"schema"`
	Version string   `json:"version"`
	File    string   `json:"file"`
	Outcome Outcome  `json:"outcome"` // the worst
	Plans   []Result `json:"plans"`
	// Gone are plans of the base that are no longer there.
	Gone []string `json:"gone,omitempty"`
	Base string   `json:"base,omitempty"`
}

// Result is what became of one.
type Result struct {
	Name    string           `json:"name"`
	Line    int              `json:"line,omitempty"`
	Ask     string           `json:"ask,omitempty"`
	Outcome Outcome          `json:"outcome"`
	Verdict memwall.Verdict  `json:"verdict,omitempty"`
	Model   string           `json:"model,omitempty"`
	On      string           `json:"on,omitempty"`
	Musts   []Judged         `json:"must,omitempty"`
	Figures Figures          `json:"figures"`
	Plan    *memwall.Request `json:"plan,omitempty"`
	Command string           `json:"command,omitempty"`
	Notes   []string         `json:"notes,omitempty"`
	Error   *memwall.Error   `json:"error,omitempty"`
	// New: the base does not have it. Changes are what is otherwise than there.
	New     bool     `json:"new,omitempty"`
	Changes []Change `json:"changes,omitempty"`
}

// Judged is a bound with what was found.
type Judged struct {
	Name    string  `json:"name"`
	Bound   string  `json:"bound"`
	Found   string  `json:"found"`
	Outcome Outcome `json:"outcome"`
	Line    int     `json:"line,omitempty"`
}

// Figures of a plan that bounds are about; null where nobody knows. Memory is of the device with the least room.
type Figures struct {
	Needed   *float64 `json:"needed_bytes"`
	Usable   *float64 `json:"usable_bytes"`
	Headroom *float64 `json:"headroom_bytes"`
	Users    *float64 `json:"users"`
	TTFT     *float64 `json:"ttft_s"`
	TPOT     *float64 `json:"tpot_s"`
	Days     *float64 `json:"days"`
	Dollars  *float64 `json:"usd"`
}

// Change is a figure, a verdict or a field that is otherwise than in the base.
type Change struct {
	Name string `json:"name"`
	Was  string `json:"was"`
	Now  string `json:"now"`
	By   string `json:"by,omitempty"` // the difference, where it is one of numbers
}

// worst is the outcome that decides over several.
func worst(a, b Outcome) Outcome {
	order := map[Outcome]int{"": 0, Holds: 1, Unknown: 2, Fails: 3, Unanswered: 4}
	if order[b] > order[a] {
		return b
	}
	return a
}
