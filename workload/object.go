package workload

import "bytes"

// object iterates over the keys of a JSON object on one line without allocating. It validates the structure between
// values; values are validated by their readers.
type object struct {
	text []byte
	at   int
	open bool // the opening brace was read
	done bool
}

// next returns the next key and value verbatim, with quotes or brackets. The reason says why there is none; it is empty
// at the end.
func (o *object) next() (key, value []byte, reason Reason) {
	first := !o.open
	if !o.open {
		if !o.take('{') {
			return nil, nil, Malformed
		}
		o.open = true
	}
	if o.take('}') {
		return nil, nil, o.end()
	}
	if !first && !o.take(',') {
		return nil, nil, o.cut()
	}
	if key, reason = o.string(); reason != "" {
		return nil, nil, reason
	}
	if !o.take(':') {
		return nil, nil, o.cut()
	}
	value, reason = o.value()
	return key[1 : len(key)-1], value, reason
}

// end checks that nothing follows.
func (o *object) end() Reason {
	o.done = true
	if o.space(); o.at < len(o.text) {
		return Malformed
	}
	return ""
}

func (o *object) space() {
	for o.at < len(o.text) {
		switch o.text[o.at] {
		case ' ', '\t', '\n', '\r':
			o.at++
		default:
			return
		}
	}
}

// take consumes a character.
func (o *object) take(mark byte) bool {
	if o.space(); o.at < len(o.text) && o.text[o.at] == mark {
		o.at++
		return true
	}
	return false
}

// cut distinguishes a truncated text from an invalid one.
func (o *object) cut() Reason {
	if o.at >= len(o.text) {
		return CutOff
	}
	return Malformed
}

// string returns a string with its quotes.
func (o *object) string() ([]byte, Reason) {
	if o.space(); o.at >= len(o.text) || o.text[o.at] != '"' {
		return nil, o.cut()
	}
	from := o.at
	for o.at++; o.at < len(o.text); o.at++ {
		switch o.text[o.at] {
		case '\\':
			o.at++
		case '"':
			o.at++
			return o.text[from:o.at], ""
		}
	}
	o.at = len(o.text)
	return nil, CutOff
}

// value returns a value verbatim.
func (o *object) value() ([]byte, Reason) {
	o.space()
	from := o.at
	if from >= len(o.text) {
		return nil, CutOff
	}
	switch o.text[from] {
	case '"':
		return o.string()
	case '[', '{':
		return o.nested()
	}
	for o.at < len(o.text) && !ends[o.text[o.at]] {
		o.at++
	}
	if o.at == from {
		return nil, Malformed
	}
	return o.text[from:o.at], ""
}

// ends are the bytes that may follow a number or word.
var ends = [256]bool{' ': true, '\t': true, '\n': true, '\r': true, ',': true, ']': true, '}': true, ':': true, '"': true, '[': true,
	'{': true}

// nested returns a nested value: a list of numbers is scanned to its end, anything else bracket by bracket.
func (o *object) nested() ([]byte, Reason) {
	from := o.at
	if end := bytes.IndexByte(o.text[from:], ']'); o.text[from] == '[' && end > 0 && bytes.IndexByte(o.text[from+1:from+end], '[') < 0 &&
		bytes.IndexByte(o.text[from:from+end], '"') < 0 && bytes.IndexByte(o.text[from:from+end], '{') < 0 {
		o.at = from + end + 1
		return o.text[from:o.at], ""
	}
	depth := 0
	for o.at < len(o.text) {
		switch o.text[o.at] {
		case '"':
			if _, reason := o.string(); reason != "" {
				return nil, reason
			}
			continue
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		o.at++
		if depth == 0 {
			return o.text[from:o.at], ""
		}
	}
	return nil, CutOff
}
