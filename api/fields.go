package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// Field describes one field of a Request: its JSON name, its flag, and the engines it applies to. Flags, JSON decoding,
// schema and documentation are derived from this table.
type Field struct {
	Name    string // JSON name
	Flag    string // long flag without dashes; "" if none
	Doc     string
	Unit    string   // "length" for tokens, where k means 1,024; "layers", where all means -1
	Enum    []string // allowed words
	Engines []string // engines the field applies to; nil for all
	Asks    []string // questions that have the field; nil for all, except that training has no engine fields
	index   []int
	Type    reflect.Type
}

var fieldTable = sync.OnceValue(func() []Field { return collect(reflect.TypeFor[Request](), nil) })

// Fields returns the fields of a Request in declaration order.
func Fields() []Field { return fieldTable() }

func collect(t reflect.Type, at []int) (out []Field) {
	for i := range t.NumField() {
		f := t.Field(i)
		index := append(append([]int(nil), at...), i)
		if f.Anonymous {
			out = append(out, collect(f.Type, index)...)
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		out = append(out, Field{Name: name, Flag: f.Tag.Get("flag"), Doc: f.Tag.Get("doc"), Unit: f.Tag.Get("unit"),
			Enum: words(f.Tag.Get("enum")), Engines: words(f.Tag.Get("engines")), Asks: words(f.Tag.Get("asks")), index: index,
			Type: f.Type})
	}
	return out
}

func words(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

// Value returns the field's value in r. It is settable.
func (f *Field) Value(r *Request) reflect.Value {
	return reflect.ValueOf(r).Elem().FieldByIndex(f.index)
}

// Foreign returns the first given field of r that an engine does not have; nil if there is none.
func (r *Request) Foreign(engine string) *Field {
	v := reflect.ValueOf(r).Elem()
	for _, f := range foreign(engine) {
		if !v.FieldByIndex(f.index).IsZero() {
			return f
		}
	}
	return nil
}

var foreignTo sync.Map // engine → its foreign fields

// foreign returns the fields that an engine does not have.
func foreign(engine string) (out []*Field) {
	if known, ok := foreignTo.Load(engine); ok {
		return known.([]*Field)
	}
	for i := range Fields() {
		if f := &Fields()[i]; !f.OwnedBy(engine) {
			out = append(out, f)
		}
	}
	foreignTo.Store(engine, out)
	return out
}

// Text returns the field's value in r, formatted for an error.
func (f *Field) Text(r *Request) string {
	v := f.Value(r)
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	return Shorten(fmt.Sprint(v.Interface()))
}

// FieldByName returns the field with the given JSON name, or nil.
func FieldByName(name string) *Field {
	table := fieldTable()
	for i := range table {
		if table[i].Name == name {
			return &table[i]
		}
	}
	return nil
}

// Listed reports whether a search for plans accepts a list of words for the field.
func (f *Field) Listed() bool { return slices.Contains(lists, f.Name) }

// AnyOf maps a field to the words that "any" stands for in a search for training plans: the usual choices for a
// fine-tune.
var AnyOf = map[string][]string{"method": {"full", "lora", "qlora"}, "framework": {"transformers", "unsloth", "torchtune"}}

// Takes reports whether the word is allowed for the field, on its own or as a stand-in such as "any".
func (f *Field) Takes(word string) bool {
	return slices.Contains(f.Enum, word) || word == AnyHardware && AnyOf[f.Name] != nil
}

// ListedNumbers reports whether a search for training plans accepts a list of numbers for the field.
func (f *Field) ListedNumbers() bool { return slices.Contains(numberLists, f.Name) }

// OfAsk reports whether the field applies to a question.
func (f *Field) OfAsk(ask string) bool {
	if f.Asks == nil {
		return ask != AskTrain || f.Engines == nil
	}
	return slices.Contains(f.Asks, ask)
}

// OwnedBy reports whether the field applies to an engine.
func (f *Field) OwnedBy(engine string) bool {
	if f.Engines == nil {
		return true
	}
	switch engine {
	case "llama-server", "ollama":
		engine = "llama.cpp"
	case "ik_llama.cpp":
		return slices.Contains(f.Engines, engine) || slices.Contains(f.Engines, "llama.cpp")
	}
	return slices.Contains(f.Engines, engine)
}

// NeverNone reports whether a plan cannot go without the field, so that its zero value does not ask for the default
// either.
func NeverNone(field string) bool { return field == "context" || field == "sequences" }

// CheckAsk rejects fields that belong to other questions.
func (r *Request) CheckAsk() error {
	if len(r.Among) > 0 && r.Ask == AskPlan && r.For != AskTrain && !r.Aims() {
		return &Error{Code: Unsupported, Field: slices.Min(slices.Collect(maps.Keys(r.Among))),
			Message: "lists of numbers are searched by plans that train, and by plans for a load",
			Hint:    "one number, or none: what is absent is searched"}
	}
	for i := range Fields() {
		f := &Fields()[i]
		if !f.OfAsk(r.Ask) && !(r.For == AskTrain && f.OfAsk(AskTrain)) && !f.Value(r).IsZero() {
			return &Error{Code: BadField, Field: f.Name, Value: f.Text(r), Message: fmt.Sprintf("%s is not a field of %s", f.Name, r.Ask),
				Hint: f.BelongsElsewhere()}
		}
	}
	return nil
}

// BelongsElsewhere returns a hint naming the questions or engines that the field belongs to.
func (f *Field) BelongsElsewhere() string {
	if f.Asks == nil {
		return "leave it out: it is a setting of " + strings.Join(f.Engines, ", ")
	}
	return "leave it out: it belongs to " + strings.Join(f.Asks, ", ")
}

// Set parses text into the named field, in the syntax of flags and table columns: lengths such as 8k, sizes such as
// 24GiB, comma-separated lists. The error is an *Error that names the field.
func (r *Request) Set(name, text string) error {
	f := FieldByName(name)
	if f == nil {
		return unknownField(name)
	}
	raw, err := f.raw(text)
	if err != nil {
		return &Error{Code: BadField, Field: name, Value: Shorten(text), Message: fmt.Sprintf("%s = %s %s", name, Shorten(text), err),
			Hint: "give " + KindName(f.Type) + ": " + f.Doc}
	}
	return decodeField(r, name, raw)
}

// raw returns the text encoded as the field's JSON value.
func (f *Field) raw(text string) ([]byte, error) {
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case f.Unit == "length":
		n, err := unit.ParseLength(text)
		return strconv.AppendInt(nil, n, 10), err
	case f.Unit == "layers" && text == "all":
		return []byte("-1"), nil
	case f.Unit == "count":
		n, err := unit.ParseCount(text)
		return strconv.AppendInt(nil, n, 10), err
	case t == reflect.TypeFor[plan.Size](), t.Kind() == reflect.String:
		return json.Marshal(text)
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String:
		return json.Marshal(strings.Split(text, ","))
	case json.Valid([]byte(text)):
		return []byte(text), nil
	}
	return nil, fmt.Errorf("is not %s", KindName(f.Type))
}
