// Package kernels holds public measurements of single kernels: matrix products, attention of prompts and of
// decoding, all-reduces. rows.tsv has them, sources.tsv where they come from and why some are refused.
package kernels

import (
	"bufio"
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/memwall/memwall/validation/packed"
)

const (
	table   = packed.File("kernels/rows.tsv")
	sources = packed.File("kernels/sources.tsv")
)

// Row is a kernel that was timed.
type Row struct {
	Line   int
	Kind   string // "gemm", "prefill", "decode", "allreduce"
	By     string // the program whose kernel it is, with its version: "vllm@0.24.0"
	Device string // id in the catalog of hardware
	Ranks  int64  // devices that take part
	Format string // of the operands
	KV     string // of the cache
	// Size of a gemm: m n k; of attention: sequences, tokens of each, heads, KV heads, head width, and of prefill also the
	// tokens cached before, if any; of an allreduce: bytes.
	Size    []int64
	Seconds float64
	Source  string
	Refused string // why the row says nothing
}

// Engine is the program without its version.
func (r *Row) Engine() string {
	name, _, _ := strings.Cut(r.By, "@")
	return name
}

// Load reads the rows.
func Load() ([]Row, error) {
	words, err := keys()
	if err != nil {
		return nil, err
	}
	text, err := table.Read()
	if err != nil {
		return nil, err
	}
	var rows []Row
	scan := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; scan.Scan(); n++ {
		if n == 1 {
			continue
		}
		r, err := parse(strings.Split(scan.Text(), "\t"))
		if err != nil {
			return nil, fmt.Errorf("rows.tsv, line %d: %w", n, err)
		}
		r.Line, r.Source, r.Refused = n, words[r.Source], words[r.Refused]
		rows = append(rows, r)
	}
	return rows, scan.Err()
}

func parse(cells []string) (r Row, err error) {
	if len(cells) != 10 {
		return r, fmt.Errorf("%d cells, want 10", len(cells))
	}
	r = Row{Kind: cells[0], By: cells[1], Device: cells[2], Format: cells[4], KV: cells[5], Source: cells[8], Refused: cells[9]}
	if r.Ranks, err = strconv.ParseInt(cells[3], 10, 64); err != nil {
		return r, err
	}
	for word := range strings.FieldsSeq(cells[6]) {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return r, err
		}
		r.Size = append(r.Size, n)
	}
	if n := len(r.Size); n != sizes[r.Kind] && (r.Kind != "prefill" || n != cachedSizes) {
		return r, fmt.Errorf("%s has %d sizes, want %d", r.Kind, len(r.Size), sizes[r.Kind])
	}
	us, err := strconv.ParseFloat(cells[7], 64)
	if err == nil && us <= 0 {
		err = fmt.Errorf("took %g us", us)
	}
	r.Seconds = us * 1e-6
	return r, err
}

var sizes = map[string]int{"gemm": 3, "prefill": 5, "decode": 5, "allreduce": 1}

// cachedSizes are those of a prompt of which a part is cached.
const cachedSizes = 6

// Cached tokens before those of a prompt.
func (r *Row) Cached() int64 {
	if len(r.Size) < cachedSizes {
		return 0
	}
	return r.Size[cachedSizes-1]
}

// keys are the sources and reasons that rows name by a word.
func keys() (map[string]string, error) {
	lines, err := sources.Lines()
	if err != nil {
		return nil, err
	}
	out := map[string]string{"": ""}
	for _, line := range lines {
		key, text, ok := strings.Cut(line, "\t")
		if !ok {
			return nil, fmt.Errorf("sources.tsv: %q has no text", line)
		}
		out[key] = text
	}
	return out, nil
}
