package study

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memwall/memwall"
)

const fleet = `study: a fleet
ask: sim
models: [llama-3.1-8b, qwen3-32b]
hardware: [4xh100, 8xl40s]
plan:
  engine: vllm@0.24
  tp: [2, 4]
  context: [8k, 32k]
  versus: [static]
workloads:
  - {name: chat, prompt: {mean: 800}, output: {mean: 300}}
  - {name: code, prompt: {law: lognormal, mean: 3000, cv: 1}, output: {mean: 100}}
workload:
  rate: [1, 2.5]
  requests: 100
goals:
  - {name: fast, ttft_ms: {p99: 500}}
seeds: 1..3
`

func read(t testing.TB, text string) *Study {
	t.Helper()
	s, err := Read("study.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestExpand: the last factor turns fastest, each question is one of the contract, and has a key of its own.
func TestExpand(t *testing.T) {
	s := read(t, fleet)
	var names []string
	for i := range s.Factors {
		names = append(names, s.Factors[i].Name)
	}
	if d := cmp.Diff([]string{"model", "hardware", "tp", "context", "workload", "workload.rate", "goal", "seed"}, names); d != "" {
		t.Error(d)
	}
	if n := s.Points(); n != 2*2*2*2*2*2*1*3 {
		t.Fatalf("%d points", n)
	}
	seen := map[Key]bool{}
	for p := range s.All("t") {
		r, err := memwall.Decode(p.Request)
		if err != nil || r.Ask != "sim" || r.Workload == nil || r.Workload.Requests != 100 || r.Goal == nil {
			t.Fatalf("%s: %v", p.Request, err)
		}
		seen[p.Key] = true
		if s.At(p.Index, "t").Key != p.Key {
			t.Fatalf("point %d is another the second time", p.Index)
		}
	}
	if len(seen) != int(s.Points()) {
		t.Errorf("%d keys of %d points", len(seen), s.Points())
	}
	first := s.At(0, "t")
	const want = `{"ask":"sim","context":8192,"engine":"vllm@0.24","goal":{"ttft_ms":{"p99":500}},"hardware":"4xh100","model":"llama-3.1-8b","tp":2,"versus":["static"],"workload":{"output":{"mean":300},"prompt":{"mean":800},"rate":1,"requests":100,"seed":1}}`
	if d := cmp.Diff(want, string(first.Request)); d != "" {
		t.Error(d)
	}
	if s.At(0, "other tables").Key == first.Key || s.ID("t") == s.ID("other tables") {
		t.Error("other tables have the same keys")
	}
}

// TestSameQuestion: however a question is written, and in whichever study, it has one key; a study has one ID whatever it is called.
func TestSameQuestion(t *testing.T) {
	a := read(t, "ask: fit\nmodels: llama-3.1-8b\nhardware: [h100, l40s]\nplan: {context: 8192, gpu_memory_utilization: 0.9}\n")
	b := read(t, "study: other\nhardware: l40s\nplan:\n  gpu_memory_utilization: 9e-1\n  context: 8k\nmodels:\n- llama-3.1-8b\nask: fit\n")
	if x, y := a.At(1, "t"), b.At(0, "t"); x.Key != y.Key {
		t.Errorf("%s and %s", x.Request, y.Request)
	}
	c := read(t, "study: named\nask: fit\nmodels: llama-3.1-8b\nhardware: [h100, l40s] # two\nplan: {context: 8192, "+
		"gpu_memory_utilization: 0.9}\n")
	if a.ID("t") != c.ID("t") || a.ID("t") == b.ID("t") {
		t.Error("a study is told by its questions")
	}
}

// TestTraces: a trace is known by what it holds, not by what it is called.
func TestTraces(t *testing.T) {
	s := read(t, "ask: sim\nmodels: llama-3.1-8b\nhardware: h100\ntraces: [a.csv, b.csv]\n")
	if d := cmp.Diff([]string{"a.csv", "b.csv"}, s.Traces()); d != "" {
		t.Error(d)
	}
	known := s.Digested(map[string]string{"a.csv": "sha256:1", "b.csv": "sha256:2"})
	if p := known.At(1, "t"); !strings.Contains(string(p.Request), `"trace":"sha256:2"`) {
		t.Errorf("%s", p.Request)
	}
	if s.Digested(map[string]string{"a.csv": "sha256:1", "b.csv": "sha256:3"}).ID("t") == known.ID("t") {
		t.Error("another trace under the same name makes no other study")
	}
}

// TestWithin: more questions than are allowed are refused before any of them exists, however many they are.
func TestWithin(t *testing.T) {
	s := read(t, "ask: sim\nmodels: llama-3.1-8b\nhardware: h100\nworkload: {rate: [1, 2]}\nseeds: 1..1000000\n")
	err := s.Within(MostPoints)
	var e *memwall.Error
	if !errors.As(err, &e) || e.Message != "the study has 2000000 questions (2 workload.rate x 1000000 seed), more than 100000" ||
		!strings.HasSuffix(e.Hint, "--max 2000000") {
		t.Errorf("%+v", err)
	}
	if err := s.Within(2_000_000); err != nil {
		t.Error(err)
	}
	text := "ask: sim\nmodels: llama-3.1-8b\nseeds: 1..1000000000\nworkload:\n"
	for _, f := range []string{"rate", "requests", "duration_s", "concurrency"} {
		text += "  " + f + ": ["
		for i := range 1000 {
			text += strconv.Itoa(i+1) + ","
		}
		text += "]\n"
	}
	if err := read(t, text).Within(1 << 62); err == nil ||
		!strings.Contains(err.Error(), "the study has 1000000000000000000000 questions") {
		t.Error(err)
	}
	if last := s.At(1_999_999, "t"); !strings.Contains(string(last.Request), `"seed":1000000`) {
		t.Errorf("%s", last.Request)
	}
}

// TestRefused: what is wrong with a file is said with its line and column, what it was, and what would be right.
func TestRefused(t *testing.T) {
	const head = "ask: sim\nmodels: llama-3.1-8b\n"
	for _, c := range []struct {
		text         string
		line, column int
		field, says  string
		hint         string
	}{
		{"", 0, 0, "study", "holds no study", "ask: fit"},
		{"[1]", 0, 0, "study", "holds no study", "ask: fit"},
		{"models: x\n", 1, 1, "ask", "ask is missing", "fit"},
		{"ask: sim\n", 1, 1, "models", "models is missing", "llama"},
		{"ask: sing\nmodels: x\n", 1, 6, "ask", "not a question of studies", "one of fit"},
		{"ask: diff\nmodels: x\n", 1, 6, "ask", "not a question of studies", "one of fit"},
		{head + "modls: x\n", 3, 1, "modls", `no key "modls"`, "did you mean: models"},
		{head + "hardware:\n", 3, 1, "hardware", "nothing in it", "leave"},
		{"ask: fit\nmodels: [llama-3.1-8b, lama-3.1-8]\n", 2, 24, "model", "lama-3.1-8", "llama-3.1-8b"},
		{head + "hardware: [h100, h1o0]\n", 3, 18, "hardware", "h1o0", ""},
		{head + "hardware: local\n", 3, 11, "hardware", "another local one", "name the devices"},
		{head + "plan: {tp: [1, 2, 2]}\n", 3, 19, "tp", "tp lists 2 twice", "once"},
		{head + "plan: {tp: []}\n", 3, 12, "tp", "the list of tp is empty", ""},
		{head + "plan:\n  tpp: 1\n", 4, 3, "tpp", `no field called "tpp"`, "did you mean: tp"},
		{head + "plan:\n  tp: two\n", 4, 7, "tp", "tp = ", "a whole number"},
		{head + "plan:\n  tp: [1, 2.5]\n", 4, 11, "tp", "tp = 2.5", "a whole number"},
		{head + "plan: {model: x}\n", 3, 8, "plan.model", "models stand in models", "leave it out"},
		{head + "plan: {sequence_length: 4096}\n", 3, 8, "plan.sequence_length", "not a field of sim", "leave it out"},
		{head + "plan: 7\n", 3, 7, "plan", "not a block of fields", "plan:"},
		{"ask: fit\nmodels: llama-3.1-8b\nseeds: [1]\n", 3, 8, "seeds", "seeds is nothing to fit", "ask: sim"},
		{"ask: fit\nmodels: llama-3.1-8b\ngoals: [{}]\n", 3, 8, "goals", "goals are nothing to fit", "ask: sim"},
		{head + "seeds: 5..1\n", 3, 8, "seeds", "neither a list nor a range", "1..100"},
		{head + "seeds: [1, x]\n", 3, 12, "workload", "seed", ""},
		{head + "seeds: 1..4\nworkload: {seed: 3}\n", 3, 8, "workload.seed", "given by workload.seed and by seed", "by one"},
		{head + "workloads: [{rate: 1}, {rate: 2}]\nworkload: {rate: [1, 2]}\n", 4, 19, "workload.rate",
			"given by workload and by workload.rate", "by one"},
		{head + "workloads: [{name: a, rate: 1}, {name: a, rate: 2}]\n", 3, 34, "workload", "called a", "another name"},
		{head + "workloads: [{rat: 1}]\n", 3, 14, "rat", `no key "rat"`, "did you mean: rate"},
		{head + "workload: {prompt: {men: 1}}\n", 3, 21, "workload", "unknown field \"men\"", ""},
		{head + "traces: [a.csv, '-']\n", 3, 17, "trace", "not a name of a file", "traces:"},
		{head + "traces: [a.csv, /etc/passwd]\n", 3, 17, "trace", "not under the folder of the study", "copy it there"},
		{head + "workload: {trace: a/../../b.csv}\n", 3, 19, "trace", "not under the folder of the study", "copy it there"},
		{"study: \"a\\e[31mb\"\n" + head, 1, 8, "study", "a letter that is not seen: U+001B", "letters"},
		{head + "workloads: [{name: \"a\\u202eb\", rate: 1}]\n", 3, 20, "study", "U+202E", "letters"},
		{head + "plan: {\"t\\u0085p\": 1}\n", 3, 8, "study", "U+0085", "letters"},
		{head + "hardware: [\"name=\\u009b2J,memory=24GiB\"]\n", 3, 12, "study", "U+009B", "letters"},
		{head + "traces: a.csv\nworkload: {trace: b.csv}\n", 3, 9, "workload.trace", "given by workload.trace and by trace", ""},
		{head + "goals: [{ttft: 5}]\n", 3, 10, "goal", "unknown field", ""},
		{head + "plan: &a {tp: 1}\n", 3, 7, "study", "anchor", "write it out"},
		{head + "plan: {tp: 1\n", 3, 0, "study", "is not YAML", "two spaces"},
	} {
		_, err := Read("s.yaml", c.text)
		var f *Fault
		if !errors.As(err, &f) {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if f.Line != c.line || f.Column != c.column && c.column > 0 || f.What.Field != c.field ||
			!strings.Contains(f.What.Message, c.says) || !strings.Contains(f.What.Hint, c.hint) {
			t.Errorf("%q: line %d, column %d, %q: %s (%s)", c.text, f.Line, f.Column, f.What.Field, f.What.Message, f.What.Hint)
		}
	}
}

// TestExcerpt: the mark stands below the column.
func TestExcerpt(t *testing.T) {
	_, err := Read("s.yaml", "ask: sim\nmodels: llama-3.1-8b\nplan: {tp: [1, 2, 2]}\n")
	var f *Fault
	if !errors.As(err, &f) {
		t.Fatal(err)
	}
	if want := "   3 | plan: {tp: [1, 2, 2]}\n                         ^\n"; f.Excerpt() != want {
		t.Errorf("%q, want %q", f.Excerpt(), want)
	}
	if want := "s.yaml, line 3, column 19: tp lists 2 twice"; f.Error() != want {
		t.Errorf("%q, want %q", f.Error(), want)
	}
}

// TestExcerptOfOthers: a line of somebody's file does nothing to a terminal, and the mark stays below its column.
func TestExcerptOfOthers(t *testing.T) {
	_, err := Read("s.yaml", "ask: sim\nmodels: llama-3.1-8b\nplan: {'\u202e\u009b2J': 1, tp: x}\n")
	var f *Fault
	if !errors.As(err, &f) {
		t.Fatal(err)
	}
	if want := "   3 | plan: {'??2J': 1, tp: x}\n              ^\n"; f.Excerpt() != want {
		t.Errorf("%q, want %q", f.Excerpt(), want)
	}
}

// FuzzRead: no text is worse than an error, and what is read expands.
func FuzzRead(f *testing.F) {
	f.Add(fleet)
	f.Add("ask: fit\nmodels: [llama-3.1-8b]\nplan: {offload: {weights: host}, tp: [1, '2']}\n")
	f.Add("ask: train\nmodels: llama-3.1-8b\nhardware: 8xh100\nplan: {lora_targets: [[q, k], [all]]}\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Read("s.yaml", text)
		var fault *Fault
		switch {
		case err == nil && s.Within(MostPoints) == nil:
			if _, err := memwall.Decode(s.At(s.Points()-1, "t").Request); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		case err != nil && !errors.As(err, &fault):
			t.Errorf("%q: %v", text, err)
		case err != nil:
			_ = fault.Excerpt()
		}
	})
}

func BenchmarkExpand(b *testing.B) {
	s := read(b, fleet)
	for i := 0; b.Loop(); i++ {
		_ = s.At(int64(i)%s.Points(), "t")
	}
}
