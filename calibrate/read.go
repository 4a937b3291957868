package calibrate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// record is a row of a file: names and values as text, without nested lists and objects.
type record map[string]cell

// maxNames is the maximum of names kept per row; llama-bench has 40.
const maxNames = 400

// UnmarshalJSON decodes an object name by name, so that a malicious one costs no more than its text.
func (r *record) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("a row is not an object")
	}
	*r = record{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var c cell
		if err := d.Decode(&c); err != nil {
			return err
		}
		if len(*r) < maxNames {
			(*r)[clip(name.(string))] = c
		}
	}
	return nil
}

// cell is a JSON scalar as text; "" for null, lists and objects.
type cell string

// UnmarshalJSON accepts any value.
func (c *cell) UnmarshalJSON(data []byte) error {
	switch data[0] {
	case '"':
		var s string
		if err := json.Unmarshal(data, &s); err != nil {
			return err
		}
		*c = cell(clip(s))
	case '[', '{', 'n':
		*c = ""
	default:
		*c = cell(clip(string(data)))
	}
	return nil
}

// has reports whether a row has a name, whatever its value.
func (r record) has(name string) bool { _, ok := r[name]; return ok }

func (r record) text(name string) string { return strings.TrimSpace(string(r[name])) }

// first returns the first of several names with a value.
func (r record) first(names ...string) (name, value string) {
	for _, n := range names {
		if v := r.text(n); v != "" {
			return n, v
		}
	}
	return "", ""
}

// count returns an integer, 0 if absent.
func (r record) count(name string) int64 {
	x, err := strconv.ParseFloat(r.text(name), 64)
	if err != nil || !(x >= 0 && x < 1e15) {
		return 0
	}
	return int64(x)
}

// Hint suggests what to do about a file with nothing usable.
const Hint = "--model and --on say what a file does not; llama-bench -o json and vllm bench serve --save-result write files that do"

// Read parses benchmark results: llama-bench's JSON, JSONL, CSV, SQL or Markdown; JSON of vllm bench serve, latency and
// throughput; JSONL of SGLang's bench_serving; the output both print; JSON of guidellm, InferenceX and LocalScore;
// MLPerf's summary; or two columns. It returns an error if nothing could be parsed; single unusable values are in
// File.Refused.
func Read(data []byte) (*File, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("the file has more than %d MiB", MaxBytes>>20)
	}
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff")))
	switch {
	case len(data) == 0:
		return nil, fmt.Errorf("the file is empty")
	case !utf8.Valid(data):
		return nil, fmt.Errorf("the file is not text")
	case data[0] == '{' || data[0] == '[':
		return readJSON(data)
	case isSQL(data):
		return readSQL(data)
	case isMLPerf(data):
		return readMLPerf(data)
	case bytes.Contains(data, []byte(printedHead)):
		return readPrinted(data)
	case isMarkdown(data):
		return readMarkdown(data)
	}
	return readColumns(data)
}

func readJSON(data []byte) (*File, error) {
	data = finite(data)
	if f := nested(data); f != nil {
		return f, nil
	}
	rows, broken, err := records(data)
	if err != nil {
		return nil, err
	}
	f := &File{Refused: broken}
	for i, r := range rows {
		f.record(fmt.Sprintf("row %d", i+1), r)
	}
	if f.Format == "" {
		return nil, fmt.Errorf("the JSON is of no benchmark that is known: llama-bench -o json, vllm bench --save-result, SGLang " +
			"bench_serving --output-file, guidellm, InferenceX, LocalScore")
	}
	return f, nil
}

// record parses a row according to its names.
func (f *File) record(at string, r record) {
	for _, k := range kinds {
		if r.has(k.by) {
			f.Format = k.name
			k.read(f, at, r)
			return
		}
	}
	f.refuse(at, "", "", "has none of the fields of a benchmark")
}

// kinds identifies rows by a field that no other kind has; the first match wins.
var kinds = []struct {
	name, by string
	read     func(*File, string, record)
}{
	{"llama-bench", "avg_ts", (*File).llamaBench},
	{"SGLang bench_serving", "total_output_tokens_retokenized", (*File).sglang},
	{"vllm bench serve", "mean_ttft_ms", (*File).vllmServe},
	{"InferenceX", "output_tput_per_gpu", (*File).inferenceX},
	{"vllm bench latency", "avg_latency", (*File).vllmLatency},
	{"vllm bench throughput", "total_num_tokens", (*File).vllmThroughput},
}

// records splits a list, a single object, or one object per line. Invalid lines are refused without failing the file.
func records(data []byte) (rows []record, broken []Refusal, err error) {
	if data[0] == '[' {
		rows, err = list(data)
		return rows, nil, err
	}
	var one record
	if json.Unmarshal(data, &one) == nil {
		return []record{one}, nil, nil
	}
	n := 0
	for line := range bytes.Lines(data) {
		n++
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if len(rows)+len(broken) == maxRows {
			return nil, nil, errRows
		}
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			if n == 1 {
				return nil, nil, fmt.Errorf("the JSON cannot be read: %w", err)
			}
			broken = append(broken, Refusal{At: fmt.Sprintf("line %d", n), Why: "is not a JSON object: " + err.Error()})
			continue
		}
		rows = append(rows, r)
	}
	return rows, broken, nil
}

var errRows = fmt.Errorf("the file has more than %d rows", maxRows)

func list(data []byte) (rows []record, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("the JSON cannot be read: %w", err)
	}
	for d.More() {
		if len(rows) == maxRows {
			return nil, errRows
		}
		var r record
		if err := d.Decode(&r); err != nil {
			return nil, fmt.Errorf("row %d of the JSON cannot be read: %w", len(rows)+1, err)
		}
		rows = append(rows, r)
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("the JSON ends within its list: %w", err)
	}
	return rows, nil
}

// finite replaces NaN and Infinity, which Python writes but JSON lacks, by null.
func finite(data []byte) []byte {
	if !bytes.Contains(data, []byte("NaN")) && !bytes.Contains(data, []byte("Infinity")) {
		return data
	}
	var out bytes.Buffer
	quoted := false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\' && i+1 < len(data):
			out.Write(data[i : i+2])
			i++
			continue
		case c == '"':
			quoted = !quoted
		case !quoted:
			if n := unknownNumber(data[i:]); n > 0 {
				out.WriteString("null")
				i += n - 1
				continue
			}
		}
		out.WriteByte(data[i])
	}
	return out.Bytes()
}

func unknownNumber(data []byte) int {
	for _, w := range []string{"-Infinity", "Infinity", "NaN"} {
		if bytes.HasPrefix(data, []byte(w)) {
			return len(w)
		}
	}
	return 0
}
