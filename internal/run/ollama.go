package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/memwall/memwall/engine/argv"
)

// Ollama is told a plan by variables of its server and, where those do not hold it, by a Modelfile. A model is loaded by a request
// without a prompt (docs/api.md, Load a model).

// readOllama makes a server of the commands of a plan: one that serves, and one that runs or makes the model.
func readOllama(commands []argv.Command, line string, port int) (*Server, error) {
	s := &Server{Engine: ollama, Program: ollama, Args: []string{"serve"}, Address: here(port)}
	s.Model = &Loading{load: loadOllama, lines: ollamaLines(line)}
	for i := range commands {
		c := &commands[i]
		switch {
		case c.Program != ollama || len(c.Args) == 0:
		case c.Args[0] == "serve":
			s.Env = append(s.Env, c.Env...)
		case len(c.Args) > 1:
			s.Model.Name = c.Args[1]
			if c.Args[0] == "create" {
				s.Model.Make, s.Model.Files = c.Args, c.Files
			}
		}
	}
	if s.Model.Name == "" {
		return nil, fault("engine", ollama, "the plan names no model of Ollama", "start it by hand: "+line)
	}
	s.Env = append(s.Env, argv.Variable{Name: "OLLAMA_HOST", Value: strings.TrimPrefix(s.Address, "http://")})
	s.Model.fromHere()
	return s, nil
}

// fromHere lets a Modelfile name the file where it lies: it is read in another folder.
func (m *Loading) fromHere() {
	for name, text := range m.Files {
		lines := strings.Split(text, "\n")
		for i, l := range lines {
			file, ok := strings.CutPrefix(l, "FROM ")
			if !ok || !strings.HasSuffix(strings.ToLower(file), ".gguf") {
				continue
			}
			if m.File == "" {
				m.File = file
			}
			lines[i] = "FROM " + absolute(file)
		}
		m.Files[name] = strings.Join(lines, "\n")
	}
}

// ollamaLines are the plan's own commands, whose server listens where this one does.
func ollamaLines(line string) func(string) string {
	return func(server string) string {
		var out []string
		for _, l := range strings.Split(line, "\n") {
			if strings.HasSuffix(l, "ollama serve &") {
				l = server + " &"
			}
			out = append(out, l)
		}
		return strings.Join(out, "\n")
	}
}

// loadOllama makes or fetches the model, and loads it for good.
func loadOllama(ctx context.Context, s *Server, out io.Writer) error {
	m := s.Model
	switch {
	case m.Make != nil:
		if err := s.do(ctx, out, m.Make...); err != nil {
			return err
		}
	case !s.knows(ctx):
		if err := s.do(ctx, out, "pull", m.Name); err != nil {
			return err
		}
	}
	return s.post(ctx, "/api/generate", map[string]any{"model": m.Name, "keep_alive": -1, "stream": false})
}

// knows: the model lies in Ollama's store.
func (s *Server) knows(ctx context.Context) bool {
	return s.post(ctx, "/api/show", map[string]any{"model": s.Model.Name}) == nil
}

// post asks Ollama, whose refusals say why.
func (s *Server) post(ctx context.Context, page string, asked any) error {
	text, err := json.Marshal(asked)
	if err != nil {
		return err
	}
	status, said, err := s.ask(ctx, http.MethodPost, page, bytes.NewReader(text))
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
	if status != http.StatusOK {
		var told struct {
			Error string `json:"error"`
		}
		if json.Unmarshal(said, &told) == nil && told.Error != "" {
			return errors.New(told.Error)
		}
		return fmt.Errorf("%s answers %d", page, status)
	}
	return nil
}
