package admit

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/load"
	"github.com/memwall/memwall/unit"
)

// Asked is what the command line says of a webhook.
type Asked struct {
	Listen, Cert, Key string
	Warn, Manifests   bool
	Hardware          string
	Claims            map[string]string
	Deadline          float64 // seconds
	Namespace, Image  string
	CA                string // a file; "" leaves the authority to cert-manager
}

// Usual is what nobody says.
func Usual() *Asked {
	return &Asked{Listen: ":8443", Deadline: 3, Namespace: "memwall", Claims: map[string]string{}, Image: "memwall:" + memwall.Version}
}

// Words are the flags.
func (a *Asked) Words() []load.Word {
	word := func(name, operand, doc, example string, read func(string) error) load.Word {
		return load.Word{Name: name, Operand: operand, Doc: doc, Example: example, Read: read}
	}
	return []load.Word{
		word("listen", "ADDRESS", "address to listen on, TLS only", ":8443", load.WordOf(&a.Listen)),
		word("tls-cert", "FILE", "certificate, in PEM; it is read again when it changes", "tls.crt", load.WordOf(&a.Cert)),
		word("tls-key", "FILE", "its key, in PEM", "tls.key", load.WordOf(&a.Key)),
		word("on", "HARDWARE", "the GPU of pods that do not name one; without it they are admitted with a warning", "h100",
			load.WordOf(&a.Hardware)),
		word("claim", "NAME=HARDWARE", "hardware of a resource claim or claim template; repeat it for more", "single-h100=h100",
			a.claim),
		word("deadline", "TIME", "admit a pod that is not evaluated by then; the API server waits two seconds more", "3s",
			load.SecondsOf(&a.Deadline)),
		word("namespace", "NAME", "with --manifests: where the webhook runs", "memwall", load.WordOf(&a.Namespace)),
		word("image", "IMAGE", "with --manifests: the image that it runs", "registry.example/memwall:0.1.0", load.WordOf(&a.Image)),
		word("ca", "FILE", "with --manifests: certificate of your own CA, in PEM; default: cert-manager issues one", "ca.crt",
			load.WordOf(&a.CA)),
	}
}

func (a *Asked) claim(s string) error {
	name, hw, ok := strings.Cut(s, "=")
	if !ok || name == "" || hw == "" {
		return fmt.Errorf("%q is not a claim with its hardware", s)
	}
	a.Claims[name] = hw
	return nil
}

// Bounds of connections: an API server sends small reviews at once.
const (
	toHeaders, toBody, toAnswer, idle = 5 * time.Second, 10 * time.Second, 20 * time.Second, 2 * time.Minute
	mostHeader                        = 16 << 10
	leastDeadline, mostDeadline       = 0.05, 25
)

// Serve reviews until the context ends. Lines of the log go to a writer, and say nothing of what was reviewed.
func (a *Asked) Serve(ctx context.Context, ask func(context.Context, *memwall.Request) (*memwall.Answer, error), log io.Writer) error {
	if !(a.Deadline >= leastDeadline && a.Deadline <= mostDeadline) {
		return fault("deadline", fmt.Sprint(a.Deadline), fmt.Sprintf("--deadline %s is not from 50 ms to 25 s", unit.Seconds(a.Deadline)),
			"--deadline 3s")
	}
	certs, err := newCertificates(a.Cert, a.Key)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", a.Listen)
	if err != nil {
		return fault("listen", a.Listen, fmt.Sprintf("--listen %s: %v", a.Listen, errors.Unwrap(err)), "--listen :8443")
	}
	h := NewHandler(&Judge{Ask: ask, Warn: a.Warn, Hardware: a.Hardware, Claims: a.Claims}, time.Duration(a.Deadline*float64(time.Second)),
		2*runtime.GOMAXPROCS(0))
	h.Log = logTo(log)
	mux := http.NewServeMux()
	mux.Handle("/admit", h)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	server := &http.Server{Handler: mux, ReadHeaderTimeout: toHeaders, ReadTimeout: toBody, WriteTimeout: toAnswer, IdleTimeout: idle,
		MaxHeaderBytes: mostHeader, ErrorLog: silent(),
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: certs.get}}
	fmt.Fprintf(log, "memwall admit listens on %s\n", listener.Addr())
	ended := make(chan error, 1)
	go func() { ended <- server.ServeTLS(listener, "", "") }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	last, stop := context.WithTimeout(context.Background(), toBody)
	defer stop()
	return server.Shutdown(last)
}

func fault(field, value, message, hint string) error {
	return &memwall.Error{Code: memwall.BadField, Field: field, Value: value, Message: message, Hint: hint}
}

// logTo writes entries as lines of JSON.
func logTo(w io.Writer) func(Entry) {
	var mu sync.Mutex
	out := json.NewEncoder(w)
	return func(e Entry) {
		mu.Lock()
		defer mu.Unlock()
		_ = out.Encode(e) // a log that cannot be written stops no review
	}
}

// certificates are read again when their file changes, as cert-manager renews them.
type certificates struct {
	cert, key string
	mu        sync.Mutex
	have      *tls.Certificate
	changed   time.Time
	looked    time.Time
}

// lookEach is how often the file is looked at.
const lookEach = 10 * time.Second

func newCertificates(cert, key string) (*certificates, error) {
	if cert == "" || key == "" {
		return nil, fault("tls-cert", cert, "an API server speaks TLS alone: --tls-cert and --tls-key are missing",
			"--tls-cert tls.crt --tls-key tls.key")
	}
	c := &certificates{cert: cert, key: key}
	if err := c.read(); err != nil {
		return nil, fault("tls-cert", cert, fmt.Sprintf("--tls-cert %s with --tls-key %s: no certificate with its key", cert, key),
			"both in PEM, readable to this process")
	}
	return c, nil
}

func (c *certificates) read() error {
	info, err := os.Stat(c.cert)
	if err != nil || c.have != nil && info.ModTime().Equal(c.changed) {
		return err
	}
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err == nil {
		c.have, c.changed = &pair, info.ModTime()
	}
	return err
}

// get the certificate of now; a renewal that cannot be read leaves the one before.
func (c *certificates) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) >= lookEach {
		c.looked = time.Now()
		_ = c.read() // the one before holds
	}
	return c.have, nil
}
