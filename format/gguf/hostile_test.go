package gguf_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format"
	"github.com/memwall/memwall/format/gguf"
	"github.com/memwall/memwall/format/gguf/gguftest"
)

// hostile are the files that felled other readers, and their kin. Where the message matters it is given in
// full, else the words that must be in it.
var hostile = []struct {
	name string
	file *gguftest.Builder
	says string
	fix  string
}{
	{"key length 2^36", keyLength(1 << 36), "byte 24: a name of 68,719,476,736 bytes in a file of 64 bytes", format.FetchAgain},
	{"key length 2^62", keyLength(1 << 62), "byte 24: a name of 4,611,686,018,427,387,904 bytes in a file of 64 bytes", format.FetchAgain},
	{"key length 2^64-1", keyLength(1<<64 - 1), "byte 24: a name of 18,446,744,073,709,551,615 bytes", format.FetchAgain},
	{"key of 70,000 bytes", gguftest.New("llama").Set(strings.Repeat("k", 70000), gguftest.U8(1)),
		"a name of 70,000 bytes; at most 65,535 are allowed", ""},
	{"text length 2^36", llama("x", gguftest.LongStr(1<<36)), `"x": a text of 68,719,476,736 bytes in a file of`, ""},
	{"text length 2^62", llama("x", gguftest.LongStr(1<<62)), `"x": a text of 4,611,686,018,427,387,904 bytes in a file of`, ""},
	{"alignment 0", llama("general.alignment", gguftest.U32(0)), "general.alignment is 0, which is not a power of two", format.FetchAgain},
	{"alignment 48", llama("general.alignment", gguftest.U32(48)), "general.alignment is 48, which is not a power of two", ""},
	{"alignment 2^31", llama("general.alignment", gguftest.U32(1<<31)).Tensor("a", dtype.F32, 1), "cut short", ""},
	{"alignment as text", llama("general.alignment", gguftest.Str("32")), "general.alignment is of type string, not u32", ""},
	{"array of 2^31", llama("llama.attention.head_count", gguftest.Lying{Type: 4, N: 1 << 31}), `"llama.attention.head_count": an array of 2,147,483,648 values in a file of`, ""},
	{"array of 2^60", llama("llama.attention.head_count", gguftest.Lying{Type: 10, N: 1 << 60}),
		"an array of 1,152,921,504,606,846,976 values in a file of", ""},
	{"array of 2^61 u64, 2^64 bytes", llama("x", gguftest.Lying{Type: 10, N: 1 << 61}), "an array of 2,305,843,009,213,693,952 values", ""},
	{"array of 2^64-1 texts", llama("x", gguftest.Lying{Type: 8, N: 1<<64 - 1}), "an array of 18,446,744,073,709,551,615 values", ""},
	{"text of 2^63 in an array", llama("x", gguftest.Lying{Type: 8, N: 1, Bytes: le64(1 << 63)}), `"x": a text of 9,223,372,036,854,775,808 bytes`, ""},
	{"text of 2^64-8 in an array", llama("x", gguftest.Lying{Type: 8, N: 1, Bytes: le64(1<<64 - 8)}), `"x": a text of 18,446,744,073,709,551,608 bytes`, ""},
	{"nested array", llama("x", gguftest.Array[gguftest.Array[gguftest.U8]]{{1}}), `"x" is an array of arrays`, ""},
	{"value of type 13", llama("x", gguftest.Raw{Type: 13, Bytes: make([]byte, 8)}), `"x" is of type 13`, ""},
	{"array of type 77", llama("x", gguftest.Lying{Type: 77, N: 1, Bytes: make([]byte, 8)}), `"x" is an array of type 77`, ""},
	{"2^45 tensors in the split", llama("split.tensors.count", gguftest.U64(1<<45)),
		"split.tensors.count is 35,184,372,088,832; 0 to 2,147,483,647 are allowed", ""},
	{"2^64-1 tensors in the split", llama("split.tensors.count", gguftest.U64(1<<64-1)),
		"split.tensors.count is 18,446,744,073,709,551,615; at most 2,147,483,647 is allowed", ""},
	{"split count 2^20", llama("split.count", gguftest.U32(1<<20)), "split.count is 1,048,576; 0 to 65,535 are allowed", ""},
	{"split number of text", llama("split.no", gguftest.Str("1")), "split.no is of type string, not an integer", ""},
	{"split number -1", llama("split.no", gguftest.I32(-1)), "split.no is -1; 0 to 65,535 are allowed", ""},
	{"split number beyond the count", llama("split.no", gguftest.U16(3)).Set("split.count", gguftest.U16(3)),
		"split.no is 3 of split.count 3; it counts from 0", ""},
	{"split number without a count", llama("split.no", gguftest.U16(3)), "split.no is 3 of split.count 0", ""},
	{"more tensors than the split has", llama("split.count", gguftest.U16(2)).Tensor("a", dtype.F32, 1),
		"split.tensors.count is 0, but this file alone holds 1", ""},
	{"architecture as a number", new(gguftest.Builder).Set("general.architecture", gguftest.U32(7)),
		"general.architecture is of type u32, not string", ""},
	{"architecture as an array", new(gguftest.Builder).Set("general.architecture", gguftest.Array[gguftest.Str]{"llama"}),
		"general.architecture is of type []string, not string", ""},
	{"architecture of no letters", gguftest.New(""), "general.architecture is a name of 0 bytes", ""},
	{"architecture too long", gguftest.New(strings.Repeat("a", 70000)), "general.architecture is a name of 70000 bytes", ""},
	{"no metadata", new(gguftest.Builder), "general.architecture is missing", "this is not a model: give the model's own file"},
	{"no metadata, one tensor", new(gguftest.Builder).Tensor("a", dtype.F32, 1), "general.architecture is missing", ""},
	{"duplicate key", llama("x", gguftest.U8(1)).Set("x", gguftest.U8(2)), `the key "x" stands twice`, ""},
	{"key without letters", llama("", gguftest.U8(1)), "metadata pair 2 of 2 has no name", ""},
	{"2^62 tensors", gguftest.New("llama").Counts(1<<62, 1), "byte 8: 4,611,686,018,427,387,904 tensors in a file of", ""},
	{"2^64-1 pairs", gguftest.New("llama").Counts(0, 1<<64-1), "byte 16: 18,446,744,073,709,551,615 metadata pairs in a file of", ""},
	{"one pair too many", gguftest.New("llama").Counts(0, 2), `byte 69: the file ends in the middle of "metadata"`, format.FetchAgain},
	{"deprecated type 4", tensor(gguftest.Info{Name: "w", Dims: []uint64{32}, Type: 4}), `tensor "w" is of type q4_2 (4), which llama.cpp no longer reads`, "convert the model again"},
	{"deprecated type 31", tensor(gguftest.Info{Name: "w", Dims: []uint64{32}, Type: 31}), "q4_0_4_4", "convert the model again"},
	{"2^160 elements", tensor(gguftest.Info{Name: "w", Dims: []uint64{1 << 40, 1 << 40, 1 << 40, 1 << 40}}), `tensor "w" has 2^63 elements or more`, ""},
	{"2^63 elements", tensor(gguftest.Info{Name: "w", Dims: []uint64{1 << 63}}), `tensor "w" has 2^63 elements or more`, ""},
	{"2^62 elements", tensor(gguftest.Info{Name: "w", Dims: []uint64{1 << 62}}), `tensor "w" has 2^63 bytes or more`, ""},
	{"2^60 elements", tensor(gguftest.Info{Name: "w", Dims: []uint64{1 << 60}}), "bytes are missing", ""},
	{"2^63 elements of unknown types", tensor(gguftest.Info{Name: "w", Dims: []uint64{1 << 62}, Type: 999}).
		RawTensor(gguftest.Info{Name: "v", Dims: []uint64{1 << 62}, Type: 999, Offset: 32}), `with tensor "v" the file holds 2^63 elements`, ""},
	{"dimension 0", tensor(gguftest.Info{Name: "w", Dims: []uint64{4, 0}}), `tensor "w" has a dimension of 0`, ""},
	{"no dimensions", tensor(gguftest.Info{Name: "w"}), `tensor "w" has 0 dimensions; 1 to 4 are allowed`, ""},
	{"5 dimensions", tensor(gguftest.Info{Name: "w", Dims: []uint64{1, 1, 1, 1, 1}}), `tensor "w" has 5 dimensions`, ""},
	{"row inside a block", tensor(gguftest.Info{Name: "w", Dims: []uint64{100, 256}, Type: 12}),
		"rows of 100 elements, which is not a multiple of its block of 256", ""},
	{"name of 64 bytes", tensor(gguftest.Info{Name: strings.Repeat("w", 64), Dims: []uint64{1}}),
		"a tensor name of 64 bytes; at most 63 are allowed", ""},
	{"tensor without a name", tensor(gguftest.Info{Dims: []uint64{1}}), "tensor 1 has no name", ""},
	{"duplicate tensor", gguftest.New("llama").Tensor("w", dtype.F32, 1).Tensor("w", dtype.F32, 1), `two tensors are called "w"`, ""},
	{"offset off the alignment", tensor(gguftest.Info{Name: "w", Dims: []uint64{1}, Offset: 4}), "which is not a multiple of the alignment 32",
		""},
	{"offset 2^63", tensor(gguftest.Info{Name: "w", Dims: []uint64{1}, Offset: 1 << 63}), "starts at 9,223,372,036,854,775,808 of the data",
		""},
	{"hole before a tensor", tensor(gguftest.Info{Name: "w", Dims: []uint64{1}, Offset: 32}), `tensor "w" starts at 32 of the data; the tensors before it end at 0`, ""},
	{"overlap", gguftest.New("llama").Tensor("w", dtype.F32, 100).RawTensor(gguftest.Info{Name: "v", Dims: []uint64{1}, Offset: 32}), `tensor "v" starts at 32 of the data; the tensors before it end at 416`, ""},
	{"descending behind an unknown type", gguftest.New("llama").Sized(gguftest.Info{Name: "w", Dims: []uint64{1}, Type: 99}, 64).
		RawTensor(gguftest.Info{Name: "v", Dims: []uint64{1}, Offset: 0}), `tensor "w", whose type 99 is unknown, starts at 0 of the data, and what follows it at 0`, ""},
	{"no data", tensor(gguftest.Info{Name: "w", Dims: []uint64{1000}}), `the file is cut short in or before tensor "w": 4,000 bytes are missing after`, format.FetchAgain},
	{"no data of an unknown type", tensor(gguftest.Info{Name: "w", Dims: []uint64{1000}, Type: 99}), `the file is cut short in or before tensor "w": 1 bytes are missing`, ""},
	{"version 4", &gguftest.Builder{Version: 4}, "byte 4: version 4 of GGUF; this reader knows 1 to 3", "look for a newer memwall"},
	{"version 65536", &gguftest.Builder{Version: 65536}, "byte 4: version 256 of GGUF; there are 1 to 3", format.FetchAgain},
}

