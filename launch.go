package memwall

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/engine/manifest"
)

// Launch is a plan as a file that runs it, and what the file does not say.
type Launch struct {
	// Text is the file: a command, a compose file, Kubernetes manifests, a Modelfile or a program in Python.
	Text    string
	Verdict Verdict
	// Unsaid are fields that the request gives and that the file has no word for.
	Unsaid []Unsaid
}

// LaunchForms are the files that a plan can be written as.
func LaunchForms() []string {
	return []string{"command", "compose", "kubernetes", "modelfile", "python"}
}

// Launch writes the plan of a fit request as a file of one of LaunchForms. Every form says what the command says, and
// FromCommand reads it as the same plan.
func (a *Asker) Launch(r *Request, form string) (*Launch, error) {
	q, err := a.prepare(r)
	if err != nil {
		return nil, asError(err)
	}
	ranks, err := q.booked()
	if err != nil {
		return nil, asError(err)
	}
	if q.flags() == nil {
		return nil, &Error{Code: Unsupported, Field: "engine", Value: q.request.Engine, Message: q.unrunnable(), Hint: "a model that has files, and an engine that runs it"}
	}
	answer := q.size(ranks)
	text, err := q.launch(answer, form)
	if err != nil {
		return nil, asError(err)
	}
	return &Launch{Text: text, Verdict: answer.Verdict, Unsaid: q.unsaid()}, nil
}

func (q *question) unrunnable() string {
	if q.engine.Command(q.job) == "" {
		return fmt.Sprintf("%s runs nothing", q.engine.Name())
	}
	return "a network that is described or changed has no files to run"
}

// Engines that have a form of their own say so with a method.
type (
	modelfiler interface{ Modelfile(*engine.Job) string }
	scripter   interface{ Script(*engine.Job) string }
)

func (q *question) launch(a *Answer, form string) (string, error) {
	text := ""
	switch form {
	case "command":
		text = q.engine.Command(q.job) + "\n"
	case "compose", "kubernetes":
		s, err := q.service(a)
		if err != nil {
			return "", err
		}
		if form == "compose" {
			return manifest.Compose(s), nil
		}
		return manifest.Kubernetes(s), nil
	case "modelfile":
		if e, ok := q.engine.(modelfiler); ok {
			text = e.Modelfile(q.job)
		}
	case "python":
		if e, ok := q.engine.(scripter); ok {
			text = e.Script(q.job)
		}
	default:
		return "", &Error{Code: BadField, Field: "emit", Value: form, Message: fmt.Sprintf("a plan is not written as %q", shorten(form)), Hint: strings.Join(LaunchForms(), ", ")}
	}
	if text == "" {
		return "", q.formless(form)
	}
	return text, nil
}

// formless says that an engine, or a model in it, has no such form.
func (q *question) formless(form string) error {
	hint := map[string]string{"modelfile": "--engine ollama", "python": "--engine transformers, and a model of text alone"}[form]
	return &Error{Code: Unsupported, Field: "emit", Value: form, Message: fmt.Sprintf("%s as %s runs from no %s", q.job.Model.ID, q.engine.Name(), form), Hint: hint}
}

// requests bring these; a file that starts a server need not say them.
var brought = map[string]bool{"prompt_tokens": true, "output_tokens": true, "sequences": true, "images": true, "acceptance": true, "dry_run": true, "engine_args": true, "offload": true}

// unsaid are the fields that were given and that the command does not give back.
func (q *question) unsaid() (out []Unsaid) {
	read, _, err := FromCommand(q.engine.Command(q.job))
	for _, u := range UnsaidBy(q.request.Engine) {
		f := FieldByName(u.Field)
		if u.Field == "weights" && engine.ReadsGGUF(q.engine) {
			continue // the file's name says them
		}
		if !brought[u.Field] && !f.Value(&q.original).IsZero() && (err != nil || f.Value(read).IsZero()) {
			out = append(out, u)
		}
	}
	return out
}

// parsed is the engine's command as its words: every file is made of them.
func (q *question) parsed() (*argv.Command, []argv.Command, error) {
	cmds, err := argv.Parse(q.engine.Command(q.job))
	if err != nil || len(cmds) == 0 {
		return nil, nil, &Error{Code: Internal, Message: fmt.Sprintf("the command of %s cannot be parsed: %v", q.engine.Name(), err)}
	}
	return &cmds[0], cmds[1:], nil
}
