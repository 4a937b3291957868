package startup

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/memwall/memwall/fault"
)

func readAll(t *testing.T, r io.Reader) ([]Line, error) {
	t.Helper()
	l, err := NewLines(r)
	if err != nil {
		return nil, err
	}
	var out []Line
	for line, ok := l.Next(); ok; line, ok = l.Next() {
		out = append(out, line)
	}
	return out, l.Err()
}

func TestLines(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain", "a\nb\n", "1:a|2:b"},
		{"without an end", "a\nb", "1:a|2:b cut"},
		{"windows", "a\r\nb\r\n", "1:a|3:b"},
		{"progress bars", "0%\r50%\r100%\nx\n", "1:0%|2:50%|3:100%|4:x"},
		{"blank lines", "\n \n\ta\n", "3:\ta"},
		{"colours", "\x1b[1;36m(EngineCore pid=1)\x1b[0;0m x\n", "1:(EngineCore pid=1) x"},
		{"titles and links", "\x1b]0;title\aa\x1b]8;;http://x\x1b\\b\n", "1:ab"},
		{"half an escape", "a\x1b", "1:a cut"},
		{"bell and backspace", "a\ab\bc\n", "1:a b c"},
		{"frames", "│ a    │\n", "1:│ a"},
		{"not UTF-8", "a\xffb\n", "1:a\ufffdb"},
		{"byte order mark", "\xEF\xBB\xBFa\n", "1:a"},
		{"UTF-16", "\xFF\xFEa\x00\n\x00b\x00\n\x00", "1:a|2:b"},
		{"UTF-16, big end first", "\xFE\xFF\x00a\x00\n", "1:a"},
	} {
		lines, err := readAll(t, strings.NewReader(c.text))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for _, l := range lines {
			s := fmt.Sprintf("%d:%s", l.Number, l.Text)
			if l.Cut {
				s += " cut"
			}
			got = append(got, s)
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// TestLongLines: what is longer than MaxLine is cut, and reading goes on behind it.
func TestLongLines(t *testing.T) {
	lines, err := readAll(t, strings.NewReader(strings.Repeat("x", 3*MaxLine)+"\nb\n"))
	if err != nil || len(lines) != 2 || len(lines[0].Text) != MaxLine || !lines[0].Cut || lines[1].Text != "b" || lines[1].Cut {
		t.Errorf("%d lines, %v", len(lines), err)
	}
}

func TestNoText(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "the log is empty"}, {"\n \r\n", "the log is empty"}, {"ab\x00", "byte 2 of the log is 0"},
		{strings.Repeat("a\n", 4000) + "b\x00", "byte 8001 of the log is 0"},
	} {
		_, err := readAll(t, strings.NewReader(c.text))
		e, ok := err.(*fault.Error)
		if !ok || !strings.HasPrefix(e.Problem, c.want) || e.Hint() == "" {
			t.Errorf("%.10q: %v", c.text, err)
		}
	}
	broken := errors.New("broken")
	if _, err := readAll(t, iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Error(err)
	}
	if _, err := readAll(t, io.MultiReader(strings.NewReader(strings.Repeat("a\n", 9000)), iotest.ErrReader(broken))); !errors.Is(err,
		broken) {
		t.Error(err)
	}
}

func TestRank(t *testing.T) {
	for text, want := range map[string]string{
		"(Worker_TP0 pid=34322) INFO 05-06 20:59:57 [x.py:1] y":                "TP0",
		"(Worker_DP1_TP3_EP7 pid=1) INFO":                                      "DP1 TP3 EP7",
		"(EngineCore_DP0 pid=387) INFO":                                        "DP0",
		"(EngineCore pid=1894) INFO":                                           "",
		"(VllmWorker rank=2 pid=4023) INFO":                                    "rank 2",
		"(VllmWorkerProcess pid=521) INFO 04-12":                               "pid 521",
		"(RayWorkerWrapper pid=3, ip=10.0.0.1) INFO":                           "pid 3, ip=10.0.0.1",
		"[2025-10-16 09:06:09 TP7] Load weight begin.":                         "TP7",
		"[2025-10-16 09:06:09 DP0 TP1 EP1] x":                                  "DP0 TP1 EP1",
		"09:12:01 [gpu=3] Load weight begin.":                                  "TP3",
		"[gpu_id=1] Load":                                                      "TP1",
		"vllm-1  | 2025-12-14T10:00:00.000Z (Worker_TP1 pid=3) INFO":           "TP1",
		"INFO 03-22 10:14:52 [model_runner.py:1146] Model loading took 6.2 GB": "",
		"print_info: n_head_kv = [0, 0, 0, 2]":                                 "",
		"plain":                                                                "",
		"((((((":                                                               "",
	} {
		if got := rankOf(text); got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		in, text string
		value    float64
		digits   int
		rest     string
	}{
		{" 6.93 GiB", "6.93", 6.93, 2, " GiB"}, {"= 4651.00 MiB", "4651.00", 4651, 2, " MiB"},
		{"188,640 tokens", "188,640", 188640, 0, " tokens"}, {"1,234,567", "1,234,567", 1234567, 0, ""},
		{"-2.14 GiB", "-2.14", -2.14, 2, " GiB"}, {"5088. Try", "5088", 5088, 0, ". Try"}, {"9650, # CPU", "9650", 9650, 0, ", # CPU"},
		{"12,34", "12", 12, 0, ",34"}, {"1,2345", "1", 1, 0, ",2345"},
		{"0.90) =", "0.90", 0.9, 2, ") ="}, {"7.42x", "7.42", 7.42, 2, "x"}, {"1.2.3", "1.2", 1.2, 1, ".3"}, {"", "", 0, 0, ""},
		{"x1", "", 0, 0, "x1"}, {"-", "", 0, 0, "-"}, {".5", "", 0, 0, ".5"},
		{strings.Repeat("9", 40), "", 0, 0, strings.Repeat("9", 40)},
	} {
		text, value, digits, rest := Number(c.in)
		if text != c.text || value != c.value || digits != c.digits || rest != c.rest {
			t.Errorf("%q: %q %v %d %q", c.in, text, value, digits, rest)
		}
	}
}

