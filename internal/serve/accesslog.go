package serve

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/memwall/memwall/safe"
)

// accessLog writes a line of JSON for each request that has ended. Nothing of the query, the headers or the body stands in it, where
// tokens, models and pasted texts are.
type accessLog struct {
	mu sync.Mutex
	to io.Writer
}

// access is a line of the log.
type access struct {
	Time   string  `json:"time"` // of the request's header, RFC 3339 in UTC
	Client string  `json:"client"`
	Method string  `json:"method"`
	Path   string  `json:"path"`
	Status int     `json:"status"` // 0: the client left before there was one
	Bytes  int64   `json:"bytes"`  // of the answer's body as sent
	MS     float64 `json:"ms"`
}

// write adds the line of a request that was answered; token is redacted wherever somebody put it.
func (l *accessLog) write(r *http.Request, w *paced, start time.Time, token string) {
	if l.to == nil {
		return
	}
	line, err := json.Marshal(access{
		Time: start.UTC().Format(time.RFC3339Nano), Client: client(r), Method: shortened(r.Method),
		Path:   shortened(without(r.URL.Path, token)),
		Status: w.status, Bytes: w.sent, MS: float64(time.Since(start).Microseconds()) / 1000,
	})
	if err != nil {
		return // strings and numbers: cannot be
	}
	line = append(safe.JSON(line), '\n')
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.to.Write(line) // a full disk stops no answer
}

// without blots out a secret.
func without(s, secret string) string {
	if secret == "" {
		return s
	}
	return strings.ReplaceAll(s, secret, "***")
}
