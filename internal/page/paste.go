package page

import (
	"strings"

	"github.com/memwall/memwall"
)

// unpacked is the state with what was pasted in the model's place taken apart: a command line that runs a model brings its
// settings with it. What it says gives way to what the address says besides. Whose words memwall does not know are noted.
func (v *view) unpacked() error {
	text := strings.TrimSpace(v.state.query.Get(modelKey))
	if v.question.ask != "fit" && v.question.path != "plan" || !strings.ContainsAny(text, " \n") {
		return nil
	}
	switch {
	case strings.HasPrefix(text, "{"):
		return &memwall.Error{Code: memwall.BadField, Field: "model", Message: "a config.json is not read here", Hint: "save it, and at a terminal: memwall fit ./config.json"}
	case strings.Contains(strings.ToLower(text), "out of memory"):
		return &memwall.Error{Code: memwall.BadField, Field: "model", Message: "this is what a program says when memory runs out", Hint: "paste it under Diagnose"}
	}
	r, unread, err := memwall.FromCommand(text)
	if err != nil || r.Model == "" {
		return nil // a name with blanks, which the catalog may know
	}
	change := memwall.Change(r)
	delete(change, "ask")         // the path says it
	delete(change, "engine_args") // what no field holds is told as not known
	s, ok := (&state{ask: v.state.ask, one: v.state.one}).with().patched(change)
	if !ok {
		return &memwall.Error{Code: memwall.BadField, Field: "model", Message: "an address cannot say all of this command", Hint: "at a terminal: memwall fit --from '" + text + "'"}
	}
	for key := range v.state.query {
		if key != modelKey {
			s.query.Set(key, v.state.query.Get(key))
		}
	}
	s.beside, s.why = v.state.beside, v.state.why
	v.state, v.unread = s, unread
	return nil
}
