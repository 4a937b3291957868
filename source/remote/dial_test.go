package remote

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

// TestPrivate: which addresses are the internet's. Sources: RFC 6890 and its registries.
func TestPrivate(t *testing.T) {
	for _, a := range strings.Fields("127.0.0.1 10.1.2.3 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 " +
		"0.1.2.3 224.0.0.1 240.0.0.1 255.255.255.255 198.18.0.1 192.0.2.1 203.0.113.9 " +
		"::1 :: fe80::1 fc00::1 fd12::1 ff02::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 64:ff9b::7f00:1 64:ff9b::a00:1 2002:7f00:1:: " +
		"2002:c0a8:101::1 2001:db8::1 fe80::1%eth0") {
		if !isPrivate(netip.MustParseAddr(a)) {
			t.Errorf("%s counts as public", a)
		}
	}
	for _, a := range strings.Fields("1.1.1.1 8.8.8.8 172.15.0.1 172.32.0.1 100.63.255.255 100.128.0.1 169.253.1.1 192.167.1.1 " +
		"2606:4700::1111 64:ff9b::808:808 2a00:1450::1 ::ffff:8.8.8.8") {
		if isPrivate(netip.MustParseAddr(a)) {
			t.Errorf("%s counts as private", a)
		}
	}
}

// TestDial: a name that leads to this machine is refused when it is dialled, unless the host is allowed.
func TestDial(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(204) }))
	defer s.Close()
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	for _, c := range []struct {
		allow string
		ok    bool
	}{{"", false}, {"localhost:1", false}, {"localhost:" + port, true}, {"1", true}} {
		env := func(k string) string {
			if k == "MEMWALL_ALLOW_PRIVATE" {
				return c.allow
			}
			return ""
		}
		o := Options{Env: env}
		r, _ := http.NewRequest("GET", "http://localhost:"+port, nil)
		resp, err := transport(o, allowed(env, nil)).RoundTrip(r)
		if (err == nil) != c.ok {
			t.Errorf("allowing %q: %v", c.allow, err)
		}
		if err == nil {
			resp.Body.Close()
		} else if !strings.Contains(err.Error(), "localhost:"+port+" is the private address") {
			t.Errorf("allowing %q: %v", c.allow, err)
		}
	}
}

// TestProxy: the variables' proxies, and hosts that need none.
func TestProxy(t *testing.T) {
	set := map[string]string{"HTTPS_PROXY": "http://10.0.0.9:3128", "NO_PROXY": "corp.example, .inner.example"}
	allow := allowed(func(k string) string { return set[k] }, nil)
	proxy := proxyOf(func(k string) string { return set[k] }, allow)
	for address, want := range map[string]string{"https://huggingface.co/x": "10.0.0.9:3128", "https://corp.example/x": "",
		"https://a.inner.example": "", "https://localhost:1": "", "http://plain.example": ""} {
		r, _ := http.NewRequest("GET", address, nil)
		u, err := proxy(r)
		if got := ""; err != nil || u != nil && u.Host != want || u == nil && got != want {
			t.Errorf("%s by %v, want %q", address, u, want)
		}
	}
	if !allow.has("10.0.0.9:3128") {
		t.Error("the proxy may not be dialled")
	}
}

func TestRedact(t *testing.T) {
	for in, want := range map[string]string{"token hf_abcdefghijklmnop here": "token … here",
		"Authorization: Bearer abcdefghijkl": "Authorization: …", "https://me:pw@host/x": "https://…@host/x", "hf_short": "hf_short"} {
		if got := redact(in); got != want {
			t.Errorf("%q became %q", in, got)
		}
	}
}

// FuzzParse: no reference breaks the parser, and what it accepts can stand in a path and a URL.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"hf:a/b", "hf:a/b@refs/pr/1/x.gguf", "hf:a/b:Q4_K_M", "ollama:h:1/n/m:t",
		"https://huggingface.co/a/b/resolve/main/x.gguf", "modelscope:a/b", "https://x/y.gguf", "hf:../..",
		"https://ollama.com/library/x"} {
		f.Add(s)
	}
	finder := New(Options{})
	f.Fuzz(func(t *testing.T, s string) {
		r, err := finder.parse(s)
		if err != nil {
			return
		}
		if r.kind != atURL && (strings.Contains(r.repo, "..") || strings.ContainsAny(r.repo+r.revision+r.quant, "\\ \n?#%")) ||
			strings.Contains("/"+r.file+"/", "/../") {
			t.Errorf("%q: %+v", s, r)
		}
	})
}
