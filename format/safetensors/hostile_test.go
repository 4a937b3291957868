package safetensors_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/memwall/memwall/format/safetensors"
	"github.com/memwall/memwall/format/safetensors/safetensorstest"
)

// one is a header with one tensor of the given fields.
func one(fields string) string { return `{"a":{` + fields + `}}` }

const good = `"dtype":"U8","shape":[4],"data_offsets":[0,4]`

// hostile are headers before 4 bytes of data.
var hostile = []struct{ name, header, says string }{
	{"not JSON", `hello`, `byte 8: the header begins with 'h', not with a brace`},
	{"an array", `[]`, "byte 8: the header begins with '[', not with a brace"},
	{"space before the brace", ` {}`, "byte 8: the header begins with ' ', not with a brace"},
	{"no end", `{"a":`, "byte 13: the header ends in the middle of its JSON text"},
	{"text behind", `{"a":{` + good + `}}x`, `'x' behind the closing brace of "header"`},
	{"second object", `{"a":{` + good + `}}{}`, `'{' behind the closing brace`},
	{"no comma", `{"a":{` + good + `}"b":{}}`, `'"' in "header", where ',' belongs`},
	{"comma too many", `{"a":{` + good + `},}`, `'}' in "header", where '"' belongs`},
	{"no colon", `{"a"{` + good + `}}`, `'{' in "a", where ':' belongs`},
	{"key without quotes", `{a:{` + good + `}}`, `'a' in "header", where '"' belongs`},
	{"tensor is a list", `{"a":[]}`, `'[' in "a", where '{' belongs`},
	{"tensor is null", `{"a":null}`, `'n' in "a", where '{' belongs`},
	{"duplicate tensor", `{"a":{` + good + `},"a":{` + good + `}}`, `byte 61: the key "a" stands twice`},
	{"duplicate tensor by escape", `{"a":{` + good + `},"\u0061":{` + good + `}}`, `the key "a" stands twice`},
	{"duplicate field", one(good + `,"shape":[4]`), `the key "shape" stands twice in tensor "a"`},
	{"duplicate metadata", `{"__metadata__":{},"__metadata__":{}}`, `the key "__metadata__" stands twice`},
	{"duplicate key in the metadata", `{"__metadata__":{"x":"1","x":"2"}}`, `the key "x" stands twice in __metadata__`},
	{"metadata of numbers", `{"__metadata__":{"x":1}}`, `'1' in "__metadata__", where '"' belongs`},
	{"metadata is a text", `{"__metadata__":"x"}`, `'"' in "__metadata__", where '{' belongs`},
	{"no dtype", one(`"shape":[4],"data_offsets":[0,4]`), `byte 9: tensor "a" lacks a dtype`},
	{"no shape", one(`"dtype":"U8","data_offsets":[0,4]`), `tensor "a" lacks a shape`},
	{"no offsets", one(`"dtype":"U8","shape":[4]`), `tensor "a" lacks data_offsets`},
	{"dtype is a number", one(`"dtype":8,"shape":[4],"data_offsets":[0,4]`), `'8' in "a", where '"' belongs`},
	{"dtype without end", one(`"dtype":"` + strings.Repeat("U", 65) + `","shape":[4],"data_offsets":[0,4]`), `a text of more than 64 bytes in "a"`},
	{"negative dimension", one(`"dtype":"U8","shape":[-4],"data_offsets":[0,4]`), `byte 36: "a": a negative number`},
	{"float dimension", one(`"dtype":"U8","shape":[4.0],"data_offsets":[0,4]`), `byte 36: "a": a number that is not whole`},
	{"exponent dimension", one(`"dtype":"U8","shape":[4e0],"data_offsets":[0,4]`), `"a": a number that is not whole`},
	{"dimension 2^63", one(`"dtype":"U8","shape":[9223372036854775808],"data_offsets":[0,4]`), `"a": a number of 19 digits, which is 2^63 or more`},
	{"dimension of 1,000 digits", one(`"dtype":"U8","shape":[1` + strings.Repeat("0", 999) + `],"data_offsets":[0,4]`), `"a": a number of 1000 digits, which is 2^63 or more`},
	{"dimension 04", one(`"dtype":"U8","shape":[04],"data_offsets":[0,4]`), `"a": a number that begins with 0`},
	{"dimension as a text", one(`"dtype":"U8","shape":["4"],"data_offsets":[0,4]`), `'"' in "a", where a whole number belongs`},
	{"dimension null", one(`"dtype":"U8","shape":[null],"data_offsets":[0,4]`), `'n' in "a", where a whole number belongs`},
	{"shape is a number", one(`"dtype":"U8","shape":4,"data_offsets":[0,4]`), `'4' in "a", where '[' belongs`},
	{"65 dimensions", one(`"dtype":"U8","shape":[` + strings.Repeat("1,", 64) + `4],"data_offsets":[0,4]`), `tensor "a" has more than 64 dimensions`},
	{"2^126 elements", one(`"dtype":"U8","shape":[9223372036854775807,9223372036854775807],"data_offsets":[0,4]`), `tensor "a" has 2^63 elements or more`},
	{"2^66 bytes", one(`"dtype":"F64","shape":[9223372036854775807],"data_offsets":[0,4]`), `tensor "a" has 2^63 bytes or more`},
	{"2^63 elements in all", `{"a":{"dtype":"X","shape":[9223372036854775807],"data_offsets":[0,2]},"b":{"dtype":"X","shape":[1],"data_offsets":[2,4]}}`, `with tensor "b" the file holds 2^63 elements or more`},
	{"half a byte", one(`"dtype":"F4","shape":[7],"data_offsets":[0,4]`), `7 elements of F4 end inside a byte`},
	{"two bits short", one(`"dtype":"F6_E2M3","shape":[5],"data_offsets":[0,4]`), `5 elements of F6_E2M3 end inside a byte`},
	{"wrong size", one(`"dtype":"F32","shape":[4],"data_offsets":[0,4]`), `tensor "a": 4 elements of F32 are 16 bytes; data_offsets give it 4`},
	{"offsets backwards", one(`"dtype":"U8","shape":[4],"data_offsets":[4,0]`), `tensor "a": data_offsets must be a begin and an end`},
	{"one offset", one(`"dtype":"U8","shape":[4],"data_offsets":[4]`), `tensor "a": data_offsets must be a begin and an end`},
	{"three offsets", one(`"dtype":"U8","shape":[4],"data_offsets":[0,4,8]`), `tensor "a": data_offsets must be a begin and an end`},
	{"negative offset", one(`"dtype":"U8","shape":[4],"data_offsets":[-4,0]`), `"a": a negative number`},
	{"beyond the file", one(`"dtype":"U8","shape":[9],"data_offsets":[0,9]`), `the file is cut short: tensor "a" ends 5 bytes after the file's`},
	{"far beyond the file", one(`"dtype":"U8","shape":[9223372036854775807],"data_offsets":[0,9223372036854775807]`), `tensor "a" ends 9,223,372,036,854,775,803 bytes after the file's`},
	{"hole at the start", one(`"dtype":"U8","shape":[3],"data_offsets":[1,4]`), `byte 61: bytes 0 to 1 of the data belong to no tensor; then comes "a"`},
	{"hole far beyond", one(`"dtype":"U8","shape":[1],"data_offsets":[4611686018427387904,4611686018427387905]`), `bytes 0 to 4,611,686,018,427,387,904 of the data belong to no tensor`},
	{"hole at the end", one(`"dtype":"U8","shape":[3],"data_offsets":[0,3]`), `byte 64: the last 1 bytes of the file belong to no tensor`},
	{"no tensors, some data", `{}`, "byte 10: the last 4 bytes of the file belong to no tensor"},
	{"overlap", `{"a":{` + good + `},"b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}}`, `tensor "b" begins at 2 of the data, inside "a", which ends at 4`},
	{"the same place twice", `{"a":{` + good + `},"b":{` + good + `}}`, `tensor "b" begins at 0 of the data, inside "a"`},
	{"empty tensor inside another", `{"a":{` + good + `},"b":{"dtype":"U8","shape":[0],"data_offsets":[2,2]}}`, `tensor "b" begins at 2 of the data, inside "a"`},
	{"deep nesting", one(`"x":` + strings.Repeat("[", 10000) + strings.Repeat("]", 10000) + `,` + good), `values nested deeper than 16 in "a"`},
	{"deep objects", one(`"x":` + strings.Repeat(`{"y":`, 10000)), `values nested deeper than 16 in "a"`},
	{"control character", "{\"a\n\":{" + good + "}}", `the control character '\n' in a text of "header"`},
	{"not UTF-8", "{\"\xff\":{" + good + "}}", `a text in "header" that is not UTF-8`},
	{"half a surrogate pair", `{"\ud83d":{` + good + `}}`, `half a surrogate pair in a text of "header"`},
	{"two first halves", `{"\ud83d\ud83d":{` + good + `}}`, `half a surrogate pair in a text of "header"`},
	{"escape of no meaning", `{"\x":{` + good + `}}`, `the escape \x in a text of "header"`},
	{"escape without digits", `{"\u00g0":{` + good + `}}`, `an escape without four hexadecimal digits`},
	{"control character in an escape", "{\"\\u00\x130\":{" + good + "}}", `an escape without four hexadecimal digits`},
	{"text without an end", `{"aaaaaa`, "the header ends in the middle of its JSON text"},
	{"value of no kind", one(`"x":nul,` + good), `"nul" in "a", which is not a value`},
	{"value 01", one(`"x":01,` + good), `"01" in "a", which is not a value`},
	{"value 1.", one(`"x":1.,` + good), `"1." in "a", which is not a value`},
	{"value without letters", one(`"x":,` + good), `',' in "a", where a value belongs`},
	{"name of 70,000 bytes", `{"` + strings.Repeat("a", 70000) + `":{` + good + `}}`, `a text of more than 65,535 bytes in "header"`},
}

