package cli_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memwall/memwall/internal/cli"
)

// certified makes a certificate for localhost and its key, and who believes it.
func certified(t *testing.T) (cert, key string, roots *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, kind string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	roots = x509.NewCertPool()
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots.AddCert(leaf)
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", secret), roots
}

// TestServeTLS: with a certificate the server speaks HTTPS and nothing else, its cookie never goes elsewhere, and the log has a line.
func TestServeTLS(t *testing.T) {
	cert, key, roots := certified(t)
	log := filepath.Join(t.TempDir(), "access.jsonl")
	t.Setenv("MEMWALL_TOKEN", "")
	said := serving(t, 2, "--listen", "127.0.0.1:0", "--host", "localhost", "--tls-cert", cert, "--tls-key", key, "--access-log", log)
	_, address, ok := strings.Cut(said[1], "token, shown this once: ")
	if !ok || !strings.Contains(said[0], "https://") {
		t.Fatalf("%q", said)
	}
	port := portIn(t, strings.Replace(said[0], "https://", "http://", 1))
	client := &http.Client{
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	r, err := client.Get("https://localhost:" + port + "/?token=" + address)
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if c := r.Cookies(); len(c) != 1 || !c[0].Secure || !c[0].HttpOnly || r.StatusCode != http.StatusSeeOther {
		t.Errorf("status %d, cookies %v", r.StatusCode, c)
	}
	if r, err := http.Get("http://localhost:" + port + "/"); err == nil {
		r.Body.Close()
		if r.StatusCode == http.StatusOK {
			t.Error("it answers without TLS too")
		}
	}
	old := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MaxVersion: tls.VersionTLS11}}} //nolint:gosec // it must be refused
	if r, err := old.Get("https://localhost:" + port + "/"); err == nil {
		r.Body.Close()
		t.Error("TLS 1.1 is spoken")
	}
	data, err := os.ReadFile(log)
	if err != nil || !strings.Contains(string(data), `"path":"/","status":303`) || strings.Contains(string(data), address) {
		t.Errorf("%v, %s", err, data)
	}
	if info, err := os.Stat(log); err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("the log is %v, %v", info.Mode(), err)
	}
}

// TestBadCertificates: what does not go together is said before anything listens.
func TestBadCertificates(t *testing.T) {
	cert, key, _ := certified(t)
	_, other, _ := certified(t)
	dir := t.TempDir()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--tls-cert", cert}, "go together"},
		{[]string{"--tls-key", key}, "go together"},
		{[]string{"--tls-cert", cert, "--tls-key", other}, "does not match"},
		{[]string{"--tls-cert", key, "--tls-key", key}, "in PEM"},
		{[]string{"--tls-cert", dir, "--tls-key", key}, "cannot be read"},
		{[]string{"--tls-cert", "missing", "--tls-key", key}, "cannot be read"},
		{[]string{"--access-log", dir}, "not a regular file"},
		{[]string{"--access-log", filepath.Join(dir, "missing", "log")}, "cannot be written"},
	} {
		var said bytes.Buffer
		code := cli.Run(cli.Config{Args: append([]string{"serve", "--listen", "127.0.0.1:0"}, c.args...), Stdout: &said, Stderr: &said})
		text := strings.Join(strings.Fields(said.String()), " ")
		if code == 0 || !strings.Contains(text, c.want) || !strings.Contains(text, "fix:") {
			t.Errorf("%v: exit %d\n%s", c.args, code, text)
		}
	}
}
