package config

import "strings"

// section is a block of settings in the order in which they are written.
type section struct{ items []setting }

// setting has a value that is a string, int64, float64, bool, []string, *section or []*section.
type setting struct {
	key   string
	value any
}

// set puts a value at a dotted path; nil leaves it out.
func (s *section) set(path string, value any) {
	if value == nil {
		return
	}
	head, rest, nested := strings.Cut(path, ".")
	if !nested {
		s.items = append(s.items, setting{path, value})
		return
	}
	s.child(head).set(rest, value)
}

// child is a block inside, made where there is none.
func (s *section) child(key string) *section {
	for i := range s.items {
		if c, ok := s.items[i].value.(*section); ok && s.items[i].key == key {
			return c
		}
	}
	c := &section{}
	s.items = append(s.items, setting{key, c})
	return c
}

// value at a path of one key; nil when there is none.
func (s *section) value(key string) any {
	for i := range s.items {
		if s.items[i].key == key {
			return s.items[i].value
		}
	}
	return nil
}
