package family

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
)

// Needed gives the fields of a config.json that its family looks at, sorted: those whose absence or change
// would make another network, or none. What names the class is kept too. The config that is left describes the
// same network.
func Needed(data []byte) (json.RawMessage, error) {
	c, err := ParseConfig(data)
	if err != nil {
		return nil, err
	}
	p := pruning{config: c.m}
	if p.want, err = p.spec(); err != nil {
		return nil, err
	}
	p.prune(p.config)
	return json.Marshal(p.config)
}

// pruning takes fields out of a config while it describes the same network.
type pruning struct {
	config map[string]any
	want   *Spec
}

// spec reads a copy, because reading fills in fields.
func (p *pruning) spec() (*Spec, error) {
	return FromConfig(&Config{m: cloned(p.config).(map[string]any), err: new(*FieldError)})
}

func cloned(v any) any {
	switch x := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(x))
		for k, v := range x {
			out[k] = cloned(v)
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i, v := range x {
			out[i] = cloned(v)
		}
		return out
	}
	return v
}

// same reports whether the config still describes the network.
func (p *pruning) same() bool {
	s, err := p.spec()
	return err == nil && reflect.DeepEqual(s, p.want)
}

func (p *pruning) prune(object map[string]any) {
	for _, k := range slices.Sorted(maps.Keys(object)) {
		v := object[k]
		if k == "architectures" || k == "model_type" {
			continue
		}
		inner, nested := v.(map[string]any)
		if nested {
			p.prune(inner)
		}
		delete(object, k)
		if !p.same() || !nested && p.read(object, k, v) {
			object[k] = v
		}
	}
}

// read reports whether another value of a field makes another network.
func (p *pruning) read(object map[string]any, k string, v any) bool {
	defer delete(object, k)
	for _, other := range others(v) {
		object[k] = other
		if !p.same() {
			return true
		}
	}
	return false
}

// others are values of the same kind.
func others(v any) []any {
	switch x := v.(type) {
	case bool:
		return []any{!x}
	case string:
		return []any{x + "x"}
	case json.Number:
		n, err := x.Int64()
		if err != nil {
			return []any{json.Number("0.5"), json.Number("-1"), json.Number("2")}
		}
		return []any{json.Number("0"), json.Number("1"), number(n + 1), number(2 * n)}
	case []any:
		if len(x) > 0 {
			return []any{[]any{}, x[:len(x)-1], "x"}
		}
		return []any{"x"}
	}
	return nil
}

func number(n int64) json.Number {
	b, _ := json.Marshal(n) //nolint:errcheck // a whole number is always JSON
	return json.Number(b)
}
