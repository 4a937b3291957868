package workload

import "bytes"

// object walks over the keys of one JSON object on a line, without building anything. It is strict about what stands
// between values; the values are checked by who reads them.
type object struct {
	text []byte
	at   int
	open bool // the brace was read
	done bool
}

// next key and value as they stand: a text with its quotes, a list with its brackets. The reason says why there is none;
// it is empty behind the last.
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

// end: nothing may follow.
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

// take a mark.
func (o *object) take(mark byte) bool {
	if o.space(); o.at < len(o.text) && o.text[o.at] == mark {
		o.at++
		return true
	}
	return false
}

// cut tells a text that ends too early from one that is wrong.
func (o *object) cut() Reason {
	if o.at >= len(o.text) {
		return CutOff
	}
	return Malformed
}

// string with its quotes.
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

// value as it stands.
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

// ends are the bytes behind a number or a word.
var ends = [256]bool{' ': true, '\t': true, '\n': true, '\r': true, ',': true, ']': true, '}': true, ':': true, '"': true, '[': true,
	'{': true}

// nested value: a list of numbers is found by its end, all else bracket by bracket.
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
