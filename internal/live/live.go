// Package live queries what a running inference server publishes about itself, and converts the responses to what a
// start-up log would have said: settings, a model, figures.
//
// See read.go for recognizing engines, one file each for what vLLM, SGLang, TensorRT-LLM, llama-server, TGI and Ollama
// publish, load.go for their activity between two reads, and fetch.go for HTTP. Everything but fetch.go is free of I/O.
package live

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine/startup"
)

// Pages are what a server published, by path: "/metrics", "/v1/models". What it refused or does not have is
// not among them.
type Pages map[string][]byte

// object is a JSON object of a page; fields that have another type than asked for are not there.
type object map[string]any

// most fields and elements that are looked at.
const mostElements = 1024

// json reads a page that is one object; nil when it is none.
func (p Pages) json(path string) object {
	var o object
	if json.Unmarshal(p[path], &o) != nil {
		return nil
	}
	return o
}

// list reads a page that is one array of objects.
func (p Pages) list(path string) []object {
	var l []object
	if json.Unmarshal(p[path], &l) != nil {
		return nil
	}
	return l[:min(len(l), mostElements)]
}

func (o object) text(name string) string {
	s, _ := o[name].(string)
	return printableLine(s)
}

// printableLine keeps what a server says to one line of printable characters.
func printableLine(s string) string {
	const most = 512
	if len(s) > most {
		s = s[:most]
	}
	return strings.Map(func(r rune) rune {
		if strconv.IsPrint(r) {
			return r
		}
		return -1
	}, s)
}

// number gives a finite number; ok is false for anything else.
func (o object) number(name string) (x float64, ok bool) {
	x, ok = o[name].(float64)
	return x, ok && !math.IsNaN(x) && !math.IsInf(x, 0)
}

// integer gives a whole number from 1 to most.
func (o object) integer(name string, most float64) (int64, bool) {
	x, ok := o.number(name)
	if !ok || x < 1 || x > most || x != math.Trunc(x) {
		return 0, false
	}
	return int64(x), true
}

func (o object) object(name string) object {
	m, _ := o[name].(map[string]any)
	return m
}

func (o object) objects(name string) (out []object) {
	list, _ := o[name].([]any)
	for _, e := range list[:min(len(list), mostElements)] {
		if m, ok := e.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// settings writes the fields that are named as a Python server prints them; others, keys among them, are not
// even looked at.
func (o object) settings(names ...string) startup.Settings {
	s := startup.Settings{}
	for _, n := range names {
		switch v := o[n].(type) {
		case string:
			s[n] = printableLine(v)
		case bool:
			s[n] = strconv.FormatBool(v)
		case float64:
			s[n] = strconv.FormatFloat(v, 'f', -1, 64)
		}
	}
	return s
}

// Error says which server, what it said, and what to do.
type Error struct {
	Address, Problem, Fix string
	// Unauthorised: the server wants a token, or another one.
	Unauthorised bool
	// Unknown: it answers, as no engine that is known.
	Unknown bool
}

func (e *Error) Error() string { return e.Address + " " + e.Problem }

// Code of the error in an answer: of a server that cannot be read, or is none that is known.
func (e *Error) Code() string {
	if e.Unknown {
		return api.Unsupported
	}
	return api.Remote
}

// Hint is the fix.
func (e *Error) Hint() string { return e.Fix }

// add keeps a figure with so many digits behind the point.
func add(l *startup.Log, id, name, device, unit string, value float64, digits int) {
	if math.IsNaN(value) || math.IsInf(value, 0) || value < 0 || len(l.Figures) >= startup.MaxFigures {
		return
	}
	l.Figures = append(l.Figures, startup.Figure{ID: id, Name: name, Device: device, Unit: unit,
		Text: strconv.FormatFloat(value, 'f', digits, 64), Value: value, Digits: digits})
}

// digitsOf are those behind the point of a number as it was written.
func digitsOf(x float64) int {
	_, after, _ := strings.Cut(strconv.FormatFloat(x, 'f', -1, 64), ".")
	return min(len(after), 6)
}

// refusal is an error of a server.
func refusal(address, fix, problem string, args ...any) *Error {
	return &Error{Address: address, Problem: fmt.Sprintf(problem, args...), Fix: fix}
}
