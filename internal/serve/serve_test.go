package serve

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/desk"
	"github.com/memwall/memwall/source"
)

// server for tests: one who answers from the catalog, changed by the test.
func server(t testing.TB, change func(*Options)) *Server {
	t.Helper()
	o := Options{Models: memwall.Catalog{}, Fixed: true, Desk: desk.New(desk.Options{})}
	if change != nil {
		change(&o)
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// asked is a request on its way.
type asked struct {
	method, path, body string
	header             map[string]string
	from               string // this machine where nothing is said
}

const fitBody = `{"model":"llama-3.1-8b","hardware":"rtx-4090"}`

// do asks a server without a network.
func do(s *Server, a asked) *httptest.ResponseRecorder {
	if a.method == "" {
		a.method = http.MethodPost
	}
	r := httptest.NewRequest(a.method, "http://localhost"+a.path, strings.NewReader(a.body))
	if a.method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	r.RemoteAddr = cmp.Or(a.from, "127.0.0.1:1")
	for k, v := range a.header {
		if k == "Host" {
			r.Host = v
		} else {
			r.Header.Set(k, v)
		}
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

// problemIn reads a problem and checks that it is one.
func problemIn(t testing.TB, w *httptest.ResponseRecorder) *Problem {
	t.Helper()
	var p Problem
	if kind := w.Header().Get("Content-Type"); kind != problemType {
		t.Fatalf("status %d, type %q: %.200s", w.Code, kind, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatal(err)
	}
	if p.Status != w.Code || p.Detail == "" || p.Title == "" || p.Type != "urn:memwall:"+p.Code || p.Fix == "" {
		t.Errorf("status %d, and the problem is %+v", w.Code, p)
	}
	return &p
}

// TestAnswersAreTheContracts: what HTTP gives is what the library gives.
func TestAnswersAreTheContracts(t *testing.T) {
	s := server(t, nil)
	for _, body := range []string{
		`{"ask":"fit","model":"llama-3.1-70b","hardware":"2xh100"}`,
		`{"ask":"fit","model":"qwen3-32b","weights":"q4_k_m","hardware":"rtx-4090","context":32768}`,
		`{"ask":"plan","model":"qwen3-32b","weights":"q4_k_m","hardware":"rtx-4090","context":32768}`,
		`{"ask":"pick","hardware":"rtx-3060"}`,
		`{"ask":"train","model":"llama-3.1-8b","method":"qlora","hardware":"rtx-4090"}`,
		`{"ask":"sim","model":"llama-3.1-8b","hardware":"h100","workload":{"rate":4,"requests":200}}`,
		`{"ask":"diff","model":"llama-3.1-8b","hardware":"rtx-4090","change":{"weights":"fp8"}}`,
		`{"ask":"diagnose","text":"CUDA out of memory. Tried to allocate 3.91 GiB."}`,
	} {
		r, err := memwall.Decode([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		want, err := memwall.Ask(r)
		if err != nil {
			t.Fatal(err)
		}
		b, err := newJSON(want)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time it is remembered
			w := do(s, asked{path: "/v1/" + r.Ask, body: body})
			if w.Code != http.StatusOK || !bytes.Equal(w.Body.Bytes(), b.text) {
				t.Errorf("%s: status %d, and another answer:\n%.300s\nwant\n%.300s", body, w.Code, w.Body, b.text)
			}
		}
	}
	if n := s.metrics.hits.Load(); n != 8 {
		t.Errorf("%d of 8 answers were remembered", n)
	}
}

// TestAskMayBeLeftOut: the path says which question it is, and a body that says another is wrong.
func TestAskMayBeLeftOut(t *testing.T) {
	s := server(t, nil)
	if w := do(s, asked{path: "/v1/fit", body: fitBody}); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"ask":"fit"`) {
		t.Errorf("status %d: %.200s", w.Code, w.Body)
	}
	if p := problemIn(t, do(s, asked{path: "/v1/plan", body: `{"ask":"fit","model":"llama-3.1-8b"}`})); p.Field != "ask" || p.Status != http.StatusBadRequest {
		t.Errorf("%+v", p)
	}
}

// TestBadBodies: whatever is wrong with a request, the problem names the field and says what to do.
func TestBadBodies(t *testing.T) {
	s := server(t, nil)
	deep := strings.Repeat("[", 100_000)
	for name, c := range map[string]struct {
		path, body, field, code string
		status                  int
	}{
		"empty":                {"/v1/fit", "", "body", memwall.BadField, 400},
		"not JSON":             {"/v1/fit", "model: llama", "body", memwall.BadField, 400},
		"cut off":              {"/v1/fit", `{"model":"llama-3.1-8b"`, "body", memwall.BadField, 400},
		"a list":               {"/v1/fit", `[` + fitBody + `]`, "body", memwall.BadField, 400},
		"two objects":          {"/v1/fit", fitBody + fitBody, "body", memwall.BadField, 400},
		"malformed value":      {"/v1/fit", `{"model":"llama-3.1-8b","tp":tru}`, "tp", memwall.BadField, 400},
		"unknown field":        {"/v1/fit", `{"modell":"llama-3.1-8b"}`, "modell", memwall.BadField, 400},
		"a field twice":        {"/v1/fit", `{"model":"a","model":"b"}`, "model", memwall.BadField, 400},
		"wrong type":           {"/v1/fit", `{"model":"llama-3.1-8b","context":{}}`, "context", memwall.BadField, 400},
		"a text for a number":  {"/v1/fit", `{"model":"llama-3.1-8b","devices":"two"}`, "devices", memwall.BadField, 400},
		"unknown word":         {"/v1/fit", `{"model":"llama-3.1-8b","attention":"fast"}`, "attention", memwall.BadField, 400},
		"not UTF-8":            {"/v1/fit", "{\"model\":\"llama\xff\"}", "model", memwall.BadField, 400},
		"unknown model":        {"/v1/fit", `{"model":"lama-3.1-8b"}`, "model", memwall.UnknownModel, 422},
		"unknown hardware":     {"/v1/fit", `{"model":"llama-3.1-8b","hardware":"h1000"}`, "hardware", memwall.UnknownHardware, 422},
		"unknown engine":       {"/v1/fit", `{"model":"llama-3.1-8b","engine":"vlm"}`, "engine", memwall.BadField, 400},
		"no model":             {"/v1/fit", `{}`, "model", memwall.BadField, 400},
		"a path":               {"/v1/fit", `{"model":"/etc/passwd"}`, "model", memwall.UnknownModel, 422},
		"a path upwards":       {"/v1/fit", `{"model":"../../etc/passwd"}`, "model", memwall.UnknownModel, 422},
		"an address":           {"/v1/fit", `{"model":"https://169.254.169.254/config.json"}`, "model", memwall.UnknownModel, 422},
		"a hub name":           {"/v1/fit", `{"model":"hf:nobody/nothing"}`, "model", memwall.UnknownModel, 422},
		"a draft by path":      {"/v1/fit", `{"model":"llama-3.1-8b","hardware":"h100","draft_model":"/etc/passwd","draft_tokens":4}`, "draft_model", memwall.UnknownModel, 422},
		"a teacher by path":    {"/v1/train", `{"model":"llama-3.1-8b","hardware":"h100","objective":"distill","teacher_model":"/etc/passwd"}`, "teacher_model", memwall.UnknownModel, 422},
		"a file of lengths":    {"/v1/train", `{"model":"llama-3.1-8b","hardware":"h100","data":"/etc/passwd"}`, "data", memwall.Unsupported, 422},
		"a trace":              {"/v1/sim", `{"model":"llama-3.1-8b","hardware":"h100","workload":{"arrivals":"trace","trace":"/etc/passwd"}}`, "workload.trace", memwall.Unsupported, 422},
		"standard input":       {"/v1/sim", `{"model":"llama-3.1-8b","hardware":"h100","workload":{"arrivals":"trace","trace":"-"}}`, "workload.trace", memwall.Unsupported, 422},
		"deep":                 {"/v1/fit", deep, "body", memwall.Limit, 400},
		"deep in a field":      {"/v1/fit", `{"override":` + deep + `}`, "body", memwall.Limit, 400},
		"deep objects":         {"/v1/fit", strings.Repeat(`{"also":[`, 50_000), "body", memwall.Limit, 400},
		"a long word":          {"/v1/fit", `{"model":"` + strings.Repeat("x", 5000) + `"}`, "model", memwall.Limit, 400},
		"huge":                 {"/v1/fit", `{"model":"` + strings.Repeat("x", 2<<20) + `"}`, "body", memwall.Limit, 413},
		"too many devices":     {"/v1/fit", `{"model":"llama-3.1-8b","hardware":"h100","devices":1e18}`, "devices", memwall.BadField, 400},
		"a negative context":   {"/v1/fit", `{"model":"llama-3.1-8b","context":-1}`, "context", memwall.BadField, 400},
		"a field of another":   {"/v1/fit", `{"model":"llama-3.1-8b","workload":{}}`, "workload", memwall.BadField, 400},
		"within a workload":    {"/v1/sim", `{"model":"llama-3.1-8b","hardware":"h100","workload":{"rat":4}}`, "workload", memwall.BadField, 400},
		"a null for an object": {"/v1/fit", `null`, "body", memwall.BadField, 400},
	} {
		p := problemIn(t, do(s, asked{path: c.path, body: c.body}))
		if p.Field != c.field || p.Code != c.code || p.Status != c.status {
			t.Errorf("%s: status %d, code %s, field %q, want %d, %s, %q: %s", name, p.Status, p.Code, p.Field, c.status, c.code, c.field, p.Detail)
		}
	}
}

// TestPathsOfLogs: a log that is diagnosed or compared names files, and none is opened.
func TestPathsOfLogs(t *testing.T) {
	opened := &watched{}
	s := server(t, func(o *Options) { o.Desk = desk.New(desk.Options{Asker: memwall.Asker{Models: opened}}) })
	log := "vllm serve /etc/passwd --tensor-parallel-size 2\nllama_model_loader: loaded meta data from /etc/shadow\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.91 GiB.\n"
	text, err := json.Marshal(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, ask := range []string{"diagnose", "compare"} {
		do(s, asked{path: "/v1/" + ask, body: `{"text":` + string(text) + `}`})
	}
	for _, ref := range opened.refs {
		if _, err := (memwall.Catalog{}).Model(ref); err == nil {
			t.Errorf("%s is of the catalog", ref)
		}
	}
}

// watched remembers what is asked of it, and has the catalog.
type watched struct{ refs []string }

func (w *watched) Model(ref string) (*memwall.Resolved, error) {
	w.refs = append(w.refs, ref)
	return memwall.Catalog{}.Model(ref)
}

// TestRefusedIsMissing: what lies outside of a root gives the same error as what is nowhere, but for the name asked for.
func TestRefusedIsMissing(t *testing.T) {
	root := t.TempDir()
	models := source.New(source.Options{Root: root})
	s := server(t, func(o *Options) {
		o.Models, o.Fixed, o.Desk = models, false, desk.New(desk.Options{Asker: memwall.Asker{Models: models}})
	})
	said := func(name string) string {
		w := do(s, asked{path: "/v1/fit", body: `{"model":"` + name + `"}`})
		p := problemIn(t, w)
		if p.Status != 422 || strings.Contains(w.Body.String(), root) {
			t.Errorf("%s: status %d: %s", name, p.Status, w.Body)
		}
		text := strings.ReplaceAll(w.Body.String(), name, "NAME")
		base := name[strings.LastIndex(name, "/")+1:]
		return strings.ReplaceAll(text, base, "NAME")
	}
	want := said("./nothing.json")
	for _, name := range []string{"/etc/passwd.json", "../../../../etc/hosts.json", "/proc/self/environ.json"} {
		if got := said(name); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
	if there, absent := said("/etc/passwd"), said("/etc/passwt"); there != absent {
		t.Errorf("a file that is there:\n%s\none that is not:\n%s", there, absent)
	}
}

// TestGuards: who may not ask is told so, and nothing else.
func TestGuards(t *testing.T) {
	const token = "correct horse battery"
	open, guarded := server(t, nil), server(t, func(o *Options) { o.Token = token })
	for name, c := range map[string]struct {
		s      *Server
		method string
		path   string
		header map[string]string
		status int
		field  string
	}{
		"this machine":        {open, "", "/v1/fit", nil, 200, ""},
		"by number":           {open, "", "/v1/fit", map[string]string{"Host": "127.0.0.1:8421"}, 200, ""},
		"by the other number": {open, "", "/v1/fit", map[string]string{"Host": "[::1]:8421"}, 200, ""},
		"rebinding":           {open, "", "/v1/fit", map[string]string{"Host": "evil.example:8421"}, 421, "Host"},
		"rebinding a page":    {open, "GET", "/", map[string]string{"Host": "evil.example"}, 421, "Host"},
		"a suffix":            {open, "", "/v1/fit", map[string]string{"Host": "localhost.evil.example"}, 421, "Host"},
		"another site":        {open, "", "/v1/fit", map[string]string{"Origin": "https://evil.example"}, 403, "Origin"},
		"a file's page":       {open, "", "/v1/fit", map[string]string{"Origin": "null"}, 403, "Origin"},
		"another port":        {open, "", "/v1/fit", map[string]string{"Origin": "http://localhost:3000"}, 403, "Origin"},
		"its own page":        {open, "", "/v1/fit", map[string]string{"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}, 200, ""},
		"cross-site":          {open, "", "/v1/fit", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403, "Sec-Fetch-Site"},
		"cross-site list":     {open, "GET", "/v1/models", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 403, "Sec-Fetch-Site"},
		"a link followed":     {open, "GET", "/", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 200, ""},
		"dots":                {open, "GET", "/v1/models/../../etc/passwd", nil, 404, "path"},
		"slashes":             {open, "GET", "//evil.example/", nil, 404, "path"},
		"encoded dots":        {open, "GET", "/v1/models/%2e%2e%2fetc%2fpasswd", nil, 404, "model"},
		"a broken query":      {open, "GET", "/v1/models?q=%zz", nil, 400, "q"},
		"an unknown query":    {open, "GET", "/v1/models?filter=x", nil, 400, "filter"},
		"packed":              {open, "", "/v1/fit", map[string]string{"Content-Encoding": "gzip"}, 415, "Content-Encoding"},
		"nothing to post":     {open, "", "/health", nil, 405, "method"},
		"a form":              {open, "", "/v1/fit", map[string]string{"Content-Type": "text/plain"}, 415, "Content-Type"},
		"an encoded form":     {open, "", "/v1/fit", map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, 415, "Content-Type"},
		"no type":             {open, "", "/v1/fit", map[string]string{"Content-Type": ""}, 415, "Content-Type"},
		"another charset":     {open, "", "/v1/fit", map[string]string{"Content-Type": "application/json; charset=utf-16"}, 415, "Content-Type"},
		"the charset":         {open, "", "/v1/fit", map[string]string{"Content-Type": "application/json; charset=UTF-8"}, 200, ""},
		"no token":            {guarded, "", "/v1/fit", nil, 401, "Authorization"},
		"no token, a list":    {guarded, "GET", "/v1/models", nil, 401, "Authorization"},
		"no token, metrics":   {guarded, "GET", "/metrics", nil, 401, "Authorization"},
		"no token, nothing":   {guarded, "GET", "/v1/nothing", nil, 401, "Authorization"},
		"health":              {guarded, "GET", "/health", nil, 200, ""},
		"a wrong token":       {guarded, "", "/v1/fit", map[string]string{"Authorization": "Bearer correct horse batterz"}, 401, "Authorization"},
		"half a token":        {guarded, "", "/v1/fit", map[string]string{"Authorization": "Bearer correct horse"}, 401, "Authorization"},
		"another scheme":      {guarded, "", "/v1/fit", map[string]string{"Authorization": "Basic " + token}, 401, "Authorization"},
		"the token":           {guarded, "", "/v1/fit", map[string]string{"Authorization": "Bearer " + token, "Host": "memory.example"}, 200, ""},
		"another method":      {open, "GET", "/v1/fit", nil, 405, "method"},
		"a preflight":         {open, "OPTIONS", "/v1/fit", nil, 405, "method"},
		"nothing":             {open, "GET", "/v1/nothing", nil, 404, "path"},
		"upwards":             {open, "GET", "/v1/models/..%2f..%2fetc%2fpasswd", nil, 404, "model"},
	} {
		w := do(c.s, asked{method: c.method, path: c.path, body: fitBody, header: c.header})
		if w.Code != c.status {
			t.Errorf("%s: status %d, want %d: %.200s", name, w.Code, c.status, w.Body)
			continue
		}
		if strings.Contains(w.Body.String(), "horse") || w.Header().Get("Access-Control-Allow-Origin") != "" || w.Header().Get("Content-Security-Policy") == "" {
			t.Errorf("%s: %v %.300s", name, w.Header(), w.Body)
		}
		if c.field != "" {
			if p := problemIn(t, w); p.Field != c.field {
				t.Errorf("%s: field %q, want %q", name, p.Field, c.field)
			}
		}
	}
}

// TestTags: the same question has the same tag, another one another, and who has an answer is not sent it again.
func TestTags(t *testing.T) {
	s := server(t, nil)
	first, again := do(s, asked{path: "/v1/fit", body: fitBody}), do(server(t, nil), asked{path: "/v1/fit", body: fitBody})
	other := do(s, asked{path: "/v1/fit", body: `{"model":"llama-3.1-8b","hardware":"rtx-3090"}`})
	tag := first.Header().Get("ETag")
	if tag == "" || tag != again.Header().Get("ETag") || tag == other.Header().Get("ETag") || strings.HasPrefix(tag, "W/") {
		t.Errorf("tags %s, %s, %s", tag, again.Header().Get("ETag"), other.Header().Get("ETag"))
	}
	if w := do(s, asked{path: "/v1/fit", body: fitBody, header: map[string]string{"If-None-Match": tag}}); w.Code != http.StatusPreconditionFailed || w.Body.Len() != 0 {
		t.Errorf("status %d", w.Code)
	}
	list := do(s, asked{method: "GET", path: "/v1/models"})
	if w := do(s, asked{method: "GET", path: "/v1/models", header: map[string]string{"If-None-Match": `"x", ` + list.Header().Get("ETag")}}); w.Code != http.StatusNotModified || w.Body.Len() != 0 {
		t.Errorf("status %d, %d bytes", w.Code, w.Body.Len())
	}
}

// TestGzip: who takes it gets the same answer compressed, with a tag of its own.
func TestGzip(t *testing.T) {
	s := server(t, nil)
	plain := do(s, asked{path: "/v1/fit", body: fitBody, header: map[string]string{"Accept-Encoding": "gzip;q=0"}})
	packed := do(s, asked{path: "/v1/fit", body: fitBody, header: map[string]string{"Accept-Encoding": "br, gzip"}})
	if plain.Header().Get("Content-Encoding") != "" || packed.Header().Get("Content-Encoding") != "gzip" || packed.Header().Get("Vary") != "Accept-Encoding" || plain.Header().Get("ETag") == packed.Header().Get("ETag") {
		t.Fatalf("%v\n%v", plain.Header(), packed.Header())
	}
	z, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(z); err != nil || !bytes.Equal(text, plain.Body.Bytes()) {
		t.Errorf("another answer: %v", err)
	}
}

// TestPages: people's pages come through the guards, say what is wrong, and take what is pasted from themselves alone.
func TestPages(t *testing.T) {
	const secret = "correct-horse-battery"
	open, closed := server(t, nil), server(t, func(o *Options) { o.Token = secret })
	if w := do(open, asked{method: "GET", path: "/fit?m=nosuch"}); w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "nosuch") {
		t.Errorf("an unknown model: %d", w.Code)
	}
	if w := do(open, asked{method: "GET", path: "/fit?m=/etc/passwd"}); w.Code != http.StatusUnprocessableEntity {
		t.Errorf("a file: %d", w.Code)
	}
	const log = "text=torch.OutOfMemoryError%3A+CUDA+out+of+memory.+Tried+to+allocate+4.40+GiB."
	form := map[string]string{"Content-Type": "application/x-www-form-urlencoded"}
	if w := do(open, asked{method: "POST", path: "/diagnose", body: log, header: form}); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "4.40 GiB") {
		t.Errorf("what was pasted: %d", w.Code)
	}
	form["Origin"] = "https://elsewhere.example"
	if w := do(open, asked{method: "POST", path: "/diagnose", body: log, header: form}); w.Code != http.StatusForbidden {
		t.Errorf("pasted by another site: %d", w.Code)
	}
	if w := do(closed, asked{method: "GET", path: "/"}); w.Code != http.StatusUnauthorized {
		t.Errorf("without the token: %d", w.Code)
	}
	w := do(closed, asked{method: "GET", path: "/fit?m=llama-3.1-8b&token=" + secret})
	cookie := w.Header().Get("Set-Cookie")
	if w.Code != http.StatusSeeOther || strings.Contains(w.Header().Get("Location"), secret) || !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Strict") {
		t.Fatalf("a link with the token: %d %v", w.Code, w.Header())
	}
	kept, _, _ := strings.Cut(cookie, ";")
	if w := do(closed, asked{method: "GET", path: "/fit?m=llama-3.1-8b", header: map[string]string{"Cookie": kept}}); w.Code != http.StatusOK {
		t.Errorf("with the cookie: %d", w.Code)
	}
	if w := do(closed, asked{method: "GET", path: "/fit?m=llama-3.1-8b&token=wrong"}); w.Code != http.StatusUnauthorized {
		t.Errorf("with a wrong token: %d", w.Code)
	}
}

// TestLists: what is listed has a card, and what is not there is a 404 that says what may have been meant.
func TestLists(t *testing.T) {
	s := server(t, nil)
	for path, want := range map[string]string{
		"/v1/models": `"kind":"model"`, "/v1/models?q=qwen3": `"qwen3-32b"`, "/v1/models/llama-3.1-8b": `"kv_bytes_per_token":131072`, "/v1/models/meta-llama/Llama-3.1-8B-Instruct": `"id":"llama-3.1-8b"`,
		"/v1/hardware": `"rtx-4090"`, "/v1/hardware/p5.48xlarge": `p5.48xlarge`, "/v1/hardware/rtx-4090": `"GeForce RTX 4090"`, "/v1/formats": `"bf16"`, "/v1/formats/q4_k_m": "q4_k_m",
		"/v1/schema": `"$defs"`, "/v1/schema/request": `"ask"`, "/health": `"ok"`, "/": "<!doctype html>", "/fit?m=llama-3.1-8b&on=rtx-4090": "Yes.", "/page.css": "svg.mw", "/page.js": "use strict", "/diagnose": "<textarea",
	} {
		if w := do(s, asked{method: "GET", path: path}); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: status %d: %.200s", path, w.Code, w.Body)
		}
	}
	if w := do(s, asked{method: "GET", path: "/metrics"}); !strings.Contains(w.Body.String(), "memwall_request_seconds_count") {
		t.Errorf("after other requests: %.200s", w.Body) // nothing is counted before the first
	}
	for path, field := range map[string]string{"/v1/models/lama-3.1-8b": "model", "/v1/hardware/h1000": "hardware", "/v1/formats/q4_k_n": "format", "/v1/schema/x": "name", "/v1/models/" + strings.Repeat("x", 300): "name"} {
		w := do(s, asked{method: "GET", path: path})
		if p := problemIn(t, w); p.Field != field || p.Status/100 != 4 {
			t.Errorf("%s: status %d, field %s", path, p.Status, p.Field)
		}
	}
}

// TestBatch: a bad line gets an answer with an error, and the rest go on.
func TestBatch(t *testing.T) {
	s := server(t, nil)
	body := `{"ask":"fit","model":"llama-3.1-8b"}` + "\nnonsense\n" + `{"ask":"fit","model":"lama"}` + "\n" + `{"ask":"pick","hardware":"rtx-3060"}`
	w := do(s, asked{path: "/v1/batch", body: body, header: map[string]string{"Content-Type": linesType}})
	lines := strings.Split(strings.TrimSpace(w.Body.String()), "\n")
	if w.Code != 200 || len(lines) != 4 {
		t.Fatalf("status %d, %d lines: %.300s", w.Code, len(lines), w.Body)
	}
	for i, want := range []string{"", memwall.BadField, memwall.UnknownModel, ""} {
		var a memwall.Answer
		if err := json.Unmarshal([]byte(lines[i]), &a); err != nil {
			t.Fatal(err)
		}
		if got := a.Error; (got == nil) != (want == "") || got != nil && got.Code != want {
			t.Errorf("line %d: %.200s", i+1, lines[i])
		}
	}
	events := do(s, asked{path: "/v1/batch", body: body, header: map[string]string{"Content-Type": linesType, "Accept": eventsType}}).Body.String()
	if n := strings.Count(events, "event: answer\n"); n != 4 || !strings.HasSuffix(events, "event: end\ndata: {}\n\n") {
		t.Errorf("%d answers: %.300s", n, events)
	}
}

// TestFaults: a fault of the program is told to who runs it, and who asked learns nothing of its inside.
func TestFaults(t *testing.T) {
	var told bytes.Buffer
	s := server(t, func(o *Options) {
		o.Desk = desk.New(desk.Options{Asker: memwall.Asker{Models: faulty{}}, Faults: &told})
	})
	w := do(s, asked{path: "/v1/fit", body: fitBody})
	if p := problemIn(t, w); p.Status != 500 || strings.Contains(w.Body.String(), "secret") || strings.Contains(w.Body.String(), "goroutine") {
		t.Errorf("%s", w.Body)
	}
	if !strings.Contains(told.String(), "secret") {
		t.Errorf("told %q", told.String())
	}
}

type faulty struct{}

func (faulty) Model(string) (*memwall.Resolved, error) { panic("a secret fault") }

// TestStreams: a stream tells how far a simulation is, and ends with its answer; what cannot be read is a problem.
func TestStreams(t *testing.T) {
	s := server(t, nil)
	body := `{"model":"llama-3.1-8b","hardware":"h100","workload":{"rate":4,"requests":200000,"prompt":{"mean":1000},"output":{"mean":200}}}`
	text := do(s, asked{path: "/v1/sim", body: body, header: map[string]string{"Accept": eventsType}}).Body.String()
	if !strings.HasPrefix(text, "event: progress\ndata: {\"elapsed_s\":") || !strings.Contains(text, "\"requests\":") || !strings.Contains(text, "event: answer\ndata: {\"schema\"") {
		t.Errorf("%.300s", text)
	}
	if p := problemIn(t, do(s, asked{path: "/v1/sim", body: `{`, header: map[string]string{"Accept": eventsType}})); p.Field != "body" {
		t.Errorf("%+v", p)
	}
	late := do(s, asked{path: "/v1/sim", body: `{"model":"lama","workload":{}}`, header: map[string]string{"Accept": eventsType}}).Body.String()
	if !strings.HasPrefix(late, "event: problem\ndata: {\"type\":\"urn:memwall:") {
		t.Errorf("%.300s", late)
	}
	tells(t, s)
}

// tells: a search says in which phase it is, what is done of how much, and what is the best so far; a batch, which line.
func tells(t *testing.T, s *Server) {
	t.Helper()
	s.beat = time.Millisecond
	const goal = `{"ask":"plan","model":"qwen3-8b","hardware":"l40s,rtx-4090","workload":{"rate":4,"requests":2000},"goal":{"ttft_ms":{"p99":2000}}}`
	for path, want := range map[string][]string{
		"/v1/plan":  {`"phase":"estimate","done":`, `"phase":"play","done":`, `"evaluated":{"decided":`, `"best":"`, "event: answer\n"},
		"/v1/batch": {`"line":1,"phase":"estimate"`, `"line":2,"phase":"play"`, "event: end\n"},
	} {
		body := goal
		if path == "/v1/batch" {
			body += "\n" + goal
		}
		text := do(s, asked{path: path, body: body, header: map[string]string{"Accept": eventsType, "Content-Type": s.routes.takes(path)}}).Body.String()
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s does not tell %s: %.600s", path, w, text)
			}
		}
	}
}

// TestBusy: where there is no room, a problem says when to come again.
func TestBusy(t *testing.T) {
	p := problemOf(&desk.Busy{After: 1500 * time.Millisecond, What: "full"})
	if p.Status != 429 || p.after != 2 {
		t.Errorf("%+v", p)
	}
	if p := problemOf(errors.New("/root/secret")); p.Status != 500 || strings.Contains(p.Detail, "secret") {
		t.Errorf("%+v", p)
	}
}

// TestAgents: what the protocol's handler refuses in plain words is a problem, and what it answers is passed on.
func TestAgents(t *testing.T) {
	plain := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Header.Get("Accept") {
		case jsonType:
			w.Header().Set("Content-Type", jsonType)
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0"}`)
		case "fault":
			http.Error(w, "a secret", http.StatusInternalServerError)
		default:
			http.Error(w, "Accept must contain both", http.StatusBadRequest)
		}
	})
	s := server(t, func(o *Options) { o.Agents = plain })
	for accept, want := range map[string]struct {
		status int
		field  string
	}{"": {400, "Accept"}, "fault": {500, ""}, jsonType: {200, ""}} {
		w := do(s, asked{path: agentsPath, body: "{}", header: map[string]string{"Accept": accept}})
		if w.Code != want.status || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s: status %d: %s", accept, w.Code, w.Body)
		}
		if want.status != 200 {
			if p := problemIn(t, w); p.Field != want.field {
				t.Errorf("%s: field %s", accept, p.Field)
			}
		}
	}
}
