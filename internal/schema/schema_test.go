package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/memwall/memwall"
)

// validator checks a value against the part of JSON Schema that this package writes.
type validator struct{ defs map[string]any }

func (v *validator) check(at string, schema any, value any) error {
	s := schema.(map[string]any)
	if ref, ok := s["$ref"].(string); ok {
		if err := v.check(at, v.defs[strings.TrimPrefix(ref, "#/$defs/")], value); err != nil {
			return err
		}
	}
	if any, ok := s["anyOf"].([]any); ok {
		var err error
		for _, one := range any {
			if err = v.check(at, one, value); err == nil {
				return nil
			}
		}
		return err
	}
	if t, ok := s["type"].(string); ok && !isType(t, value) {
		return fmt.Errorf("%s: %v is not a %s", at, value, t)
	}
	if words, ok := s["enum"].([]any); ok && !slices.Contains(words, value) {
		return fmt.Errorf("%s: %v is none of %v", at, value, words)
	}
	if p, ok := s["pattern"].(string); ok && !regexp.MustCompile(p).MatchString(value.(string)) {
		return fmt.Errorf("%s: %q does not match %s", at, value, p)
	}
	return v.members(at, s, value)
}

func (v *validator) members(at string, s map[string]any, value any) error {
	switch x := value.(type) {
	case []any:
		for i, e := range x {
			if items, ok := s["items"]; ok {
				if err := v.check(fmt.Sprintf("%s/%d", at, i), items, e); err != nil {
					return err
				}
			}
		}
	case map[string]any:
		for _, name := range list(s["required"]) {
			if _, ok := x[name.(string)]; !ok {
				return fmt.Errorf("%s: %s is missing", at, name)
			}
		}
		properties, _ := s["properties"].(map[string]any)
		for name, e := range x {
			sub, ok := properties[name]
			if !ok {
				switch rest := s["additionalProperties"].(type) {
				case bool:
					return fmt.Errorf("%s: unknown member %s", at, name)
				case map[string]any:
					sub = rest
				default:
					continue
				}
			}
			if err := v.check(at+"/"+name, sub, e); err != nil {
				return err
			}
		}
	}
	return nil
}

func list(x any) []any { l, _ := x.([]any); return l }

func isType(t string, x any) bool {
	switch x := x.(type) {
	case nil:
		return t == "null"
	case bool:
		return t == "boolean"
	case string:
		return t == "string"
	case float64:
		return t == "number" || t == "integer" && x == math.Trunc(x)
	case []any:
		return t == "array"
	}
	return t == "object"
}

func load(t *testing.T, which string) (*validator, map[string]any) {
	t.Helper()
	data, err := Of(which)
	if err != nil {
		t.Fatal(err)
	}
	var s map[string]any
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	return &validator{s["$defs"].(map[string]any)}, s
}

