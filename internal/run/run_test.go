package run

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine/argv"
)

// TestMain is the engine too, where a test starts it: one that never answers, and that hears no request to end.
func TestMain(m *testing.M) {
	if os.Getenv("DEAF_ENGINE") != "" {
		signal.Ignore(syscall.SIGTERM)
		_, _ = os.Stdout.WriteString("deaf\n")
		time.Sleep(time.Minute)
		return
	}
	os.Exit(m.Run())
}

func deaf(t *testing.T) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return &Server{Engine: "vllm", Program: os.Args[0], Env: []argv.Variable{{Name: "DEAF_ENGINE", Value: "1"}}, Address: "http://" + l.Addr().String()}
}

// TestStop: who waits no longer hears why, and a server that does not end is ended.
func TestStop(t *testing.T) {
	s := deaf(t)
	read, write := io.Pipe()
	r, err := s.Start(write)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.ReadFull(read, make([]byte, 5)) // it is deaf now
	cause := errors.New("too long")
	ctx, stop := context.WithTimeoutCause(context.Background(), 300*time.Millisecond, cause)
	defer stop()
	if err := r.Serves(ctx); !errors.Is(err, cause) {
		t.Errorf("waited: %v", err)
	}
	if r.Err() != nil {
		t.Error("it has not ended")
	}
	go func() { _, _ = io.Copy(io.Discard, read) }()
	r.Stop(200 * time.Millisecond)
	if err := r.Err(); err == nil || runtime.GOOS != "windows" && !strings.Contains(err.Error(), "killed") {
		t.Errorf("ended: %v", err)
	}
	var died *DiedError
	if err := r.Serves(context.Background()); !errors.As(err, &died) {
		t.Errorf("of one that ended: %v", err)
	}
}

// TestRead: what cannot be started is refused with what is missing, before anything runs.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if err := os.WriteFile(filepath.Join(dir, "llama-server"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "windows" {
		t.Skip("a shell script is not a program on this system")
	}
	for _, c := range []struct{ engine, line, says string }{
		{"generic", "serve", "not started by memwall"},
		{"ollama", "ollama serve", "names no model"},
		{"vllm", "vllm serve x", "not installed here"},
		{"vllm", "", "not one command"},
		{"llama-server", "llama-server -m none.gguf", "none.gguf is not here"},
		{"llama-server", "llama-server -hf a &\nllama-server -hf b", "not one command"},
		{"llama-server", "llama-server 'x", "not one command"},
	} {
		s, err := Read(c.engine, c.line, 0)
		if err == nil {
			err = s.Here()
		}
		var e *api.Error
		if !errors.As(err, &e) || !strings.Contains(e.Message, c.says) || e.Hint == "" {
			t.Errorf("%s: %v", c.line, err)
		}
	}
	s, err := Read("llama-server", "A='b c' llama-server -hf org/name:Q4_K_M -c 8192", 0)
	if err != nil || s.Line() != `A='b c' LLAMA_ARG_LOG_VERBOSITY=4 llama-server -hf org/name:Q4_K_M -c 8192 --host 127.0.0.1 --port 8080` {
		t.Errorf("%v, %v", s, err)
	}
	if got := Installed(); len(got) != 1 || got[0] != "llama-server" {
		t.Errorf("installed: %v", got)
	}
}
