package serve

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/memwall/memwall/safe"
)

// body is a response body: plain and compressed bytes, and its entity tag.
type body struct {
	kind   string
	text   []byte
	tag    string // without quotes
	once   sync.Once
	packed []byte
}

func newBody(kind string, text []byte) *body {
	sum := sha256.Sum256(text)
	return &body{kind: kind, text: text, tag: base64.RawURLEncoding.EncodeToString(sum[:18])}
}

// newJSON returns a value as a response body.
func newJSON(v any) (*body, error) {
	text, err := encoded(v)
	if err != nil {
		return nil, err
	}
	return newBody(jsonType, text), nil
}

// encoded returns a value's JSON.
func encoded[T any](v T) ([]byte, error) {
	if own, ok := any(v).(json.Marshaler); ok { // call it directly: an encoder would parse the result again
		text, err := own.MarshalJSON()
		if err != nil {
			return nil, err
		}
		return safe.JSON(append(text, '\n')), nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return safe.JSON(b.Bytes()), nil
}

var packers = sync.Pool{New: func() any {
	z, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is valid
	}
	return z
}}

// gzipped returns the compressed body, computed once.
func (b *body) gzipped() []byte {
	b.once.Do(func() {
		var out bytes.Buffer
		z := packers.Get().(*gzip.Writer)
		z.Reset(&out)
		_, _ = z.Write(b.text) // writes to a buffer cannot fail
		_ = z.Close()
		packers.Put(z)
		b.packed = out.Bytes()
	})
	return b.packed
}

// takesGzip reports whether the client accepts gzip.
func takesGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, quality, _ := strings.Cut(strings.TrimSpace(part), ";")
		if name == "gzip" || name == "*" {
			q, err := strconv.ParseFloat(strings.TrimPrefix(strings.ReplaceAll(quality, " ", ""), "q="), 64)
			return err != nil || q > 0
		}
	}
	return false
}

// deliver sends a response, unless the client has it (RFC 9110, 13.1.2).
func (s *Server) deliver(w http.ResponseWriter, r *http.Request, b *body) {
	text, tag := b.text, `"`+b.tag+`"`
	h := w.Header()
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "private, no-cache")
	if len(text) >= compressFrom && takesGzip(r) {
		text, tag = b.gzipped(), `"`+b.tag+`-gzip"`
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", tag)
	if has(r.Header.Get("If-None-Match"), tag) {
		h.Del("Content-Encoding")
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.WriteHeader(http.StatusPreconditionFailed)
		return
	}
	h.Set("Content-Type", b.kind)
	h.Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = w.Write(text) // the client may have disconnected
}

// has reports whether a list of tags includes one, or is *.
func has(list, tag string) bool {
	return slices.ContainsFunc(strings.Split(list, ","), func(t string) bool {
		t = strings.TrimPrefix(strings.TrimSpace(t), "W/")
		return t == tag || t == "*"
	})
}
