package farm

import (
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memwall/memwall"
)

// TestGuardedDoors: whatever a configuration listens at, others than this machine must say who they are, by more than a few
// letters; what is without TLS is said to be.
func TestGuardedDoors(t *testing.T) {
	a := newAuthority(t)
	a.sign("server", &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	const secret = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
	tls := fmt.Sprintf("{ cert_file: %q, key_file: %q }", a.file("server.pem"), a.file("server.key"))
	mutual := fmt.Sprintf("{ cert_file: %q, key_file: %q, ca_file: %q, verify: true }", a.file("server.pem"), a.file("server.key"),
		a.file("ca.pem"))
	auth := "authorization { token: " + secret + " }\n"
	for _, c := range []struct {
		config string
		token  string
		says   string // of the error; "" is none
		tells  string // what is without TLS; "" is nothing
	}{
		{"port: -1", "", "clients) would be open", ""},
		{"listen: 127.0.0.1:-1", "", "", ""},
		{"listen: localhost:-1", "", "", ""},
		{"listen: \"[::1]:-1\"", "", "", ""},
		{"listen: 0.0.0.0:-1", "", "clients) would be open", ""},
		{"listen: \"[::]:-1\"", "", "clients) would be open", ""},
		{"listen: 192.0.2.1:-1", "", "clients) would be open", ""},
		{"port: -1", secret, "", "clients"},
		{"port: -1\nauthorization { token: a }", "", "can be guessed", ""},
		{"port: -1\nauthorization { token: aaaaaaaaaaaaaaaaaaaaaaaa }", "", "can be guessed", ""},
		{"port: -1\nauthorization { user: a, password: short }", "", "can be guessed", ""},
		{"port: -1\nauthorization { users: [{user: a, password: " + secret + "}, {user: b, password: b}] }", "", "can be guessed", ""},
		{"port: -1\nauthorization { users: [{user: a, password: " + secret + "}, {user: b, password: \"\"}] }", "",
			"clients) would be open", ""},
		{"port: -1\nauthorization { users: [{user: a, password: \"$2a$11$UP3xizk94sWF9SHF/wkklOfBT9jphTGNrhZqz2OHoBdk9yO1kvErG\"}] }", "",
			"", "clients"},
		{"port: -1\naccounts { A { users: [{user: a, password: " + secret + "}] } }", "", "", "clients"},
		{"port: -1\naccounts { A { users: [{user: a, password: " + secret + "}] } }\nno_auth_user: a", "", "clients) would be open", ""},
		{"port: -1\naccounts { A { jetstream: true } }", "", "clients) would be open", ""},
		{"port: -1\ntls " + tls, "", "clients) would be open", ""},
		{"port: -1\ntls " + tls + "\n" + auth, "", "", ""},
		{"port: -1\ntls " + mutual, "", "", ""},
		{"port: -1\nallow_non_tls: true\ntls " + mutual, "", "clients) would be open", ""},
		{"port: -1\nallow_non_tls: true\ntls " + tls + "\n" + auth, "", "", "clients"},
		{auth + "listen: 127.0.0.1:-1\ncluster { name: c, port: -1 }", "", "other servers) would be open", ""},
		{auth + "listen: 127.0.0.1:-1\ncluster { name: c, listen: 127.0.0.1:-1 }", "", "", ""},
		{auth + "listen: 127.0.0.1:-1\ncluster { name: c, port: -1, authorization { user: r, password: short } }", "", "can be guessed",
			""},
		{auth + "listen: 127.0.0.1:-1\ncluster { name: c, port: -1, authorization { user: r, password: " + secret + " } }", "", "",
			"other servers"},
		{"listen: 127.0.0.1:-1\nleafnodes { port: -1 }", "", "leaf nodes) would be open", ""},
		{auth + "listen: 127.0.0.1:-1\nleafnodes { port: -1 }", "", "", "leaf nodes"},
		{"listen: 127.0.0.1:-1\nwebsocket { port: -1, no_tls: true }", "", "web sockets) would be open", ""},
		{"authorization { token: short }\nlisten: 127.0.0.1:-1\nwebsocket { port: -1, no_tls: true }", "", "can be guessed", ""},
		{auth + "listen: 127.0.0.1:-1\nhttp: 0.0.0.0:-1", "", "monitoring) would be open", ""},
		{auth + "listen: 127.0.0.1:-1\nhttp: 127.0.0.1:-1", "", "", ""},
	} {
		file := filepath.Join(t.TempDir(), "nats.conf")
		if err := os.WriteFile(file, []byte(c.config), 0o600); err != nil {
			t.Fatal(err)
		}
		opts, err := (&Own{Folder: t.TempDir(), Config: file, Token: c.token}).options()
		var said said
		if err == nil {
			err = guarded(opts, said.add)
		}
		e, _ := errors.AsType[*memwall.Error](err)
		switch {
		case c.says == "" && err != nil, c.says != "" && (e == nil || !strings.Contains(e.Message, c.says) || e.Hint == ""):
			t.Errorf("%s: %v, want %q", c.config, err, c.says)
		case c.tells == "" && len(said.all) > 0, c.tells != "" && !said.has("("+c.tells+") is without TLS"):
			t.Errorf("%s: %q, want %q", c.config, said.all, c.tells)
		case strings.Contains(fmt.Sprint(err, said.all), secret):
			t.Errorf("%s: a secret is told: %v %q", c.config, err, said.all)
		}
	}
}
