package serve

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/desk"
	"github.com/memwall/memwall/safe"
)

// Problem is an error in the form of RFC 9457: the contract's error, with a status.
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Code   string `json:"code"`
	Field  string `json:"field,omitempty"`
	Value  string `json:"value,omitempty"`
	Fix    string `json:"fix,omitempty"`
	after  int    // seconds until a retry
}

func (p *Problem) Error() string { return p.Detail }

// problemType is the media type of problems.
const problemType = "application/problem+json"

// titles describes each error code.
var titles = map[string]string{
	memwall.UnknownModel:    "No such model",
	memwall.UnknownHardware: "No such hardware",
	memwall.BadField:        "A field is wrong",
	memwall.ImpossiblePlan:  "The plan cannot be",
	memwall.Unsupported:     "Not supported",
	memwall.BadFile:         "A file is wrong",
	memwall.Remote:          "Not to be had from afar",
	memwall.Limit:           "Too large",
	memwall.Stopped:         "Stopped",
	memwall.Internal:        "A fault of the program",
	refused:                 "Refused",
	notFound:                "Nothing is here",
	busy:                    "Busy",
}

// Error codes specific to this interface.
const (
	refused  = "refused"
	notFound = "not_found"
	busy     = "busy"
)

// problem returns an error of the contract with a status.
func problem(status int, e *memwall.Error) *Problem {
	return &Problem{Type: "urn:memwall:" + e.Code, Title: titles[e.Code], Status: status, Detail: e.Message, Code: e.Code, Field: e.Field,
		Value: e.Value, Fix: e.Hint}
}

// problemOf converts any error of a question.
func problemOf(err error) *Problem {
	var p *Problem
	var e *memwall.Error
	var b *desk.Busy
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &e):
		return problem(statusOf(e), e)
	case errors.As(err, &b):
		p := problem(http.StatusTooManyRequests, &memwall.Error{Code: busy, Message: b.What,
			Hint: "ask again after the time that Retry-After says"})
		p.after = int(math.Ceil(b.After.Seconds()))
		return p
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		p := problem(http.StatusTooManyRequests, &memwall.Error{Code: busy, Message: "the question had no turn in time",
			Hint: "ask again after the time that Retry-After says"})
		p.after = 1
		return p
	}
	return problem(http.StatusInternalServerError, &memwall.Error{Code: memwall.Internal, Message: "memwall itself failed",
		Hint: "this is a bug; report it with the request"})
}

// statusOf returns 400 for what cannot be parsed and 422 for what has no answer.
func statusOf(e *memwall.Error) int {
	switch e.Code {
	case memwall.BadField, memwall.Limit:
		return http.StatusBadRequest
	case memwall.Internal:
		return http.StatusInternalServerError
	}
	return http.StatusUnprocessableEntity
}

// fail responds with a problem.
func (s *Server) fail(w http.ResponseWriter, err error) {
	p := problemOf(err)
	body, err := json.Marshal(p)
	if err != nil {
		panic(err) // a struct of strings and numbers
	}
	h := w.Header()
	h.Set("Content-Type", problemType)
	h.Set("Cache-Control", "no-store")
	if p.after > 0 {
		h.Set("Retry-After", strconv.Itoa(p.after))
	}
	w.WriteHeader(p.Status)
	_, _ = w.Write(safe.JSON(body)) // the client may have disconnected
}
