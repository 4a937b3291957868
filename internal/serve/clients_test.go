package serve

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/clients"
)

func goClient(types clients.Types) string {
	l := &clients.Language{List: "[]%s", Dict: "map[string]%s", Any: "any", Words: map[string]string{"string": "string", "integer": "int64", "number": "float64", "boolean": "bool"},
		Named: func(s string) string { return "*" + clients.Upper(s) }}
	var b strings.Builder
	b.WriteString("package main\n\nimport (\n\t\"encoding/json\"\n\t\"fmt\"\n\t\"net/http\"\n\t\"os\"\n\t\"strings\"\n)\n\n")
	for _, name := range slices.Sorted(maps.Keys(types)) {
		fmt.Fprintf(&b, "type %s struct {\n", clients.Upper(name))
		for _, field := range slices.Sorted(maps.Keys(types[name].Properties)) {
			fmt.Fprintf(&b, "\t%s %s `json:\"%s,omitempty\"`\n", clients.Upper(field), l.Of(types[name].Properties[field]), field)
		}
		b.WriteString("}\n")
	}
	b.WriteString(`
func main() {
	body, err := json.Marshal(Request{Model: "llama-3.1-8b", Hardware: "rtx-4090"})
	if err != nil {
		panic(err)
	}
	r, err := http.Post(os.Args[1]+"/v1/fit", "application/json", strings.NewReader(string(body)))
	if err != nil {
		panic(err)
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	var a Answer
	if err := d.Decode(&a); err != nil {
		panic(err)
	}
	fmt.Println(a.Verdict, a.Devices[0].NeededBytes)
}
`)
	return b.String()
}

// pythonClient is one for Python: the types of memwall's own package, and a request.
func pythonClient(types clients.Types) string {
	return types.Python() + `
import json, sys, urllib.request

asked = urllib.request.Request(sys.argv[1] + "/v1/fit", json.dumps(Fields(model="llama-3.1-8b", hardware="rtx-4090")).encode(), {"Content-Type": "application/json"})
answer: Answer = Answer.read(json.load(urllib.request.urlopen(asked)))
for unknown in answer.to_dict().keys() - Answer.__annotations__.keys():
    raise SystemExit("no field " + unknown)
print(answer.verdict, answer.devices[0].needed_bytes)
`
}

func typeScriptClient(types clients.Types) string {
	return types.TypeScript() + `
export async function fit(at: string, request: Omit<Request, 'ask'>): Promise<Answer> {
  const r = await fetch(at + '/v1/fit', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(request)});
  if (!r.ok) throw (await r.json()) as Problem;
  return r.json();
}
export const needed = async (at: string): Promise<number | undefined> => (await fit(at, {model: 'llama-3.1-8b', hardware: 'rtx-4090'})).devices?.[0].needed_bytes;
`
}

// TestClients: from the description alone come clients with types that compile where their language is here, and that read a real
// answer; none lacks a field of it.
func TestClients(t *testing.T) {
	s := server(t, nil)
	var doc struct {
		Components struct{ Schemas clients.Types }
	}
	if err := json.Unmarshal(do(s, asked{method: "GET", path: openAPIPath}).Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	types := doc.Components.Schemas
	live := httptest.NewServer(s.Handler())
	defer live.Close()
	a, err := memwall.Ask(&memwall.Request{Ask: "fit", Model: "llama-3.1-8b", Hardware: "rtx-4090"})
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintln(a.Verdict, int64(a.Devices[0].Needed))
	folder := t.TempDir()
	for _, c := range []struct {
		file, text string
		run        []string
		reads      bool
	}{
		{"main.go", goClient(types), []string{"go", "run", "main.go", live.URL}, true},
		{"client.py", pythonClient(types), []string{"python3", "client.py", live.URL}, true},
		{"client.ts", typeScriptClient(types), []string{"tsc", "--noEmit", "--strict", "--skipLibCheck", "--target", "es2022", "client.ts"}, false},
	} {
		t.Run(c.file, func(t *testing.T) {
			if err := os.WriteFile(filepath.Join(folder, c.file), []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := exec.LookPath(c.run[0]); err != nil {
				t.Skipf("no %s here", c.run[0]) // another language's compiler is not part of what a contributor needs
			}
			run := exec.Command(c.run[0], c.run[1:]...)
			run.Dir, run.Env = folder, append(os.Environ(), "GOFLAGS=", "GOWORK=off")
			said, err := run.CombinedOutput()
			if err != nil || c.reads && string(said) != want {
				t.Errorf("%v: %.2000s", err, said)
			}
		})
	}
}