func TestHostile(t *testing.T) {
	for _, c := range hostile {
		t.Run(c.name, func(t *testing.T) { refused(t, safetensorstest.Text(c.header, 4), c.says) })
	}
}

func refused(t *testing.T, s *safetensorstest.Sparse, says string) {
	t.Helper()
	var e *safetensors.Error
	if _, err := safetensors.Read(s, s.Len); !errors.As(err, &e) {
		t.Fatalf("got %v", err)
	}
	if !strings.Contains(e.Error(), says) || e.Fix == "" || e.More || e.Field == "" || e.Offset < 0 || e.Offset > s.Len {
		t.Errorf("%s (%s), field %q, offset %d\nwant %s", e, e.Fix, e.Field, e.Offset, says)
	}
}

func TestHeaderLength(t *testing.T) {
	for _, c := range []struct {
		n    uint64
		size int64
		says string
	}{
		{1 << 63, 100, "byte 0: a header of 9,223,372,036,854,775,808 bytes in a file of 100 bytes"},
		{1<<64 - 1, 100, "byte 0: a header of 18,446,744,073,709,551,615 bytes in a file of 100 bytes"},
		{93, 100, "byte 0: a header of 93 bytes in a file of 100 bytes"},
		{100_000_001, 1 << 40, "byte 0: a header of 100,000,001 bytes; at most 100,000,000 are allowed"},
		{1, 100, "byte 0: a header of 1 bytes; the shortest is {}"},
		{92, 100, `byte 8: the header begins with '\x00', not with a brace`},
	} {
		s := safetensorstest.Lying(c.n, "", 0)
		s.Len = c.size
		refused(t, s, c.says)
	}
}

