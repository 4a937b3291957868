package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall/train/config/keys"
)

// Bounds of a file, so that none makes memwall work in proportion to what it says: a parser takes hundreds of
// times the bytes of a token, and it recurses.
const (
	maxText   = 64 << 10
	maxDepth  = 24
	maxUnread = 200
	maxShown  = 60
)

// node is a value that was read: a block of keys, a list, or a text as it stands.
type node struct {
	keys []string
	of   map[string]*node
	list []*node
	text string
	null bool
	// given: a flag of a command line stands with its value.
	given bool
}

func block() *node { return &node{of: map[string]*node{}} }

// put sets a key of a block; the later one counts.
func (n *node) put(key string, v *node) {
	if n.of[key] == nil {
		n.keys = append(n.keys, key)
	}
	n.of[key] = v
}

// merge puts the keys of another block over those of this one, in blocks within it too.
func (n *node) merge(over *node) {
	for _, k := range over.keys {
		if had, v := n.of[k], over.of[k]; had != nil && had.of != nil && v.of != nil {
			had.merge(v)
		} else {
			n.put(k, v)
		}
	}
}

// drop takes a key of a block away.
func (n *node) drop(key string) {
	delete(n.of, key)
	n.keys = slices.DeleteFunc(n.keys, func(k string) bool { return k == key })
}

// at walks down a dotted path; nil where a key is missing.
func (n *node) at(path string) *node {
	for path != "" && n != nil {
		var head string
		head, path, _ = strings.Cut(path, ".")
		n = n.of[head]
	}
	return n
}

// leaf tells a value from a block.
func (n *node) leaf() bool { return n.of == nil }

// String is the value on one line, cut short.
func (n *node) String() string {
	s := n.text
	switch {
	case n.of != nil:
		s = "{…}"
	case n.list != nil:
		s = fmt.Sprintf("[%s]", strings.Join(n.texts(), ", "))
	}
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= maxShown {
		return s
	}
	return strings.ToValidUTF8(s[:maxShown], "") + "…"
}

func (n *node) texts() []string {
	out := []string{}
	for _, v := range n.list {
		if v.leaf() && v.list == nil {
			out = append(out, v.text)
		}
	}
	return out
}

// reader takes values off a tree and knows what was taken.
type reader struct {
	root *node
	seen map[*node]bool
}

// take gives the value at a path and marks it, and all below it, as read; nil when it is missing or null.
func (r *reader) take(path string) *node {
	n := r.root.at(path)
	if n == nil || path == "" {
		return nil
	}
	r.mark(n)
	if n.null {
		return nil
	}
	return n
}

func (r *reader) mark(n *node) {
	r.seen[n] = true
	for _, v := range n.of {
		r.mark(v)
	}
	for _, v := range n.list {
		r.mark(v)
	}
}

// keep puts a value back among the unread: it stands for something that no plan says.
func (r *reader) keep(path string) {
	if n := r.root.at(path); n != nil {
		delete(r.seen, n)
	}
}

// keepUnlessAuto is for numbers that a framework may fill in from elsewhere.
func (r *reader) keepUnlessAuto(path string) {
	if r.root.textAt(path) != "auto" {
		r.keep(path)
	}
}

func (r *reader) text(path string) string {
	n := r.take(path)
	if n == nil || !n.leaf() || n.list != nil {
		return ""
	}
	return n.text
}

// count reads a whole number of at most 2^50; what is none stays unread.
func (r *reader) count(path string) (int64, bool) {
	x, ok := r.number(path)
	if !ok || x != math.Trunc(x) || math.Abs(x) > 1<<50 {
		r.keepUnlessAuto(path)
		return 0, false
	}
	return int64(x), true
}

func (r *reader) number(path string) (float64, bool) {
	t := r.text(path)
	x, err := strconv.ParseFloat(strings.ReplaceAll(t, "_", ""), 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		r.keepUnlessAuto(path)
		return 0, false
	}
	return x, true
}

// flag reads a yes or no as YAML, JSON and TOML write it.
func (r *reader) flag(path string) (value, ok bool) {
	switch strings.ToLower(r.text(path)) {
	case "true", "yes", "on":
		return true, true
	case "false", "no", "off":
		return false, true
	case "auto", "":
		return false, false
	}
	r.keep(path)
	return false, false
}

// on is a flag that is set.
func (r *reader) on(path string) bool {
	v, _ := r.flag(path)
	return v
}

// list reads a list, or a text with commas or blanks between its words.
func (r *reader) list(path string) []string {
	n := r.take(path)
	if n == nil || !n.leaf() {
		return nil
	}
	if n.list != nil {
		return n.texts()
	}
	return strings.FieldsFunc(n.text, func(c rune) bool { return c == ',' || c == ' ' })
}

// notOpened is said of a file that another takes its settings from.
const notOpened = ", which it reads in and which is not opened"

// left lists what was not read, each with its value, but for keys without one; keys that the framework's sources do not have say so.
func (r *reader) left(p *part) (out []string) {
	r.unread(r.root, "", func(path string, n *node) {
		if len(out) > maxUnread {
			return
		}
		if len(out) == maxUnread {
			out = append(out, "and more")
			return
		}
		text := path + " = " + n.String()
		if name, ok := strings.CutPrefix("--"+strings.TrimLeft(path, "-"), sourceKey); ok {
			out = append(out, strings.TrimSuffix(name, "}")+notOpened)
			return
		}
		if strings.HasPrefix(strings.TrimLeft(path, "-"), "${") {
			out = append(out, strings.TrimLeft(path, "-")+", which the script does not say")
			return
		}
		if p.keys != "" && !keys.Known(p.keys, path) {
			text += " (no key of " + keys.Version(p.keys) + ")"
		}
		out = append(out, text)
	})
	return out
}

func (r *reader) unread(n *node, path string, each func(string, *node)) {
	if !n.leaf() {
		for _, k := range n.keys {
			r.unread(n.of[k], strings.TrimPrefix(path+"."+k, "."), each)
		}
		return
	}
	if empty := n.null || n.list != nil && len(n.list) == 0; !r.seen[n] && path != "" && !empty {
		each(path, n)
	}
}
