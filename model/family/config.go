package family

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/unit"
)

// FieldError describes a wrong field of a config.json or GGUF header: its value, why it is wrong, and the fix.
type FieldError struct {
	Field, Value, Problem, Fix string
	// Lacking: nothing is wrong with the file; what the field asks for is not described here.
	Lacking bool
}

func (e *FieldError) Error() string {
	s := e.Field
	if e.Value != "" {
		s += " = " + e.Value
	}
	return s + ": " + e.Problem
}

// Hint gives the fix.
func (e *FieldError) Hint() string { return e.Fix }

const (
	maxLayers = 1 << 12
	maxWidth  = 1 << 32 // of any dimension
)

// maxPixels bounds fields that are squared or multiplied with each other: sides of images and patches, and the like.
const maxPixels = 1 << 14

var pixelFields = map[string]bool{"patch_size": true, "image_size": true, "temporal_patch_size": true, "spatial_merge_size": true, "scale_factor": true, "downsample_factor": true,
	"merge_factor": true, "num_channels": true, "in_channels": true, "init_pos_emb_height": true, "init_pos_emb_width": true, "max_num_tiles": true, "merge_kernel_size": true}

// Config is a config.json of the hub, or a part of it. Its methods read fields; the first field that is
// missing or wrong is remembered and ends in the error of Read.
type Config struct {
	m    map[string]any
	path string // of this part: "text_config."
	err  **FieldError
	find func(class, modelType string) *Family // the family of a nested text model
	// written are what the file calls fields that were read under another name.
	written map[string]string
	twice   []string // keys that stand twice in the file, with different values
}

// ParseConfig reads a config.json of at most 8 MiB.
func ParseConfig(data []byte) (*Config, error) {
	const limit = 8 << 20
	if len(data) > limit {
		return nil, &FieldError{Field: "config.json", Value: fmt.Sprintf("%s bytes", unit.Count(int64(len(data)))), Problem: "larger than 8 MiB", Fix: "give the model's own config.json"}
	}
	data = withoutInfinities(data)
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var m map[string]any
	if err := d.Decode(&m); err != nil {
		return nil, &FieldError{Field: "config.json", Problem: "is not a JSON object: " + err.Error(), Fix: "give the model's own config.json"}
	}
	if m == nil {
		return nil, &FieldError{Field: "config.json", Value: "null", Problem: "is not a JSON object", Fix: "give the model's own config.json"}
	}
	return &Config{m: m, err: new(*FieldError), twice: repeated(data)}, nil
}

// withoutInfinities replaces what Python writes and JSON does not know: Infinity, -Infinity and NaN become
// null, outside strings.
func withoutInfinities(data []byte) []byte {
	if !bytes.Contains(data, []byte("Infinity")) && !bytes.Contains(data, []byte("NaN")) {
		return data
	}
	var out []byte
	quoted := false
	for i := 0; i < len(data); i++ {
		if n := pythonWord(data[i:]); n > 0 && !quoted {
			out = append(out, "null"...)
			i += n - 1
			continue
		}
		if data[i] == '"' && (i == 0 || data[i-1] != '\\') {
			quoted = !quoted
		}
		out = append(out, data[i])
	}
	return out
}

func pythonWord(b []byte) int {
	for _, w := range []string{"-Infinity", "Infinity", "NaN"} {
		if bytes.HasPrefix(b, []byte(w)) {
			return len(w)
		}
	}
	return 0
}

// Err is the first wrong field.
func (c *Config) Err() error {
	if *c.err == nil {
		return nil
	}
	return *c.err
}

// Fail remembers that a field is wrong, unless an earlier one was.
func (c *Config) Fail(field string, v any, problem, fix string) { c.fail(field, v, problem, fix) }

func (c *Config) fail(field string, v any, problem, fix string) {
	if own := c.written[field]; own != "" {
		field = own
	}
	if *c.err == nil {
		*c.err = &FieldError{Field: c.path + field, Value: show(v), Problem: problem, Fix: fix}
	}
}

// lacks refuses what is right in the file and not described here.
func (c *Config) lacks(field string, v any, problem, fix string) {
	first := *c.err == nil
	c.fail(field, v, problem, fix)
	if first {
		(*c.err).Lacking = true
	}
}

func show(v any) string {
	if v == nil {
		return ""
	}
	b, err := json.Marshal(v)
	if err != nil || len(b) > 60 {
		return fmt.Sprintf("%.60s…", b)
	}
	return string(b)
}

// as lets a field be read that the file may call otherwise: the first of the names that is present counts.
func (c *Config) as(field string, names ...string) {
	for _, n := range names {
		if c.m[n] == nil {
			continue
		}
		if n != field {
			c.m[field] = c.m[n]
			if c.written == nil {
				c.written = map[string]string{}
			}
			c.written[field] = n
		}
		return
	}
}

// get finds a field that is present and not null. Alternatives are other names of the same field.
func (c *Config) get(keys ...string) (string, any, bool) {
	for _, k := range keys {
		if v, ok := c.m[k]; ok && v != nil {
			return k, v, true
		}
	}
	return keys[0], nil, false
}

// Has reports whether a field is present and not null.
func (c *Config) Has(key string) bool { return c.m[key] != nil }

// Keys lists the fields, sorted.
func (c *Config) Keys() []string { return slices.Sorted(maps.Keys(c.m)) }

// Value is a field as decoded, numbers as json.Number; nil when it is absent or null.
func (c *Config) Value(key string) any { return c.m[key] }

// Int reads a positive whole number that must be there; alternatives are other names of the same field.
func (c *Config) Int(keys ...string) int64 {
	k, v, ok := c.get(keys...)
	if !ok {
		c.fail(k, nil, "is missing", "add it, or give the full config.json of the model")
		return 1
	}
	n, ok := c.integer(k, v)
	if ok && n == 0 {
		c.fail(k, v, "must be at least 1", "correct the config.json")
		return 1
	}
	return n
}

