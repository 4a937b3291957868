// Package examples checks the figures of five texts about the memory of language models against memwall's
// own: what each claims, what comes out here and how, whether it is right, and why not. Markdown renders
// docs/worked-examples.md; a test keeps the file and the program together.
//
// SelectionMarkdown renders docs/gpu-selection.md: their advice on which GPU, and a table of our own.
//
// A row is data with expressions that are computed through a ledger.Book, so that the formula shown
// is the one evaluated. The rows stand in one file per document, texts/1.txt to 5.txt; recipes.go sets rules of training
// side by side. Open read.go for how such a file is read and eval.go for how its expressions are, names.go for what they may
// call, check.go for what a verdict must satisfy, texts/figures.txt for the list of all figures that the documents hold.
package examples

// Verdict says what became of a claim.
type Verdict string

const (
	// Right: our value rounds to the claim.
	Right Verdict = "right"
	// UnitSlip: the number is right with a binary prefix and written with a decimal one, or the reverse.
	UnitSlip Verdict = "unit"
	// Stale: it was right of the models or machines of its day.
	Stale Verdict = "stale"
	// Wrong: our value is more than 2 % off, under the claim's own assumptions.
	Wrong Verdict = "wrong"
	// Depends: an assumption that the document leaves open decides.
	Depends Verdict = "depends"
	// Later: neither memory nor speed of a plan can tell.
	Later Verdict = "later"
)

// Verdicts in the order of the summary.
var Verdicts = []Verdict{Right, UnitSlip, Stale, Wrong, Depends, Later}

// Topic is what a claim waits for.
type Topic string

const (
	Training   Topic = "training"
	Simulation Topic = "simulation"
)

// Document is a text with its figures.
type Document struct {
	Number   int
	Title    string
	About    string
	Sections []Section
}

// Section groups rows that one table shows.
type Section struct {
	Title string
	Rows  []Row
}

// Row is a figure. ID is the document's number and a running number: "2.17".
type Row struct {
	ID      string
	Claim   string // in our words
	Verdict Verdict
	Why     string
	Waits   Topic  // for Later
	Best    string // a headline, when the row is one to remember
	lines   []line
}

// Finding is one value beside what was said of it.
type Finding struct {
	Said  Said
	Value float64 // in base units of Said.Unit
	When  string  // the assumption it holds under
	Role  Role
	How   formula
}

// Role says what a finding is to its row.
type Role uint8

const (
	// Ours is a value that the verdict is judged by.
	Ours Role = iota
	// Aside is shown and not judged.
	Aside
	// Ceiling and Floor bound what a Later row will find.
	Ceiling
	Floor
	// Waiting has no value yet.
	Waiting
)

// Judged gives the documents in order, and behind them what is quoted everywhere and stands in none of them.
func Judged() ([]Document, error) { return readTexts() }

// Rows gives the rows of a document in order.
func (d *Document) Rows() (out []Row) {
	for _, s := range d.Sections {
		out = append(out, s.Rows...)
	}
	return out
}
