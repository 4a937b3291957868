// Package compare compares the figures of a start-up log, a trace or a running server with those of the plan they show.
package compare

import (
	"io"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/internal/planner"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/ledger"
)

// Compare compares an engine's startup output with the prediction: it reads the log, rebuilds the request, sizes it, and pairs the
// figures. read.go reads, rebuild.go rebuilds the request, model.go finds the model, and one file each covers vLLM, SGLang,
// llama.cpp, running servers and traces.

// Compare reads a log, a trace or a profile, and compares its figures with those of the plan it shows.
func Compare(a *question.Env, text io.Reader, overrides *api.Request) (*api.Answer, error) {
	log, err := read(text)
	if err != nil {
		return nil, err
	}
	return CompareFound(a, log, overrides)
}

// StartupLog is what a reader found about an engine, in its startup log or on the endpoints of a running server.
type StartupLog = startup.Log

// CompareFound is like Compare for findings from other sources than a log.
func CompareFound(a *question.Env, log *startup.Log, overrides *api.Request) (*api.Answer, error) {
	if log.Engine == "torch" {
		return compareRun(a, log, overrides)
	}
	if overrides.Ask == api.AskTrain {
		return nil, &api.Error{Code: api.BadField, Field: "ask", Value: api.AskTrain,
			Message: "this is the start of a server, and no run of training", Hint: "leave --train out"}
	}
	b, source := Rebuild(a, log, overrides)
	s, err := size(&question.Env{Models: source}, b)
	if err != nil {
		return nil, err
	}
	return s.answerWith(s.lines()), nil
}

// sized is the plan of a log with its sizes.
type sized struct {
	*Rebuilt
	q       *question.Question // nil if the plan cannot be sized
	ranks   []engine.Rank
	answer  *api.Answer // nil if the plan cannot be sized
	refused error       // why it cannot be sized
}

// size answers the rebuilt request. If it cannot be sized, only the printed figures remain.
func size(a *question.Env, b *Rebuilt) (s *sized, err error) {
	s = &sized{Rebuilt: b}
	if s.q, s.refused = a.Prepare(&b.Request); s.refused != nil {
		s.q = nil
		return s, nil
	}
	s.q.Book = &ledger.Book{}
	s.ranks = s.q.Sizer.Size(s.q.Book, s.q.Job.Load())
	s.answer, err = planner.Answer(s.q, s.ranks)
	return s, err
}

// figures are the predictions of what one engine prints.
type figures interface {
	// estimate returns the counterpart of a printed figure.
	estimate(f *startup.Figure) estimate
	// derived returns lines that follow from printed figures, and figures that the log does not print.
	derived() []api.Line
}

// figures returns the predictions for the engine of the log.
func (s *sized) figures() (out figures) {
	switch s.Log.Engine {
	case "vllm":
		out = vllmFigures{s}
	case "sglang":
		out = sglangFigures{s}
	default:
		out = llamacppFigures{s}
	}
	if s.Log.Teller != "" {
		return servedFigures{s, out}
	}
	return out
}

// lines returns the printed figures, followed by derived ones.
func (s *sized) lines() []api.Line {
	if s.q == nil {
		return linesOf(s.Log, func(*startup.Figure) estimate { return unknown("memwall could not size the request") })
	}
	own := s.figures()
	return append(linesOf(s.Log, own.estimate), own.derived()...)
}

// answerWith returns the answer to the rebuilt request with the lines of the comparison.
func (s *sized) answerWith(lines []api.Line) *api.Answer {
	a := s.answer
	if a == nil {
		e := api.AsError(s.refused)
		s.note("not_sized", "error", e.Field, "%s", strings.TrimSpace(e.Message+". "+e.Hint))
		p := s.Request
		a = &api.Answer{Verdict: api.Unknown, Plan: &p}
	}
	a.Compare, a.ReadAs, a.ComparedWith = lines, ReadAs(&s.Request), "log"
	a.Notes = append(s.Notes, a.Notes...)
	if s.Log.Teller != "" {
		a.ComparedWith = s.Log.Teller
	}
	if s.Log.Teller == "server" {
		renameSpeaker(a, len(s.Notes))
	}
	return a
}

// renameSpeaker attributes the reasons, and the first notes, to the server.
func renameSpeaker(a *api.Answer, notes int) {
	to := strings.NewReplacer("the log", "the server", " prints", " says", " print ", " say ", "printed ", "stated ")
	for i := range notes {
		a.Notes[i].Text = to.Replace(a.Notes[i].Text)
	}
	for i := range a.Compare {
		a.Compare[i].Why = to.Replace(a.Compare[i].Why)
	}
}