// TestNumberPrints: every number that an engine prints with so many digits reads back as it was printed.
func TestNumberPrints(t *testing.T) {
	for i := range 2000 {
		x := (float64(i*i)*1.37 - 500) / 7
		for digits := range 5 {
			text := strconv.FormatFloat(x, 'f', digits, 64)
			got, value, n, rest := Number(text + " GiB")
			f := Figure{Digits: n}
			if got != text || n != digits || rest != " GiB" || math.Abs(value-x) > f.Half()*1.0001 {
				t.Fatalf("%s: %q %v %d", text, got, value, n)
			}
		}
	}
}

func TestSettings(t *testing.T) {
	for _, c := range []struct{ text, key, want string }{
		{"model='a/b', tensor_parallel_size=2, x", "tensor_parallel_size", "2"}, {"model='a, b=c', n=1", "model", "a, b=c"},
		{"model='a, b=c', n=1", "n", "1"},
		{"dtype=torch.float16, load_format=LoadFormat.AUTO", "load_format", "LoadFormat.AUTO"}, {`{'model': 'x', 'max_num_seqs': 64}`, "max_num_seqs", "64"},
		{`{"a": {"b": 1}, "c": 2}`, "c", "2"}, {`{"a": {"b": 1}, "c": 2}`, "a", `{"b": 1}`}, {"f(x=1), y=2", "y", "2"}, {"compilation_config={'a':[1,2],'b':')'}, z=3", "z", "3"},
		{"a=1, a=2", "a", "1"}, {`a='it\'s', b=2`, "b", "2"}, {"a='unclosed, b=2", "a", "unclosed, b=2"}, {"Namespace(host=None, port=8000)", "port", "8000"}, {"a=", "a", ""}, {"=1, b=2", "b", "2"},
		{"a=[1, 2), b=3", "b", "3"}, {strings.Repeat("(", 100) + "a=1", "a", "1"}, {"a=" + strings.Repeat("(", 100) + "b=1", "b", ""},
	} {
		if got := ParseSettings(c.text)[c.key]; got != c.want {
			t.Errorf("%.40s: %s = %q, want %q", c.text, c.key, got, c.want)
		}
	}
	s := ParseSettings("a=None, b=7, c=-1, d=0.95, e=True, f=False, g=2.5, h=99999999999999, i='x'")
	if s.Str("a") != "" || s.Str("a", "i") != "x" {
		t.Error("None is not a value")
	}
	for name, want := range map[string]bool{"b": true, "c": false, "d": false, "h": false, "nothing": false} {
		if _, ok := s.Int(name); ok != want {
			t.Errorf("%s is a number: %v", name, ok)
		}
	}
	if d, g := s.Share("d"), s.Share("g"); d == nil || *d != 0.95 || g != nil {
		t.Errorf("%v %v", d, g)
	}
	if e, f, b := s.Bool("e"), s.Bool("f"), s.Bool("b"); e == nil || !*e || f == nil || *f || b != nil {
		t.Errorf("%v %v %v", e, f, b)
	}
}

