package pickle

import (
	"encoding/binary"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Limits of a pickle of any length: values on the stack, and bytes retained of what no client packs.
const (
	mostStacked = 4 << 20
	mostHeld    = 256 << 20
	// batch is how many items Python's pickler adds to a dict or list at once: after fewer it is complete.
	batch = 1000
)

// Approximate Go memory of retained values, in bytes.
const (
	perContainer = 96
	perItem      = 24
	perText      = 64
	perMemo      = 64
)

// Reader reads one pickle.
type Reader struct {
	scanner
	// Whole is called for each complete dict and list and may return a replacement, so that its memory is reused. It
	// must not retain the container. If nil, everything is retained.
	Whole func(*Container) (Value, bool)
	texts []string
	words map[string]Word
	stack []Value
	marks []int
	memo  map[uint32]Value
	low   []kept // values with low indexes, to which most references go
	put   uint32 // next index for MEMOIZE
	held  int64
	spare []*Container
}

// kept is a memo entry.
type kept struct {
	Value
	there bool
}

// mostLow is the number of entries stored without a map.
const mostLow = 1 << 14

// keep stores a value in the memo.
func (r *Reader) keep(i uint32, v Value) {
	if i >= mostLow {
		r.memo[i] = v
		return
	}
	if int(i) >= len(r.low) {
		r.low = append(r.low, make([]kept, int(i)+1-len(r.low))...)
	}
	r.low[i] = kept{v, true}
}

// fetch returns a value from the memo.
func (r *Reader) fetch(i uint32) (Value, bool) {
	if int(i) < len(r.low) {
		return r.low[i].Value, r.low[i].there
	}
	v, ok := r.memo[i]
	return v, ok
}

// NewReader returns a Reader for a stream.
func NewReader(r io.Reader) *Reader {
	return &Reader{scanner: scanner{r: r}, words: map[string]Word{}, memo: map[uint32]Value{}}
}

// Word returns the identifier of a string, for Value.Is and Container.At.
func (r *Reader) Word(text string) Word {
	if w, ok := r.words[text]; ok {
		return w
	}
	w := Word(len(r.texts))
	text = strings.Clone(text)
	r.texts, r.words[text] = append(r.texts, text), w
	return w
}

// Text returns the string of a value; "" for other kinds.
func (r *Reader) Text(v Value) string {
	if v.Kind != Text {
		return ""
	}
	return r.texts[v.n]
}

// Hold counts bytes retained by a client and returns an error if the pickle holds too much.
func (r *Reader) Hold(bytes int64) error {
	if r.held += bytes; r.held > mostHeld {
		return r.wrong(r.offset(), "more than %d MiB are held of what was read so far: no memory snapshot has so much that differs",
			mostHeld>>20)
	}
	return nil
}

// Read reads the pickle to its end and returns its value. Errors in the pickle are *Error.
func (r *Reader) Read() (Value, error) {
	for {
		op, err := r.byte()
		if err != nil {
			return Value{}, err
		}
		if op == '.' {
			return r.pop()
		}
		if err := r.step(op); err != nil {
			return Value{}, err
		}
		if len(r.stack) > mostStacked {
			return Value{}, r.wrong(r.offset(), "more than %d values wait for their list or dict", mostStacked)
		}
	}
}

// step executes one opcode, as defined by Python's Lib/pickletools.py.
func (r *Reader) step(op byte) error {
	switch op {
	case 0x80: // PROTO
		v, err := r.byte()
		if err == nil && v > 5 {
			return r.wrong(r.offset()-1, "protocol %d, and 5 is the newest", v)
		}
		return err
	case 0x95: // FRAME
		_, err := r.few(8)
		return err
	case '(':
		r.marks = append(r.marks, len(r.stack))
		return nil
	case '0':
		return r.drop()
	case '1':
		_, err := r.marked()
		return err
	case '2':
		v, err := r.top()
		r.push(v)
		return err
	case 'N', 0x88, 0x89, 'K', 'M', 'J', 0x8a, 0x8b, 'G', 'I', 'L', 'F':
		return r.scalar(op)
	case 0x8c, 'X', 0x8d, 'U', 'T', 'C', 'B', 0x8e, 'S', 'V':
		return r.textOf(op)
	case 'p', 'q', 'r', 0x94, 'g', 'h', 'j':
		return r.memory(op)
	}
	return r.build(op)
}

func (r *Reader) push(v Value) { r.stack = append(r.stack, v) }

// top returns the top of the stack, above the last mark.
func (r *Reader) top() (Value, error) {
	if len(r.stack) == r.floor() {
		return Value{}, r.wrong(r.offset()-1, "nothing is on the stack that this needs")
	}
	return r.stack[len(r.stack)-1], nil
}

func (r *Reader) floor() int {
	if len(r.marks) == 0 {
		return 0
	}
	return r.marks[len(r.marks)-1]
}

func (r *Reader) pop() (Value, error) {
	v, err := r.top()
	if err == nil {
		r.stack = r.stack[:len(r.stack)-1]
	}
	return v, err
}

// drop is POP, which also removes a mark.
func (r *Reader) drop() error {
	if n := len(r.marks); n > 0 && len(r.stack) == r.marks[n-1] {
		r.marks = r.marks[:n-1]
		return nil
	}
	_, err := r.pop()
	return err
}

// marked removes and returns what is above the last mark, valid until the next push.
func (r *Reader) marked() ([]Value, error) {
	if len(r.marks) == 0 {
		return nil, r.wrong(r.offset()-1, "no mark is on the stack that this needs")
	}
	from := r.floor()
	r.marks = r.marks[:len(r.marks)-1]
	out := r.stack[from:]
	r.stack = r.stack[:from]
	return out, nil
}

// scalar reads None, a bool or a number.
func (r *Reader) scalar(op byte) error {
	var v Value
	var err error
	switch op {
	case 'N':
	case 0x88, 0x89:
		v = Value{Kind: Bool, n: uint64(0x89 - op)}
	case 'K':
		v, err = r.integer(1)
	case 'M':
		v, err = r.integer(2)
	case 'J':
		v, err = r.integer(4)
	case 0x8a, 0x8b:
		v, err = r.long(op)
	case 'G':
		var b []byte
		if b, err = r.few(8); err == nil {
			v = Value{Kind: Float, n: binary.BigEndian.Uint64(b)}
		}
	default:
		v, err = r.written(op)
	}
	r.push(v)
	return err
}

// integer reads 1, 2 or 4 bytes; 4-byte integers are signed.
func (r *Reader) integer(size int) (Value, error) {
	x, err := r.number(size)
	if size == 4 {
		x = uint64(int64(int32(x)))
	}
	return Value{Kind: Int, n: x}, err
}

// long reads a two's complement integer of any length.
func (r *Reader) long(op byte) (Value, error) {
	size, err := r.number(1 + 3*int(op-0x8a)) // LONG1 or LONG4
	if err != nil {
		return Value{}, err
	}
	b, err := r.pass(size, 9, "an integer")
	if err != nil || size == 0 {
		return Value{Kind: Int}, err
	}
	sign := uint64(int64(int8(b[len(b)-1])) >> 63)
	if size > 9 || size == 9 && (b[8] != 0 && b[8] != 0xff || b[8]>>7 != b[7]>>7) {
		return Value{Kind: Big}, nil
	}
	x := sign
	for i := min(7, len(b)-1); i >= 0; i-- {
		x = x<<8 | uint64(b[i])
	}
	return Value{Kind: Int, n: x}, nil
}

// written parses a number of protocol 0.
func (r *Reader) written(op byte) (Value, error) {
	at := r.offset()
	b, err := r.line()
	if err != nil {
		return Value{}, err
	}
	s := string(b)
	if op == 'F' {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return Value{}, r.wrong(at, "no number is written here")
		}
		return Value{Kind: Float, n: math.Float64bits(x)}, nil
	}
	if op == 'I' && (s == "00" || s == "01") {
		return Value{Kind: Bool, n: uint64(s[1] - '0')}, nil
	}
	n, err := strconv.ParseInt(strings.TrimSuffix(s, "L"), 10, 64)
	if err != nil && strings.Trim(s, "-0123456789L") != "" {
		return Value{}, r.wrong(at, "no number is written here")
	}
	if err != nil {
		return Value{Kind: Big}, nil
	}
	return Value{Kind: Int, n: uint64(n)}, nil
}

