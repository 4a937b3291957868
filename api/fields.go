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

// Field describes one field of a Request: its JSON name, its flag, and the engines that own it. Flags,
// JSON decoding, schema and documentation are made from this table.
type Field struct {
	Name    string // JSON name
	Flag    string // long flag without dashes, "" for none
	Doc     string
	Unit    string   // "length" for tokens, where k is 1,024; "layers", where all is -1
	Enum    []string // allowed words
	Engines []string // engines that own the field; nil for all
	Asks    []string // questions that have the field; nil for all, but that training has no field of an engine
	index   []int
	Type    reflect.Type
}

var fieldTable = sync.OnceValue(func() []Field { return collect(reflect.TypeFor[Request](), nil) })

// Fields lists the fields of a Request in order.
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

// Value is the field's value in a request; it can be set when the request is addressed by pointer.
func (f *Field) Value(r *Request) reflect.Value {
	return reflect.ValueOf(r).Elem().FieldByIndex(f.index)
}

// Text is the field's value in a request as it is shown in an error.
func (f *Field) Text(r *Request) string {
	v := f.Value(r)
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	return Shorten(fmt.Sprint(v.Interface()))
}

// FieldByName finds a field by its JSON name; nil when there is none.
func FieldByName(name string) *Field {
	table := fieldTable()
	for i := range table {
		if table[i].Name == name {
			return &table[i]
		}
	}
	return nil
}

// Listed reports whether a search for plans takes a list of the field's words.
func (f *Field) Listed() bool { return slices.Contains(lists, f.Name) }

// AnyOf are the words that any stands for in a search for plans that train: what people choose among for a fine-tune.
var AnyOf = map[string][]string{"method": {"full", "lora", "qlora"}, "framework": {"transformers", "unsloth", "torchtune"}}

// Takes reports whether a word is among those of the field, or stands for some of them.
func (f *Field) Takes(word string) bool {
	return slices.Contains(f.Enum, word) || word == AnyHardware && AnyOf[f.Name] != nil
}

// ListedNumbers reports whether a search for plans that train takes a list of the field's numbers.
func (f *Field) ListedNumbers() bool { return slices.Contains(numberLists, f.Name) }

// OfAsk reports whether a question has the field.
func (f *Field) OfAsk(ask string) bool {
	if f.Asks == nil {
		return ask != AskTrain || f.Engines == nil
	}
	return slices.Contains(f.Asks, ask)
}

// OwnedBy reports whether an engine takes the field.
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

// NeverNone: a field of which none is no plan, and 0 no way to ask for the default.
func NeverNone(field string) bool { return field == "context" || field == "sequences" }

// CheckAsk refuses fields of other questions.
func (r *Request) CheckAsk() error {
	if len(r.Among) > 0 && r.Ask == AskPlan && r.For != AskTrain && !r.Aims() {
		return &Error{Code: Unsupported, Field: slices.Min(slices.Collect(maps.Keys(r.Among))),
			Message: "lists of numbers are searched by plans that train, and by plans for a load",
			Hint:    "one number, or none: what is absent is searched"}
	}
	for i := range Fields() {
		f := &Fields()[i]
		if !f.OfAsk(r.Ask) && !(r.For == AskTrain && f.OfAsk(AskTrain)) && !f.Value(r).IsZero() {
			return &Error{Code: BadField, Field: f.Name, Value: f.Text(r), Message: fmt.Sprintf("%s is no field of %s", f.Name, r.Ask),
				Hint: f.BelongsElsewhere()}
		}
	}
	return nil
}

// BelongsElsewhere says where the field belongs.
func (f *Field) BelongsElsewhere() string {
	if f.Asks == nil {
		return "leave it out: it is a setting of " + strings.Join(f.Engines, ", ")
	}
	return "leave it out: it belongs to " + strings.Join(f.Asks, ", ")
}

// Set gives a field the value that a text spells, as a flag or a column of a table does: lengths as in
// 8k, sizes as in 24GiB, lists with commas. The error is an *Error that names the field.
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

// raw is a text as the field's JSON.
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
