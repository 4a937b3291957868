package pickle

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// show writes a value as Python would, to a depth.
func show(r *Reader, v Value, depth int) string {
	if depth == 0 {
		return "…"
	}
	switch v.Kind {
	case None:
		return "None"
	case Bool:
		return map[uint64]string{0: "False", 1: "True"}[v.n]
	case Int:
		n, _ := v.Int()
		return fmt.Sprint(n)
	case Big:
		return "big"
	case Float:
		x, _ := v.Float()
		return fmt.Sprint(x)
	case Text:
		return fmt.Sprintf("%q", r.Text(v))
	case Packed:
		tag, n, count, _ := v.Unpack()
		return fmt.Sprintf("%d:%d+%d", tag, n, count)
	}
	var parts []string
	for _, item := range v.Of().Items {
		parts = append(parts, show(r, item, depth-1))
	}
	return map[Kind]string{List: "list", Dict: "dict", Tuple: "tuple"}[v.Kind] + "(" + strings.Join(parts, " ") + ")"
}

// TestProtocols: one value that Python wrote in each protocol is read as the same.
func TestProtocols(t *testing.T) {
	want := ""
	for protocol := range 6 {
		data, err := os.ReadFile(fmt.Sprintf("testdata/plain.%d", protocol))
		if err != nil {
			t.Fatal(err)
		}
		r := NewReader(bytes.NewReader(data))
		v, err := r.Read()
		if err != nil {
			t.Fatalf("protocol %d: %v", protocol, err)
		}
		got := show(r, v, 10)
		for _, part := range []string{
			`"none" None "yes" True "no" False "ints" list(0 255 256 65535 65536 -1 2147483647 -2147483648 1099511627776 -1099511627776 9223372036854775807 -9223372036854775808 big)`,
			`"floats" list(0.5 -1e+300)`, `"text" "pool 'ä' \"q\" \\ \n end"`, `"tuples" list(tuple(1) tuple(1 2) tuple(1 2 3) tuple(1 2 3 4))`,
			`"shared" list(list("a" dict("line" 7)) list("a" dict("line" 7)))`, `2498 2499)`, `"1499" 1499)`,
		} {
			if !strings.Contains(got, part) {
				t.Errorf("protocol %d lacks %s", protocol, part)
			}
		}
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("protocol %d is not read as 0 is", protocol)
		}
	}
}

// TestRefused: what is not plain data is refused where it stands, by every protocol, and a loop is only data.
func TestRefused(t *testing.T) {
	for name, want := range map[string]string{
		"run": "names a class or a function", "class": "names a class or a function", "object": "names a class or a function", "set": "a",
		"bytearray": "a",
	} {
		files, err := filepath.Glob("testdata/" + name + ".?")
		if err != nil || len(files) != 3 {
			t.Fatal(name, files, err)
		}
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			_, err = NewReader(bytes.NewReader(data)).Read()
			e, ok := errors.AsType[*Error](err)
			if !ok || !strings.Contains(e.Problem, want) || !strings.Contains(e.Problem, "plain data") || e.At >= int64(len(data)) {
				t.Errorf("%s: %v", f, err)
			}
		}
	}
	data, err := os.ReadFile("testdata/loop.5")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := NewReader(bytes.NewReader(data)).Read(); err != nil || v.Of().Items[0].Of() != v.Of() {
		t.Errorf("a list that holds itself: %v, %v", v, err)
	}
}

// TestBroken: each beginning of a pickle is an error that says where it ends, and so are lengths beyond the file.
func TestBroken(t *testing.T) {
	data, err := os.ReadFile("testdata/plain.4")
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(data)-1; n += 1 + n/50 {
		if _, err := NewReader(bytes.NewReader(data[:n])).Read(); err == nil {
			t.Fatalf("the first %d bytes are read as a pickle", n)
		}
	}
	for in, want := range map[string]string{
		"\x80\x05\x8d\x00\x00\x00\x00\x00\x00\x00\x10abc": "within a text of 1152921504606846976 bytes",
		"\x80\x09N.":                       "protocol 9",
		"\x80\x02h\x07.":                   "value 7, which is not kept",
		"\x80\x02Nr\xff\xff\xff\x7f.":      "so many cannot stand before it",
		"\x80\x02.":                        "nothing is on the stack",
		"\x80\x02e.":                       "no mark",
		"\x80\x02(NNu.":                    "without a list or a dict",
		"\x80\x02}(Nu.":                    "none is there",
		"\x80\x02]NNs.":                    "none is there",
		"\x80\x02N\x86.":                   "a tuple of 2",
		"\x80\x02\xff.":                    "not an opcode",
		"\x80\x02cposix\nsystem\n(.":       "byte 2: opcode 0x63 names a class or a function",
		"I12x\n.":                          "no number",
		strings.Repeat("N", 5_000_000):     "wait for their list or dict",
		strings.Repeat("}\x94", 1_700_000): "are held",
	} {
		_, err := NewReader(strings.NewReader(in)).Read()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q: %v, not %s", in, err, want)
		}
	}
}

// TestPacked: containers that a client packs are its values, in runs, and those it refers to again too.
func TestPacked(t *testing.T) {
	data, err := os.ReadFile("testdata/plain.2")
	if err != nil {
		t.Fatal(err)
	}
	r := NewReader(bytes.NewReader(data))
	line := r.Word("line")
	r.Whole = func(c *Container) (Value, bool) {
		v, ok := c.At(line)
		n, _ := v.Int()
		return Pack(1, uint64(n)), ok
	}
	v, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	if got := show(r, v, 10); !strings.Contains(got, `"shared" list(list("a" 1:7+1) list("a" 1:7+1))`) {
		t.Errorf("%.900s", got)
	}
	c := &Container{Kind: List}
	for i := range uint64(5) {
		c.add(Pack(2, 10+i))
	}
	c.add(Pack(2, 3))
	if len(c.Items) != 2 {
		t.Errorf("five numbers in turn are %d items", len(c.Items)-1)
	}
}

func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.?")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		if len(data) < 4096 {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := NewReader(bytes.NewReader(data))
		line := r.Word("line")
		r.Whole = func(c *Container) (Value, bool) {
			_, ok := c.At(line)
			return Pack(uint8(len(c.Items)%2), 1), ok
		}
		if v, err := r.Read(); err == nil {
			_ = show(r, v, 6)
		}
	})
}
