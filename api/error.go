package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/plan"
)

// FieldCode returns the error code for a field error: whether the value is invalid or asks for something that is not
// described.
func FieldCode(f *family.FieldError) string {
	if f.Lacking {
		return Unsupported
	}
	return BadFile
}

// hinter is an error that suggests its own fix.
type hinter interface{ Hint() string }

// AsError converts any error to an *Error, with quoted values truncated to a readable length.
func AsError(err error) *Error { return formed(err).brief() }

func formed(err error) *Error {
	var e *Error
	var p *plan.Problem
	var h *hardware.Error
	var f *family.FieldError
	var u *family.UnknownError
	var n *catalog.NotFoundError
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return &Error{Code: Stopped, Message: "stopped before anything was known",
			Hint: "ask for less: fewer requests, one kind of hardware, one engine; or give it more time"}
	case errors.As(err, &p):
		code := BadField
		switch {
		case p.Lacking:
			code = Unsupported
		case p.Impossible:
			code = ImpossiblePlan
		}
		return &Error{Code: code, Field: p.Field, Value: p.Value, Message: p.Message, Hint: p.Fix}
	case errors.As(err, &h):
		field := cmp.Or(h.Field, "hardware") // a bare "=" names no key
		return &Error{Code: h.Code, Field: field, Value: Shorten(h.Value),
			Message: fmt.Sprintf("%s %q %s", field, Shorten(h.Value), h.Problem), Hint: h.Fix}
	case errors.As(err, &f):
		return &Error{Code: FieldCode(f), Field: f.Field, Value: f.Value, Message: f.Error(), Hint: f.Fix}
	case errors.As(err, &u):
		return &Error{Code: Unsupported, Field: "architectures", Value: u.Arch, Message: u.Error(),
			Hint: "give a GGUF or safetensors file for exact weights"}
	case errors.As(err, &n):
		return &Error{Code: UnknownModel, Field: "model", Value: n.Name, Message: n.Error(), Hint: n.Hint()}
	}
	out := &Error{Code: Internal, Message: err.Error()}
	if h, ok := err.(hinter); ok {
		out.Hint = h.Hint()
	}
	return out
}

// Maximum length in bytes of a quoted value, and of a quoted path, which must stay recognizable.
const (
	longestQuote = 120
	longestPath  = 255
)

// brief returns the error with long quoted values truncated wherever they occur.
func (e *Error) brief() *Error {
	most := longestQuote
	if e.Code == BadFile {
		most = longestPath
	}
	cut := func(s string) string {
		if len(e.Value) > most {
			s = strings.ReplaceAll(s, e.Value, Shorten(e.Value))
		}
		return shortWords(s, most)
	}
	if out := (Error{Code: e.Code, Field: cut(e.Field), Value: cut(e.Value), Message: cut(e.Message), Hint: cut(e.Hint)}); out != *e {
		return &out
	}
	return e
}

// shortWords truncates words longer than most bytes, keeping their closing punctuation.
func shortWords(s string, most int) string {
	if len(s) <= most {
		return s
	}
	words := strings.Split(s, " ")
	for i, w := range words {
		if body := strings.TrimRight(w, "\"':,;."); len(body) > most {
			words[i] = Shorten(body) + w[len(body):]
		}
	}
	return strings.Join(words, " ")
}

// AlsoError prefixes err with the index of the request it belongs to, among those that share hardware.
func AlsoError(err error, i int) error {
	var e *Error
	if i == 0 || !errors.As(err, &e) {
		return err
	}
	out := *e
	out.Field = strings.TrimSuffix(fmt.Sprintf("also[%d].%s", i-1, e.Field), ".")
	return &out
}
