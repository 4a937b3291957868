package cli_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/memwall/memwall/internal/cli"
)

// serving runs memwall serve until the test ends, and gives the lines that it says at the start.
func serving(t *testing.T, lines int, args ...string) (said []string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	r, w := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- cli.Run(cli.Config{Args: append([]string{"serve"}, args...), Stdout: io.Discard, Stderr: w, Interruptible: func() (context.Context, context.CancelFunc) { return ctx, stop }})
		w.Close()
	}()
	t.Cleanup(func() {
		stop()
		if c := <-code; c != 0 {
			t.Errorf("exit %d", c)
		}
	})
	in := bufio.NewScanner(r)
	for range lines {
		if !in.Scan() {
			t.Fatalf("it said %q and no more", said)
		}
		said = append(said, in.Text())
	}
	go func() { _, _ = io.Copy(io.Discard, r) }()
	return said
}

// portIn the line that says where the server answers.
func portIn(t *testing.T, line string) string {
	t.Helper()
	_, rest, _ := strings.Cut(line, "http://")
	addr, _, _ := strings.Cut(rest, "/")
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return port
}

func statusOf(t *testing.T, port, path, token string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1:"+port+path, strings.NewReader(`{"model":"llama-3.1-8b"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode
}

// TestServe: on this machine everybody may ask; elsewhere who has the token that was shown.
func TestServe(t *testing.T) {
	said := serving(t, 1, "--listen", "127.0.0.1:0")
	if got := statusOf(t, portIn(t, said[0]), "/v1/fit", ""); got != http.StatusOK {
		t.Errorf("status %d", got)
	}
	if got := statusOf(t, portIn(t, said[0]), "/mcp", ""); got != http.StatusBadRequest && got != http.StatusNotAcceptable {
		t.Errorf("status %d of what is not a message of the protocol", got)
	}
}

// TestServeWithToken: a token is made where other machines can ask.
func TestServeWithToken(t *testing.T) {
	said := serving(t, 2, "--listen", "0.0.0.0:0")
	_, token, ok := strings.Cut(said[1], "token, shown this once: ")
	if !ok || len(token) < 20 {
		t.Fatalf("%q", said)
	}
	for given, want := range map[string]int{"": 401, token + "x": 401, token: 200} {
		if got := statusOf(t, portIn(t, said[0]), "/v1/fit", given); got != want {
			t.Errorf("status %d with %q, want %d", got, given, want)
		}
	}
	if got := statusOf(t, portIn(t, said[0]), "/mcp", ""); got != 401 {
		t.Errorf("status %d of /mcp without a token", got)
	}
}
