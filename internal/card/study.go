package card

// Study is the summary of a study's answers.
type Study struct {
	ID     string `json:"id"`
	Name   string `json:"name,omitempty"`
	Ask    string `json:"ask"`
	Tables string `json:"tables"`
	// Points are the study's questions, Answered those with an answer so far.
	Points   int64   `json:"points"`
	Answered int64   `json:"answered"`
	Failures []Count `json:"failures,omitempty"`
	// Factors of which a design has a level each; the seed is none. Asked are those of them that say what is wanted, where
	// the others are what one can choose: designs of one case are compared with each other.
	Factors []string `json:"factors"`
	Asked   []string `json:"asked,omitempty"`
	// Criterion is what a design is to do: keep the goal, hold the load, serve it, or fit.
	Criterion string `json:"criterion"`
	// Measures that designs are compared by, the first of them what the best has least of, or most.
	Measures    []StudyMeasure `json:"measures"`
	Sensitivity []Sensitivity  `json:"sensitivity"`
	// Designs by case: those on its front first, which do what is wanted and no other of the case is as good in all measures
	// and better in one; then others that do it, then those that do not.
	Designs []Design `json:"designs"`
	// Cases are what is wanted, one after the other as their designs are.
	Cases []StudyCase `json:"cases"`
	// Overall is the best of what does all cases; nil where nothing does, or there is one case.
	Overall *StudyBest `json:"overall,omitempty"`
}

// Criteria of designs.
const (
	KeepsGoal  = "goal"
	HoldsLoad  = "load"
	ServesLoad = "served"
	Fitting    = "fits"
)

// StudyCase is one combination of the factors that define the requirements.
type StudyCase struct {
	// Name of it, of the factors that differ; "" of the only one.
	Name string `json:"name,omitempty"`
	// From the design of this index on, so many are of the case; Held of them do what is wanted.
	From    int `json:"from"`
	Designs int `json:"designs"`
	Held    int `json:"held"`
	// Best design that does what is wanted, by its index, and the one that comes nearest where none does; -1 where nothing
	// is known.
	Best    int `json:"best"`
	Nearest int `json:"nearest"`
}

// StudyBest is a way of taking the factors that can be chosen.
type StudyBest struct {
	Name string `json:"name"`
	// Of how many ways that do all cases it is the best.
	Of int `json:"of"`
	// Spreads by measure over all cases, with the least and the most of their designs' means.
	Spreads []*Spread `json:"spreads"`
}

// Count is the number of occurrences of something.
type Count struct {
	What string `json:"what"`
	N    int64  `json:"n"`
}

// StudyMeasure is a figure of answers.
type StudyMeasure struct {
	Name string `json:"name"`
	// More is better than less.
	More bool `json:"more_is_better"`
	// Label is how people call it, Unit what it is in; "" of a number.
	Label string `json:"label"`
	Unit  string `json:"unit,omitempty"`
}

// Sensitivity is how much of a measure's variance each factor explains, over the answers that have the measure.
type Sensitivity struct {
	Measure string  `json:"measure"`
	N       int64   `json:"n"`
	Mean    float64 `json:"mean"`
	Least   float64 `json:"least"`
	Most    float64 `json:"most"`
	// Shares by factor, the largest first: the variance of the means of a factor's levels over all variance. Together is
	// what factors explain only with each other.
	Shares   []Share `json:"shares"`
	Together float64 `json:"together"`
	// Uneven: levels have unlike numbers of answers, so that shares of factors that go together run into each other.
	Uneven bool `json:"uneven,omitempty"`
}

// Share is a share of a variance, from 0 to 1.
type Share struct {
	Factor string  `json:"factor"`
	Share  float64 `json:"share"`
}

// Design is a question without its seed.
type Design struct {
	// Levels as the study names them, Names as people know them.
	Levels []string `json:"levels"`
	Names  []string `json:"names"`
	// Name of what can be chosen, of the factors that differ.
	Name string `json:"name"`
	// Seeds that were answered.
	Seeds int64 `json:"seeds"`
	// Held is with how many of them it does what is wanted.
	Held  int64 `json:"held"`
	Front bool  `json:"front"`
	// Spreads by measure, in the order of the study's; nil where no answer tells it.
	Spreads []*Spread `json:"spreads"`
}

// Spread is the spread of a measure over a design's seeds. Low and High are the mean edges of the answers' bands.
type Spread struct {
	Mean float64  `json:"mean"`
	P5   float64  `json:"p5"`
	P50  float64  `json:"p50"`
	P95  float64  `json:"p95"`
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`
}
