package run

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/engine/called"
)

// LM Studio runs by itself; its program lms starts the server of it, and loads models by the names that it has in LM Studio's folder
// (github.com/lmstudio-ai/lms, src/subcommands: server, ls, import, load, unload).

func isStudio(engine string) bool {
	name, _, _ := strings.Cut(engine, "@")
	p := called.Find(name)
	return p != nil && p.Names[0] == studio
}

// studioTakes are flags of a plan for llama-server that lms can be told, or of which it is said what LM Studio does anyway.
var studioTakes = map[string]string{"-m": "", "-hf": "", "-hff": "", "-mu": "", "-c": "", "-np": "", "-ngl": "", "-fa": "on", "-b": "512"}

// readStudio makes of a plan what lms is told.
func readStudio(a *api.Answer, line string, port int) (*Server, error) {
	words := argv.Words(line)
	if unheard := unheard(words); len(unheard) > 0 {
		return nil, fault("engine", studio, "lms load cannot be told "+strings.Join(unheard, ", "),
			"leave it out, or --engine llama-server")
	}
	if port == 0 {
		port = engines[studio].port
	}
	s := &Server{Engine: studio, Program: "lms", Args: []string{"server", "start", "--port", strconv.Itoa(port)}, Address: here(port)}
	told := []string{"--context-length", fmt.Sprint(a.Plan.Context), "--gpu", gpuShare(a)}
	if n := a.Plan.Sequences; n > 1 {
		told = append(told, "--parallel", fmt.Sprint(n))
	}
	m := &Loading{Make: append(told, "--exact", "--yes")}
	m.named(words)
	m.load = loadStudio
	m.lines = func(server string) string {
		return server + "\n" + argv.Line(append([]string{"lms", "load", m.Name}, m.Make...))
	}
	s.Model = m
	return s, nil
}

// unheard are words of a command that set what lms cannot be told.
func unheard(words []string) (out []string) {
	for i := 1; i < len(words); i++ {
		if !strings.HasPrefix(words[i], "-") {
			continue
		}
		usual, ok := studioTakes[words[i]]
		if ok && (usual == "" || i+1 < len(words) && words[i+1] == usual) {
			continue
		}
		out = append(out, words[i])
	}
	return out
}

// named learns from a command of llama-server which model is meant: a file, or one of the hub.
func (m *Loading) named(words []string) {
	for i, w := range words[:max(0, len(words)-1)] {
		switch next := words[i+1]; w {
		case "-m":
			m.File, m.Name = next, path.Join("memwall", strings.TrimSuffix(filepath.Base(next), filepath.Ext(next)), filepath.Base(next))
		case "-hf":
			m.Name = next
		case "-hff":
			m.Name = path.Join(m.Name, next)
		}
	}
}

// gpuShare is how lms says how many layers lie on the GPU.
func gpuShare(a *api.Answer) string {
	n, layers := a.Plan.GPULayers, a.Model.Layers
	switch {
	case n == nil || *n < 0 || int64(*n) >= layers:
		return "max"
	case *n == 0:
		return "off"
	}
	const digits = 3
	return strconv.FormatFloat(float64(*n)/float64(layers), 'f', digits, 64)
}

// held is a model in LM Studio's folder, as lms ls --json tells it.
type held struct {
	Key  string `json:"modelKey"`
	Path string `json:"path"` // below the folder of models: publisher/repository/file.gguf
}

// loadStudio finds the model in LM Studio's folder, links it there when it is a file elsewhere, and loads it.
func loadStudio(ctx context.Context, s *Server, out io.Writer) error {
	m := s.Model
	at, err := m.inStudio(ctx, s, out)
	if err != nil {
		return err
	}
	if at == "" && m.File != "" {
		parts := strings.Split(m.Name, "/")
		repo := path.Join(parts[0], parts[1])
		if err := s.do(ctx, out, "import", absolute(m.File), "--symbolic-link", "--user-repo", repo, "--yes"); err != nil {
			return err
		}
		at = m.Name
	}
	if at == "" {
		return fmt.Errorf("LM Studio has no %s: --download fetches it, or lms get", m.Name)
	}
	m.Name = at
	return s.do(ctx, out, append([]string{"load", at}, m.Make...)...)
}

// inStudio is the path that LM Studio has for the model; "" for none.
func (m *Loading) inStudio(ctx context.Context, s *Server, out io.Writer) (string, error) {
	var list bytes.Buffer
	if err := s.doAside(ctx, &list, out, "ls", "--json"); err != nil {
		return "", err
	}
	var all []held
	if err := json.Unmarshal(list.Bytes(), &all); err != nil {
		return "", fmt.Errorf("lms ls --json gives no list of models")
	}
	repo, quant, _ := strings.Cut(m.Name, ":")
	for _, h := range all {
		same := strings.EqualFold(h.Path, m.Name)
		if m.File == "" && quant != "" {
			stem := strings.TrimSuffix(h.Path, path.Ext(h.Path))
			same = strings.EqualFold(path.Dir(h.Path), repo) && strings.HasSuffix(strings.ToLower(stem), strings.ToLower(quant))
		}
		if same {
			return h.Path, nil
		}
	}
	return "", nil
}

// startStudio starts the server of LM Studio, unless it answers already.
func (s *Server) startStudio(out io.Writer) (*Running, error) {
	r := &Running{server: s, ended: make(chan struct{}), out: out}
	switch {
	case s.well(context.Background()):
		r.leave = func() {}
	case s.taken():
		return nil, fault("port", s.Address, "something listens on "+s.Address+" that is not LM Studio", "another --port")
	default:
		if err := s.do(context.Background(), out, s.Args...); err != nil {
			name := "the log"
			if f, ok := out.(*os.File); ok {
				name = f.Name()
			}
			return nil, fault("engine", studio, "LM Studio does not serve: "+err.Error(),
				"start LM Studio once, so that its program lms knows it; its words: "+name)
		}
		r.leave = func() { _ = s.do(context.Background(), out, "server", "stop") } // it has ended
	}
	return r, nil
}

// leaveStudio takes the model from LM Studio, and ends its server where it was started for the model.
func (r *Running) leaveStudio(out io.Writer) {
	_ = r.server.do(context.Background(), out, "unload", r.server.Model.Name) // LM Studio has ended, or has unloaded it
	r.leave()
}
