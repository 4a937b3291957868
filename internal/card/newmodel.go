package card

import (
	"encoding/json"
	"fmt"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/source"
)

// NewModel is what a config.json would add to the repository: a row of the catalog and the row that checks it.
// Nothing is written.
type NewModel struct {
	Row     string `json:"row"`
	RowIn   string `json:"row_in"`
	Check   string `json:"check"`
	CheckIn string `json:"check_in"`
	// Parameters are memwall's own count, for comparison with the publisher's: the check's figure is not taken
	// from it.
	Parameters int64    `json:"parameters"`
	Empty      []string `json:"empty,omitempty"` // fields of the row that the config does not tell
	Notes      []string `json:"notes,omitempty"`
}

// NewModelOf reads a config.json. hub is its repository; "" leaves what follows from it empty.
func NewModelOf(hub string, config []byte) (*NewModel, error) {
	r, err := source.Config("config.json", config)
	if err != nil {
		return nil, err
	}
	needed, err := family.Needed(config)
	if err != nil {
		return nil, err
	}
	e := catalog.Named(hub, needed)
	n := &NewModel{RowIn: "model/catalog/models.jsonl", CheckIn: "validation/rows/parameters.jsonl", Parameters: r.Model.Params()}
	n.storage(&e, r)
	for _, x := range r.Notes {
		n.Notes = append(n.Notes, x.Text)
	}
	if same := catalog.Same(r.Spec, e.Weights); same != nil {
		n.Notes = append(n.Notes, "the same network as "+same.ID+": an alias in its row is enough")
	}
	if taken, err := catalog.Find(e.ID); err == nil && taken.ID == e.ID {
		n.Notes = append(n.Notes, "the id "+e.ID+" is taken: choose another")
	}
	n.Empty = empty(&e)
	if n.Row, err = e.Line(); err != nil {
		return nil, err
	}
	n.Check, err = checkRow(&e)
	return n, err
}

// storage names the recipe of the published files, when it has a name.
func (n *NewModel) storage(e *catalog.Entry, r *memwall.Resolved) {
	switch {
	case r.Recipe == "":
	case r.Scheme == nil && dtype.FindRecipe(r.Recipe) != nil:
		e.Weights = r.Recipe
	default:
		n.Notes = append(n.Notes, fmt.Sprintf("the files are quantised in a way that no recipe does (%s): the row describes the "+
			"network alone", r.Recipe))
	}
}

func empty(e *catalog.Entry) (out []string) {
	for _, f := range []struct{ name, value string }{{"id", e.ID}, {"name", e.Name}, {"hub", e.Hub}, {"released", e.Released},
		{"source", e.Source}} {
		if f.value == "" {
			out = append(out, f.name)
		}
	}
	return out
}

// checkRow leaves the figure null: it is for the publisher's count.
func checkRow(e *catalog.Entry) (string, error) {
	var row struct {
		Source string `json:"source"`
		Ask    struct {
			Model string `json:"model"`
		} `json:"ask"`
		Got struct {
			Parameters *int64 `json:"parameters"`
		} `json:"got"`
	}
	row.Ask.Model = e.ID
	if e.Hub != "" {
		row.Source = e.Hub + ": safetensors metadata of the repository"
	}
	b, err := json.Marshal(&row)
	return string(b), err
}
