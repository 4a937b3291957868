package farm

import (
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/memwall/memwall"
)

// door is something that a server listens at.
type door struct {
	what, host string
	port       int
	open       bool     // nobody is asked who they are
	secrets    []string // that are asked for, in the clear
	tls        bool
}

// doors of a server. Those of a configuration are NATS's own, each with who may come in by it (server/auth.go of nats-server
// 2.15: a door without users of its own has those of the server, and whom no_auth_user lets in needs nothing).
func doors(o *server.Options) (all []door) {
	add := func(what, host string, port int, tls *tls.Config, open bool, secrets []string) {
		if port != 0 {
			all = append(all, door{what, host, port, open, secrets, tls != nil})
		}
	}
	users := append(words(o.Authorization, o.Password), passwords(o.Users)...)
	nobody := o.NoAuthUser != "" || unnamed(o) || len(users)+len(o.Users)+len(o.Nkeys) == 0 && (o.AllowNonTLS || !certified(o.TLSConfig))
	if !o.DontListen {
		secure := o.TLSConfig
		if o.AllowNonTLS {
			secure = nil
		}
		all = append(all, door{"clients", o.Host, o.Port, nobody, users, secure != nil})
	}
	// own users of a door that serves clients too, or else those of the server
	owned := func(named bool, passwords []string) (bool, []string) {
		if named {
			return false, passwords
		}
		return nobody, users
	}
	c, g, l, w, m := &o.Cluster, &o.Gateway, &o.LeafNode, &o.Websocket, &o.MQTT
	add("other servers", c.Host, c.Port, c.TLSConfig, c.Password == "" && !certified(c.TLSConfig), words(c.Password))
	add("gateways", g.Host, g.Port, g.TLSConfig, g.Password == "" && !certified(g.TLSConfig), words(g.Password))
	open, secrets := owned(l.Nkey != "" || l.Password != "" || len(l.Users) > 0 || certified(l.TLSConfig),
		append(words(l.Password), passwords(l.Users)...))
	add("leaf nodes", l.Host, l.Port, l.TLSConfig, open, secrets)
	open, secrets = owned(w.Password != "" || w.Token != "", words(w.Password, w.Token))
	add("web sockets", w.Host, w.Port, w.TLSConfig, open || w.NoAuthUser != "", secrets)
	open, secrets = owned(m.Password != "" || m.Token != "", words(m.Password, m.Token))
	add("MQTT", m.Host, m.Port, m.TLSConfig, open || m.NoAuthUser != "", secrets)
	monitor := or2(o.HTTPHost, o.Host)
	add("monitoring", monitor, o.HTTPPort, nil, true, nil)
	add("monitoring", monitor, o.HTTPSPort, o.TLSConfig, true, nil)
	add("profiles", o.Host, o.ProfPort, nil, true, nil)
	return all
}

// unnamed: somebody comes in by a name alone.
func unnamed(o *server.Options) bool {
	return o.Username != "" && o.Password == "" || !o.TLSMap &&
		slices.ContainsFunc(o.Users, func(u *server.User) bool { return u.Password == "" })
}

// certified: whoever comes needs a certificate.
func certified(c *tls.Config) bool { return c != nil && c.ClientAuth == tls.RequireAndVerifyClientCert }

func passwords(users []*server.User) (all []string) {
	for _, u := range users {
		all = append(all, words(u.Password)...)
	}
	return all
}

func words(all ...string) (out []string) {
	for _, w := range all {
		if w != "" {
			out = append(out, w)
		}
	}
	return out
}

// local: only this machine reaches the address.
func local(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (d *door) address() string {
	return net.JoinHostPort(or2(d.host, "0.0.0.0"), strconv.Itoa(max(d.port, 0)))
}

// guarded refuses a server that others than this machine reach without saying who they are, or by saying what is guessed;
// say is told of what is not encrypted.
func guarded(o *server.Options, say func(string)) error {
	for _, d := range doors(o) {
		if local(d.host) {
			continue
		}
		if err := d.guarded(); err != nil {
			return err
		}
		if !d.tls {
			say(fmt.Sprintf("%s (%s) is without TLS: who can read the network reads passwords and answers; --server-config with tls {} "+
				"mends that", d.address(), d.what))
		}
	}
	return nil
}

func (d *door) guarded() error {
	if d.open {
		return &memwall.Error{Code: memwall.BadField, Field: "listen", Value: d.address(),
			Message: fmt.Sprintf("%s (%s) would be open to whoever reaches it", d.address(), d.what),
			Hint: "a token in MEMWALL_FARM_TOKEN, here and for those who join, or users with passwords in --server-config; monitoring at " +
				"127.0.0.1"}
	}
	for _, s := range d.secrets {
		if err := Strong(s); err != nil {
			return err
		}
	}
	return nil
}

// leastSecret is how many letters a token or a password has at least, and leastLetters how many of them differ: 16 random
// hexadecimal digits are 64 bits, which nobody guesses over a network.
const (
	leastSecret  = 16
	leastLetters = 6
)

// Strong refuses a token or a password that can be guessed. One that is hashed already (bcrypt) is not looked into.
func Strong(secret string) error {
	different := map[rune]bool{}
	for _, r := range secret {
		different[r] = true
	}
	if len([]rune(secret)) >= leastSecret && len(different) >= leastLetters || strings.HasPrefix(secret, "$2") && len(secret) == 60 {
		return nil
	}
	return &memwall.Error{Code: memwall.BadField, Field: "token",
		Message: fmt.Sprintf("a token or a password can be guessed: it has fewer than %d letters, or the same few again and again",
			leastSecret),
		Hint: "openssl rand -hex 24"}
}
