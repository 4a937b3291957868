package admit

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memwall/memwall/format/yaml"
)

// certify writes a certificate of its own and its key, and gives who trusts it.
func certify(t *testing.T, cert, key string, serial int64) *x509.CertPool {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	for name, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "EC PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, _ := os.ReadFile(cert)
	pool.AppendCertsFromPEM(text)
	return pool
}

// lines is a log that is read while it is written.
type lines struct {
	sync.Mutex
	bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.Lock()
	defer l.Unlock()
	return l.Buffer.Write(p)
}

func (l *lines) text() string {
	l.Lock()
	defer l.Unlock()
	return l.String()
}

// listening starts a webhook, and gives its address once it says it.
func listening(a *Asked) (address string, log *lines, stop func(), ended chan error) {
	ctx, stop := context.WithCancel(context.Background())
	log, ended = &lines{}, make(chan error, 1)
	go func() { ended <- a.Serve(ctx, judge().Ask, log) }()
	for began := time.Now(); address == "" && time.Since(began) < 10*time.Second; time.Sleep(5 * time.Millisecond) {
		_, address, _ = strings.Cut(strings.TrimSpace(log.text()), "listens on ")
	}
	return address, log, stop, ended
}

func TestServe(t *testing.T) {
	dir := t.TempDir()
	a := Usual()
	a.Cert, a.Key, a.Listen = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"), "127.0.0.1:0"
	trusted := certify(t, a.Cert, a.Key, 1)
	address, log, stop, ended := listening(a)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}}}
	review := `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","operation":"CREATE","object":` +
		pod(large, gpu, 1, onH100) + `}}`
	answer, err := client.Post("https://"+address+"/admit", "application/json", strings.NewReader(review))
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(answer.Body)
	answer.Body.Close()
	if !strings.Contains(string(text), `"allowed":false`) {
		t.Errorf("%s", text)
	}
	if answer, err := client.Get("https://" + address + "/healthz"); err != nil || answer.StatusCode != 200 {
		t.Errorf("no health: %v", err)
	}
	if _, err := http.Get("http://" + address + "/healthz"); err == nil {
		if answer, _ := http.Get("http://" + address + "/healthz"); answer.StatusCode == 200 {
			t.Error("it speaks without TLS")
		}
	}
	stop()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it does not end")
	}
	if said := log.text(); !strings.Contains(said, `"outcome":"refused"`) || strings.Contains(said, "hunter2") || strings.Contains(said, "vllm") {
		t.Errorf("the log says %s", said)
	}
}

func TestARenewedCertificateIsUsed(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	certify(t, cert, key, 1)
	c, err := newCertificates(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	serial := func() int64 {
		c.looked = time.Time{}
		pair, err := c.get(nil)
		if err != nil {
			t.Fatal(err)
		}
		leaf, err := x509.ParseCertificate(pair.Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		return leaf.SerialNumber.Int64()
	}
	certify(t, cert, key, 2)
	later := time.Now().Add(time.Minute)
	if err := os.Chtimes(cert, later, later); err != nil {
		t.Fatal(err)
	}
	if n := serial(); n != 2 {
		t.Errorf("certificate %d after a renewal", n)
	}
	if err := os.WriteFile(cert, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if n := serial(); n != 2 {
		t.Errorf("certificate %d after a broken renewal", n)
	}
}

func TestWrongFlags(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	certify(t, cert, key, 1)
	for says, change := range map[string]func(*Asked){
		"--tls-key are missing":   func(a *Asked) { a.Cert = "" },
		"no certificate with its": func(a *Asked) { a.Key = cert },
		"is not from 50 ms":       func(a *Asked) { a.Deadline = 60 },
		"--listen nowhere":        func(a *Asked) { a.Listen = "nowhere" },
	} {
		a := Usual()
		a.Cert, a.Key = cert, key
		change(a)
		if err := a.Serve(context.Background(), judge().Ask, io.Discard); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, where %q was expected", err, says)
		}
	}
}

func TestManifests(t *testing.T) {
	dir := t.TempDir()
	ca := filepath.Join(dir, "ca.crt")
	certify(t, ca, filepath.Join(dir, "k"), 1)
	open := func(name string) (io.ReadCloser, error) { return os.Open(name) }
	limits := yaml.Limits{Bytes: 1 << 16, Depth: 24, Expanded: 20_000, Holds: "manifests"}
	for _, authority := range []string{"", ca} {
		a := Usual()
		a.CA, a.Warn, a.Hardware = authority, true, "it's, \"h100\""
		a.Claims["x"] = "2xh100"
		text, err := a.Write(open)
		if err != nil {
			t.Fatal(err)
		}
		docs, err := yaml.Decode(text, limits)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		var kinds []string
		for _, d := range docs {
			kinds = append(kinds, d.At("kind").Value())
		}
		want := "Namespace Deployment Service Issuer Certificate ValidatingWebhookConfiguration"
		if authority != "" {
			want = "Namespace Deployment Service ValidatingWebhookConfiguration"
		}
		if got := strings.Join(kinds, " "); got != want {
			t.Errorf("%s, not %s", got, want)
		}
		for _, has := range []string{"failurePolicy: Ignore", "timeoutSeconds: 5", "sideEffects: None", `'it''s, "h100"'`, "'x=2xh100'", "'--warn'"} {
			if !strings.Contains(text, has) {
				t.Errorf("no %s in\n%s", has, text)
			}
		}
		if strings.Contains(text, "caBundle") != (authority != "") || strings.Contains(text, "inject-ca-from") != (authority == "") {
			t.Errorf("authority %q in\n%s", authority, text)
		}
	}
	for says, change := range map[string]func(*Asked){
		"no name of a namespace": func(a *Asked) { a.Namespace = "a: b\n" },
		"no reference":           func(a *Asked) { a.Image = "x\n  evil: true" },
		"not a PEM certificate":  func(a *Asked) { a.CA = filepath.Join(dir, "nowhere") },
		"from 50 ms to 25 s":     func(a *Asked) { a.Deadline = 0 },
	} {
		a := Usual()
		change(a)
		if _, err := a.Write(open); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, where %q was expected", err, says)
		}
	}
}
