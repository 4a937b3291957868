package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// toJSON writes settings two blanks a level.
func toJSON(s *section) string {
	var b strings.Builder
	writeJSON(&b, s, "")
	return b.String() + "\n"
}

func writeJSON(b *strings.Builder, s *section, indent string) {
	b.WriteString("{")
	for i, it := range s.items {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(b, "\n%s  %s: ", indent, jsonText(it.key))
		if inner, ok := it.value.(*section); ok {
			writeJSON(b, inner, indent+"  ")
			continue
		}
		b.WriteString(jsonScalar(it.value))
	}
	b.WriteString("\n" + indent + "}")
}

func jsonScalar(v any) string {
	switch v := v.(type) {
	case string:
		return jsonText(v)
	case []string:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = jsonText(v[i])
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return scalar(v)
}

func jsonText(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}

// fromJSON reads one object.
func fromJSON(data []byte) (*node, error) {
	if len(data) > maxText {
		return nil, wrong("JSON", fmt.Sprintf("has %d bytes", len(data)), fmt.Sprintf("one configuration of at most %d bytes", maxText))
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	t, err := d.Token()
	if err != nil || t != json.Delim('{') {
		return nil, wrong("JSON", "is not an object", `{"key": value, …}`)
	}
	n, err := object(d, 0)
	if err != nil {
		return nil, wrong("JSON", fmt.Sprintf("cannot be read behind byte %d", d.InputOffset()), "close every bracket and quote; no comments")
	}
	return n, nil
}

func object(d *json.Decoder, depth int) (*node, error) {
	out := block()
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		key, ok := t.(string)
		if !ok {
			return nil, io.ErrUnexpectedEOF
		}
		v, err := value(d, depth+1)
		if err != nil {
			return nil, err
		}
		out.put(key, v)
	}
	_, err := d.Token()
	return out, err
}

func value(d *json.Decoder, depth int) (*node, error) {
	if depth > maxDepth {
		return nil, io.ErrShortBuffer
	}
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Delim:
		if t == '{' {
			return object(d, depth)
		}
		return array(d, depth)
	case nil:
		return &node{null: true}, nil
	}
	return &node{text: fmt.Sprint(t)}, nil
}

func array(d *json.Decoder, depth int) (*node, error) {
	out := &node{list: []*node{}}
	for d.More() {
		v, err := value(d, depth+1)
		if err != nil {
			return nil, err
		}
		out.list = append(out.list, v)
	}
	_, err := d.Token()
	return out, err
}