func TestNotSafetensors(t *testing.T) {
	for head, says := range map[string]string{
		"GGUF\x03\x00\x00\x00\x01\x00\x00": "this is a GGUF file, not safetensors",
		"PK\x03\x04\x14\x00\x00\x00\x00":   "this is a PyTorch .bin/.pt file or another zip archive, not safetensors",
		"\x80\x02}q\x00X\x00\x00\x00\x00":  "this is a PyTorch .bin/.pt file (a pickle), not safetensors",
		"":                                 "this is an empty file, not safetensors",
		"<html><body>":                     "this is a web page, not safetensors",
		"abc":                              "byte 3: the file ends in the middle of its header length",
	} {
		refused(t, &safetensorstest.Sparse{Head: []byte(head), Len: int64(len(head))}, says)
	}
	if _, err := safetensors.Read(strings.NewReader(""), -1); err == nil {
		t.Error("a file of -1 bytes was read")
	}
}

// Lies cost no memory, however large the file is.
func TestHostileAllocation(t *testing.T) {
	for _, c := range hostile {
		s := safetensorstest.Text(c.header, 1<<40)
		if spent := allocated(func() { _, _ = safetensors.Read(s, s.Len) }); spent > 1<<20 {
			t.Errorf("%s: %d bytes allocated", c.name, spent)
		}
	}
	// A hundred MB of header that is not there.
	s := safetensorstest.Lying(100_000_000, `{"a":`, 1<<40)
	if spent := allocated(func() { _, _ = safetensors.Read(s, s.Len) }); spent > 1<<20 {
		t.Errorf("%d bytes allocated", spent)
	}
}