func TestBounds(t *testing.T) {
	var l Log
	at := Line{Number: 1}
	for i := range MaxFigures + 10 {
		l.Add("x", "x", "", &at, strconv.Itoa(i))
		l.Seen(Device{Slot: strconv.Itoa(i)})
		l.Named(strconv.Itoa(i))
		l.Note("x", "%d", i)
	}
	if len(l.Figures) != MaxFigures || len(l.Devices) != maxDevices || len(l.Models) != 8 || len(l.Notes) != 64 {
		t.Errorf("%d figures, %d devices, %d models, %d notes", len(l.Figures), len(l.Devices), len(l.Models), len(l.Notes))
	}
	l.Named(strings.Repeat("x", 1000))
	if _, ok := l.Add("x", "x", "", &at, "none"); ok {
		t.Error("a word is not a figure")
	}
	var m Metadata
	for i := range maxKeys + 10 {
		m.Set(strconv.Itoa(i), "1")
		m.Type(strconv.Itoa(i), 1)
	}
	m.Set("long", strings.Repeat("1", maxValue+1))
	if len(m.values) != maxKeys || len(m.Types) != maxTypes || m.Has("long") {
		t.Errorf("%d keys, %d types", len(m.values), len(m.Types))
	}
}

func TestHardware(t *testing.T) {
	for _, c := range []struct {
		names string
		most  int
		want  string
	}{
		{"a", 0, "a"}, {"a a b", 0, "2xa+b"}, {"a a a a", 2, "2xa"}, {"", 0, ""}, {"a - b", 0, ""},
	} {
		var d []Device
		for _, n := range strings.Fields(c.names) {
			d = append(d, Device{Name: strings.Trim(n, "-")})
		}
		if got := Hardware(d, c.most); got != c.want {
			t.Errorf("%q: %q", c.names, got)
		}
	}
}

func TestMetadata(t *testing.T) {
	var m Metadata
	for k, v := range map[string]string{"n": "32", "list": "[1, 2, 3]", "cut": "[1, 2, ...", "open": "[1, 2", "flags": "[true, false]",
		"bits": "[1, 0]", "word": "gpt2", "yes": "true", "x": "0.5", "none": "[]"} {
		m.Set(k, v)
	}
	for key, want := range map[string]string{"n": "[32] true", "list": "[1 2 3] true", "cut": "[] false", "open": "[] false",
		"word": "[] false", "none": "[] false", "missing": "[] false"} {
		v, ok := m.Ints(key)
		if got := fmt.Sprint(v, ok); got != want {
			t.Errorf("%s: %s", key, got)
		}
	}
	for key, want := range map[string]string{"flags": "[true false] true", "bits": "[true false] true", "list": "[] false",
		"yes": "[] false"} {
		v, ok := m.Bools(key)
		if got := fmt.Sprint(v, ok); got != want {
			t.Errorf("%s: %s", key, got)
		}
	}
	if v, ok := m.Bool("yes"); !v || !ok {
		t.Error("yes is a flag")
	}
	if v, ok := m.Float("x"); v != 0.5 || !ok {
		t.Error(v, ok)
	}
	if v, ok := m.Int("list"); v != 1 || !ok {
		t.Error(v, ok)
	}
	if _, ok := m.TensorDims("any"); ok {
		t.Error("no tensors are known")
	}
}

// slowLines cuts a text at once: what Lines does byte by byte.
func slowLines(text string) (out []string) {
	for _, s := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if s = strings.TrimRight(s, " \t│|"); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// FuzzLines: on plain text Lines agrees with the slow reader; on anything it ends, within its bounds.
func FuzzLines(f *testing.F) {
	for _, s := range []string{"a\nb\r\nc", "\x1b[1ma\x1b[0m\n", "\xff\xfea\x00", "a\x00b", strings.Repeat("x", 1000)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines, err := readAll(t, strings.NewReader(text))
		if err != nil {
			if _, ok := err.(*fault.Error); !ok {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		var got []string
		for _, l := range lines {
			if len(l.Text) > 3*MaxLine {
				t.Fatal("a line beyond its bound")
			}
			got = append(got, l.Text)
		}
		plain := len(text) > 0 && len(text) < MaxLine &&
			!strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\r' && r != '\t' || r > '~' && r != '│' })
		if plain && strings.Join(got, "\x00") != strings.Join(slowLines(text), "\x00") {
			t.Fatalf("%q: %q, slowly %q", text, got, slowLines(text))
		}
	})
}

// FuzzSettings: any text gives settings that stand in it.
func FuzzSettings(f *testing.F) {
	for _, s := range []string{"a=1, b='x'", `{'a': [1, {2: 3}], "b": None}`, "a=(b=(c=1)), d", `x='\'`, "a='b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := ParseSettings(text)
		if len(s) > maxSettings {
			t.Fatal("more settings than bounds allow")
		}
		for k, v := range s {
			if !strings.Contains(text, k) || !strings.Contains(text, v) {
				t.Fatalf("%q=%q is not in the text", k, v)
			}
		}
		Number(text)
		rankOf(text)
		(&Log{}).Spot(text)
	})
}
