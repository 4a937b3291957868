package page

import (
	"net/url"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/source"
)

// mostPasted is the most bytes inspected for the kind of a text; longer ones are logs.
const mostPasted = 1 << 20

// sorted classifies a pasted text: a config.json and a command that runs a model ask whether it fits, a training configuration
// whether training fits; all else is a log.
func sorted(ask, query, pasted string) (string, string, error) {
	text := strings.TrimSpace(pasted)
	values, err := url.ParseQuery(query)
	if ask != "diagnose" || len(text) > mostPasted || err != nil {
		return ask, query, nil
	}
	switch {
	case strings.HasPrefix(text, "{"):
		if text, err = source.Reference([]byte(text)); err != nil {
			return ask, query, err
		}
	case runs(text):
	case trains(text):
		ask = "train"
	default:
		return ask, query, nil
	}
	if ask == "diagnose" {
		ask = "fit"
	}
	values.Set(modelKey, text)
	return ask, values.Encode(), nil
}

// runs reports whether a text is a command that runs a model, as opposed to a log that may begin with one.
func runs(text string) bool {
	if complains(text) {
		return false
	}
	r, _, err := memwall.FromCommand(text)
	return err == nil && r.Model != ""
}

// trains reports whether a text is a configuration, script or command that trains a model.
func trains(text string) bool {
	if complains(text) {
		return false
	}
	r, _, err := memwall.FromTraining([][]byte{[]byte(text)})
	return err == nil && r.Model != ""
}

// complains reports whether a text is as long as a log, or mentions errors.
func complains(text string) bool {
	lower := strings.ToLower(text)
	return len(text) > mostLetters/4 || strings.Contains(lower, "memory:") || strings.Contains(lower, "error") ||
		strings.Contains(lower, "out of memory")
}

// inline reports whether a model is a config.json contained in the URL.
func inline(model string) bool { return strings.HasPrefix(model, source.Inlined) }

// unpacked expands a text pasted in place of the model: a config.json becomes a reference that URLs can carry, and a command that
// runs a model brings its settings. Settings in the URL take precedence. Unknown arguments are noted.
func (v *view) unpacked() error {
	text := strings.TrimSpace(v.state.query.Get(modelKey))
	if strings.HasPrefix(text, "{") {
		ref, err := source.Reference([]byte(text))
		if err != nil {
			return err
		}
		v.state.query.Set(modelKey, ref)
		return nil
	}
	if v.question.ask != "fit" && v.question.path != "plan" && v.question.ask != "train" || !strings.ContainsAny(text, " \n") {
		return nil
	}
	if strings.Contains(strings.ToLower(text), "out of memory") {
		return &memwall.Error{Code: memwall.BadField, Field: "model", Message: "this is what a program says when memory runs out",
			Hint: "paste it under Diagnose"}
	}
	read := func() (*memwall.Request, []string, error) { return memwall.FromCommand(text) }
	if v.question.ask == "train" {
		read = func() (*memwall.Request, []string, error) { return memwall.FromTraining([][]byte{[]byte(text)}) }
	}
	r, unread, err := read()
	if err != nil || r.Model == "" {
		return nil // a name with spaces, which the catalog may know
	}
	said := v.state.query.Get("on")
	r.Hardware = said
	memwall.DevicesOfText(r)
	change := memwall.Change(r)
	delete(change, "ask")         // given by the path
	delete(change, "engine_args") // arguments that no field holds are reported as unknown
	s, ok := (&state{ask: v.state.ask, one: v.state.one}).with().patched(change)
	if !ok {
		return &memwall.Error{Code: memwall.BadField, Field: "model", Message: "a link cannot hold all of this command",
			Hint: "at a terminal: memwall " + v.question.ask + " --from FILE"}
	}
	for key := range v.state.query {
		if key != modelKey && !(key == "on" && r.Hardware != said) {
			s.query.Set(key, v.state.query.Get(key))
		}
	}
	s.beside, s.why = v.state.beside, v.state.why
	v.state, v.unread = s, unread
	return nil
}
