// Package launch converts plans to command lines, compose files, manifests and scripts, and parses such texts into
// plans.
package launch

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/engine/manifest"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/timing"
)

// LaunchForms returns the forms in which Launch can render a plan.
func LaunchForms() []string {
	return []string{"command", "compose", "kubernetes", "kubernetes-dra", "kubernetes-kueue", "modelfile", "python"}
}

// Launch renders the plan of a fit request in one of the LaunchForms. Every form expresses the same plan as the command
// line, and FromCommand reads it back unchanged.
func Launch(a *question.Env, r *api.Request, form string) (*api.Launch, error) {
	q, err := a.Prepare(r)
	if err != nil {
		return nil, api.AsError(err)
	}
	ranks, err := q.Ledgers()
	if err != nil {
		return nil, api.AsError(err)
	}
	if q.Flags() == nil {
		return nil, &api.Error{Code: api.Unsupported, Field: "engine", Value: q.Request.Engine, Message: unrunnable(q),
			Hint: "a model that has files, and an engine that runs it"}
	}
	answer := timing.SizedAnswer(q, ranks)
	text, err := launch(q, answer, form)
	if err != nil {
		return nil, api.AsError(err)
	}
	return &api.Launch{Text: text, Verdict: answer.Verdict, Unsaid: Unsaid(q)}, nil
}

func unrunnable(q *question.Question) string {
	if q.Engine.Command(q.Job) == "" {
		return fmt.Sprintf("%s runs nothing", q.Engine.Name())
	}
	return "a network that is described or changed has no files to run"
}

// Engines with a form of their own implement these.
type (
	modelfiler interface{ Modelfile(*engine.Job) string }
	scripter   interface{ Script(*engine.Job) string }
)

func launch(q *question.Question, a *api.Answer, form string) (string, error) {
	text := ""
	switch form {
	case "command":
		text = q.Engine.Command(q.Job) + "\n"
	case "compose", "kubernetes", "kubernetes-dra", "kubernetes-kueue":
		s, err := Service(q, a)
		if err != nil {
			return "", err
		}
		if form == "compose" {
			return composed(q, s)
		}
		asked(q, s, form)
		return manifest.Kubernetes(s), nil
	case "modelfile":
		if e, ok := q.Engine.(modelfiler); ok {
			text = e.Modelfile(q.Job)
		}
	case "python":
		if e, ok := q.Engine.(scripter); ok {
			text = e.Script(q.Job)
		}
	default:
		return "", &api.Error{Code: api.BadField, Field: "emit", Value: form,
			Message: fmt.Sprintf("a plan is not written as %q", api.Shorten(form)), Hint: strings.Join(LaunchForms(), ", ")}
	}
	if text == "" {
		return "", noFormError(q, form)
	}
	return text, nil
}

// noFormError returns the error for an engine or model without such a form.
func noFormError(q *question.Question, form string) error {
	hint := map[string]string{"modelfile": "--engine ollama", "python": "--engine transformers, and a model of text alone"}[form]
	return &api.Error{Code: api.Unsupported, Field: "emit", Value: form,
		Message: fmt.Sprintf("%s as %s runs from no %s", q.Job.Model.ID, q.Engine.Name(), form), Hint: hint}
}

// requestOnly fields come with requests; a file that starts a server need not state them.
var requestOnly = map[string]bool{"prompt_tokens": true, "output_tokens": true, "sequences": true, "images": true, "acceptance": true,
	"dry_run": true, "engine_args": true, "offload": true}

// Unsaid returns the fields that were given but that the command does not express.
func Unsaid(q *question.Question) (out []api.Unsaid) {
	read, _, err := FromCommand(q.Engine.Command(q.Job))
	for _, u := range UnsaidBy(q.Request.Engine) {
		f := api.FieldByName(u.Field)
		if u.Field == "weights" && engine.ReadsGGUF(q.Engine) {
			continue // the file's name says them
		}
		if !requestOnly[u.Field] && !f.Value(&q.Original).IsZero() && (err != nil || f.Value(read).IsZero()) {
			out = append(out, u)
		}
	}
	return out
}

// CommandWords returns the engine's command as words, which all forms are built from.
func CommandWords(q *question.Question) (*argv.Command, []argv.Command, error) {
	cmds, err := argv.Parse(q.Engine.Command(q.Job))
	if err != nil || len(cmds) == 0 {
		return nil, nil, &api.Error{Code: api.Internal,
			Message: fmt.Sprintf("the command of %s cannot be parsed: %v", q.Engine.Name(), err)}
	}
	return &cmds[0], cmds[1:], nil
}
