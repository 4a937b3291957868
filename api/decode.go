package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/memwall/memwall/format"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/spell"
)

// Limits on the text of a request.
const (
	maxRequest = 1 << 20
	maxDepth   = 16
	maxAlso    = 32
	maxWord    = 4096 // bytes of a string, except in fields of free text
)

// Decode parses a request from JSON. An unknown field, a duplicate field or an invalid value is reported as an *Error
// naming the field.
func Decode(data []byte) (*Request, error) {
	if len(data) > maxRequest {
		return nil, &Error{Code: Limit, Message: fmt.Sprintf("a request of %d bytes", len(data)), Hint: "at most 1 MiB"}
	}
	if err := checkDepth(data); err != nil {
		return nil, err
	}
	fields, err := object(data)
	if err != nil {
		return nil, err
	}
	r := &Request{}
	for _, kv := range fields {
		if !utf8.Valid(kv.value) {
			return nil, &Error{Code: BadField, Field: Shorten(kv.name), Message: "the value of " + Shorten(kv.name) + " is not UTF-8",
				Hint: "JSON is UTF-8; encode the text so"}
		}
		if err := decodeField(r, kv.name, kv.value); err != nil {
			return nil, err
		}
	}
	return r, nil
}

type member struct {
	name  string
	value json.RawMessage
}

// begins returns the error for input that does not start with a JSON object.
func begins(t json.Token, err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("it is empty")
	case err != nil:
		return err
	case t == nil:
		return errors.New("it is null")
	}
	return fmt.Errorf("it begins with %v", t)
}

// object returns the members of a JSON object in order and rejects duplicate names.
func object(data []byte) ([]member, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	bad := func(err error) error {
		return &Error{Code: BadField, Message: "the request is not a JSON object: " + err.Error(), Hint: `{"ask":"fit","model":"llama-3.1-8b"}`}
	}
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, bad(begins(t, err))
	}
	var out []member
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, bad(err)
		}
		name := t.(string)
		if seen[name] {
			return nil, &Error{Code: BadField, Field: Shorten(name), Message: fmt.Sprintf("%s stands twice in the request", Shorten(name)),
				Hint: "give it once"}
		}
		seen[name] = true
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return nil, badValue(name, data[d.InputOffset():], err)
		}
		out = append(out, member{name, v})
	}
	if _, err := d.Token(); err != nil {
		return nil, bad(err)
	}
	if rest := bytes.TrimSpace(data[d.InputOffset():]); len(rest) > 0 {
		return nil, bad(fmt.Errorf("%q follows it", rest[:min(len(rest), 20)]))
	}
	return out, nil
}

// badValue returns the error for the named field, whose value is not valid JSON; rest is the input from the value on.
func badValue(name string, rest []byte, err error) error {
	text := strings.TrimLeft(string(rest[:min(len(rest), 80)]), ": \t\r\n")
	if i := strings.IndexAny(text, ",}\n"); i >= 0 {
		text = text[:i]
	}
	name = Shorten(name)
	return &Error{Code: BadField, Field: name, Value: Shorten(text), Message: fmt.Sprintf("the value of %s is not JSON: %v", name, err), Hint: `numbers such as 8192 or 0.9, "words in quotes", true or false`}
}

func checkDepth(data []byte) error {
	if at, deep := format.Nests(data, maxDepth); deep {
		return &Error{Code: Limit, Message: fmt.Sprintf("the request nests deeper than %d levels, at byte %d", maxDepth, at),
			Hint: "flatten it"}
	}
	return nil
}

// lists are the single-word fields that a search for plans accepts a list for.
var lists = slices.Concat([]string{"hardware"}, ServingLists, TrainLists)

// numberLists are the numeric fields that a search for training plans accepts a list for.
var numberLists = []string{"devices", "tp", "pp", "vpp", "cp", "ep", "micro_batch"}

// mostAmong is the maximum length of a list of numbers.
const mostAmong = 64

// decodeAmong decodes the numbers to search, keyed by field.
func decodeAmong(r *Request, value json.RawMessage) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(value, &all); err != nil {
		return &Error{Code: BadField, Field: "among", Value: Shorten(string(value)), Message: "among is not an object of lists", Hint: `{"tp":[1,2,4]}`}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if err := r.among(name, all[name]); err != nil {
			return err
		}
	}
	return nil
}

