package serve

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/memwall/memwall/safe"
)

// TestHiddenLetters: letters that a terminal obeys, that turn the direction of writing or that nobody sees come back through no face
// as they were sent.
func TestHiddenLetters(t *testing.T) {
	const odd = "a\u009b31m\u202egpj\u2066\U000e0041\u200b"
	text, err := json.Marshal(odd)
	if err != nil {
		t.Fatal(err)
	}
	const log = "RuntimeError: CUDA out of memory. Tried to allocate 4.40 GiB "
	body := func(s string) string { return strings.ReplaceAll(s, "ODD", string(text[1:len(text)-1])) }
	s := server(t, nil)
	form := map[string]string{"Content-Type": "application/x-www-form-urlencoded"}
	told := 0
	for _, a := range []asked{
		{path: "/v1/fit", body: body(`{"model":"ODD"}`)}, {path: "/v1/fit", body: body(`{"model":"llama-3.1-8b","hardware":"ODD"}`)}, {path: "/v1/fit", body: body(`{"model":"llama-3.1-8b","ODD":1}`)},
		{path: "/v1/fit", body: body(`{"model":"llama-3.1-8b","hardware":"h100","engine":"vllm","engine_args":["--ODD"]}`)}, {path: "/v1/diagnose", body: body(`{"text":"` + log + `ODD"}`)},
		{path: "/v1/batch", body: body(`{"model":"ODD"}` + "\n" + `{"ODD":1}` + "\n")}, {path: "/v1/fit", body: body(`{"model":"ODD"}`), header: map[string]string{"Accept": eventsType}},
		{method: "GET", path: "/fit?m=" + url.QueryEscape(odd)}, {method: "GET", path: "/fit?m=llama-3.1-8b&on=" + url.QueryEscape(odd)}, {path: "/diagnose", body: "text=" + url.QueryEscape(log+odd), header: form},
		{method: "GET", path: "/v1/models?filter=" + url.QueryEscape(odd)}, {method: "GET", path: "/" + url.PathEscape(odd)},
	} {
		w := do(s, a)
		if strings.Contains(w.Body.String(), "31m") {
			told++
		}
		for _, r := range w.Body.String() {
			if !safe.Rune(r) && r != '\n' && r != '\t' && r != '\r' {
				t.Errorf("%s %s gives %U in %.300q", a.path, a.body, r, w.Body)
				break
			}
		}
	}
	if told < 8 {
		t.Errorf("only %d answers hold what was sent", told)
	}
}
