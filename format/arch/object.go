package arch

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/fault"
	"github.com/memwall/memwall/format/yaml"
	"github.com/memwall/memwall/spell"
	"github.com/memwall/memwall/unit"
)

// object is a mapping. Reading a key marks it as known; close rejects the rest, so that the reading code is the only
// list of keys. The first error is kept, and results after it are meaningless.
type object struct {
	r     *reader
	path  string
	line  int
	keys  []string // in file order
	nodes map[string]*yaml.Node
	known []string
}

// object returns the mapping at a node; any other node is an error and reads as empty.
func (r *reader) object(n *yaml.Node, path string) *object {
	o := &object{r: r, path: path, line: n.Line, keys: n.Keys, nodes: n.Of}
	if n.Of == nil {
		r.fail(&fault.Error{Line: o.line, Field: path, Value: kindOf(n), Problem: "is not a block of keys",
			Fix: "key: value lines below it"})
	}
	return o
}

// show formats a key for an error.
func show(key string) string { return strings.Trim(quote(key), `"`) }

func (r *reader) fail(e *fault.Error) {
	if r.err == nil {
		r.err = e
	}
}

func (o *object) pathTo(key string) string {
	if o.path == "" {
		return key
	}
	return o.path + "." + key
}

// fail reports an error at a key.
func (o *object) fail(key, value, text, fix string) {
	line := o.line
	if n := o.nodes[key]; n != nil {
		line = n.Line
	}
	o.r.fail(&fault.Error{Line: line, Field: o.pathTo(show(key)), Value: value, Problem: text, Fix: fix})
}

// missing reports a required key, or the misspelled key in its place.
func (o *object) missing(key, text, fix string) {
	for _, near := range spell.Nearest(key, o.keys) {
		if !slices.Contains(o.known, near) {
			o.fail(near, "", "is not a key of a description here", "did you mean "+key+"?")
		}
	}
	o.fail(key, "", text, fix)
}

func (o *object) has(key string) bool { _, ok := o.nodes[key]; return ok }

// get returns a key's node; nil if absent or empty.
func (o *object) get(key string) *yaml.Node {
	o.known = append(o.known, key)
	n := o.nodes[key]
	if n != nil && n.Null() {
		o.fail(key, "", "has no value", "give one, or leave the key out")
		return nil
	}
	return n
}

// close rejects keys that were not read.
func (o *object) close() {
	for _, k := range o.keys {
		if !slices.Contains(o.known, k) {
			o.r.fail(&fault.Error{Line: o.nodes[k].Line, Field: o.pathTo(show(k)), Problem: "is not a key of a description here",
				Fix: didYouMean(k, o.known, "the keys here are "+strings.Join(o.known, ", "))})
		}
	}
}

// most is the largest number allowed; products of two do not overflow.
const most = 1 << 30

// number reads a non-negative integer.
func (o *object) number(key string, otherwise int64) int64 {
	n := o.get(key)
	if n == nil {
		return otherwise
	}
	v, ok := integer(n)
	if !ok {
		o.fail(key, kindOf(n), "is not a whole number", "a number such as 4096 or 32k")
		return otherwise
	}
	if v < 0 || v > most {
		o.fail(key, unit.Count(v), "is out of range", "0 to "+unit.Count(most))
		return otherwise
	}
	return v
}

// need reads a required positive integer.
func (o *object) need(key string) int64 {
	return o.positive(key, 0)
}

// positive reads a positive integer, required if the default is 0.
func (o *object) positive(key string, otherwise int64) int64 {
	v := o.number(key, otherwise)
	switch {
	case !o.has(key) && v < 1:
		o.missing(key, "is missing", "add "+key+": and a number")
	case v < 1:
		o.fail(key, unit.Count(v), "is out of range", "1 or more")
	}
	return max(1, v)
}

// integer parses 4096, 4_096, 1e6 and 32k.
func integer(n *yaml.Node) (int64, bool) {
	switch v := n.Scalar.(type) {
	case int64:
		return v, true
	case uint64:
		return math.MaxInt64, true
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v), true
		}
	case string:
		length, err := unit.ParseLength(v)
		return length, err == nil
	}
	return 0, false
}

// flag reads true or false.
func (o *object) flag(key string, otherwise bool) bool {
	n := o.get(key)
	if n == nil {
		return otherwise
	}
	on, ok := n.Scalar.(bool)
	if !ok {
		o.fail(key, kindOf(n), "is neither true nor false", "true or false")
		return otherwise
	}
	return on
}

// text reads a word, "" if absent.
func (o *object) text(key string) string {
	n := o.get(key)
	if n == nil {
		return ""
	}
	s, ok := n.Scalar.(string)
	if !ok || len(s) > 100 || s == "" {
		o.fail(key, kindOf(n), "is not a short text", "a word, in quotes where it looks like a number")
		return ""
	}
	return s
}

// word reads one of the given words.
func (o *object) word(key, otherwise string, of ...string) string {
	w := o.text(key)
	if w == "" {
		return otherwise
	}
	if !slices.Contains(of, w) {
		o.fail(key, quote(w), "is none of "+strings.Join(of, ", "), didYouMean(w, of, "one of "+strings.Join(of, ", ")))
		return otherwise
	}
	return w
}

// format reads the name of a 16- or 32-bit format.
func (o *object) format(key string, otherwise *dtype.Format) *dtype.Format {
	name := o.text(key)
	if name == "" {
		return otherwise
	}
	f := dtype.FindFormat(name)
	if f == nil || f.Float == nil || f.BlockBytes < 2 {
		o.fail(key, quote(name), "is not a format of 16 or 32 bits", "bf16, f16 or f32; the plan's weights say what it is quantised to")
		return otherwise
	}
	return f
}

// list calls each for every node of a list, with its path.
func (o *object) list(key string, each func(n *yaml.Node, path string)) {
	n := o.get(key)
	if n == nil {
		return
	}
	if len(n.List) == 0 {
		o.fail(key, kindOf(n), "is not a list", "lines that begin with - below it")
		return
	}
	for i, v := range n.List {
		each(v, fmt.Sprintf("%s[%d]", o.pathTo(key), i))
	}
}

// sub returns the mapping at a key; nil if absent.
func (o *object) sub(key string) *object {
	n := o.get(key)
	if n == nil {
		return nil
	}
	return o.r.object(n, o.pathTo(key))
}
