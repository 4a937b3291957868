package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// fakeOllama is Ollama's program: serve answers the pages that its own client and memwall ask (docs/api.md), create and pull make a
// model known to it. A model is loaded by a request without a prompt: what llama-server would print is FAKE_LOG.
func fakeOllama() {
	at := "http://" + os.Getenv("OLLAMA_HOST")
	switch os.Args[1] {
	case "create":
		text, err := os.ReadFile(os.Args[4])
		if err != nil || !strings.Contains(string(text), "FROM /") && !strings.Contains(string(text), "FROM "+os.Args[2]) {
			fmt.Fprintln(os.Stderr, "Error: no Modelfile or safetensors files found")
			os.Exit(1)
		}
		told(at+"/api/create", map[string]any{"model": os.Args[2]})
	case "pull":
		told(at+"/api/pull", map[string]any{"model": os.Args[2]})
	case "serve":
		fmt.Fprintln(os.Stderr, "context", os.Getenv("OLLAMA_CONTEXT_LENGTH"), "parallel", os.Getenv("OLLAMA_NUM_PARALLEL"))
		if err := http.ListenAndServe(os.Getenv("OLLAMA_HOST"), &ollamaServer{}); err != nil {
			fmt.Fprintln(os.Stderr, "Error:", err)
			os.Exit(1)
		}
	}
}

type ollamaServer struct{ known []string }

func (o *ollamaServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Model, Prompt string }
	_ = json.NewDecoder(r.Body).Decode(&asked)
	known := slices.Contains(o.known, asked.Model)
	switch r.URL.Path {
	case "/api/version":
		_, _ = w.Write([]byte(`{"version":"0.32.15"}`))
	case "/api/create", "/api/pull":
		o.known = append(o.known, asked.Model)
	case "/api/show", "/api/generate":
		if !known {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprintf(w, `{"error":"model '%s' not found"}`, asked.Model)
			return
		}
		if r.URL.Path == "/api/generate" {
			o.generate(w)
		}
	default:
		http.NotFound(w, r)
	}
}

func (o *ollamaServer) generate(w http.ResponseWriter) {
	text, _ := os.ReadFile(os.Getenv("FAKE_LOG"))
	_, _ = os.Stderr.Write(text)
	if os.Getenv("FAKE_DIES") != "" {
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write([]byte(`{"error":"llama runner process has terminated: cudaMalloc failed: out of memory"}`))
		return
	}
	_, _ = w.Write([]byte(`{"done":true,"done_reason":"load"}`))
}

// told posts what a client of Ollama does, and ends the program where that fails.
func told(address string, said any) {
	text, _ := json.Marshal(said)
	answer, err := http.Post(address, "application/json", bytes.NewReader(text))
	if err != nil || answer.StatusCode != http.StatusOK {
		fmt.Fprintln(os.Stderr, "Error: could not connect to ollama server", err)
		os.Exit(1)
	}
}

// fakeStudio is lms, whose daemon keeps in the folder STUDIO what it holds, and whose server is a process of its own.
func fakeStudio() {
	dir := os.Getenv("STUDIO")
	note := func(name, text string) { _ = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600) }
	args := strings.Join(os.Args[1:], " ")
	fmt.Fprintln(os.Stderr, args)
	switch os.Args[1] {
	case "server":
		if os.Args[2] == "stop" {
			note("stopped", "")
			port, _ := os.ReadFile(filepath.Join(dir, "port"))
			answers(string(port), false)
			return
		}
		note("port", os.Args[4])
		startStudio(os.Args[4])
	case "ls":
		text, _ := os.ReadFile(filepath.Join(dir, "models.json"))
		_, _ = os.Stdout.Write(text)
	case "import":
		at := slices.Index(os.Args, "--user-repo")
		list, _ := json.Marshal([]map[string]any{{"type": "llm", "path": os.Args[at+1] + "/" + filepath.Base(os.Args[2])}})
		note("models.json", string(list))
	case "load", "unload":
		note(os.Args[1], args)
		if os.Getenv("FAKE_DIES") != "" && os.Args[1] == "load" {
			fmt.Fprintln(os.Stderr, "Error: Failed to load model\n\n    insufficient system resources")
			os.Exit(1)
		}
	case "daemon": // the server itself, until it is stopped
		serveStudio(dir, os.Args[2])
	}
}

// startStudio starts the server and waits until it answers, as lms does.
func startStudio(port string) {
	daemon := exec.Command(os.Args[0], "daemon", port)
	if err := daemon.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if !answers(port, true) {
		os.Exit(1)
	}
}

// answers waits until the server does, or does not any more.
func answers(port string, want bool) bool {
	for range 200 {
		answer, err := http.Get("http://127.0.0.1:" + port + "/v1/models")
		if err == nil {
			_, _ = io.Copy(io.Discard, answer.Body)
		}
		if (err == nil) == want {
			return true
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false
}

// serveStudio answers for half a minute at most, should nobody stop it.
func serveStudio(dir, port string) {
	s := &http.Server{Addr: "127.0.0.1:" + port, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"data":[],"object":"list"}`))
	})}
	go func() {
		for range 300 {
			if _, err := os.Stat(filepath.Join(dir, "stopped")); err == nil {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		_ = s.Close()
	}()
	_ = s.ListenAndServe()
}
