// Package schema generates the JSON Schema (draft 2020-12) of requests and answers from the Go structs that encode and
// decode them, so that the two cannot differ.
package schema

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// Draft is the version of JSON Schema.
const Draft = "https://json-schema.org/draft/2020-12/schema"

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON writes the members in order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := marshal(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// marshal leaves <, > and & alone.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

// Of gives the schema of "request", "answer" or, with "", of both as definitions.
func Of(which string) ([]byte, error) {
	w := newWriter("#/$defs/")
	request, answer := w.ref(reflect.TypeFor[memwall.Request]()), w.ref(reflect.TypeFor[memwall.Answer]())
	request = append(request, named)
	top := object{{"$schema", Draft}, {"$id", memwall.Schema}}
	switch which {
	case "request":
		top = append(top, request...)
	case "answer":
		top = append(top, answer...)
	case "":
		top = append(top, member{"anyOf", []object{request, answer}})
	default:
		return nil, fmt.Errorf("no schema of %q", which)
	}
	top = append(top, member{"$defs", w.defs})
	raw, err := marshal(top)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// named: every question but pick is of a model.
var named = member{"anyOf", []object{{{"required", []string{"model"}}},
	{{"properties", object{{"ask", object{{"enum", []string{"pick"}}}}}}}}}

// Definitions gives the schemas of structs, and of those in them, by name; they point to each other at a place.
func Definitions(at string, of ...reflect.Type) (map[string]json.RawMessage, error) {
	w := newWriter(at)
	for _, t := range of {
		w.ref(t)
	}
	out := map[string]json.RawMessage{}
	for _, d := range w.defs {
		o := d.value.(object)
		if d.name == reflect.TypeFor[memwall.Request]().Name() {
			o = append(o, named)
		}
		text, err := marshal(o)
		if err != nil {
			return nil, err
		}
		out[d.name] = text
	}
	return out, nil
}

// Fields gives the schema of an object with some fields of a request.
func Fields(names, required []string) (json.RawMessage, error) {
	w := newWriter("#/$defs/")
	var all object
	var none []string
	w.fields(reflect.TypeFor[memwall.Request](), &all, &none)
	listed(all)
	var some object
	for _, name := range names {
		i := slices.IndexFunc(all, func(m member) bool { return m.name == name })
		if i < 0 {
			return nil, fmt.Errorf("a request has no field %s", name)
		}
		some = append(some, all[i])
	}
	out := object{{"type", "object"}, {"properties", some}}
	if len(required) > 0 {
		out = append(out, member{"required", required})
	}
	if used := w.reached(some); len(used) > 0 {
		out = append(out, member{"$defs", used})
	}
	return marshal(out)
}

// reached are the definitions that a schema leads to.
func (w *writer) reached(from any) (out object) {
	text, err := marshal(from)
	if err != nil {
		return w.defs
	}
	for again := true; again; {
		again = false
		for _, d := range w.defs {
			points := bytes.Contains(text, []byte(`"`+w.at+d.name+`"`))
			if !points || slices.ContainsFunc(out, func(m member) bool { return m.name == d.name }) {
				continue
			}
			more, err := marshal(d.value)
			if err != nil {
				return w.defs
			}
			out, text, again = append(out, d), append(text, more...), true
		}
	}
	return out
}

type writer struct {
	at   string // where definitions stand
	defs object
	seen map[reflect.Type]string // and what they are called
}

func newWriter(at string) *writer { return &writer{at: at, seen: map[reflect.Type]string{}} }

// ref points to the definition of a struct, which it writes the first time.
func (w *writer) ref(t reflect.Type) object {
	if w.seen[t] == "" {
		w.seen[t] = w.name(t)
		at := len(w.defs)
		w.defs = append(w.defs, member{w.seen[t], nil})
		w.defs[at].value = w.structOf(t)
	}
	return object{{"$ref", w.at + w.seen[t]}}
}

// name of a type, with that of its package when another type has it already.
func (w *writer) name(t reflect.Type) string {
	if slices.ContainsFunc(w.defs, func(m member) bool { return m.name == t.Name() }) {
		return t.String()
	}
	return t.Name()
}

func (w *writer) structOf(t reflect.Type) object {
	var properties object
	var required []string
	w.fields(t, &properties, &required)
	if t == reflect.TypeFor[memwall.Request]() {
		required = []string{"ask"}
		listed(properties)
	}
	out := object{{"type", "object"}, {"properties", properties}, {"additionalProperties", false}}
	if len(required) > 0 {
		out = append(out, member{"required", required})
	}
	return out
}

// listed lets fields of a request that a search chooses among be lists too: of words, which come back as one with commas,
// or of numbers.
func listed(properties object) {
	for i, m := range properties {
		f := memwall.FieldByName(m.name)
		if f == nil || !f.Listed() && !f.ListedNumbers() {
			continue
		}
		o := m.value.(object)
		rest := slices.DeleteFunc(slices.Clone(o[1:]), func(m member) bool { return m.name == "enum" })
		one := object{o[0]}
		if f.Enum != nil {
			one = append(one, member{"enum", f.Enum})
		}
		either := []object{one, {{"type", "array"}, {"items", one}}}
		if f.Enum != nil {
			pattern := ","
			if f.Takes("any") {
				pattern += "|^any$"
			}
			either = append(either, object{{"type", "string"}, {"pattern", pattern}})
		}
		properties[i].value = append(object{{"anyOf", either}}, rest...)
	}
}

// fields adds the members of a struct; embedded structs are part of it, and so are those that are marked inline, but for members that
// the struct has itself.
func (w *writer) fields(t reflect.Type, properties *object, required *[]string) {
	own := ownNames(t)
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		if f.Anonymous && tag == "" || f.Tag.Get("inline") == "true" {
			var inner object
			w.embedded(f.Type, &inner, required)
			*properties = append(*properties, slices.DeleteFunc(inner, func(m member) bool { return own[m.name] })...)
			continue
		}
		name, opts, _ := strings.Cut(tag, ",")
		if !f.IsExported() || name == "" || name == "-" {
			continue
		}
		omitted := strings.Contains(opts, "omit") // omitempty or omitzero
		if !omitted {
			*required = append(*required, name)
		}
		*properties = append(*properties, member{name, w.field(&f, omitted)})
	}
}

// ownNames are the members that a struct has itself.
func ownNames(t reflect.Type) map[string]bool {
	out := map[string]bool{}
	for i := range t.NumField() {
		f := t.Field(i)
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); !f.Anonymous && name != "" {
			out[name] = true
		}
	}
	return out
}

// embedded adds the members of a struct within another; those of one that may be absent are never required.
func (w *writer) embedded(t reflect.Type, properties *object, required *[]string) {
	if t.Kind() == reflect.Pointer {
		t, required = t.Elem(), new([]string)
	}
	w.fields(t, properties, required)
}

// field is the schema of a struct's field: that of its type, with what its tags say.
func (w *writer) field(f *reflect.StructField, omitted bool) object {
	out := w.ofType(f.Type)
	if words := f.Tag.Get("enum"); words != "" {
		out = append(out, member{"enum", strings.Split(words, ",")})
	}
	if doc := f.Tag.Get("doc"); doc != "" {
		out = append(out, member{"description", doc})
	}
	if name := f.Tag.Get("deprecated"); name != "" {
		out = append(out, member{"deprecated", true}, member{"description", "read " + name})
	}
	pointer := f.Type.Kind() == reflect.Pointer || f.Type.Kind() == reflect.Slice || f.Type.Kind() == reflect.Map
	if pointer && !omitted {
		return object{{"anyOf", []object{out, {{"type", "null"}}}}}
	}
	return out
}

var (
	wholeNumber = object{{"type", "integer"}}
	textual     = reflect.TypeFor[encoding.TextMarshaler]()
)

// ofType is the schema of a type.
func (w *writer) ofType(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[plan.Size]():
		return object{{"anyOf", []object{wholeNumber, {{"type", "string"}, {"pattern", `^[0-9.eE+]+ ?([KMGTP]i?)?B?$`}}}}}
	case reflect.TypeFor[unit.Bytes]():
		return object{{"type", "integer"}}
	case reflect.TypeFor[memwall.Verdict]():
		return enum(memwall.Fits, memwall.Tight, memwall.DoesNotFit, memwall.Unknown)
	case reflect.TypeFor[ledger.Basis]():
		return enum(ledger.Exact, ledger.Derived, ledger.Vendor, ledger.Measured, ledger.Assumed)
	case reflect.TypeFor[ledger.Life]():
		return enum(ledger.Persistent, ledger.SemiPersistent, ledger.Ephemeral)
	case reflect.TypeFor[ledger.Place]():
		return enum(ledger.Device, ledger.Pinned, ledger.Host, ledger.Mapped, ledger.Disk, ledger.Pool)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return w.ofType(t.Elem())
	case reflect.Struct:
		return w.ref(t)
	case reflect.Slice, reflect.Array:
		return object{{"type", "array"}, {"items", w.ofType(t.Elem())}}
	case reflect.Map:
		return object{{"type", "object"}, {"additionalProperties", w.ofType(t.Elem())}}
	case reflect.Bool:
		return object{{"type", "boolean"}}
	case reflect.Float64:
		return object{{"type", "number"}}
	case reflect.Int, reflect.Int64:
		return object{{"type", "integer"}}
	case reflect.String:
		return object{{"type", "string"}}
	case reflect.Interface:
		return object{}
	}
	if t.Implements(textual) {
		return object{{"type", "string"}}
	}
	panic("schema: no rule for " + t.String())
}

func enum[T any](words ...T) object {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = fmt.Sprint(w)
	}
	return object{{"type", "string"}, {"enum", out}}
}
