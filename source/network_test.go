package source

import (
	_ "embed" // the networks
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format/gguf/gguftest"
	"github.com/memwall/memwall/format/safetensors/safetensorstest"
)

// network is a small model written down three times: as a config.json, as the tensors of hub files and as
// a GGUF file, each as its own tools write it.
type network struct {
	name   string
	config string
	hub    string // a line: name, then the shape, outermost first; {0-3} and {0,2} stand for several
	arch   string
	meta   map[string]gguftest.Value
	gguf   string // likewise, dimensions outermost first; vectors are stored in F32
	f32    string // matrices that are stored in F32 all the same
}

// tensorLine is a tensor of such a text.
type tensorLine struct {
	name  string
	shape []int64
}

func tensorLines(text string) (out []tensorLine) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		var shape []int64
		for _, w := range words[1:] {
			n, err := strconv.ParseInt(w, 10, 64)
			if err != nil {
				panic(line)
			}
			shape = append(shape, n)
		}
		for _, name := range expand(words[0]) {
			out = append(out, tensorLine{name, shape})
		}
	}
	return out
}

// expand replaces {0-2} and {0,2} by their numbers.
func expand(name string) []string {
	before, rest, ok := strings.Cut(name, "{")
	if !ok {
		return []string{name}
	}
	list, after, _ := strings.Cut(rest, "}")
	var out []string
	for _, n := range numbers(list) {
		out = append(out, expand(before+n+after)...)
	}
	return out
}

func numbers(list string) (out []string) {
	from, to, isRange := strings.Cut(list, "-")
	if !isRange {
		return strings.Split(list, ",")
	}
	a, _ := strconv.Atoi(from)
	b, _ := strconv.Atoi(to)
	for i := a; i <= b; i++ {
		out = append(out, strconv.Itoa(i))
	}
	return out
}

func u(n int64) gguftest.Value { return gguftest.U32(n) }

//go:embed testdata/networks.txt
var networksText string

// networks are those of testdata/networks.txt.
var networks = readNetworks(networksText)

func readNetworks(text string) (all []network) {
	for _, block := range strings.Split(text, "\n== ")[1:] {
		name, rest, _ := strings.Cut(block, "\n")
		n := network{name: name, meta: map[string]gguftest.Value{}}
		into := &n.hub
		for line := range strings.Lines(rest) {
			switch key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " "); key {
			case "":
				*into += line
			case "arch":
				n.arch = value
			case "config":
				n.config = value
			case "f32":
				n.f32 = value
			case "meta":
				for _, pair := range strings.Fields(value) {
					key, v, _ := strings.Cut(pair, "=")
					n.meta[key] = metaValue(v)
				}
			case "hub":
				into = &n.hub
			case "gguf":
				into = &n.gguf
			default:
				panic(line)
			}
		}
		all = append(all, n)
	}
	return all
}

// metaValue is a truth, a number with a point, or a whole number.
func metaValue(text string) gguftest.Value {
	if n, err := strconv.ParseUint(text, 10, 32); err == nil {
		return gguftest.U32(n)
	}
	if x, err := strconv.ParseFloat(text, 32); err == nil {
		return gguftest.F32(x)
	}
	return gguftest.Bool(text == "true")
}

// file writes the GGUF file, matrices in BF16.
func (n *network) file() *gguftest.Builder {
	b := gguftest.New(n.arch)
	for key, v := range n.meta {
		b.Set(n.arch+"."+key, v)
	}
	b.Set("general.file_type", gguftest.U32(32))
	for _, t := range tensorLines(n.gguf) {
		f := dtype.BF16
		if len(t.shape) < 2 || inF32(t.name, n.f32) {
			f = dtype.F32
		}
		b.Tensor(t.name, f, reversed(t.shape)...)
	}
	return b
}

func inF32(name, list string) bool {
	for _, part := range strings.Fields(list) {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

func reversed(shape []int64) []int64 {
	out := make([]int64, len(shape))
	for i, d := range shape {
		out[len(shape)-1-i] = d
	}
	return out
}

// tensors writes the safetensors file, everything in BF16.
func (n *network) tensors() *safetensorstest.Builder {
	b := &safetensorstest.Builder{}
	for _, t := range tensorLines(n.hub) {
		b.Tensor(t.name, "BF16", 16, t.shape...)
	}
	return b
}

// sharded writes the tensors into n files of a folder, with an index.
func (n *network) sharded(t *testing.T, dir string, count int) {
	t.Helper()
	files := make([]*safetensorstest.Builder, count)
	for i := range files {
		files[i] = &safetensorstest.Builder{}
	}
	var entries []string
	for i, x := range tensorLines(n.hub) {
		files[i%count].Tensor(x.name, "BF16", 16, x.shape...)
		entries = append(entries, fmt.Sprintf("%q:%q", x.name, shardName(i%count, count)))
	}
	for i, f := range files {
		write(t, filepath.Join(dir, shardName(i, count)), f.File())
	}
	text(t, filepath.Join(dir, indexName), `{"metadata":{"total_size":0},"weight_map":{`+strings.Join(entries, ",")+"}}")
}

func shardName(i, of int) string {
	return fmt.Sprintf("model-%05d-of-%05d.safetensors", i+1, of)
}

// write makes a file that is as long as it says and takes no room.
func write(t testing.TB, path string, f *gguftest.Sparse) {
	t.Helper()
	text(t, path, string(f.Head))
	if err := os.Truncate(path, f.Len); err != nil {
		t.Fatal(err)
	}
}

func text(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