// TestManyPairs: metadata beyond what anybody writes is walked over in the memory of a part of it, and tensors beyond what any file
// holds are refused.
func TestManyPairs(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"__metadata__":{"k":"v"`)
	for i := range 200_000 {
		fmt.Fprintf(&b, `,"%d":"%s"`, i, strings.Repeat("x", 100))
	}
	b.WriteString(`},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`)
	s := safetensorstest.Text(b.String(), 1)
	kept := 0
	spent := allocated(func() {
		f, err := safetensors.Read(s, s.Len)
		if err != nil || len(f.Tensors) != 1 || f.Metadata["k"] != "v" {
			t.Errorf("%v", err)
			return
		}
		for k, v := range f.Metadata {
			kept += len(k) + len(v)
		}
	})
	if kept > 1<<20 || spent > 8<<20 {
		t.Errorf("%d bytes kept of %d, %d allocated", kept, b.Len(), spent)
	}
	b.Reset()
	b.WriteString(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}`)
	for i := range 1<<19 + 10 {
		fmt.Fprintf(&b, `,"%d":{"dtype":"U8","shape":[0],"data_offsets":[1,1]}`, i)
	}
	b.WriteString("}")
	s = safetensorstest.Text(b.String(), 1)
	if _, err := safetensors.Read(s, s.Len); err == nil || !strings.Contains(err.Error(), "more than 524,288 tensors") {
		t.Errorf("too many tensors: %v", err)
	}
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func small() *safetensorstest.Builder {
	return new(safetensorstest.Builder).Meta("format", "pt").Meta("ä", "\u0001\"").
		Tensor("model.embed.weight", "BF16", 16, 8, 4).Tensor("b\n", "F4", 4, 6).Tensor("c", "I64", 64)
}

// A file cut anywhere is an error, and never More: there is no more.
func TestTruncated(t *testing.T) {
	s := small().File()
	for n := range s.Len {
		cut := &safetensorstest.Sparse{Head: s.Head[:min(n, int64(len(s.Head)))], Len: n}
		var e *safetensors.Error
		if _, err := safetensors.Read(cut, n); !errors.As(err, &e) || e.More || e.Fix == "" {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
	if _, err := safetensors.Read(s, s.Len); err != nil {
		t.Error(err)
	}
}

// A header of which only a part is at hand asks for more until it is whole.
func TestPartOfAHeader(t *testing.T) {
	s := small().File()
	for n := range s.Head {
		var e *safetensors.Error
		_, err := safetensors.ReadHeader(bytes.NewReader(s.Head[:n]), int64(n), s.Len)
		if !errors.As(err, &e) || !e.More || e.Offset != int64(n) {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
}

type failing struct {
	io.ReaderAt
	upTo int64
}

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > f.upTo {
		return 0, io.ErrClosedPipe
	}
	return f.ReaderAt.ReadAt(p, off)
}

// A source that fails is not a damaged file.
func TestSources(t *testing.T) {
	s := many(300).File()
	for _, upTo := range []int64{0, 100} {
		var e *safetensors.Error
		_, err := safetensors.Read(failing{s, upTo}, s.Len)
		if !errors.Is(err, io.ErrClosedPipe) || errors.As(err, &e) || !strings.Contains(err.Error(), "reading the header") {
			t.Errorf("up to %d: %v", upTo, err)
		}
	}
	var e *safetensors.Error
	if _, err := safetensors.Read(bytes.NewReader(s.Head[:1000]), s.Len); !errors.As(err, &e) {
		t.Error(err)
	}
}

func TestNamesAreQuoted(t *testing.T) {
	name := `\u001b[31m` + strings.Repeat("long", 1000)
	s := safetensorstest.Text(`{"`+name+`":{}}`, 0)
	if _, err := safetensors.Read(s, s.Len); err == nil || strings.Contains(err.Error(), "\x1b") || len(err.Error()) > 300 {
		t.Error(err)
	}
}
