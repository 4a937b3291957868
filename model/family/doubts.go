package family

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Doubt is a contradiction that a config.json has in itself: it is read, by what Text says, and the reader is told.
type Doubt struct{ Code, Text string }

// Doubts lists what a config.json says twice and differently, and code that it would have run. Nothing of it is run here.
func (c *Config) Doubts() (out []Doubt) {
	add := func(code, text string, args ...any) { out = append(out, Doubt{code, fmt.Sprintf(text, args...)}) }
	class, kind := c.Class(), c.Str("model_type")
	if a, b := ByClass(class, ""), ByClass("", kind); a != nil && b != nil && a != b && c.drafter() == nil {
		add("class_and_type", "architectures names %s and model_type %q, which is of another architecture: it is read by its class, as %s", class, kind, a.Name)
	}
	for _, other := range c.otherClasses() {
		add("several_classes", "architectures names %s too, which is of another architecture: it is read by the first, %s", other, class)
	}
	for _, names := range fieldNames {
		if a, b := c.differ(names); b != "" {
			add("field_twice", "%s = %s and %s = %s name one thing: it is read as %s", a, show(c.m[a]), b, show(c.m[b]), a)
		}
	}
	for _, key := range c.twice {
		add("field_twice", "%s stands twice in the file, with different values: the last, %s, is read", key, show(c.m[key]))
	}
	if how := c.draftNote(); how != "" {
		add("drafter", "%s", how)
	}
	if code := c.remoteCode(); code != "" {
		add("remote_code", "names code of its own repository (%s): none of it is run, and what is read are fields", code)
	}
	return out
}

// fieldNames are names of one field, in the order in which they are read.
var fieldNames = [][]string{
	{"num_hidden_layers", "n_layer", "num_layers", "n_layers"}, {"hidden_size", "n_embd", "d_model"}, {"num_attention_heads", "n_head"}, {"num_key_value_heads", "num_kv_heads"},
}

// differ gives the first two names of a field that have different numbers.
func (c *Config) differ(names []string) (a, b string) {
	for _, n := range names {
		v, isNum := c.m[n].(json.Number)
		switch {
		case !isNum:
		case a == "":
			a = n
		case c.m[a] != any(v):
			return a, n
		}
	}
	return a, ""
}

// otherClasses are those behind the first that are of other families.
func (c *Config) otherClasses() (out []string) {
	classes := c.Strs("architectures")
	if len(classes) < 2 {
		return nil
	}
	first := ByClass(classes[0], "")
	for _, x := range classes[1:] {
		if f := ByClass(x, ""); f != nil && f != first {
			out = append(out, x)
		}
	}
	return out
}

// remoteCode is the class of the model in auto_map, "" when there is none.
func (c *Config) remoteCode() string {
	m, ok := c.m["auto_map"].(map[string]any)
	if !ok {
		return ""
	}
	for _, key := range []string{"AutoModelForCausalLM", "AutoModel", "AutoModelForSeq2SeqLM", "AutoModelForImageTextToText"} {
		if s, ok := m[key].(string); ok && strings.Contains(s, ".") {
			return fmt.Sprintf("%.80s", s)
		}
	}
	return ""
}

// repeated lists the keys of an object that stand in it twice with different values.
func repeated(data []byte) (out []string) {
	d := json.NewDecoder(bytes.NewReader(data))
	if _, err := d.Token(); err != nil {
		return nil
	}
	seen := map[string]string{}
	for d.More() {
		key, err := d.Token()
		name, isStr := key.(string)
		var raw json.RawMessage
		if err != nil || !isStr || d.Decode(&raw) != nil {
			return out
		}
		if was, ok := seen[name]; ok && was != string(raw) && !slices.Contains(out, name) {
			out = append(out, name)
		}
		seen[name] = string(raw)
	}
	return out
}
