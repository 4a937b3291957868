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
)

// shape is a schema of the description, as a generator of clients reads it.
type shape struct {
	Ref        string `json:"$ref"`
	Type       string
	Items      *shape
	AnyOf      []shape
	Properties map[string]*shape
	Required   []string
	More       json.RawMessage `json:"additionalProperties"`
}

// language is how a client writes types.
type language struct {
	list, dict, any string
	words           map[string]string // of JSON types
	named           func(string) string
}

// of is the type of a schema. Where one of several may come, a client takes what any of them is.
func (l *language) of(s *shape) string {
	switch {
	case s.Ref != "":
		return l.named(s.Ref[len(definitionsAt):])
	case len(s.AnyOf) == 2 && s.AnyOf[1].Type == "null":
		return l.of(&s.AnyOf[0])
	case s.Items != nil:
		return fmt.Sprintf(l.list, l.of(s.Items))
	case s.Type == "object" && len(s.More) > 0 && s.More[0] == '{':
		var each shape
		_ = json.Unmarshal(s.More, &each) // it was part of a text that was read
		return fmt.Sprintf(l.dict, l.of(&each))
	case l.words[s.Type] != "":
		return l.words[s.Type]
	}
	return l.any
}

func upper(name string) string {
	var out strings.Builder
	for _, w := range strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("_.-", r) }) {
		out.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	return out.String()
}

func goClient(types map[string]*shape) string {
	l := &language{"[]%s", "map[string]%s", "any", map[string]string{"string": "string", "integer": "int64", "number": "float64", "boolean": "bool"}, func(s string) string { return "*" + upper(s) }}
	var b strings.Builder
	b.WriteString("package main\n\nimport (\n\t\"encoding/json\"\n\t\"fmt\"\n\t\"net/http\"\n\t\"os\"\n\t\"strings\"\n)\n\n")
	for _, name := range slices.Sorted(maps.Keys(types)) {
		fmt.Fprintf(&b, "type %s struct {\n", upper(name))
		for _, field := range slices.Sorted(maps.Keys(types[name].Properties)) {
			fmt.Fprintf(&b, "\t%s %s `json:\"%s,omitempty\"`\n", upper(field), l.of(types[name].Properties[field]), field)
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

func pythonClient(types map[string]*shape) string {
	l := &language{"list[%s]", "dict[str, %s]", "object", map[string]string{"string": "str", "integer": "int", "number": "float", "boolean": "bool"}, func(s string) string { return "'" + upper(s) + "'" }}
	var b strings.Builder
	b.WriteString("import json, sys, typing, urllib.request\n\n")
	for _, name := range slices.Sorted(maps.Keys(types)) {
		fmt.Fprintf(&b, "%s = typing.TypedDict('%[1]s', {\n", upper(name))
		for _, field := range slices.Sorted(maps.Keys(types[name].Properties)) {
			fmt.Fprintf(&b, "    %q: %s,\n", field, l.of(types[name].Properties[field]))
		}
		b.WriteString("}, total=False)\n")
	}
	b.WriteString(`
asked = urllib.request.Request(sys.argv[1] + "/v1/fit", json.dumps(Request(model="llama-3.1-8b", hardware="rtx-4090")).encode(), {"Content-Type": "application/json"})
answer: Answer = json.load(urllib.request.urlopen(asked))
for unknown in answer.keys() - typing.get_type_hints(Answer).keys():
    raise SystemExit("no field " + unknown)
print(answer["verdict"], answer["devices"][0]["needed_bytes"])
`)
	return b.String()
}

func typeScriptClient(types map[string]*shape) string {
	l := &language{"(%s)[]", "Record<string, %s>", "unknown", map[string]string{"string": "string", "integer": "number", "number": "number", "boolean": "boolean"}, upper}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(types)) {
		fmt.Fprintf(&b, "export interface %s {\n", upper(name))
		for _, field := range slices.Sorted(maps.Keys(types[name].Properties)) {
			optional := "?"
			if slices.Contains(types[name].Required, field) {
				optional = ""
			}
			fmt.Fprintf(&b, "  %q%s: %s;\n", field, optional, l.of(types[name].Properties[field]))
		}
		b.WriteString("}\n")
	}
	b.WriteString(`
export async function fit(at: string, request: Omit<Request, 'ask'>): Promise<Answer> {
  const r = await fetch(at + '/v1/fit', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(request)});
  if (!r.ok) throw (await r.json()) as Problem;
  return r.json();
}
export const needed = async (at: string): Promise<number | undefined> => (await fit(at, {model: 'llama-3.1-8b', hardware: 'rtx-4090'})).devices?.[0].needed_bytes;
`)
	return b.String()
}

// TestClients: from the description alone come clients with types that compile where their language is here, and that read a real
// answer; none lacks a field of it.
func TestClients(t *testing.T) {
	s := server(t, nil)
	var doc struct {
		Components struct{ Schemas map[string]*shape }
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
				t.Skipf("no %s here", c.run[0]) // another language's compiler is no part of what a contributor needs
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
