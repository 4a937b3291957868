package rows

import (
	"slices"
	"strings"
)

// HistorySchema is the schema of memwall-farm store list.
const HistorySchema = "memwall/history/1"

// Kept is a row of a team's store, with who added it and when. Where it cannot be read here, Row is nil and Why says why.
type Kept struct {
	ID, Who string
	Added   string // in UTC, 2026-11-28T09:30:00Z
	Row     *Row
	Why     string
}

// Readable returns the rows that can be read, in order, and those set aside.
func Readable(all []Kept) (out []*Row, aside []Aside) {
	for i := range all {
		if all[i].Row == nil {
			aside = append(aside, Aside{clip(all[i].ID), all[i].Why})
			continue
		}
		out = append(out, all[i].Row)
	}
	return out, aside
}

// History is what was added to a team's store, newest first.
type History struct {
	Schema string `json:"schema"`
	Store  string `json:"store"`
	// Added and Had are set after rows were added: how many, and how many were there already.
	Added   *int     `json:"added,omitempty"`
	Had     int      `json:"had,omitempty"`
	Rows    int      `json:"rows"`
	People  []string `json:"people"`
	Entries []Event  `json:"entries"`
	Aside   []Aside  `json:"aside,omitempty"`
}

// Event is a row that came: who added what, and when.
type Event struct {
	ID       string `json:"id"`
	Added    string `json:"added"`
	Who      string `json:"who"`
	Model    string `json:"model"`
	Weights  string `json:"weights,omitempty"`
	Hardware string `json:"hardware"`
	Engine   string `json:"engine"` // as it named itself, with its version
	Date     string `json:"date,omitempty"`
	Source   string `json:"source"`
	Licence  string `json:"licence"`
	Figures  int    `json:"figures"`
}

// NewHistory returns the history of a store's rows.
func NewHistory(store string, all []Kept) *History {
	out := &History{Schema: HistorySchema, Store: store, Rows: len(all), People: []string{}, Entries: []Event{}}
	_, out.Aside = Readable(all)
	for i := range all {
		k := &all[i]
		if k.Row == nil {
			continue
		}
		id := k.Row.key()
		e := Event{ID: k.ID, Added: k.Added, Who: k.Who, Model: id.model, Weights: id.weights, Hardware: id.hardware, Engine: id.engine,
			Date: k.Row.Date, Source: k.Row.Source, Licence: k.Row.Licence, Figures: len(k.Row.Figures)}
		if v := k.Row.version(); v != "" {
			e.Engine += "@" + v
		}
		out.Entries = append(out.Entries, e)
		if !slices.Contains(out.People, k.Who) {
			out.People = append(out.People, k.Who)
		}
	}
	slices.Reverse(out.Entries)
	slices.SortFunc(out.People, strings.Compare)
	return out
}
