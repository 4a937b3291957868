package serve

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/memwall/memwall/internal/page"
)

// TestRowsByParts: going from page to page by what each says of the next gives every row of a list once, under a name whose card there is.
func TestRowsByParts(t *testing.T) {
	s := server(t, nil)
	for _, path := range []string{"/v1/models", "/v1/hardware", "/v1/formats", "/v1/models?q=qwen3", "/v1/formats?q=nothing+of+that+name"} {
		seen, total := map[string]bool{}, -1
		for next := path; next != ""; {
			w := do(s, asked{method: "GET", path: next})
			var l List
			if err := json.Unmarshal(w.Body.Bytes(), &l); err != nil || w.Code != http.StatusOK || l.Items == nil {
				t.Fatalf("%s: status %d, %v: %.200s", next, w.Code, err, w.Body)
			}
			for _, row := range l.Items {
				if seen[row.Kind+" "+row.Name] {
					t.Errorf("%s: %s %s is twice on it", path, row.Kind, row.Name)
				}
				seen[row.Kind+" "+row.Name] = true
			}
			total, next = l.Total, linkOf(w.Header().Get("Link"))
			if (next == "") != (l.Next == nil) {
				t.Errorf("%s: the header's next is %q, the body's %v", path, next, l.Next)
			}
		}
		if len(seen) != total {
			t.Errorf("%s: %d rows of %d", path, len(seen), total)
		}
	}
	for _, path := range []string{"/v1/models?limit=0", "/v1/models?limit=1001", "/v1/hardware?offset=-1", "/v1/formats?limit=1e3", "/v1/models?limit=1&limit=2", "/v1/models?offset=99999999999999999999"} {
		if w := do(s, asked{method: "GET", path: path}); w.Code != http.StatusBadRequest && w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), `"fix"`) {
			t.Errorf("%s: status %d: %s", path, w.Code, w.Body)
		}
	}
}

// linkOf is where a Link header leads.
func linkOf(header string) string {
	to, _, _ := strings.Cut(strings.TrimPrefix(header, "<"), ">")
	return to
}

// TestReference: the page for people has every path and type of the description, and loads nothing from elsewhere.
func TestReference(t *testing.T) {
	s := server(t, nil)
	shown := do(s, asked{method: "GET", path: page.ReferencePath}).Body.String()
	var doc struct {
		Paths      map[string]map[string]any
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(do(s, asked{method: "GET", path: openAPIPath}).Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	for path, methods := range doc.Paths {
		for method := range methods {
			if !strings.Contains(shown, strings.ToUpper(method)+" "+path+"<") {
				t.Errorf("no %s %s", method, path)
			}
		}
	}
	for name := range doc.Components.Schemas {
		if !strings.Contains(shown, `id="type-`+name+`"`) {
			t.Errorf("no type %s", name)
		}
	}
	for _, link := range strings.Split(shown, `href="#type-`)[1:] {
		if to, _, _ := strings.Cut(link, `"`); !strings.Contains(shown, `id="type-`+to+`"`) {
			t.Errorf("a link to the type %s, which is not there", to)
		}
	}
	if strings.Contains(shown, `="http`) || strings.Contains(shown, `="//`) {
		t.Error("it names another host")
	}
}
