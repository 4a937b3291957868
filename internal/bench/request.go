package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Bounds on what a server sends: of an event of a stream, and of a text that is not a stream.
const (
	maxEvent = 1 << 20
	maxText  = 64 << 10
)

// answer is what a user saw of a streamed completion.
type answer struct {
	first, last time.Duration // since the request was sent
	prompt      int64         // tokens, as the server counts
	tokens      int64
}

// completion is a request of the API (POST /v1/completions). ignore_eos is of vLLM, SGLang and llama-server: answers have the length
// that was asked for; others do not know it, and answer as long as they like.
type completion struct {
	Model       string  `json:"model"`
	Prompt      string  `json:"prompt"`
	MaxTokens   int64   `json:"max_tokens"`
	Temperature float64 `json:"temperature"`
	Stream      bool    `json:"stream"`
	Options     any     `json:"stream_options"`
	IgnoreEOS   bool    `json:"ignore_eos"`
}

// event is what is read of an event of the stream.
type event struct {
	Choices []struct {
		Text *string `json:"text"`
	} `json:"choices"`
	Usage *struct {
		Prompt int64 `json:"prompt_tokens"`
		Output int64 `json:"completion_tokens"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// stay refuses to follow a server elsewhere, with the token in the hand.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// transport keeps a connection for each user, so that none waits for another's.
func (s *Server) transport(users int64) http.RoundTripper {
	if s.Transport != nil {
		return s.Transport
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost, t.MaxIdleConns = int(users), int(users)
	t.MaxResponseHeaderBytes = maxText
	return t
}

// ask sends one request and times its stream.
func (s *Server) ask(ctx context.Context, c *http.Client, prompt string, tokens int64) finished {
	a, err := s.stream(ctx, c, prompt, tokens)
	return finished{a, err}
}

func (s *Server) stream(ctx context.Context, c *http.Client, prompt string, tokens int64) (a answer, err error) {
	body, err := json.Marshal(completion{s.Model, prompt, tokens, 0, true, map[string]bool{"include_usage": true}, true})
	if err != nil {
		return a, err
	}
	r, err := s.request(ctx, http.MethodPost, "/v1/completions", body)
	if err != nil {
		return a, err
	}
	began := time.Now()
	got, err := c.Do(r)
	if err != nil {
		return a, err
	}
	defer func() { _ = got.Body.Close() }() // it was read, or is given up
	if got.StatusCode != http.StatusOK {
		return a, refused(got)
	}
	err = a.read(got.Body, began)
	return a, err
}

func (s *Server) request(ctx context.Context, method, path string, body []byte) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, s.Address+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header["Idempotency-Key"] = nil // is not sent: a connection that the server has closed meanwhile is opened anew (net/http, Transport)
	if s.Token != "" {
		r.Header.Set("Authorization", "Bearer "+s.Token)
	}
	return r, nil
}

// Find takes the server's own name for its model: the one that is asked for where it has it, else its first (GET /v1/models).
func (s *Server) Find(ctx context.Context, asked string) error {
	r, err := s.request(ctx, http.MethodGet, "/v1/models", nil)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: s.transport(1), CheckRedirect: stay}
	defer client.CloseIdleConnections()
	got, err := client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = got.Body.Close() }() // it was read, or is given up
	if got.StatusCode != http.StatusOK {
		return refused(got)
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.NewDecoder(io.LimitReader(got.Body, maxEvent)).Decode(&list); err != nil || len(list.Data) == 0 {
		return errors.New("its /v1/models names no model")
	}
	s.Model = list.Data[0].ID
	for _, m := range list.Data {
		if strings.EqualFold(m.ID, asked) {
			s.Model = m.ID
		}
	}
	return nil
}

// refused is what a server says that does not answer.
func refused(got *http.Response) error {
	text, err := io.ReadAll(io.LimitReader(got.Body, maxText))
	if err != nil || len(bytes.TrimSpace(text)) == 0 {
		return fmt.Errorf("the server answers %s", got.Status)
	}
	const shown = 200
	said := strings.Join(strings.Fields(string(text)), " ")
	if len(said) > shown {
		said = said[:shown] + "…"
	}
	return fmt.Errorf("the server answers %s: %s", got.Status, said)
}

var errNoToken = errors.New("the stream ended without a token")

// read times the events of a stream. Tokens are those that the server counts; without its count, events that hold text.
func (a *answer) read(body io.Reader, began time.Time) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 0, 16<<10), maxEvent)
	var counted int64
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:"))
		if data = bytes.TrimSpace(data); !ok || len(data) == 0 || string(data) == "[DONE]" {
			continue
		}
		var e event
		if err := json.Unmarshal(data, &e); err != nil {
			return fmt.Errorf("an event of the stream is not JSON: %w", err)
		}
		if len(e.Error) > 0 && string(e.Error) != "null" {
			return fmt.Errorf("the server breaks off: %.200s", e.Error)
		}
		counted += a.saw(&e, time.Since(began))
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if a.tokens <= 0 {
		a.tokens = counted
	}
	if counted == 0 || a.prompt < 0 {
		return errNoToken
	}
	return nil
}

// saw notes an event, and is how many tokens it showed: one where it holds a text.
func (a *answer) saw(e *event, at time.Duration) int64 {
	if e.Usage != nil {
		a.prompt, a.tokens = e.Usage.Prompt, e.Usage.Output
	}
	if len(e.Choices) == 0 || e.Choices[0].Text == nil {
		return 0
	}
	if *e.Choices[0].Text == "" && a.first > 0 {
		return 0
	}
	if a.first == 0 {
		a.first = at
	}
	a.last = at
	return 1
}
