package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestOrigins: pages of an origin that was invited may ask the API, after asking whether; of others, and other paths, none.
func TestOrigins(t *testing.T) {
	s := server(t, func(o *Options) { o.Origins = []string{"https://example.org"} })
	for _, c := range []struct {
		method, path, origin string
		status               int
		allowed              bool
	}{
		{"OPTIONS", "/v1/fit", "https://example.org", http.StatusNoContent, true},
		{"POST", "/v1/fit", "https://example.org", http.StatusOK, true},
		{"GET", "/v1/models", "https://example.org", http.StatusOK, true},
		{"OPTIONS", "/v1/fit", "https://example.com", http.StatusForbidden, false},
		{"POST", "/v1/fit", "https://example.com", http.StatusForbidden, false},
		{"POST", "/v1/fit", "https://example.org.evil.net", http.StatusForbidden, false},
		{"POST", "/v1/fit", "null", http.StatusForbidden, false},
		{"GET", "/fit", "https://example.org", http.StatusForbidden, false},
		{"OPTIONS", "/v1/nothing", "https://example.org", http.StatusNotFound, true},
	} {
		header := map[string]string{"Origin": c.origin, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors", "Access-Control-Request-Method": "POST", "Content-Type": jsonType}
		w := do(s, asked{method: c.method, path: c.path, body: `{"model":"llama-3.1-8b","hardware":"rtx-4090"}`, header: header})
		if got := w.Header().Get("Access-Control-Allow-Origin"); w.Code != c.status || (got == c.origin) != c.allowed {
			t.Errorf("%s %s from %s: %d, allowed %q: %.200s", c.method, c.path, c.origin, w.Code, got, w.Body)
		}
	}
	w := do(server(t, nil), asked{method: "POST", path: "/v1/fit", body: "{}", header: map[string]string{"Origin": "https://example.org", "Content-Type": jsonType}})
	if w.Code != http.StatusForbidden || w.Header().Get("Vary") == "Origin" {
		t.Errorf("nobody is invited: %d", w.Code)
	}
}

// TestOpenAPIKeys: no object of the description has a name twice, which readers of JSON take differently, and it says where it holds.
func TestOpenAPIKeys(t *testing.T) {
	w := do(server(t, nil), asked{method: "GET", path: openAPIPath})
	if twice := repeated(json.NewDecoder(strings.NewReader(w.Body.String())), ""); twice != "" {
		t.Errorf("%s stands twice", twice)
	}
	if repeated(json.NewDecoder(strings.NewReader(`{"a":{"b":[{"c":1,"c":2}]}}`)), "") != "/a/b/0/c" {
		t.Error("a name that stands twice is not found")
	}
	if !strings.Contains(w.Body.String(), `"servers":[{"`) {
		t.Error("no servers")
	}
}

// repeated is the place of a name that an object has twice; "" is none.
func repeated(d *json.Decoder, at string) string {
	open, err := d.Token()
	if err != nil {
		return ""
	}
	seen := map[string]bool{}
	for i := 0; (open == json.Delim('{') || open == json.Delim('[')) && d.More(); i++ {
		name := fmt.Sprint(i)
		if open == json.Delim('{') {
			key, _ := d.Token()
			name = fmt.Sprint(key)
		}
		if seen[name] {
			return at + "/" + name
		}
		seen[name] = true
		if below := repeated(d, at+"/"+name); below != "" {
			return below
		}
	}
	if open == json.Delim('{') || open == json.Delim('[') {
		_, _ = d.Token() // its end
	}
	return ""
}
