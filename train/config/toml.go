package config

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/format/toml"
)

// toTOML writes settings as tables, plain keys first.
func toTOML(s *section) string {
	var b strings.Builder
	writeTOML(&b, s, "")
	return strings.TrimLeft(b.String(), "\n")
}

func writeTOML(b *strings.Builder, s *section, path string) {
	head := path != ""
	for _, it := range s.items {
		if _, table := it.value.(*section); table {
			continue
		}
		if head {
			fmt.Fprintf(b, "\n[%s]\n", path)
			head = false
		}
		fmt.Fprintf(b, "%s = %s\n", it.key, jsonScalar(it.value))
	}
	for _, it := range s.items {
		if inner, table := it.value.(*section); table {
			writeTOML(b, inner, strings.TrimPrefix(path+"."+it.key, "."))
		}
	}
}

// fromTOML reads a file of tables.
func fromTOML(data []byte) (*node, error) {
	if len(data) > maxText {
		return nil, wrong("TOML", fmt.Sprintf("has %d bytes", len(data)), fmt.Sprintf("one configuration of at most %d bytes", maxText))
	}
	v, err := toml.Read(string(data))
	if err != nil {
		return nil, wrong("TOML", err.Error(), "[table], key = value; texts in quotes")
	}
	return tabled(v), nil
}

func tabled(v *toml.Value) *node {
	n := &node{text: v.Text}
	if v.Of != nil {
		n = block()
	}
	for _, key := range v.Keys {
		n.put(key, tabled(v.Of[key]))
	}
	if v.List != nil {
		n.list = []*node{}
	}
	for _, e := range v.List {
		n.list = append(n.list, tabled(e))
	}
	return n
}