// textSizes is the size of the length before a string; bytes are treated as strings.
var textSizes = map[byte]int{0x8c: 1, 'X': 4, 0x8d: 8, 'U': 1, 'T': 4, 'C': 1, 'B': 4, 0x8e: 8}

func (r *Reader) textOf(op byte) error {
	if op == 'S' || op == 'V' {
		b, err := r.line()
		if err != nil {
			return err
		}
		return r.pushText(unquoted(string(b), op))
	}
	size, err := r.number(textSizes[op])
	if err != nil {
		return err
	}
	b, err := r.pass(size, longestText, "a text")
	if err != nil {
		return err
	}
	if w, ok := r.words[string(b)]; ok {
		r.push(Value{Kind: Text, n: uint64(w)})
		return nil
	}
	return r.pushText(string(b))
}

// unquoted decodes a string of protocol 0: a quoted repr, or raw-unicode-escape, which is Latin-1 with \uXXXX and
// \UXXXXXXXX.
func unquoted(s string, op byte) string {
	if op == 'S' {
		s = strings.Trim(s, "'\"")
		if t, err := strconv.Unquote(`"` + strings.ReplaceAll(strings.ReplaceAll(s, `\'`, `'`), `"`, `\"`) + `"`); err == nil {
			return t
		}
		return s
	}
	out := make([]rune, 0, len(s))
	for len(s) > 0 {
		c, n := rune(s[0]), 1
		if digits := map[string]int{`\u`: 4, `\U`: 8}[s[:min(2, len(s))]]; digits > 0 && len(s) >= 2+digits {
			if x, err := strconv.ParseUint(s[2:2+digits], 16, 32); err == nil {
				c, n = rune(x), 2+digits
			}
		}
		out, s = append(out, c), s[n:]
	}
	return string(out)
}

