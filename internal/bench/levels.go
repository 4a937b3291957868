package bench

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/safe"
	"github.com/memwall/memwall/unit"
)

// Bounds on what is asked of a server.
const (
	maxPrompt, maxAnswer = 1 << 20, 1 << 17
	maxRequests          = 10_000
	maxUsers, maxLevels  = 4096, 64
)

// Asked is what to measure, as given by flags: "1,4,16" users, "2k" tokens.
type Asked struct {
	Users, Prompt, Output string
	Requests              int
}

// Read gives the levels and the load of each user. Errors say which flag is wrong.
func (a *Asked) Read() (levels []int64, l Load, err error) {
	if l.Prompt, err = number("prompt", a.Prompt, maxPrompt, "512"); err != nil {
		return nil, l, err
	}
	if l.Answer, err = number("output", a.Output, maxAnswer, "128"); err != nil {
		return nil, l, err
	}
	if l.Requests = a.Requests; l.Requests < 1 || l.Requests > maxRequests {
		return nil, l, fault("requests", strconv.Itoa(l.Requests), fmt.Sprintf("--requests is between 1 and %d", maxRequests),
			"--requests 4")
	}
	for text := range strings.SplitSeq(a.Users, ",") {
		n, err := number("users", text, maxUsers, "1,4,16")
		if err != nil {
			return nil, l, err
		}
		if levels = append(levels, n); len(levels) > maxLevels {
			return nil, l, fault("users", a.Users, fmt.Sprintf("--users names more than %d levels", maxLevels), "--users 1,4,16")
		}
	}
	return levels, l, nil
}

func number(flag, text string, most int64, example string) (int64, error) {
	n, err := unit.ParseCount(strings.TrimSpace(text))
	if err != nil || n < 1 || n > most {
		return 0, fault(flag, text, fmt.Sprintf("--%s is between 1 and %d, not %q", flag, most, text), "--"+flag+" "+example)
	}
	return n, nil
}

func fault(field, value, message, hint string) error {
	return &memwall.Error{Code: memwall.BadField, Field: field, Value: value, Message: message, Hint: hint}
}

// Measure fills the report with a row a level, and tells of each; what was measured stays when ctx ends before the last.
func (r *Report) Measure(ctx context.Context, s *Server, levels []int64, done func(users int64, took time.Duration)) error {
	if err := s.Find(ctx, r.Model); err != nil {
		return r.silent(err)
	}
	if r.Model == "" {
		r.Model = s.Model
	}
	words := NewWords(uint64(time.Now().UnixNano()))
	if err := words.Learn(ctx, s); err != nil {
		return r.silent(err)
	}
	for _, users := range levels {
		began := time.Now()
		level, err := s.Measure(ctx, users, r.Load, words)
		if ctx.Err() != nil && len(r.Rows) > 0 {
			return nil
		}
		if err != nil {
			return r.silent(err)
		}
		r.Rows = append(r.Rows, Row{Level: level})
		done(users, time.Since(began))
	}
	return nil
}

func (r *Report) silent(err error) error {
	return &memwall.Error{Code: memwall.Remote, Field: "server", Value: r.Address,
		Message: r.Address + " gave no answer to measure: " + safe.Text(err.Error(), ""),
		Hint:    "a server that answers POST /v1/completions; --prompt and --output within its context"}
}
