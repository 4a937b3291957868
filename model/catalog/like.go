package catalog

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// figures are the config of the entry that this one is like, with its own fields put in.
func (e *Entry) figures() (json.RawMessage, error) {
	var other Entry
	if err := json.Unmarshal(lineOf(e.Like), &other); err != nil || other.Like != "" {
		return nil, fmt.Errorf("catalog: %s is like %q, which has no config of its own", e.ID, e.Like)
	}
	if len(e.row) == 0 {
		return other.Config, nil
	}
	return merged(other.Config, e.row)
}

// lineOf the entry with an id; nil for none.
func lineOf(name string) (found []byte) {
	lines(func(line []byte) bool {
		if id(line) == name {
			found = line
		}
		return found == nil
	})
	return found
}

// merged puts the fields of one object into another, objects into objects (RFC 7396, but that null is a value).
func merged(into, from json.RawMessage) (json.RawMessage, error) {
	var a, b map[string]json.RawMessage
	if err := json.Unmarshal(into, &a); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(from, &b); err != nil {
		return nil, err
	}
	for _, k := range slices.Sorted(maps.Keys(b)) {
		if v := b[k]; len(v) > 0 && v[0] == '{' && len(a[k]) > 0 && a[k][0] == '{' {
			inner, err := merged(a[k], v)
			if err != nil {
				return nil, err
			}
			a[k] = inner
			continue
		}
		a[k] = b[k]
	}
	return json.Marshal(a)
}