func (r *Reader) pushText(s string) error {
	before := len(r.texts)
	w := r.Word(s[:min(len(s), longestText)])
	r.push(Value{Kind: Text, n: uint64(w)})
	if len(r.texts) > before {
		return r.Hold(perText + int64(len(s)))
	}
	return nil
}

// memory stores the top of the stack in the memo, or fetches an entry.
func (r *Reader) memory(op byte) error {
	at := r.offset() - 1
	i, err := r.slot(op)
	if err != nil {
		return err
	}
	if op == 'g' || op == 'h' || op == 'j' {
		v, ok := r.fetch(i)
		if !ok {
			v, ok = r.unfinished(i)
		}
		if !ok {
			return r.wrong(at, "refers to value %d, which is not kept", i)
		}
		r.push(v)
		return nil
	}
	if int64(i) > r.offset() {
		return r.wrong(at, "keeps value %d, and so many cannot stand before it", i)
	}
	v, err := r.top()
	if err != nil {
		return err
	}
	r.put = max(r.put, i+1)
	if v.Kind == Packed && v.tag == 0 {
		return nil // never referred to
	}
	if v.of != nil {
		v.of.memo, v.of.known = i, true
		if r.Whole != nil && v.Kind != Tuple {
			return nil // stored when complete
		}
	}
	r.keep(i, v)
	return r.Hold(perMemo)
}

// unfinished returns a container that is not complete yet, as when it contains itself.
func (r *Reader) unfinished(i uint32) (Value, bool) {
	for _, v := range slices.Backward(r.stack) {
		if v.of != nil && v.of.known && v.of.memo == i {
			return v, true
		}
	}
	return Value{}, false
}

// slot reads a memo index.
func (r *Reader) slot(op byte) (uint32, error) {
	switch op {
	case 0x94:
		return r.put, nil
	case 'q', 'h':
		x, err := r.number(1)
		return uint32(x), err
	case 'r', 'j':
		x, err := r.number(4)
		return uint32(x), err
	}
	at := r.offset()
	b, err := r.line()
	if err != nil {
		return 0, err
	}
	x, err := strconv.ParseUint(string(b), 10, 32)
	if err != nil {
		return 0, r.wrong(at, "no number of a kept value is written here")
	}
	return uint32(x), nil
}
