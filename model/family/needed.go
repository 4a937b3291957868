package family

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/memwall/memwall/unit"
)

// Needed returns the fields of a config.json that its family reads, sorted: those whose absence or change would result in another
// network, or none. It keeps the class names too. The remaining config describes the same network.
func Needed(data []byte) (json.RawMessage, error) {
	c, err := ParseConfig(data)
	if err != nil {
		return nil, err
	}
	if n := values(c.m); n > maxValues {
		return nil, &FieldError{Field: "config.json", Value: unit.Count(n) + " values", Problem: "more than any network has", Fix: "leave out what does not describe it"}
	}
	p := pruning{config: c.m}
	if p.want, err = p.spec(); err != nil {
		return nil, err
	}
	if p.prune(p.config); p.tried > maxTried {
		return nil, &FieldError{Field: "config.json", Problem: "has more fields than any network's", Fix: "leave out what does not describe it"}
	}
	return json.Marshal(p.config)
}

// Every field is tried in copies of the whole config: these bound the work.
const (
	maxValues = 50_000
	maxTried  = 1_000
)

// values counts what a config holds, at all depths.
func values(v any) (n int64) {
	switch x := v.(type) {
	case map[string]any:
		for _, v := range x {
			n += values(v)
		}
	case []any:
		for _, v := range x {
			n += values(v)
		}
	}
	return n + 1
}

// pruning takes fields out of a config while it describes the same network.
type pruning struct {
	config map[string]any
	want   *Spec
	tried  int // fields
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

// prune takes fields out of an object of the config. An object that can go goes whole.
func (p *pruning) prune(object map[string]any) {
	for _, k := range slices.Sorted(maps.Keys(object)) {
		if k == "architectures" || k == "model_type" {
			continue
		}
		if p.tried++; p.tried > maxTried {
			return
		}
		v := object[k]
		inner, nested := v.(map[string]any)
		delete(object, k)
		if !p.same() || !nested && p.read(object, k, v) {
			object[k] = v
			p.prune(inner)
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

func number(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }
