package safetensors_test

import (
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/memwall/memwall/format/safetensors"
)

func TestReadIndex(t *testing.T) {
	const text = `{
  "metadata": {"total_parameters": 8030261248, "total_size": 16060522496, "who": {"cares": [1]}},
  "extra": [null],
  "weight_map": {
    "lm_head.weight": "model-00002-of-00002.safetensors",
    "model.embed_tokens.weight": "model-00001-of-00002.safetensors",
    "model.norm.weight": "sub/model-00002-of-00002.safetensors"
  }
}
`
	for name, r := range map[string]io.Reader{"whole": strings.NewReader(text),
		"byte by byte": iotest.OneByteReader(strings.NewReader(text))} {
		ix, err := safetensors.ReadIndex(r)
		if err != nil {
			t.Fatal(name, err)
		}
		want := map[string]string{"lm_head.weight": "model-00002-of-00002.safetensors",
			"model.embed_tokens.weight": "model-00001-of-00002.safetensors", "model.norm.weight": "sub/model-00002-of-00002.safetensors"}
		if ix.TotalSize != 16060522496 || ix.Parameters != 8030261248 || !maps.Equal(ix.WeightMap, want) {
			t.Errorf("%s: %+v", name, ix)
		}
		files := []string{"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors", "sub/model-00002-of-00002.safetensors"}
		if !slices.Equal(ix.Files(), files) {
			t.Errorf("%s: %v", name, ix.Files())
		}
	}
}

// Writers got total_size wrong in many ways; what is not a whole number is unknown.
func TestTotalSize(t *testing.T) {
	for text, want := range map[string]int64{
		`"metadata":{"total_size":12},`:                  12,
		`"metadata":{"total_size":12.0},`:                12,
		`"metadata":{"total_size":12.125},`:              0,
		`"metadata":{"total_size":1e3},`:                 0,
		`"metadata":{"total_size":-1},`:                  0,
		`"metadata":{"total_size":9223372036854775808},`: 0,
		`"metadata":{"total_size":"12"},`:                0,
		`"metadata":{"total_size":null},`:                0,
		`"metadata":{},`:                                 0,
		`"metadata":null,`:                               0,
		``:                                               0,
	} {
		ix, err := safetensors.ReadIndex(strings.NewReader(`{` + text + `"weight_map":{}}`))
		if err != nil || ix.TotalSize != want {
			t.Errorf("%s: %+v, %v", text, ix, err)
		}
	}
}

func TestBadIndex(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"empty":         {"", "byte 0: the index ends in the middle of its JSON text"},
		"no map":        {`{"metadata":{}}`, "the index has no weight_map"},
		"a list":        {`[1]`, "byte 0: this is a JSON text, not an index of safetensors files"},
		"a page":        {` <html>`, "byte 1: this is a web page, not an index"},
		"twice a map":   {`{"weight_map":{},"weight_map":{}}`, `the key "weight_map" stands twice`},
		"twice a key":   {`{"weight_map":{"a":"x","a":"y"}}`, `the key "a" stands twice in weight_map`},
		"not a text":    {`{"weight_map":{"a":1}}`, `'1' in "a", where '"' belongs`},
		"cut short":     {`{"weight_map":{"a":"x"`, "byte 22: the index ends"},
		"text behind":   {`{"weight_map":{}} x`, `'x' behind the closing brace`},
		"outside":       {`{"weight_map":{"a":"../x.safetensors"}}`, `tensor "a" is said to lie in "../x.safetensors", which is not a file below this folder`},
		"absolute":      {`{"weight_map":{"a":"/etc/passwd"}}`, "not a file below this folder"},
		"inside out":    {`{"weight_map":{"a":"b/../../x"}}`, "not a file below this folder"},
		"backslash":     {`{"weight_map":{"a":"..\\x"}}`, "not a file below this folder"},
		"drive":         {`{"weight_map":{"a":"c:x"}}`, "not a file below this folder"},
		"this folder":   {`{"weight_map":{"a":"."}}`, "not a file below this folder"},
		"nothing":       {`{"weight_map":{"a":""}}`, "not a file below this folder"},
		"zero byte":     {`{"weight_map":{"a":"x\u0000"}}`, "not a file below this folder"},
		"deep nesting":  {`{"x":` + strings.Repeat("[", 1000), "values nested deeper than 16"},
		"two documents": {`{"weight_map":{}}{"weight_map":{}}`, "behind the closing brace"},
	} {
		var e *safetensors.Error
		if _, err := safetensors.ReadIndex(strings.NewReader(c.text)); !errors.As(err, &e) || !strings.Contains(e.Error(), c.says) ||
			e.Fix == "" || e.More {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// endless is a text that never ends.
type endless struct{ from string }

func (e *endless) Read(p []byte) (int, error) {
	if e.from != "" {
		n := copy(p, e.from)
		e.from = e.from[n:]
		return n, nil
	}
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestEndlessIndex(t *testing.T) {
	for _, from := range []string{"{", `{"weight_map":{}}`} {
		_, err := safetensors.ReadIndex(&endless{from})
		if err == nil || !strings.Contains(err.Error(), "more than 100.0 MB") {
			t.Errorf("%q: %v", from, err)
		}
	}
}

func TestIndexSource(t *testing.T) {
	if _, err := safetensors.ReadIndex(iotest.ErrReader(io.ErrClosedPipe)); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}
