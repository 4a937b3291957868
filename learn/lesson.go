package learn

import (
	"strings"

	"github.com/memwall/memwall"
)

// Lesson is a lesson with its numbers filled in.
type Lesson struct {
	Topic string `json:"topic"`
	Title string `json:"title"`
	// Model and Hardware are the example's.
	Model    string   `json:"model"`
	Hardware string   `json:"hardware"`
	Blocks   []Block  `json:"blocks"`
	Try      []string `json:"try,omitempty"` // commands
	Next     []string `json:"next,omitempty"`
	// Questions are what was asked of memwall, by the names used in expressions.
	Questions map[string]string `json:"questions,omitempty"`
	// Unknown says why figures are unknown.
	Unknown []string `json:"unknown,omitempty"`
}

// Kinds of blocks.
const (
	Paragraph = "paragraph" // Text
	Law       = "law"       // Text: a formula on one line
	Formula   = "formula"   // Name, Formula: how memwall computed a number
	Table     = "table"     // Head, Rows
	Bars      = "bars"      // Rows with a label and a number, and their Share of the longest
	Ledger    = "ledger"    // Device: its ledger
	Erratum   = "erratum"   // Erratum
)

// Block is a part of a lesson. Kind determines which fields are set.
type Block struct {
	Kind    string           `json:"kind"`
	Text    Text             `json:"text,omitempty"`
	Name    string           `json:"name,omitempty"`
	Formula *memwall.Explain `json:"formula,omitempty"`
	Head    []string         `json:"head,omitempty"`
	Rows    []Row            `json:"rows,omitempty"`
	Device  *memwall.Device  `json:"device,omitempty"`
	Errata  *Wrong           `json:"erratum,omitempty"`
}

// Row of a table or of bars.
type Row struct {
	Cells []Text  `json:"cells"`
	Share float64 `json:"share,omitempty"` // of the longest bar
}

// Wrong is a wrong figure in a well-known article, with the right one.
type Wrong struct {
	// Article is its title, Claim the row of docs/worked-examples.md that checks it.
	Article string `json:"article"`
	Claim   string `json:"claim"`
	Said    string `json:"said"`
	Ours    Text   `json:"ours"`
	Why     Text   `json:"why,omitempty"`
}

// Text is a sentence as pieces: words and computed numbers.
type Text []Piece

// Piece is a piece of a sentence. If it shows a number, Value is the number in bytes, seconds or a count, and From its
// expression.
type Piece struct {
	Text  string   `json:"text"`
	Value *float64 `json:"value,omitempty"`
	From  string   `json:"from,omitempty"`
}

// String returns the sentence.
func (t Text) String() string {
	var b strings.Builder
	for _, p := range t {
		b.WriteString(p.Text)
	}
	return b.String()
}
