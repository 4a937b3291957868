package format_test

import (
	"strings"
	"testing"

	"github.com/memwall/memwall/format"
)

func TestError(t *testing.T) {
	e := &format.Error{Offset: 1234567, Text: "a name of 5 bytes"}
	if e.Error() != "byte 1,234,567: a name of 5 bytes" {
		t.Error(e)
	}
	if e.Offset = format.NoOffset; e.Error() != "a name of 5 bytes" {
		t.Error(e)
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 bytes", 999: "999 bytes", 1000: "1.0 kB", 9_100_000: "9.1 MB", 8_955_000: "9.0 MB",
		42514901600: "42.5 GB", 1 << 40: "1.1 TB", 1<<63 - 1: "9.2 EB",
		999_949: "999.9 kB", 999_950: "1.0 MB", 999_999_999: "1.0 GB",
	} {
		if got := format.Size(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"output.weight":          `"output.weight"`,
		"\x1b[2J\x00":            `"\x1b[2J\x00"`,
		"ä":                      `"\u00e4"`,
		strings.Repeat("a", 97):  `"` + strings.Repeat("a", 96) + `"…`,
		strings.Repeat("a", 96):  `"` + strings.Repeat("a", 96) + `"`,
		"\u202egnp.exe":          `"\u202egnp.exe"`,
		strings.Repeat("ä", 200): `"` + strings.Repeat(`\u00e4`, 48) + `"…`,
	} {
		if got := format.Quote(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

// Heads as real tools write them: torch.save since and before 1.6, git lfs, hubs that answer with a page.
func TestDetect(t *testing.T) {
	for head, want := range map[string]format.Kind{
		"":                                  format.Empty,
		"GGUF\x03\x00\x00\x00":              format.GGUF,
		"GGUF":                              format.GGUF,
		"GGU":                               format.Unknown,
		"PK\x03\x04\x00\x00\x08\x08":        format.Zip,
		"\x80\x02\x8a\x0al\xfc\x9cF":        format.Pickle,
		"\x80\x04\x95\x10":                  format.Pickle,
		"\x80\x09\x95\x10":                  format.Unknown,
		"\x80":                              format.Unknown,
		"tjgg\x03\x00\x00\x00":              format.OldGGML,
		"\x89HDF\r\n\x1a\n":                 format.HDF5,
		"\x1f\x8b\x08\x00":                  format.Gzip,
		"version https://git-lfs.git":       format.LFSPointer,
		"\n <html>":                         format.HTML,
		"\xef\xbb\xbf{\"a\":1}":             format.JSON,
		"[1]":                               format.JSON,
		"\x00\x00\x00\x00":                  format.Zeros,
		"hello":                             format.Unknown,
		"   ":                               format.Unknown,
		"\x02\x00\x00\x00\x00\x00\x00\x00{": format.Safetensors,
		"\x1f\x8b\x00\x00\x00\x00\x00\x00{": format.Safetensors,
		"\x02\x00\x00\x00\x00\x00\x00\x01{": format.Unknown,
	} {
		if got := format.Detect([]byte(head)); got != want {
			t.Errorf("%q: %s, want %s", head, got.Is(), want.Is())
		}
	}
}

// Every kind has a name and a way on, and the dangerous ones say why they are not read.
func TestKinds(t *testing.T) {
	for k := format.Unknown; k <= format.Zeros; k++ {
		if k.Is() == "" || k.Fix() == "" {
			t.Errorf("kind %d: %q, %q", k, k.Is(), k.Fix())
		}
	}
	for _, k := range []format.Kind{format.Zip, format.Pickle} {
		if !strings.Contains(k.Is(), "PyTorch .bin/.pt") || k.Fix() != "never read, because unpickling runs code; use safetensors or GGUF" {
			t.Errorf("%s: %s", k.Is(), k.Fix())
		}
	}
}

func FuzzDetect(f *testing.F) {
	for _, s := range []string{"", "GGUF", "\x80\x02}", "PK\x03\x04", "{", "\x00"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		if k := format.Detect(head); k.Is() == "" || k.Fix() == "" || (k == format.Empty) != (len(head) == 0) {
			t.Errorf("%q: %d", head, k)
		}
	})
}

// TestNests: brackets in strings do not count, and the first that is too deep is told.
func TestNests(t *testing.T) {
	for _, c := range []struct {
		text string
		at   int
		deep bool
	}{{`{"a":[1]}`, 0, false}, {`[[[`, 2, true}, {`["[[[", "\"[[["]`, 0, false}, {`[[],[[]]]`, 5, true}, {``, 0, false}} {
		if at, deep := format.Nests([]byte(c.text), 2); at != c.at || deep != c.deep {
			t.Errorf("%s: %d, %v", c.text, at, deep)
		}
	}
}
