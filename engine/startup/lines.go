package startup

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/memwall/memwall/fault"
)

// Line is a line of a log, without colors. Text includes any prefix: readers look for the engine's words anywhere in it.
type Line struct {
	Number int
	Text   string
	// Rank is the process that printed it, as it calls itself: "TP0", "DP1 TP3", "rank 2"; "" when it
	// does not say.
	Rank string
	// Cut: the line is longer than MaxLine, or the text ends in it.
	Cut bool
}

// Lines reads a text line by line. Carriage returns end lines too: progress bars use them.
type Lines struct {
	r      *bufio.Reader
	number int
	err    error
	wide   byteOrder
	bytes  int64
	text   int64  // bytes that are not blank
	raw    []byte // of the line that is read
	// stream: the text may be of any length, and bytes of 0 in it are blanks.
	stream bool
}

type byteOrder uint8

const (
	utf8Text byteOrder = iota
	littleEndian
	bigEndian
)

// NewLines returns Lines for a text; it inspects the first bytes and rejects anything but text.
func NewLines(r io.Reader) (*Lines, error) {
	l := &Lines{r: bufio.NewReaderSize(r, 64<<10)}
	head, err := l.r.Peek(4 << 10)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, []byte{0xFF, 0xFE}):
		l.wide = littleEndian
		_, err = l.r.Discard(2)
	case bytes.HasPrefix(head, []byte{0xFE, 0xFF}):
		l.wide = bigEndian
		_, err = l.r.Discard(2)
	case bytes.HasPrefix(head, []byte{0xEF, 0xBB, 0xBF}):
		_, err = l.r.Discard(3)
	default:
		err = text(head)
	}
	return l, err
}

// NewStream is like NewLines for logs written over days: any number of lines, possibly with NUL bytes left by a crash. It rejects
// what does not look like text at all.
func NewStream(r io.Reader) (*Lines, error) {
	b := bufio.NewReaderSize(r, 64<<10)
	head, err := b.Peek(4 << 10)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if err := mostlyText(head); err != nil {
		return nil, err
	}
	l := &Lines{r: b, stream: true}
	switch {
	case bytes.HasPrefix(head, []byte{0xFF, 0xFE}):
		l.wide = littleEndian
	case bytes.HasPrefix(head, []byte{0xFE, 0xFF}):
		l.wide = bigEndian
	}
	if l.wide != utf8Text {
		_, err = l.r.Discard(2)
		return l, err
	}
	return l, nil
}

// mostlyText refuses a head of which more than a tenth is control characters or no UTF-8.
func mostlyText(head []byte) error {
	if bytes.HasPrefix(head, []byte{0xFF, 0xFE}) || bytes.HasPrefix(head, []byte{0xFE, 0xFF}) {
		return nil
	}
	odd := 0
	for rest := head; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		cut := r == utf8.RuneError && len(rest) < utf8.UTFMax
		if !cut && (r == utf8.RuneError && n == 1 || r < ' ' && strings.IndexByte("\t\n\r\x1b", byte(r)) < 0) {
			odd++
		}
		rest = rest[n:]
	}
	if odd*10 > len(head) {
		return fault.New(fmt.Sprintf("%d of its first %d bytes are not text", odd, len(head)),
			"give the log itself, unpacked: zcat LOG.gz | memwall diagnose")
	}
	return nil
}

func text(head []byte) error {
	if i := bytes.IndexByte(head, 0); i >= 0 {
		return fault.New(fmt.Sprintf("byte %d of the log is 0: this is not text", i),
			"give the text that the server printed at start")
	}
	return nil
}

// Next gives the next line that is not blank; false at the end, or when Err is set.
func (l *Lines) Next() (Line, bool) {
	for l.err == nil && (l.stream || l.number < MaxLines) {
		cut, err := l.read()
		if err != nil && !errors.Is(err, io.EOF) {
			l.err = err
			return Line{}, false
		}
		if errors.Is(err, io.EOF) && len(l.raw) == 0 {
			return Line{}, false
		}
		l.number++
		if clean := strings.TrimRight(plainText(l.raw), " \t│|"); clean != "" {
			l.text += int64(len(clean))
			return Line{Number: l.number, Text: clean, Rank: rankOf(clean), Cut: cut || errors.Is(err, io.EOF)}, true
		}
	}
	if !l.stream && l.number == MaxLines {
		l.err = fault.New(fmt.Sprintf("the log has more than %d lines", MaxLines), "give its beginning: the start of the server")
	}
	return Line{}, false
}

// Err is what stopped the reading, nil at the end. A text without anything but blanks is an error.
func (l *Lines) Err() error {
	if l.err == nil && l.text == 0 && l.stream {
		return fault.New("the log is empty", "give the log, or the error itself")
	}
	if l.err == nil && l.text == 0 {
		return fault.New("the log is empty", "give the text that the server printed at start")
	}
	return l.err
}

// read puts one line's bytes in raw, at most MaxLine of them; io.EOF with the last.
func (l *Lines) read() (cut bool, err error) {
	l.raw = l.raw[:0]
	for {
		piece, end, err := l.piece()
		if room := MaxLine - len(l.raw); len(piece) > room {
			piece, cut = piece[:room], true
		}
		l.raw = append(l.raw, piece...)
		if end || err != nil {
			return cut, err
		}
	}
}

