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

// FieldCode tells a wrong field from one that asks for what is not described.
func FieldCode(f *family.FieldError) string {
	if f.Lacking {
		return Unsupported
	}
	return BadFile
}

// hinter is an error that knows its fix.
type hinter interface{ Hint() string }

// AsError gives any error the form of the contract, with what it quotes cut to a length that can be read.
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
		field := cmp.Or(h.Field, "hardware") // "=" alone is a key without a name
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

// Bytes that an error quotes whole: of a value, and of a path, which has to be found again.
const (
	longestQuote = 120
	longestPath  = 255
)

// brief is the error with long values cut, wherever it quotes them.
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

// shortWords cuts what has no blank in so many bytes, but for the marks that close it.
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

// AlsoError is an error of one of the requests that share hardware, by its number.
func AlsoError(err error, i int) error {
	var e *Error
	if i == 0 || !errors.As(err, &e) {
		return err
	}
	out := *e
	out.Field = strings.TrimSuffix(fmt.Sprintf("also[%d].%s", i-1, e.Field), ".")
	return &out
}
