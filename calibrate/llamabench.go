package calibrate

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// llamaBench reads a row of llama-bench -o json, jsonl or csv (llama.cpp tools/llama-bench).
func (f *File) llamaBench(at string, r record) {
	o := llamaRow(at, r)
	o.Prompt, o.Answer, o.Depth = r.count("n_prompt"), r.count("n_gen"), r.count("n_depth")
	if why := timed(&o); why != "" {
		f.refuse(at, "n_prompt", r.text("n_prompt"), why)
		return
	}
	o.Deviation = positive(r.text("stddev_ts"))
	f.add(o, "avg_ts", r.text("avg_ts"))
}

// timed determines the test from what was computed.
func timed(o *Observation) string {
	switch {
	case o.Prompt > 0 && o.Answer > 0:
		o.Test = Mixed
	case o.Prompt > 0:
		o.Test = Prefill
	case o.Answer > 0:
		o.Test = Decode
	default:
		return "neither a prompt nor an answer was timed"
	}
	return ""
}

func llamaRow(at string, r record) Observation {
	o := Observation{At: at, Engine: "llama.cpp", Concurrency: 1, Requests: 1,
		Backend: r.text("backends"), Flash: switched(r.text("flash_attn")), GPULayers: r.text("n_gpu_layers"), Threads: r.text("n_threads"),
		UBatch: r.count("n_ubatch"), TypeK: r.text("type_k"), TypeV: r.text("type_v"), Bytes: r.count("model_size"),
		Params: r.count("model_n_params")}
	_, o.Model = r.first("model_filename", "model_type")
	if d, _, _ := strings.Cut(r.text("test_time"), "T"); day().MatchString(d) {
		o.Date = d
	}
	o.Weights = quantOf(r.text("model_type"))
	if n := r.text("build_number"); n != "" && n != "0" {
		o.Build = "b" + n
	}
	o.Hardware, o.Devices = devices(r.text("gpu_info"))
	if o.Hardware == "" {
		o.Hardware, o.Devices = r.text("cpu_info"), 1
	}
	return o
}

var day = pattern(`^20\d\d-\d\d-\d\d$`)

// devices parses "NVIDIA A100, NVIDIA A100" into name and count. Different names are joined with plus signs.
func devices(list string) (name string, n int64) {
	if list == "" {
		return "", 0
	}
	var names []string
	for part := range strings.SplitSeq(list, ",") {
		if part = strings.TrimSpace(part); part != "" {
			names = append(names, part)
		}
	}
	if len(names) == 0 {
		return "", 0
	}
	for _, other := range names {
		if other != names[0] {
			return strings.Join(names, "+"), int64(len(names))
		}
	}
	return names[0], int64(len(names))
}

// switched parses flags written true, false, 1, 0, on or off.
func switched(s string) string {
	switch strings.ToLower(s) {
	case "1", "true", "on":
		return "1"
	case "0", "false", "off":
		return "0"
	}
	return ""
}

// pattern returns a lazily compiled regular expression.
func pattern(s string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(s) })
}

// quantOf returns the recipe at the end of "llama 7B Q4_K - Medium".
func quantOf(model string) string {
	m := quantised().FindStringSubmatch(model)
	if m == nil {
		return ""
	}
	return strings.TrimSpace(m[1])
}

var quantised = pattern(`(?:^| )((?:all )?(?:I?Q[0-9]_[0-9A-Z_]+|I?Q[0-9]+|TQ[0-9]_[0-9]|MXFP4 MoE|F16|F32|BF16)(?: - [^|]{1,40})?)$`)

// isMarkdown recognizes llama-bench's Markdown table by its header.
func isMarkdown(data []byte) bool {
	for line := range bytes.Lines(data) {
		if benched(cells(string(line))) {
			return true
		}
	}
	return false
}

// benched reports whether cells are the header of a llama-bench table.
func benched(c []string) bool {
	return len(c) > 2 && c[0] == "model" && slices.Contains(c, "t/s") && slices.Contains(c, "test")
}

// cells returns the cells of a table line; nil for other lines.
func cells(line string) []string {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "|") || !strings.HasSuffix(line, "|") || len(line) < 2 {
		return nil
	}
	out := strings.Split(line[1:len(line)-1], "|")
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	return out
}

// markdownNames maps the columns of the table to the names of the other formats.
var markdownNames = map[string]string{"ngl": "n_gpu_layers", "threads": "n_threads", "fa": "flash_attn", "backend": "backends",
	"model": "model_type"}

var (
	deviceLine = pattern(`^\s*Device \d+: ([^,\n]{1,200})(?:,|$)`)
	buildLine  = pattern(`^build: [0-9a-f]{4,40} \((\d{1,7})\)`)
	testCell   = pattern(`^(?:pp(\d{1,9}))?\+?(?:tg(\d{1,9}))?(?:(?: @ d|@pp)(\d{1,9}))?$`) // tg64@pp512 is ik_llama.cpp's notation
	rateCell   = pattern(`^(\S+)(?: ± (\S+))?$`)
)

// readMarkdown reads llama-bench's tables, and the surrounding lines that name devices and build.
func readMarkdown(data []byte) (*File, error) {
	f := &File{Format: "llama-bench"}
	var header, above, found []string
	var build string
	n := 0
	for line := range bytes.Lines(data) {
		n++
		text := strings.TrimRight(string(line), "\r\n")
		if m := deviceLine().FindStringSubmatch(text); m != nil && len(found) < 64 {
			found = append(found, strings.TrimSpace(m[1]))
		}
		if m := buildLine().FindStringSubmatch(text); m != nil {
			build = "b" + m[1]
		}
		c := cells(text)
		switch {
		case len(c) == 0:
		case strings.Trim(strings.Join(c, ""), "-: ") == "":
			if !benched(above) {
				header = nil // start of another table
				last := fmt.Sprintf("line %d", n-1)
				f.Refused = slices.DeleteFunc(f.Refused, func(r Refusal) bool { return r.At == last })
			}
		case benched(c):
			header = c
		case header == nil:
		case len(c) != len(header):
			f.refuse(fmt.Sprintf("line %d", n), "", text, "is not a row of the table above")
		default:
			f.markdownRow(fmt.Sprintf("line %d", n), header, c, strings.Join(found, ", "))
		}
		above = c
		if len(f.Observations)+len(f.Refused) > maxRows {
			return nil, errRows
		}
	}
	for i := range f.Observations {
		f.Observations[i].Build = build
	}
	return f, nil
}

func (f *File) markdownRow(at string, header, c []string, gpus string) {
	r := record{"gpu_info": cell(gpus)}
	for i, name := range header {
		if known := markdownNames[name]; known != "" {
			name = known
		}
		r[name] = cell(clip(c[i]))
	}
	o := llamaRow(at, r)
	if billions, ok := strings.CutSuffix(r.text("params"), " B"); ok {
		o.Params = int64(math.Round(1e9 * positive(billions)))
	}
	m := testCell().FindStringSubmatch(r.text("test"))
	if m == nil {
		f.refuse(at, "test", r.text("test"), "is not a test such as pp512 or tg128 @ d4096")
		return
	}
	o.Prompt, o.Answer, o.Depth = integer(m[1]), integer(m[2]), integer(m[3])
	if why := timed(&o); why != "" {
		f.refuse(at, "test", r.text("test"), why)
		return
	}
	v := rateCell().FindStringSubmatch(r.text("t/s"))
	if v == nil {
		f.refuse(at, "t/s", r.text("t/s"), "is not a rate")
		return
	}
	o.Deviation = positive(v[2])
	f.add(o, "t/s", v[1])
}
