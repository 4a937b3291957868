package remote

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"syscall"
)

// privateError is a dial that was refused.
type privateError struct{ host, address string }

func (e *privateError) Error() string {
	return fmt.Sprintf("%s is the private address %s", e.host, e.address)
}

// Networks that no public server has, beside those that package netip tells: shared space of carriers, protocol
// assignments, documentation, benchmarks, multicast and reserved, and the prefixes that carry IPv4 inside.
var private = sync.OnceValue(func() []netip.Prefix {
	return prefixes("0.0.0.0/8 100.64.0.0/10 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 " +
		"240.0.0.0/4 64:ff9b:1::/48 100::/64 2001::/23 2001:db8::/32 fec0::/10 3fff::/20")
})

func prefixes(list string) (out []netip.Prefix) {
	for _, s := range strings.Fields(list) {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

// isPrivate reports whether an address is of this machine or of a network that is not the internet's.
func isPrivate(a netip.Addr) bool {
	a = embedded(a.Unmap()).WithZone("")
	if a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsUnspecified() || !a.IsValid() {
		return true
	}
	for _, p := range private() {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// embedded is the IPv4 address in one of NAT64 or 6to4, which leads to it.
func embedded(a netip.Addr) netip.Addr {
	if !a.Is6() {
		return a
	}
	b := a.As16()
	switch {
	case netip.MustParsePrefix("64:ff9b::/96").Contains(a):
		return netip.AddrFrom4([4]byte(b[12:16]))
	case netip.MustParsePrefix("2002::/16").Contains(a):
		return netip.AddrFrom4([4]byte(b[2:6]))
	}
	return a
}

// allowList are the hosts that may be private: those that the user configured.
type allowList struct {
	all   bool
	hosts map[string]bool // host:port
}

// allowed reads MEMWALL_ALLOW_PRIVATE (1 for every host, or a list of host:port) and the configured endpoints.
func allowed(env func(string) string, endpoints []string) *allowList {
	l := &allowList{hosts: map[string]bool{}}
	for _, e := range endpoints {
		if u, err := url.Parse(e); err == nil {
			l.add(u)
		}
	}
	value := env("MEMWALL_ALLOW_PRIVATE")
	l.all = set(value)
	for _, h := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' }) {
		l.hosts[strings.ToLower(h)] = true
	}
	return l
}

func (l *allowList) add(u *url.URL) { l.hosts[hostPort(u)] = true }

func (l *allowList) has(hostport string) bool { return l.all || l.hosts[strings.ToLower(hostport)] }

// hostPort is the host with its port, which may be the scheme's own.
func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return strings.ToLower(net.JoinHostPort(u.Hostname(), port))
}

// transport makes one that dials no private address: the check is of the address that is connected to, so that no
// name server can change its mind in between.
func transport(o Options, allow *allowList) http.RoundTripper {
	dialer := &net.Dialer{Timeout: o.Limits.filled().Dial}
	guarded := *dialer
	guarded.Control = func(_, address string, _ syscall.RawConn) error { return public(address) }
	proxy := proxyOf(o.Env, allow)
	return &http.Transport{
		Proxy: proxy,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if allow.has(address) {
				return dialer.DialContext(ctx, network, address)
			}
			conn, err := guarded.DialContext(ctx, network, address)
			return conn, hosted(err, address)
		},
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    o.Limits.filled().Dial,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    32,
		MaxConnsPerHost:        32,
		MaxResponseHeaderBytes: 256 << 10,
	}
}

func public(address string) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil || isPrivate(ap.Addr()) {
		return &privateError{address: address}
	}
	return nil
}

// hosted says which host had the private address.
func hosted(err error, host string) error {
	if p, ok := errors.AsType[*privateError](err); ok {
		return &privateError{host: host, address: p.address}
	}
	return err
}

// proxyOf reads the proxy's variables, in both spellings as programs do. Whoever sets one wants it dialled.
func proxyOf(env func(string) string, allow *allowList) func(*http.Request) (*url.URL, error) {
	read := func(names ...string) *url.URL {
		for _, n := range names {
			if u, err := url.Parse(env(n)); err == nil && u.Host != "" {
				allow.add(u)
				return u
			}
		}
		return nil
	}
	secure, plain := read("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"), read("http_proxy", "ALL_PROXY", "all_proxy")
	direct := strings.FieldsFunc(env("NO_PROXY")+","+env("no_proxy"), func(r rune) bool { return r == ',' || r == ' ' })
	return func(r *http.Request) (*url.URL, error) {
		if withoutProxy(direct, r.URL.Hostname()) || local(r.URL.Hostname()) {
			return nil, nil
		}
		if r.URL.Scheme == "http" {
			return plain, nil
		}
		return secure, nil
	}
}

// local tells this machine by its names.
func local(host string) bool {
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback() || strings.EqualFold(host, "localhost") ||
		strings.HasSuffix(strings.ToLower(host), ".localhost")
}

func withoutProxy(direct []string, host string) bool {
	for _, d := range direct {
		d = strings.TrimPrefix(strings.ToLower(d), ".")
		if d == "*" || strings.EqualFold(host, d) || strings.HasSuffix(strings.ToLower(host), "."+d) {
			return true
		}
	}
	return false
}
