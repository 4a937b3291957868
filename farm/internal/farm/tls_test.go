package farm

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memwall/memwall"
)

// authority signs certificates for a test.
type authority struct {
	t      *testing.T
	folder string
	cert   *x509.Certificate
	key    *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, folder: t.TempDir()}
	a.sign("ca", &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

// sign writes NAME.pem and NAME.key.
func (a *authority) sign(name string, c *x509.Certificate) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	c.SerialNumber, c.Subject = big.NewInt(time.Now().UnixNano()), pkix.Name{CommonName: name}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	c.DNSNames, c.IPAddresses = []string{"localhost"}, []net.IP{net.IPv4(127, 0, 0, 1)}
	parent, signer := a.cert, a.key
	if parent == nil {
		a.cert, a.key, parent, signer = c, key, c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	a.write(name+".pem", "CERTIFICATE", der)
	a.write(name+".key", "PRIVATE KEY", secret)
}

func (a *authority) write(name, kind string, data []byte) {
	a.t.Helper()
	if err := os.WriteFile(a.file(name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}), 0o600); err != nil {
		a.t.Fatal(err)
	}
}

func (a *authority) file(name string) string { return filepath.Join(a.folder, name) }

// TestGuarded: a server with certificates and passwords of NATS's own; who has both joins it, and who lacks one is told.
func TestGuarded(t *testing.T) {
	a := newAuthority(t)
	a.sign("server", &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	a.sign("worker", &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	config := a.file("nats.conf")
	text := fmt.Sprintf("listen: 127.0.0.1:-1\ntls { cert_file: %q, key_file: %q, ca_file: %q, verify: true }\nauthorization { users = [ "+
		"{user: farm, password: secret} ] }\n", a.file("server.pem"), a.file("server.key"), a.file("ca.pem"))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	server, conn, err := (&Own{Folder: t.TempDir(), Config: config}).Start(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(); server.Close() })
	at := "@" + server.Addr().String()
	good := Servers{URLs: "tls://farm:secret" + at, CA: a.file("ca.pem"), Cert: a.file("worker.pem"), Key: a.file("worker.key"),
		Patience: time.Second}
	for fix, change := range map[string]func(*Servers){
		"--creds":    func(s *Servers) { s.URLs = "tls://farm:guess" + at },
		"--tls-ca":   func(s *Servers) { s.CA = "" },
		"--tls-cert": func(s *Servers) { s.Cert, s.Key = "", "" },
	} {
		bad := good
		change(&bad)
		_, err := Connect(t.Context(), &bad, nil)
		if e, ok := errors.AsType[*memwall.Error](err); !ok || e.Code != memwall.Remote || !strings.Contains(e.Hint, fix) {
			t.Errorf("without %s: %v", fix, err)
		}
	}
	outside, err := Connect(t.Context(), &good, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(outside.Close)
	sweeping, err := Open(t.Context(), conn, quick, nil)
	if err != nil {
		t.Fatal(err)
	}
	working, err := Open(t.Context(), outside, quick, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := begun(t, sweeping, fits(2), filepath.Join(t.TempDir(), "s.db"))
	help(t, working, &Worker{Name: "w", Tables: here, Slots: 2})
	run(t, s)
	check(t, s)
}
