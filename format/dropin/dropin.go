// Package dropin reads family files: a few lines of YAML that map a new architecture's config.json to that of a known
// class, where fields are renamed or follow from one another. With one, a model can be sized on its release day without
// a new memwall.
//
// See dropin.go for the keys of a file, apply.go for the conversion.
package dropin

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/memwall/memwall/fault"
	"github.com/memwall/memwall/format/yaml"
)

// Family is the content of a file.
type Family struct {
	File    string
	Classes []string // "architectures" that it applies to
	Types   []string // "model_type", if a config names no class
	Like    string   // class to convert to
	Fields  []Field  // in the order of the file
}

// Field is a field of that class, and its value in terms of the config.
type Field struct {
	Name, Value string
	line        int
}

// MaxBytes is the maximum size of a file.
const MaxBytes = 16 << 10

var limits = yaml.Limits{Bytes: MaxBytes, Depth: 6, Plain: true, Holds: "one family"}

const (
	mostFields = 200
	mostWord   = 400
)

var word = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,99}$`)

// Parse parses a file.
func Parse(file string, text []byte) (*Family, error) {
	docs, err := yaml.Decode(string(text), limits)
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return nil, fault.In(file, e.Line, e.Problem, e.Fix)
	}
	if err != nil {
		return nil, err
	}
	if len(docs) != 1 || docs[0].Of == nil {
		return nil, fault.In(file, 0, "is not a family", "architectures, like and fields, as docs/guides/describe-a-model.md shows")
	}
	f := &Family{File: file}
	for _, name := range docs[0].Keys {
		if err := f.key(name, docs[0].Of[name]); err != nil {
			return nil, err
		}
	}
	err = f.complete()
	return f, err
}

// complete rejects a file that lacks an architecture or a class.
func (f *Family) complete() error {
	switch {
	case len(f.Classes)+len(f.Types) == 0:
		return fault.In(f.File, 0, "says of no architecture that it is for it", "architectures: [FooForCausalLM], or model_types: [foo]")
	case f.Like == "":
		return fault.In(f.File, 0, "does not say as which class configs are read", "like: LlamaForCausalLM")
	}
	return nil
}

func (f *Family) key(name string, n *yaml.Node) (err error) {
	switch name {
	case "architectures":
		f.Classes, err = f.words(n)
	case "model_types":
		f.Types, err = f.words(n)
	case "like":
		if f.Like = n.Value(); !word.MatchString(f.Like) {
			err = fault.In(f.File, n.Line, fmt.Sprintf("like: %.60q is not a class", f.Like), "like: LlamaForCausalLM")
		}
	case "fields":
		err = f.fields(n)
	default:
		err = fault.In(f.File, n.Line, fmt.Sprintf("%.60q is not a key of a family", name), "architectures, model_types, like, fields")
	}
	return err
}

func (f *Family) words(n *yaml.Node) (out []string, err error) {
	for _, x := range n.Items() {
		if !word.MatchString(x.Value()) {
			return nil, fault.In(f.File, x.Line, fmt.Sprintf("%.60q is not a name of an architecture", x.Value()),
				"a list of names: [FooForCausalLM]")
		}
		out = append(out, x.Value())
	}
	if len(out) == 0 {
		return nil, fault.In(f.File, n.Line, "a list of names is wanted", "[FooForCausalLM]")
	}
	return out, nil
}

func (f *Family) fields(n *yaml.Node) error {
	for _, name := range n.Keys {
		v := n.Of[name]
		if !word.MatchString(name) || v.Of != nil || v.List != nil || v.Null() || len(v.Value()) > mostWord || len(f.Fields) == mostFields {
			return fault.In(f.File, v.Line, fmt.Sprintf("the field %.60q is given no value, name or expression", name),
				"hidden_size: config.d_model, or intermediate_size: 4 * config.d_model")
		}
		f.Fields = append(f.Fields, Field{name, v.Value(), v.Line})
	}
	return nil
}