func llama(key string, v gguftest.Value) *gguftest.Builder { return gguftest.New("llama").Set(key, v) }

func tensor(t gguftest.Info) *gguftest.Builder { return gguftest.New("llama").RawTensor(t) }

func le64(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }

// keyLength is a file whose first key has the length n.
func keyLength(n uint64) *gguftest.Builder {
	return new(gguftest.Builder).Counts(0, 1).Tail(append(le64(n), make([]byte, 32)...))
}

func TestHostile(t *testing.T) {
	for _, c := range hostile {
		t.Run(c.name, func(t *testing.T) {
			s := c.file.File()
			var e *gguf.Error
			if _, err := gguf.Read(s, s.Len); !errors.As(err, &e) {
				t.Fatalf("got %v", err)
			}
			if !strings.Contains(e.Error(), c.says) || e.Fix == "" || e.More || c.fix != "" && e.Fix != c.fix {
				t.Errorf("%s (%s)\nwant %s (%s)", e, e.Fix, c.says, c.fix)
			}
			if e.Offset < 0 || e.Offset > s.Len || e.Field == "" {
				t.Errorf("offset %d of %d, field %q", e.Offset, s.Len, e.Field)
			}
		})
	}
}

// The same lies in a file of 1 TB, where the size alone does not give them away.
func TestHostileInAHugeFile(t *testing.T) {
	for _, c := range hostile {
		s := c.file.File()
		s.Len = 1 << 40
		spent := allocated(func() { _, _ = gguf.Read(s, s.Len) })
		if spent > 1<<20 {
			t.Errorf("%s: %d bytes allocated", c.name, spent)
		}
	}
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// A file of a terabyte may hold as many true strings as fit; the reader stops at 1 GiB of header.
func TestEndlessHeader(t *testing.T) {
	for name, v := range map[string]gguftest.Value{
		"texts":   gguftest.Lying{Type: 8, N: 1 << 30},
		"numbers": gguftest.Lying{Type: 12, N: 1 << 30},
		"text":    gguftest.LongStr(1 << 30),
	} {
		s := llama("x", v).File()
		s.Len = 1 << 40
		_, err := gguf.Read(s, s.Len)
		if err == nil || !strings.Contains(err.Error(), "goes beyond the first 1.1 GB; no header is that long") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Names and values that are kept are bounded as a whole, however large the file is.
func TestKeptBytesAreBounded(t *testing.T) {
	b := gguftest.New("llama")
	text := gguftest.Str(strings.Repeat("x", 64<<10))
	for i := range 600 {
		b.Set(fmt.Sprint(i), text)
	}
	s := b.File()
	_, err := gguf.Read(s, s.Len)
	if err == nil || !strings.Contains(err.Error(), "names and values of more than 33.6 MB") {
		t.Error(err)
	}
}

// TestManyPairs: pairs and tensors beyond what any model has are refused by their number, before one is read.
func TestManyPairs(t *testing.T) {
	for field, counts := range map[string][2]uint64{"metadata count": {0, 5e6}, "tensor count": {5e6, 1}} {
		s := gguftest.New("llama").Counts(counts[0], counts[1]).File()
		s.Len = 1 << 40
		var e *gguf.Error
		spent := allocated(func() {
			_, err := gguf.Read(s, s.Len)
			errors.As(err, &e)
		})
		if e == nil || e.Field != field || !strings.Contains(e.Text, "5,000,000") || spent > 1<<20 {
			t.Errorf("%s: %v, %d bytes", field, e, spent)
		}
	}
}

func TestNotGGUF(t *testing.T) {
	for _, c := range []struct{ head, says, fix string }{
		{"PK\x03\x04\x00\x00", "byte 0: this is a PyTorch .bin/.pt file or another zip archive, not GGUF",
			"never read, because unpickling runs code; use safetensors or GGUF"},
		{"\x80\x02}q\x00(X", "byte 0: this is a PyTorch .bin/.pt file (a pickle), not GGUF",
			"never read, because unpickling runs code; use safetensors or GGUF"},
		{"\x40\x00\x00\x00\x00\x00\x00\x00{\"a\"", "this is a safetensors file, not GGUF", "read it as safetensors"},
		{"tjgg\x01\x00\x00\x00", "a GGML file from before GGUF", "convert the model again"},
		{"version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer", "git lfs pull"},
		{"<!DOCTYPE html>", "a web page", "address"},
		{"\x00\x00\x00\x00\x00", "all zero bytes", "fetch it again"},
		{"", "this is an empty file", "fetch it again"},
		{"what is this", "a file of no known kind", "give a .gguf"},
	} {
		_, err := gguf.Read(strings.NewReader(c.head), int64(len(c.head)))
		var e *gguf.Error
		if !errors.As(err, &e) || !strings.Contains(e.Error(), c.says) || !strings.Contains(e.Fix, c.fix) {
			t.Errorf("%q: %v", c.head, err)
		}
	}
	if _, err := gguf.Read(strings.NewReader(""), -1); err == nil {
		t.Error("a file of -1 bytes was read")
	}
}

// A file cut anywhere before the end of its tensors is an error, and never More: there is no more.
func TestTruncated(t *testing.T) {
	eachEncoding(t, gguftest.Tiny.Builder, func(t *testing.T, b *gguftest.Builder) {
		s := b.File()
		for n := range int64(len(s.Head)) + 100 {
			cut := &gguftest.Sparse{Head: s.Head[:min(n, int64(len(s.Head)))], Len: n}
			var e *gguf.Error
			if _, err := gguf.Read(cut, n); !errors.As(err, &e) || e.More || e.Fix == "" {
				t.Fatalf("cut at %d: %v", n, err)
			}
		}
		last := read(t, b).Tensors
		end := int64(len(s.Head)) + last[len(last)-1].Offset + last[len(last)-1].Bytes
		if _, err := gguf.Read(s, end-1); err == nil || !strings.Contains(err.Error(), `"output.weight": 1 bytes are missing`) {
			t.Errorf("cut by one byte: %v", err)
		}
	})
}

// A header of which only a part is at hand asks for more until it is whole.
func TestPartOfAHeader(t *testing.T) {
	eachEncoding(t, gguftest.Tiny.Builder, func(t *testing.T, b *gguftest.Builder) {
		s, infos := b.File(), b.Infos()
		for n := range infos {
			var e *gguf.Error
			_, err := gguf.ReadHeader(bytes.NewReader(infos[:n]), int64(n), s.Len)
			if !errors.As(err, &e) || !e.More || e.Offset != int64(n) {
				t.Fatalf("%d bytes: %v", n, err)
			}
		}
	})
}

// A value that is only walked over has to be at hand too.
func TestPartOfAWalkedValue(t *testing.T) {
	for _, v := range []gguftest.Value{make(gguftest.Array[gguftest.U64], 1<<17), gguftest.Str(strings.Repeat("x", 1<<20))} {
		infos := llama("x", v).Infos()
		var e *gguf.Error
		_, err := gguf.ReadHeader(bytes.NewReader(infos), 1<<20, int64(len(infos)))
		if !errors.As(err, &e) || !e.More || e.Field != "x" {
			t.Error(err)
		}
	}
}

// A source that holds less than it said is a file cut short; one that fails is not.
func TestSources(t *testing.T) {
	s := gguftest.Tiny.Builder().File()
	short := bytes.NewReader(s.Head[:1000])
	var e *gguf.Error
	if _, err := gguf.Read(short, s.Len); !errors.As(err, &e) {
		t.Error(err)
	}
	broken := io.ErrClosedPipe
	if _, err := gguf.Read(failing{s, 0, broken}, s.Len); !errors.Is(err, broken) || errors.As(err, &e) ||
		!strings.Contains(err.Error(), "byte 0: reading") {
		t.Error(err)
	}
}

// failing reads up to a byte and then fails.
type failing struct {
	io.ReaderAt
	upTo int64
	err  error
}

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > f.upTo {
		return 0, f.err
	}
	return f.ReaderAt.ReadAt(p, off)
}

// Names out of a file are printed so that they can neither steer a terminal nor fill a screen.
func TestNamesAreQuoted(t *testing.T) {
	key := "\x1b[31m" + strings.Repeat("long", 1000)
	s := llama(key, gguftest.Raw{Type: 99}).File()
	_, err := gguf.Read(s, s.Len)
	if err == nil || strings.Contains(err.Error(), "\x1b") || len(err.Error()) > 300 {
		t.Error(err)
	}
}