func generic(t *testing.T, v any) any {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

var requests = []string{
	`{"ask":"fit","model":"llama-3.1-8b"}`,
	`{"ask":"fit","model":"llama-3.1-70b","hardware":"2xh100","explain":true}`,
	`{"ask":"fit","model":"llama-3.1-70b","hardware":"h100","context":32768}`,
	`{"ask":"fit","model":"deepseek-v3","hardware":"8xh200","tp":4,"pp":2}`,
	`{"ask":"fit","model":"qwen3-next-80b-a3b","hardware":"4xh100","reserved_bytes":"2GiB","gpu_memory_utilization":0.9,"override":{"layers":24}}`,
	`{"ask":"fit","model":"no-such-model"}`,
	`{"ask":"plan","model":"llama-3.1-70b","hardware":"2xh100","sequences":32,"goal":{"minimize":"latency"}}`,
	`{"ask":"plan","model":"qwen3-32b","hardware":"rtx-4090","weights":["awq","fp8"],"context":32768}`,
	`{"ask":"plan","model":"qwen3-32b","hardware":"rtx-4090","weights":"bf16","engine":"vllm"}`,
	`{"ask":"plan","model":"llama-3.1-8b"}`,
	`{"ask":"pick","hardware":"rtx-4090"}`,
	`{"ask":"diff","model":"llama-3.1-8b","hardware":"h100","change":{"weights":"fp8"}}`,
}

// Requests that are decoded and answers that are given are what the schema says.
func TestAnswersAreValid(t *testing.T) {
	v, s := load(t, "")
	_, asked := load(t, "request")
	defs := v.defs
	for _, text := range requests {
		var raw any
		if err := json.Unmarshal([]byte(text), &raw); err != nil {
			t.Fatal(err)
		}
		if err := v.check("", asked, raw); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		r, err := memwall.Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		a, _ := memwall.Ask(r)
		if err := v.check("", defs["Answer"], generic(t, a)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if err := v.check("", s, generic(t, a)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestNoMemberIsHidden: of two members of one name, in a struct and in one embedded in it, JSON has one or none.
func TestNoMemberIsHidden(t *testing.T) {
	known := map[string]bool{"KV.capacity_tokens": true} // the pool's own count stands in the answer's
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(of reflect.Type) {
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Map {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct || seen[of] {
			return
		}
		seen[of] = true
		names := map[string]int{}
		for _, f := range reflect.VisibleFields(of) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
				names[name]++
			}
			walk(f.Type)
		}
		for name, n := range names {
			if at := of.Name() + "." + name; n > 1 && !known[at] {
				t.Errorf("%s is there %d times", at, n)
			}
		}
	}
	walk(reflect.TypeFor[memwall.Answer]())
	if len(seen) < 40 {
		t.Errorf("only %d structs", len(seen))
	}
}

// What a request may not hold, the schema refuses too.
func TestBadRequests(t *testing.T) {
	v, s := load(t, "request")
	for _, text := range []string{
		`{"ask":"fit"}`, `{"ask":"plan","hardware":"h100"}`, `{"model":"x"}`, `{"ask":"fit","model":"x","contxt":1}`, `{"ask":"fly","model":"x"}`,
		`{"ask":"fit","model":"x","tp":"two"}`, `{"ask":"fit","model":"x","context":1.5}`, `{"ask":"fit","model":"x","attention":"slow"}`, `[]`,
	} {
		var raw any
		if err := json.Unmarshal([]byte(text), &raw); err != nil {
			t.Fatal(err)
		}
		if v.check("", s, raw) == nil {
			t.Errorf("%s is valid", text)
		}
	}
}

// The properties of a request are the fields of the table that flags and decoding are made from.
func TestFieldsAndSchema(t *testing.T) {
	v, _ := load(t, "request")
	properties := v.defs["Request"].(map[string]any)["properties"].(map[string]any)
	fields := memwall.Fields()
	if len(properties) != len(fields) {
		t.Errorf("%d properties, %d fields", len(properties), len(fields))
	}
	for _, f := range fields {
		p, ok := properties[f.Name].(map[string]any)
		if !ok {
			t.Errorf("no property %s", f.Name)
			continue
		}
		if f.Doc != "" && p["description"] != f.Doc {
			t.Errorf("%s: description %v, not %q", f.Name, p["description"], f.Doc)
		}
		of := p
		if either := list(p["anyOf"]); f.Listed() && f.Enum != nil && len(either) > 0 {
			of = either[0].(map[string]any) // one word, beside lists
		}
		if len(f.Enum) != len(list(of["enum"])) {
			t.Errorf("%s: enum %v, not %v", f.Name, p["enum"], f.Enum)
		}
	}
}

func TestShape(t *testing.T) {
	for _, which := range []string{"", "request", "answer"} {
		a, err := Of(which)
		if err != nil {
			t.Fatal(err)
		}
		if b, _ := Of(which); !bytes.Equal(a, b) {
			t.Error("two calls differ")
		}
		if !bytes.Contains(a, []byte(Draft)) || bytes.Contains(a, []byte(`null,`)) {
			t.Errorf("schema of %q: %.200s", which, a)
		}
	}
	if _, err := Of("question"); err == nil {
		t.Error("a schema of a question")
	}
}

// TestDeprecated: a former name is said to be one, names the field to read, and has that field's value.
func TestDeprecated(t *testing.T) {
	text, err := Of("answer")
	if err != nil {
		t.Fatal(err)
	}
	flat := strings.Join(strings.Fields(string(text)), "")
	if !strings.Contains(flat, `"needed_low_bytes":{"type":"integer","deprecated":true,"description":"readneeded_bytes_low"}`) {
		t.Error("needed_low_bytes is not said to be a former name")
	}
	r, err := memwall.Decode([]byte(`{"ask":"fit","model":"gpt-oss-120b","hardware":"rtx-4090","engine":"llama.cpp","cpu_moe":36}`))
	if err != nil {
		t.Fatal(err)
	}
	a, err := memwall.Ask(r)
	if err != nil || a.Host == nil {
		t.Fatal(err)
	}
	if h := a.Host; h.FormerLow != h.NeededLow || h.FormerHigh != h.NeededHigh || h.NeededLow == 0 {
		t.Errorf("%+v", h)
	}
}
