package figure

import (
	"fmt"
	"strconv"
	"strings"
)

// shortcuts are short names of common figures.
var shortcuts = map[string]string{
	"ledger": "devices.0.ledger", "parts": "speed.parts", "needed": "devices.0.needed_bytes", "high": "devices.0.needed_bytes_high",
	"usable": "devices.0.usable_bytes", "room": "devices.0.headroom_bytes", "in_host": "host.needed_bytes",
	"users": "kv.max_sequences", "tokens": "kv.capacity_tokens", "per_token": "kv.bytes_per_token", "decode": "speed.decode_tokens_per_s",
	"all":     "speed.total_tokens_per_s",
	"prefill": "speed.prefill_tokens_per_s", "tpot": "speed.tpot_ms", "first": "speed.ttft_unloaded_ms", "wait": "speed.ttft_ms",
	"cost": "speed.usd_per_million_tokens",
}

// MissingError reports a path that cannot be resolved, because the figure is unknown or does not exist.
type MissingError struct{ Path, Step string }

func (e *MissingError) Error() string { return fmt.Sprintf("%s: nothing at %q", e.Path, e.Step) }

// Look resolves a path to a number in bytes or seconds, a text, or a part of an answer. A step is a key, an index, the
// name (spaces as _) or id of an element, or a shortcut.
func (n Names) Look(path string) (any, error) {
	name, rest, _ := strings.Cut(path, ".")
	v, err := n(name)
	if err != nil {
		return nil, err
	}
	keys := strings.Split(rest, ".")
	for i := 0; i < len(keys); i++ {
		next := Step(v, keys[i])
		if long := shortcuts[keys[i]]; next == nil && long != "" {
			keys = append(append(keys[:i:i], strings.Split(long, ".")...), keys[i+1:]...)
			next = Step(v, keys[i])
		}
		if v = next; v == nil {
			return nil, &MissingError{path, keys[i]}
		}
	}
	if x, ok := v.(float64); ok && strings.HasSuffix(keys[len(keys)-1], "ms") {
		return x / 1e3, nil
	}
	return v, nil
}

// Step descends one step into decoded JSON; nil if there is nothing.
func Step(v any, key string) any {
	switch v := v.(type) {
	case map[string]any:
		return v[key]
	case []any:
		if i, err := strconv.Atoi(key); err == nil && i < len(v) {
			return v[i]
		}
		for _, by := range []string{"name", "id"} {
			if e := element(v, by, key); e != nil {
				return e
			}
		}
	}
	return nil
}

// element returns the object in a list whose key by has the value; spaces in names may be written _.
func element(list []any, by, value string) any {
	for _, e := range list {
		if m, ok := e.(map[string]any); ok && (m[by] == value || by == "name" && m[by] == strings.ReplaceAll(value, "_", " ")) {
			return m
		}
	}
	return nil
}