// among sets the values of the named field to be searched.
func (r *Request) among(name string, value json.RawMessage) error {
	refuse := func(message, hint string) error {
		return &Error{Code: BadField, Field: name, Value: Shorten(string(value)), Message: message, Hint: hint}
	}
	var list []plan.Int
	switch err := json.Unmarshal(value, &list); {
	case !slices.Contains(numberLists, name):
		return refuse("no list of "+Shorten(name)+" is searched", "lists of "+strings.Join(numberLists, ", "))
	case err != nil:
		return refuse(name+" = "+Shorten(string(value))+" is not a list of whole numbers", "[1,2,4]")
	case len(list) > mostAmong || slices.ContainsFunc(list, func(n plan.Int) bool { return n < 1 }):
		return refuse(fmt.Sprintf("%s = %s is not a list of 1 to %d numbers from 1", name, Shorten(string(value)), mostAmong), "[1,2,4]")
	case len(list) == 0:
		return nil
	}
	if r.Among == nil {
		r.Among = map[string][]plan.Int{}
	}
	slices.Sort(list)
	r.Among[name] = slices.Compact(list)
	return nil
}

// SetAmong sets the values of a numeric field to be searched, from a text such as "1,2,4". The error is an *Error.
func (r *Request) SetAmong(name, text string) error {
	return r.among(name, json.RawMessage("["+text+"]"))
}

func isNumberList(name string, value json.RawMessage) bool {
	return slices.Contains(numberLists, name) && bytes.HasPrefix(bytes.TrimSpace(value), []byte("["))
}

func isList(name string, value json.RawMessage) bool {
	return (name == "hardware" || slices.Contains(lists, name)) && bytes.HasPrefix(bytes.TrimSpace(value), []byte("["))
}

// joined turns a JSON list of words into one comma-separated string; any other value is returned unchanged, to be
// rejected later.
func joined(value json.RawMessage) json.RawMessage {
	var words []string
	if json.Unmarshal(value, &words) != nil {
		return value
	}
	text, err := json.Marshal(strings.Join(words, ","))
	if err != nil {
		return value
	}
	return text
}

func decodeField(r *Request, name string, value json.RawMessage) error {
	f := FieldByName(name)
	if f == nil {
		return unknownField(name)
	}
	if bytes.Equal(value, []byte("null")) {
		return nil
	}
	if name == "also" {
		return decodeAlso(r, value)
	}
	switch {
	case name == "among":
		return decodeAmong(r, value)
	case isNumberList(name, value):
		return r.among(name, value)
	case isList(name, value):
		value = joined(value)
	}
	target := f.Value(r)
	d := json.NewDecoder(bytes.NewReader(value))
	d.DisallowUnknownFields()
	if err := d.Decode(pointer(target)); err != nil {
		return &Error{Code: BadField, Field: name, Value: Shorten(string(value)),
			Message: fmt.Sprintf("%s = %s %s", name, Shorten(string(value)), reason(err, f)), Hint: fix(err, f)}
	}
	if NeverNone(name) && target.Kind() == reflect.Int64 && target.Int() == 0 {
		return &Error{Code: BadField, Field: name, Value: "0", Message: name + " = 0 is none", Hint: "leave it out for the default"}
	}
	if target.Kind() == reflect.String && len(target.String()) > maxWord && name != "text" {
		return &Error{Code: Limit, Field: name, Value: Shorten(target.String()),
			Message: fmt.Sprintf("%s has %d bytes", name, len(target.String())), Hint: fmt.Sprintf("at most %d", maxWord)}
	}
	return checkEnum(f, target)
}

// pointer returns a decoding target for the field. Integers may be written like 1e9 in every field.
func pointer(field reflect.Value) any {
	if n, ok := field.Addr().Interface().(*int64); ok {
		return (*plan.Int)(n)
	}
	return field.Addr().Interface()
}

func checkEnum(f *Field, v reflect.Value) error {
	if f.Enum == nil || v.Kind() != reflect.String || v.String() == "" {
		return nil
	}
	words := []string{v.String()}
	if f.Listed() {
		words = strings.Split(v.String(), ",")
	}
	if !slices.ContainsFunc(words, func(w string) bool { return !f.Takes(w) }) {
		return nil
	}
	hint := "one of " + strings.Join(f.Enum, ", ")
	if other := f.Elsewhere(v.String()); other != nil {
		hint = fmt.Sprintf("%s = %q", other.Name, v.String())
	}
	return &Error{Code: BadField, Field: f.Name, Value: v.String(), Hint: hint,
		Message: fmt.Sprintf("%s = %q is not known", f.Name, v.String())}
}

