package learn

import (
	"strings"

	"github.com/memwall/memwall"
)

// Lesson is a lesson with its numbers in it.
type Lesson struct {
	Topic string `json:"topic"`
	Title string `json:"title"`
	// Model and Hardware are those of the example.
	Model    string   `json:"model"`
	Hardware string   `json:"hardware"`
	Blocks   []Block  `json:"blocks"`
	Try      []string `json:"try,omitempty"` // commands
	Next     []string `json:"next,omitempty"`
	// Questions are what memwall was asked, by the names that expressions use.
	Questions map[string]string `json:"questions,omitempty"`
	// Unknown says why figures are unknown.
	Unknown []string `json:"unknown,omitempty"`
}

// Kinds of blocks.
const (
	Paragraph = "paragraph" // Text
	Law       = "law"       // Text: a formula as people write it, one line
	Formula   = "formula"   // Name, Formula: how memwall computed a number
	Table     = "table"     // Head, Rows
	Bars      = "bars"      // Rows of a label and a number, with their Share of the longest
	Ledger    = "ledger"    // Device: where its bytes go
	Erratum   = "erratum"   // Erratum
)

// Block is a part of a lesson. Kind says which fields it has.
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

// Wrong is a figure of a well-known article, and the right one.
type Wrong struct {
	// Article is its title, Claim the row of docs/worked-examples.md that checks it.
	Article string `json:"article"`
	Claim   string `json:"claim"`
	Said    string `json:"said"`
	Ours    Text   `json:"ours"`
	Why     Text   `json:"why,omitempty"`
}

// Text is a sentence in pieces: words, and numbers that were computed.
type Text []Piece

// Piece of a sentence. Value is set where the words show a number, in bytes, seconds or what it counts, and From
// is the expression that gave it.
type Piece struct {
	Text  string   `json:"text"`
	Value *float64 `json:"value,omitempty"`
	From  string   `json:"from,omitempty"`
}

// String is the sentence.
func (t Text) String() string {
	var b strings.Builder
	for _, p := range t {
		b.WriteString(p.Text)
	}
	return b.String()
}
