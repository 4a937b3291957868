package serve

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/memwall/memwall"
)

// TestOpenAPI: the description is of version 3.1, every path in it is answered, and every reference leads somewhere.
func TestOpenAPI(t *testing.T) {
	s := server(t, func(o *Options) { o.Token = "correct horse battery" })
	w := do(s, asked{method: "GET", path: openAPIPath, header: map[string]string{"Authorization": "Bearer correct horse battery"}})
	var doc struct {
		OpenAPI    string                                       `json:"openapi"`
		Paths      map[string]map[string]json.RawMessage        `json:"paths"`
		Components struct{ Schemas map[string]json.RawMessage } `json:"components"`
		Security   []map[string][]string                        `json:"security"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(doc.OpenAPI, "3.1") || len(doc.Security) != 1 {
		t.Errorf("version %s, security %v", doc.OpenAPI, doc.Security)
	}
	for path, methods := range doc.Paths {
		for method := range methods {
			a := asked{method: strings.ToUpper(method), path: strings.Replace(path, "{name}", "nothing", 1), body: "{", header: map[string]string{"Authorization": "Bearer correct horse battery", "Content-Type": s.routes.takes(path)}}
			if got := do(s, a); got.Code == http.StatusMethodNotAllowed || got.Code == http.StatusNotFound && !strings.Contains(path, "{") || got.Code >= 500 {
				t.Errorf("%s %s: status %d: %.200s", a.method, path, got.Code, got.Body)
			}
		}
	}
	for _, ask := range memwall.FieldByName("ask").Enum {
		if doc.Paths["/v1/"+ask]["post"] == nil {
			t.Errorf("no path of %s", ask)
		}
	}
	n := 0
	for _, part := range strings.Split(w.Body.String(), `"$ref":"`)[1:] {
		ref, _, _ := strings.Cut(part, `"`)
		name, ok := strings.CutPrefix(ref, definitionsAt)
		if !ok || doc.Components.Schemas[name] == nil {
			t.Errorf("%s leads nowhere", ref)
		}
		n++
	}
	if n < 100 {
		t.Errorf("only %d references", n)
	}
}