// Elsewhere returns the other field that accepts the word: grpo, for example, is an objective and not a method. If
// several accept it, the one with the most allowed words wins, so that zero3 means the sharding before the teacher's.
// It returns nil if there is none or a tie.
func (f *Field) Elsewhere(word string) (found *Field) {
	twice := false
	for i := range Fields() {
		other := &Fields()[i]
		if other.Name == f.Name || !slices.Contains(other.Enum, word) {
			continue
		}
		switch {
		case found == nil || len(other.Enum) > len(found.Enum):
			found, twice = other, false
		case len(other.Enum) == len(found.Enum):
			twice = true
		}
	}
	if twice {
		return nil
	}
	return found
}

func decodeAlso(r *Request, value json.RawMessage) error {
	var list []json.RawMessage
	if err := json.Unmarshal(value, &list); err != nil {
		return &Error{Code: BadField, Field: "also", Value: Shorten(string(value)), Message: "also is not a list of requests", Hint: `[{"ask":"fit","model":"…"}]`}
	}
	if len(list) > maxAlso {
		return &Error{Code: Limit, Field: "also", Value: fmt.Sprint(len(list)), Message: fmt.Sprintf("%d requests in also", len(list)),
			Hint: fmt.Sprintf("at most %d", maxAlso)}
	}
	for i, raw := range list {
		one, err := Decode(raw)
		if err != nil {
			return AlsoError(err, i+1)
		}
		r.Also = append(r.Also, *one)
	}
	return nil
}

// reason describes a decoding error in words.
func reason(err error, f *Field) string {
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return typeReason(t, f)
	}
	s := strings.TrimPrefix(err.Error(), "json: ")
	if strings.HasPrefix(s, "unknown field") {
		return "has an " + s
	}
	const most = 300 // decoders quote the value in full
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return "is wrong: " + s
}

func typeReason(t *json.UnmarshalTypeError, f *Field) string {
	article := "a "
	switch {
	case strings.HasPrefix(t.Value, "number "): // right kind, but out of the type's range
		return "is too large"
	case t.Value == "array" || t.Value == "object":
		article = "an "
	}
	if t.Field != "" {
		return "has " + article + t.Value + " in " + t.Field
	}
	return "is " + article + t.Value + ", not " + KindName(f.Type)
}

// fix suggests a correction: the expected kind of value and its meaning, or the field name that was probably meant.
func fix(err error, f *Field) string {
	word, unknown := strings.CutPrefix(err.Error(), "json: unknown field ")
	if !unknown {
		return "give " + KindName(f.Type) + ": " + f.Doc
	}
	names := memberNames(f.Type)
	if near := spell.Nearest(strings.Trim(word, `"`), names); len(near) > 0 {
		return "did you mean: " + strings.Join(near, ", ")
	}
	return "one of " + strings.Join(names, ", ")
}

// memberNames returns the JSON field names of a struct, or of the struct elements of a list.
func memberNames(t reflect.Type) (names []string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// KindName returns a description of the kind of values that the type holds.
func KindName(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int64:
		if t == reflect.TypeFor[plan.Size]() {
			return "a size such as 24GiB, or a number of bytes"
		}
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "a string"
}

// Shorten truncates a text for quoting in an error.
func Shorten(s string) string {
	if len(s) > 60 {
		return strings.ToValidUTF8(s[:57], "") + "…"
	}
	return s
}

func unknownField(name string) error {
	e := &Error{Code: BadField, Field: Shorten(name), Message: fmt.Sprintf("there is no field called %q", Shorten(name)),
		Hint: "memwall schema request lists the fields"}
	if f := cmp.Or(fieldOfFlag(name), plan.FieldCalled(name)); f != "" {
		e.Hint = "did you mean: " + f
	} else if near := spell.Nearest(name, fieldNames()); len(near) > 0 {
		e.Hint = "did you mean: " + strings.Join(near, ", ")
	}
	return e
}

// fieldOfFlag returns the field that a command-line flag sets, or "".
func fieldOfFlag(flag string) string {
	for _, f := range Fields() {
		if f.Flag == flag && flag != "" {
			return f.Name
		}
	}
	return ""
}

func fieldNames() []string {
	var out []string
	for _, f := range Fields() {
		out = append(out, f.Name)
	}
	return out
}
