package gguf_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format/gguf"
	"github.com/memwall/memwall/format/gguf/gguftest"
)

func TestSplitName(t *testing.T) {
	for _, c := range []struct {
		path, prefix string
		no, count    int
		ok           bool
	}{
		{"m-00001-of-00003.gguf", "m", 1, 3, true},
		{"/a/b-Q4_K_M-00003-of-00003.gguf", "/a/b-Q4_K_M", 3, 3, true},
		{"-00001-of-00001.GGUF", "", 1, 1, true},
		{"m-65535-of-65535.gguf", "m", 65535, 65535, true},
		{"m-00001-of-65536.gguf", "", 0, 0, false},
		{"m-00000-of-00003.gguf", "", 0, 0, false},
		{"m-00004-of-00003.gguf", "", 0, 0, false},
		{"m-0001-of-0003.gguf", "", 0, 0, false},
		{"m-+0001-of-00003.gguf", "", 0, 0, false},
		{"m_00001-of-00003.gguf", "", 0, 0, false},
		{"m-00001_of-00003.gguf", "", 0, 0, false},
		{"m-00001-of-00003.bin", "", 0, 0, false},
		{"m.gguf", "", 0, 0, false},
		{"", "", 0, 0, false},
	} {
		prefix, no, count, ok := gguf.SplitName(c.path)
		if prefix != c.prefix || no != c.no || count != c.count || ok != c.ok {
			t.Errorf("%q: %q %d %d %v", c.path, prefix, no, count, ok)
		}
	}
}

func TestShardNames(t *testing.T) {
	got := gguf.ShardNames("/a/m-00002-of-00003.gguf")
	want := []string{"/a/m-00001-of-00003.gguf", "/a/m-00002-of-00003.gguf", "/a/m-00003-of-00003.gguf"}
	if !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if gguf.ShardNames("m.gguf") != nil {
		t.Error("a whole file has shards")
	}
	for _, name := range got {
		if again := gguf.ShardNames(name); !slices.Equal(again, want) {
			t.Errorf("%s: %v", name, again)
		}
	}
}

// shard is file no of count, as gguf-split of llama.cpp writes it: the metadata is in the first alone.
func shard(no, count, tensors int, names ...string) *gguftest.Builder {
	b := new(gguftest.Builder)
	if no == 0 {
		b = gguftest.New("llama").Set("llama.block_count", gguftest.U32(2))
	}
	b.Set("split.no", gguftest.U16(no)).Set("split.count", gguftest.U16(count)).Set("split.tensors.count", gguftest.I32(tensors))
	for _, n := range names {
		b.Tensor(n, dtype.F32, 16)
	}
	return b
}

func TestJoin(t *testing.T) {
	parts := []*gguf.File{read(t, shard(0, 3, 3)), read(t, shard(1, 3, 3, "a", "b")), read(t, shard(2, 3, 3, "c"))}
	f, err := gguf.Join(parts)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range f.Tensors {
		x := &f.Tensors[i]
		got = append(got, fmt.Sprintf("%s in %d at %d", x.Name, x.Shard, f.Start(x)-parts[x.Shard].DataOffset))
	}
	if s := strings.Join(got, ", "); s != "a in 1 at 0, b in 1 at 64, c in 2 at 0" {
		t.Error(s)
	}
	if n, ok := f.Uint("llama.block_count"); !ok || n != 2 || f.Architecture() != "llama" {
		t.Errorf("%d %v %q", n, ok, f.Architecture())
	}
	if f.Size != parts[0].Size+parts[1].Size+parts[2].Size || f.TensorBytes() != 192 || len(f.Shards) != 3 || f.Shards[1].Tensors != 2 {
		t.Errorf("%+v", f)
	}
	if len(parts[1].Tensors) != 2 || parts[1].Tensors[0].Shard != 0 {
		t.Error("Join changed its input")
	}
}

// A model in one file is joined from it alone; files that gguf-split merged again say split.count 0.
func TestJoinOfOne(t *testing.T) {
	for _, b := range []*gguftest.Builder{gguftest.Tiny.Builder(), shard(0, 1, 1, "a"), shard(0, 0, 1, "a")} {
		f := read(t, b)
		all, err := gguf.Join([]*gguf.File{f})
		if err != nil || len(all.Tensors) != len(f.Tensors) || all.Size != f.Size || all.DataOffset != f.DataOffset {
			t.Errorf("%+v, %v", all, err)
		}
	}
}

func TestJoinRefuses(t *testing.T) {
	first, second := shard(0, 2, 2, "a"), shard(1, 2, 2, "b")
	for name, c := range map[string]struct {
		files []*gguftest.Builder
		says  string
	}{
		"nothing":             {nil, "no file is given"},
		"one of two":          {[]*gguftest.Builder{first}, "1 given of a model in 2 files"},
		"three of two":        {[]*gguftest.Builder{first, second, second}, "3 given of a model in 2 files"},
		"two whole files":     {[]*gguftest.Builder{gguftest.New("llama"), gguftest.New("llama")}, "2 given of a model in 0 files"},
		"wrong order":         {[]*gguftest.Builder{second, first}, "expected file 1 of 2 of a model with 2 tensors, got file 2 of 2"},
		"twice the same":      {[]*gguftest.Builder{first, first}, "expected file 2 of 2 of a model with 2 tensors, got file 1 of 2"},
		"other count":         {[]*gguftest.Builder{first, shard(1, 3, 2, "b")}, "got file 2 of 3 of a model with 2 tensors"},
		"other tensor count":  {[]*gguftest.Builder{first, shard(1, 2, 9, "b")}, "got file 2 of 2 of a model with 9 tensors"},
		"missing tensors":     {[]*gguftest.Builder{first, shard(1, 2, 2)}, "1 tensors in 2 files; split.tensors.count is 2"},
		"a tensor in both":    {[]*gguftest.Builder{first, shard(1, 2, 2, "a")}, `file 2: a tensor called "a" is in an earlier file too`},
		"more than 2^63":      {[]*gguftest.Builder{huge(0), huge(1)}, "2^63 elements or bytes or more"},
		"a file without part": {[]*gguftest.Builder{first, gguftest.New("llama").Tensor("b", dtype.F32, 1)}, "got file 1 of 0"},
	} {
		var files []*gguf.File
		for _, b := range c.files {
			files = append(files, read(t, b))
		}
		var e *gguf.Error
		if _, err := gguf.Join(files); !errors.As(err, &e) || !strings.Contains(e.Error(), c.says) || e.Fix == "" || e.Offset != -1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// huge is one of two files, each with 2^62 elements of a type of unknown size.
func huge(no int) *gguftest.Builder {
	return shard(no, 2, 2).Sized(gguftest.Info{Name: fmt.Sprint(no), Dims: []uint64{1 << 62}, Type: 999}, 32)
}
