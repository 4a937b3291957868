package farm

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/study"
)

// implausible says what an answer cannot be, by itself and beside its request; "" of most. It costs no computing, and
// proves nothing: an answer that fails here is computed by who asked.
func implausible(ask string, request, answer []byte) string {
	a := &memwall.Answer{}
	d := json.NewDecoder(bytes.NewReader(answer))
	d.DisallowUnknownFields()
	if err := d.Decode(a); err != nil {
		return "it is not of the contract: " + bounded(err.Error(), longWhy)
	}
	switch again, err := json.Marshal(a); {
	case err != nil || !bytes.Equal(again, answer):
		return "memwall writes it in another way"
	case a.Schema != memwall.Schema || a.Version != memwall.Version:
		return fmt.Sprintf("it is of %s and version %s", printable(a.Schema), printable(a.Version))
	case a.Ask != ask:
		return fmt.Sprintf("it answers %q", printable(a.Ask))
	case a.Error != nil:
		return ""
	case a.Plan == nil:
		return "it has neither a plan nor an error"
	}
	if why := another(request, a.Plan); why != "" {
		return why
	}
	return unbounded(ask, answer)
}

// verbatim are the texts of a request that its plan repeats; others it writes by their full names.
var verbatim = map[string]bool{"model": true, "hardware": true, "trace": true}

// another request than ours is what a plan was made from: its numbers, and what is verbatim, are not those that we gave.
func another(request []byte, plan *memwall.Request) string {
	var given map[string]json.RawMessage
	made, err := json.Marshal(plan)
	if err != nil || json.Unmarshal(request, &given) != nil {
		return "its plan cannot be read"
	}
	return missing("", given, made)
}

// missing from an object is a member that was given, under its path; "" where all are there.
func missing(path string, given map[string]json.RawMessage, in json.RawMessage) string {
	var made map[string]json.RawMessage
	if json.Unmarshal(in, &made) != nil {
		return "it is of another " + path
	}
	for name, value := range given {
		var inner map[string]json.RawMessage
		why := ""
		switch {
		case value[0] == '{' && json.Unmarshal(value, &inner) == nil:
			why = missing(path+name+".", inner, made[name])
		case value[0] != '[' && (value[0] != '"' || verbatim[name]) && !bytes.Equal(value, made[name]):
			why = "it is of another " + path + name
		}
		if why != "" {
			return why
		}
	}
	return ""
}

// unbounded figures lie outside of their own bands.
func unbounded(ask string, answer []byte) string {
	g, err := study.GistOf(ask, answer)
	if err != nil {
		return "its figures cannot be read"
	}
	for name, f := range g.Figures {
		if f.Low != nil && f.High != nil && (f.Value < min(*f.Low, *f.High) || f.Value > max(*f.Low, *f.High)) {
			return "its " + name + " lies outside of its band"
		}
	}
	return ""
}
