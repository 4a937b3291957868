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

// accessLog writes a JSON line for each completed request, without query, headers and body, which hold tokens, models
// and pasted text.
type accessLog struct {
	mu sync.Mutex
	to io.Writer
}

// access is a line of the log.
type access struct {
	Time   string  `json:"time"` // when the header arrived, RFC 3339 in UTC
	Client string  `json:"client"`
	Method string  `json:"method"`
	Path   string  `json:"path"`
	Status int     `json:"status"` // 0 if the client disconnected before
	Bytes  int64   `json:"bytes"`  // of the response body as sent
	MS     float64 `json:"ms"`
}

// write logs a completed request; token is redacted wherever it occurs.
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
		return // strings and numbers: cannot fail
	}
	line = append(safe.JSON(line), '\n')
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.to.Write(line) // a full disk must not fail responses
}

// without redacts a secret.
func without(s, secret string) string {
	if secret == "" {
		return s
	}
	return strings.ReplaceAll(s, secret, "***")
}