// IntOr reads a non-negative whole number, def when absent or null.
func (c *Config) IntOr(def int64, keys ...string) int64 {
	k, v, ok := c.get(keys...)
	if !ok {
		return def
	}
	n, ok := c.integer(k, v)
	if !ok {
		return def
	}
	return n
}

func (c *Config) integer(k string, v any) (int64, bool) {
	num, ok := v.(json.Number)
	if !ok {
		c.fail(k, v, "is not a number", "correct the config.json")
		return 1, false
	}
	x, err := num.Float64()
	switch {
	case err != nil || x != math.Trunc(x):
		c.fail(k, v, "is not a whole number", "correct the config.json")
	case x < 0:
		c.fail(k, v, "is negative", "correct the config.json")
	case x > maxWidth || pixelFields[k] && x > maxPixels:
		c.fail(k, v, "is larger than any model's", "correct the config.json")
	default:
		return int64(x), true
	}
	return 1, false
}

// Float reads a number, def when absent.
func (c *Config) Float(def float64, keys ...string) float64 {
	k, v, ok := c.get(keys...)
	if !ok {
		return def
	}
	num, isNum := v.(json.Number)
	x, err := num.Float64()
	if !isNum || err != nil || math.Abs(x) > 1e12 {
		c.fail(k, v, "is not a number of a usual size", "correct the config.json")
		return def
	}
	return x
}

// Bool reads a flag, def when absent.
func (c *Config) Bool(def bool, keys ...string) bool {
	k, v, ok := c.get(keys...)
	if !ok {
		return def
	}
	b, isBool := v.(bool)
	if !isBool {
		c.fail(k, v, "is not true or false", "correct the config.json")
		return def
	}
	return b
}

// Str reads a string, "" when absent.
func (c *Config) Str(keys ...string) string {
	k, v, ok := c.get(keys...)
	if !ok {
		return ""
	}
	s, isStr := v.(string)
	if !isStr {
		c.fail(k, v, "is not a string", "correct the config.json")
	}
	return s
}

// Strs reads a list of strings, nil when absent.
func (c *Config) Strs(key string) []string {
	return list(c, key, func(v any) (string, bool) { s, ok := v.(string); return s, ok })
}

// Ints reads a list of non-negative whole numbers, nil when absent. A single number gives one.
func (c *Config) Ints(key string) []int64 {
	if v, ok := c.m[key].(json.Number); ok {
		n, _ := c.integer(key, v)
		return []int64{n}
	}
	return list(c, key, func(v any) (int64, bool) { return c.integer(key, v) })
}

func list[T any](c *Config, key string, conv func(any) (T, bool)) []T {
	v, ok := c.m[key]
	if !ok || v == nil {
		return nil
	}
	l, isList := v.([]any)
	if !isList {
		c.fail(key, v, "is not a list", "correct the config.json")
		return nil
	}
	out := make([]T, 0, len(l))
	for _, e := range l {
		x, ok := conv(e)
		if !ok {
			c.fail(key, e, "has an element of the wrong type", "correct the config.json")
			return nil
		}
		out = append(out, x)
	}
	return out
}

// Sub gives a nested object, nil when absent.
func (c *Config) Sub(key string) *Config {
	v, ok := c.m[key]
	if !ok || v == nil {
		return nil
	}
	m, isMap := v.(map[string]any)
	if !isMap {
		c.fail(key, v, "is not an object", "correct the config.json")
		return nil
	}
	return &Config{m: m, path: c.path + key + ".", err: c.err, find: c.find}
}

// Nested is an object out of a list of a field.
func (c *Config) Nested(key string, m map[string]any) *Config {
	return &Config{m: m, path: c.path + key + ".", err: c.err, find: c.find}
}

// subs gives a list of nested objects, nil when absent.
func (c *Config) subs(key string) []*Config {
	return list(c, key, func(v any) (*Config, bool) {
		m, ok := v.(map[string]any)
		return &Config{m: m, path: c.path + key + ".", err: c.err}, ok
	})
}

// Text is the part that describes the language model: text_config where there is one.
func (c *Config) Text() *Config {
	for _, key := range []string{"text_config", "llm_config", "language_config", "thinker_config", "decoder_config"} {
		if t := c.Sub(key); t != nil {
			return t
		}
	}
	return c
}

// Class is the model's class name: the first of "architectures", or in diffusers' configs "_class_name".
func (c *Config) Class() string {
	if a := c.Strs("architectures"); len(a) > 0 {
		return a[0]
	}
	return c.Str("_class_name")
}

// Layers reads the number of layers.
func (c *Config) Layers() int {
	n := c.Int("num_hidden_layers", "n_layer", "num_layers", "n_layers")
	if n > maxLayers {
		c.fail("num_hidden_layers", json.Number(fmt.Sprint(n)), fmt.Sprintf("is more than the %s that memwall accepts", unit.Count(maxLayers)), "correct the config.json")
		return 1
	}
	return int(n)
}

// Native is the format that the config names, nil when it names none.
func (c *Config) Native() *dtype.Format {
	for _, key := range []string{"dtype", "torch_dtype"} {
		if s, ok := c.m[key].(string); ok {
			return dtype.FindFormat(strings.TrimPrefix(s, "torch."))
		}
	}
	return nil
}

// defaults fills in what a class assumes when its config leaves a field out.
func (c *Config) defaults(d map[string]int64) {
	for k, v := range d {
		if !c.Has(k) {
			c.m[k] = json.Number(fmt.Sprint(v))
		}
	}
}
