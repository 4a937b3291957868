package family

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Number is a field of a config.json that is a whole number; Path goes through objects: "text_config.hidden_size".
type Number struct {
	Path  string
	Value int64
}

// Numbers lists the fields that are whole numbers, those of nested objects too; nil where there are more than most values.
func (c *Config) Numbers(most int64) []Number {
	if values(c.m) > most {
		return nil
	}
	return numbersOf("", c.m)
}

func numbersOf(path string, object map[string]any) (out []Number) {
	for _, k := range slices.Sorted(maps.Keys(object)) {
		switch v := object[k].(type) {
		case json.Number:
			if x, err := v.Float64(); err == nil && x == math.Trunc(x) && math.Abs(x) <= maxWidth {
				out = append(out, Number{path + k, int64(x)})
			}
		case map[string]any:
			out = append(out, numbersOf(path+k+".", v)...)
		}
	}
	return out
}

// With is the config with another value of a number that Numbers lists.
func (c *Config) With(path string, value int64) *Config {
	m := cloned(c.m).(map[string]any)
	object, keys := m, strings.Split(path, ".")
	for _, k := range keys[:len(keys)-1] {
		object, _ = object[k].(map[string]any)
	}
	if object != nil {
		object[keys[len(keys)-1]] = json.Number(strconv.FormatInt(value, 10))
	}
	return &Config{m: m, err: new(*FieldError)}
}
