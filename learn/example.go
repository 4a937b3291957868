package learn

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/safe"
)

// Example is the model and hardware that a lesson uses; "" means the lesson's own.
type Example struct {
	Model    string // in the syntax of fit
	Hardware string // a catalog or custom device, without a count
}

// example is a resolved Example.
type example struct {
	model, name string
	device      string // one device in the syntax of --on
	title       string
	context     int64
}

// resolved looks up model and hardware. The error is a *memwall.Error.
func resolved(asker *memwall.Asker, x Example) (*example, error) {
	r := &memwall.Request{Ask: "fit", Model: x.Model}
	r.Engine = "generic"
	a, err := asker.Ask(r)
	if err != nil {
		return nil, err
	}
	e := &example{model: x.Model, name: cmp.Or(a.Model.Name, x.Model), context: contextOf(a.Model.Context)}
	d, err := deviceOf(x.Hardware)
	if err != nil {
		return nil, err
	}
	e.device, e.title = cmp.Or(d.ID, d.Name), d.Name
	if strings.Contains(x.Hardware, "=") {
		_, e.device, _ = hardware.CountOf(x.Hardware)
	}
	return e, nil
}

// deviceOf returns the single kind of device that a text names.
func deviceOf(text string) (*hardware.Device, error) {
	m, _, err := hardware.Parse(text, 0)
	var h *hardware.Error
	if errors.As(err, &h) {
		return nil, &memwall.Error{Code: h.Code, Field: h.Field, Value: h.Value,
			Message: fmt.Sprintf("%s %q %s", h.Field, h.Value, h.Problem), Hint: h.Fix}
	}
	if len(m.Groups) != 1 {
		return nil, &memwall.Error{Code: memwall.BadField, Field: "hardware", Value: text,
			Message: fmt.Sprintf("a lesson is about one kind of device, and %q has %d", text, len(m.Groups)),
			Hint:    "one accelerator, such as h100"}
	}
	return &m.Groups[0].Device, nil
}

// vars returns the substitutions of the example in questions and sentences, and in commands with shell quoting.
func (e *example) vars() (said, typed *strings.Replacer) {
	q := *e
	q.model, q.device = safe.Word(e.model), safe.Word(e.device)
	return e.replacer(), q.replacer()
}

func (e *example) replacer() *strings.Replacer {
	return strings.NewReplacer("$model", e.model, "$device", e.device, "$name", e.name, "$card", e.title, "$long", lengthWord(e.context))
}