// piece is what is at hand of a line, and whether the line ends behind it.
func (l *Lines) piece() (piece []byte, end bool, err error) {
	if l.wide != utf8Text {
		return l.wideChar()
	}
	if _, err := l.r.Peek(1); err != nil {
		return nil, false, err
	}
	piece, _ = l.r.Peek(l.r.Buffered())
	if n := bytes.IndexByte(piece, '\n'); n >= 0 {
		piece, end = piece[:n], true
	}
	if n := bytes.IndexByte(piece, '\r'); n >= 0 {
		piece, end = piece[:n], true
	}
	if n := bytes.IndexByte(piece, 0); n >= 0 && !l.stream {
		return nil, false, noText(l.bytes + int64(n))
	}
	n := len(piece)
	if end {
		n++
	}
	l.bytes += int64(n)
	_, err = l.r.Discard(n)
	return piece, end, err
}

func noText(at int64) error {
	return fault.New(fmt.Sprintf("byte %d of the log is 0: this is not text", at),
		"give the text that the server printed at start")
}

// wideChar is one character of UTF-16.
func (l *Lines) wideChar() (char []byte, end bool, err error) {
	var two [2]byte
	for i := range two {
		if two[i], err = l.r.ReadByte(); err != nil {
			return nil, false, err
		}
	}
	l.bytes += 2
	u := rune(two[0]) | rune(two[1])<<8
	if l.wide == bigEndian {
		u = rune(two[0])<<8 | rune(two[1])
	}
	switch {
	case u == '\n' || u == '\r':
		return nil, true, nil
	case u == 0 && !l.stream:
		return nil, false, noText(l.bytes - 2)
	case utf16.IsSurrogate(u):
		u = utf8.RuneError
	}
	return utf8.AppendRune(nil, u), false, nil
}

// plainText drops escape sequences of terminals; other control characters become blanks.
func plainText(raw []byte) string {
	if bytes.IndexByte(raw, 0x1B) < 0 && utf8.Valid(raw) && !controls(raw) {
		return string(raw)
	}
	var b strings.Builder
	for i := 0; i < len(raw); {
		if raw[i] == 0x1B {
			i += escape(raw[i:])
			continue
		}
		r, n := utf8.DecodeRune(raw[i:])
		if r < ' ' {
			r = ' '
		}
		b.WriteRune(r)
		i += n
	}
	return b.String()
}

func controls(raw []byte) bool {
	for _, c := range raw {
		if c < ' ' && c != '\t' {
			return true
		}
	}
	return false
}

// escape is the length of an escape sequence: CSI (colours, cursor), OSC (titles, links) or two bytes.
func escape(raw []byte) int {
	if len(raw) < 2 {
		return len(raw)
	}
	switch raw[1] {
	case '[':
		for i := 2; i < len(raw); i++ {
			if raw[i] >= '@' && raw[i] <= '~' {
				return i + 1
			}
		}
		return len(raw)
	case ']':
		for i := 2; i < len(raw); i++ {
			if raw[i] == 7 {
				return i + 1
			}
			if raw[i] == 0x1B && i+1 < len(raw) && raw[i+1] == '\\' {
				return i + 2
			}
		}
		return len(raw)
	}
	return 2
}

// rankOf reads the forms that engines put before a line:
//
//	(Worker_TP0 pid=34322)  (Worker_DP1_TP0_EP4 pid=7)  (EngineCore_DP0 pid=387)  vLLM V1
//	(VllmWorker rank=1 pid=12)  (VllmWorkerProcess pid=521)  (RayWorkerWrapper pid=3, ip=…)  vLLM
//	[2025-10-16 09:06:09 TP7]  [… DP0 TP1 EP1]  [gpu_id=1]  [rank=0]  SGLang
func rankOf(text string) string {
	const within = 256 // prefixes of docker and kubernetes stand before it
	head := text[:min(len(text), within)]
	for i := 0; i < len(head); i++ {
		open := head[i]
		if open != '(' && open != '[' {
			continue
		}
		end := strings.IndexAny(head[i:], ")]")
		if end < 0 {
			return ""
		}
		if r := rankIn(head[i+1 : i+end]); r != "" {
			return r
		}
	}
	return ""
}

func rankIn(s string) string {
	name, rest, _ := strings.Cut(s, " ")
	switch {
	case strings.HasPrefix(name, "Worker_"):
		return strings.ReplaceAll(strings.TrimPrefix(name, "Worker_"), "_", " ")
	case strings.HasPrefix(name, "EngineCore_DP"):
		return strings.TrimPrefix(name, "EngineCore_")
	case name == "VllmWorker" && strings.HasPrefix(rest, "rank="):
		return "rank " + digits(rest[len("rank="):])
	case strings.HasPrefix(name, "VllmWorkerProcess") || strings.HasPrefix(name, "RayWorkerWrapper") || name == "RayTrainWorker" ||
		name == "Worker":
		return strings.TrimSuffix(strings.Replace(rest, "=", " ", 1), ",")
	case strings.HasPrefix(s, "gpu_id=") || strings.HasPrefix(s, "gpu="):
		return "TP" + digits(s[strings.IndexByte(s, '=')+1:])
	case strings.HasPrefix(s, "rank="):
		return "TP" + digits(s[len("rank="):])
	}
	return ranksBehind(s)
}

// ranksBehind reads "2025-10-16 09:06:09 DP0 TP7 EP7".
func ranksBehind(s string) string {
	words := strings.Fields(s)
	var out []string
	for _, w := range words {
		if len(w) > 2 && len(w) < 8 && (w[:2] == "TP" || w[:2] == "DP" || w[:2] == "PP" || w[:2] == "EP") && digits(w[2:]) == w[2:] {
			out = append(out, w)
		}
	}
	if len(out) == 0 || len(out) == len(words) && len(words) > 4 {
		return ""
	}
	return strings.Join(out, " ")
}

func digits(s string) string {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return s[:n]
}
