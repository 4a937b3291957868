package validation

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/stable"
)

// Report is the scoreboard.
type Report struct {
	Sets []Set
	// Rows are used when one of their figures could be compared, else refused for a reason.
	Used, Refused int
	Reasons       []Reason
	// Scores are of rows that no constant was fitted to; Fitted are of the others, where it matters.
	Scores, Fitted []Score
	Groups         []Score // by what was asked for
	Besides        []Beside
	// Orders are how well plans are put in order, by how they are grouped.
	Orders []Order
	// Calls are verdicts beside what reports say of plans, by kind.
	Calls []Calls
	// Pools are vLLM's, with a vote for each who reported.
	Pools []Vote
	// Streams are single ones, with a vote for each report.
	Streams []Vote
	// Reported are servers that others report, with a vote for each source.
	Reported []Vote
	// Wide are published rates of servers whose experts are spread over many ranks.
	Wide []Comparison
	// Training has a vote for each who measured, Runs what was said of runs, and Idle why rows are not used.
	Training []Vote
	Runs     Verdicts
	Idle     []Reason
	// Diagnoses are messages of failures, and logs without any.
	Diagnoses *Diagnoses
}

// Reason is why rows were refused, with their number.
type Reason struct {
	Text string
	Rows int
}

// Run evaluates every row and summarizes. by groups the scores: "set", "source", "hardware", "model" or "engine"; "" does not
// group.
func Run(asker *memwall.Asker, by string) (*Report, error) {
	sets, err := Load()
	if err != nil {
		return nil, err
	}
	all := Compare(asker, sets)
	served, err := CompareServing(sets)
	if err != nil {
		return nil, err
	}
	pools, err := ComparePools(sets)
	if err != nil {
		return nil, err
	}
	all = slices.Concat(all, served, pools)
	streams := func() (Set, []Comparison, error) { return CompareStreams(asker) }
	published := func() (Set, []Comparison, error) { return CompareWide(asker) }
	asked := func() (Set, []Comparison, error) { return CompareAsked(asker) }
	for _, stored := range []func() (Set, []Comparison, error){streams, CompareThroughput, CompareKernels, CompareCopies, CompareTraining,
		CompareTrainSpeeds, CompareLoads, published, asked} {
		set, compared, err := stored()
		if err != nil {
			return nil, err
		}
		sets, all = append(sets, set), append(all, compared...)
	}
	r := &Report{Sets: sets, Scores: Scores(all, unseen), Fitted: Scores(all, seen)}
	r.count(all)
	r.Wide = ofMeasures(all, WideMeasures)
	r.Pools, r.Streams, r.Reported = PoolVotes(all), StreamVotes(all), ReportVotes(all)
	r.Training, r.Runs, r.Idle = TrainingVotes(all), TrainingVerdicts(all), trainingRefused(all)
	peers, err := Peers()
	if err != nil {
		return nil, err
	}
	r.Besides = besides(peers, all)
	if r.Orders, err = Orders(all); err != nil {
		return nil, err
	}
	calls, err := CallVerdicts(asker, sets)
	if err != nil {
		return nil, err
	}
	r.Calls = SumCalls(calls)
	if r.Diagnoses, err = Diagnose(sets); err != nil {
		return nil, err
	}
	if key := groupings[by]; key != nil {
		r.Groups = grouped(all, key)
	}
	return r, nil
}

// ofMeasures are the comparisons of some measures.
func ofMeasures(all []Comparison, which []*Measure) (out []Comparison) {
	for i := range all {
		if slices.Contains(which, all[i].Measure) {
			out = append(out, all[i])
		}
	}
	return out
}

func unseen(c *Comparison) bool { return !seen(c) }

func seen(c *Comparison) bool { return c.Measure.Fitted && c.Row.Fit }

// Met counts the measures within their target.
func (r *Report) Met() (n int) {
	for i := range r.Scores {
		n += count(r.Scores[i].Met())
	}
	return n
}

func (r *Report) count(all []Comparison) {
	used, why := map[*Row]bool{}, map[*Row]string{}
	for i := range all {
		if c := &all[i]; c.Refused == "" {
			used[c.Row] = true
		} else if why[c.Row] == "" {
			why[c.Row] = c.Refused
		}
	}
	reasons := map[string]int{}
	for i := range r.Sets {
		for j := range r.Sets[i].Rows {
			row := &r.Sets[i].Rows[j]
			if used[row] {
				r.Used++
				continue
			}
			r.Refused++
			reason := why[row]
			if row.Refused != "" {
				reason = row.Refused
			}
			reasons[reason]++
		}
	}
	for text, n := range reasons {
		r.Reasons = append(r.Reasons, Reason{text, n})
	}
	stable.Sort(r.Reasons, byRows)
}

// byRows puts the most frequent reasons first.
func byRows(a, b Reason) int { return cmp.Or(b.Rows-a.Rows, strings.Compare(a.Text, b.Text)) }

// Groupings returns the groupings that Run accepts.
func Groupings() []string { return []string{"set", "source", "hardware", "model", "engine"} }

var groupings = map[string]func(*Row) string{
	"set":      func(r *Row) string { return r.Set },
	"source":   func(r *Row) string { return beforeNumber(r.Source) },
	"hardware": func(r *Row) string { return word(r.Ask.Hardware) },
	"model":    func(r *Row) string { return word(r.Ask.Model) },
	"engine":   func(r *Row) string { return word(r.Ask.Engine) },
}

func word(s string) string {
	if s == "" {
		return "not named"
	}
	return s
}

// beforeNumber is a source without the number of an issue or the path of a file.
func beforeNumber(s string) string {
	if i := strings.IndexAny(s, "#: "); i > 0 {
		return s[:i]
	}
	return s
}

func grouped(all []Comparison, key func(*Row) string) (out []Score) {
	names := map[string]bool{}
	for i := range all {
		names[key(all[i].Row)] = true
	}
	sorted := make([]string, 0, len(names))
	for n := range names {
		sorted = append(sorted, n)
	}
	sort.Strings(sorted)
	for _, n := range sorted {
		for _, s := range Scores(all, func(c *Comparison) bool { return unseen(c) && key(c.Row) == n }) {
			s.Group = n
			out = append(out, s)
		}
	}
	return out
}
