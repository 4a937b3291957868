package diagnose

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/memwall/memwall/unit"
)

func read(t testing.TB, text string) *Report {
	t.Helper()
	r, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const torchOOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB. GPU 0 has a total capacity of 23.52 GiB of " +
	"which 1.02 GiB is free. Including non-PyTorch memory, this process has 22.48 GiB memory in use. Of the allocated memory 21.70 GiB " +
	"is allocated by PyTorch, and 401.50 MiB is reserved by PyTorch but unallocated."

// worth reports whether a line is worth looking at.
func worth(text string) bool {
	in := scan(text)
	return in.any(&words().worth)
}

// TestScan: a word is found where it stands, and no other; all have a bit.
func TestScan(t *testing.T) {
	v := words()
	if n := len(v.heads); n > len(hits{})*64 || n < 200 {
		t.Fatalf("%d beginnings of words", n)
	}
	for _, text := range append(strings.Split(ordinaryLines, "\n"), torchOOM, strings.Join(v.heads, ""), strings.Join(v.heads, " ")) {
		in := scan(text)
		for id, h := range v.heads {
			if in.has(int16(id)) != strings.Contains(text, h) {
				t.Errorf("%q in %.100q: %v", h, text, in.has(int16(id)))
			}
		}
	}
}

var (
	kinds = []Kind{DeviceMemory, AllocationLimit, KVCacheTooSmall, BudgetAboveFree, HostMemory, HostKilled, ContainerLimit, Killed,
		PinnedMemory, SharedMemory, Collectives, KVCacheFull, MemoryPressure, KernelResources, ContextLength, DiskFull, LockLimit,
		WorkspaceSize, FixedPool, BadAccess, Disturbed, LibraryStart, Unscheduled}
	stops = []Place{Nowhere, Loading, Profiling, KVCache, Compute, Graphs, Sampler, Vision, Prefill, Decode, Forward, Attention, Library,
		Working, Adapters, Waking, Input, Building}
)

// TestMessagesRefused: a row that is broken is an error that names the line.
func TestMessagesRefused(t *testing.T) {
	for text, want := range map[string]string{
		"words":                                     "messages.tsv:1: a row has words, a kind",
		"# c\na b\tkilled\t\t\t\t\tfollow":          `messages.tsv:2: unknown word "follow"`,
		"a\tkilled\t\t\t\t\t\twanted=\"x\"":         `unknown figure "wanted"`,
		"a\tkilled\t\t\t\t\t\tfree=x":               "does not begin with a text in quotes",
		"a\tkilled\t\t\t\t\t\tfree":                 `"free" is not a figure`,
		"@host\tx\na\tkilled\t\t\t\t\t\t\t\t@hosts": "messages.tsv:2: unknown name @hosts",
		"a\tkilled\t\t\t\t\t\t\tx":                  "does not begin with a text in quotes",
		"\"a\tkilled":                               "invalid syntax",
	} {
		if _, err := readRules(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestWords: a line that any rule is about is worth looking at, wherever the words stand in it, and no other line is.
func TestWords(t *testing.T) {
	for _, r := range rules() {
		for _, before := range []string{"", "x", r.words[:3], "CUDA out o", "é"} {
			if !worth(before + r.words) {
				t.Errorf("%q is not seen behind %q", r.words, before)
			}
		}
		if !slices.Contains(kinds, r.kind) || !slices.Contains(stops, r.place) {
			t.Errorf("%q: kind %q, place %q", r.words, r.kind, r.place)
		}
	}
	slow := func(text string) bool {
		for _, r := range rules() {
			first, _, _ := strings.Cut(r.words, "…")
			if strings.Contains(text, head(first)) {
				return true
			}
		}
		for _, a := range arguments {
			if strings.Contains(text, head(a.name)) {
				return true
			}
		}
		return slices.ContainsFunc(gauges, func(g gauge) bool { return strings.Contains(text, head(g.words)) }) ||
			slices.ContainsFunc(starters, func(s string) bool { return strings.Contains(text, head(s)) })
	}
	for _, line := range strings.Split(ordinaryLines+torchOOM, "\n") {
		for n := range len(line) {
			if worth(line[n:]) != slow(line[n:]) {
				t.Errorf("%q: %v", line[n:], worth(line[n:]))
			}
		}
	}
}

// TestRulesAreReached: no rule stands behind one that takes all its lines.
func TestRulesAreReached(t *testing.T) {
	for _, r := range rules() {
		line := strings.ReplaceAll(r.words, "…", " x ")
		in := scan(line)
		if got, _ := find(line, &in); got == nil || got.words != r.words && got.kind != r.kind {
			t.Errorf("%q is taken by %v", r.words, got)
		}
	}
}

// TestWholeLines: a shell's word for a program that was killed is all of its line.
func TestWholeLines(t *testing.T) {
	for text, want := range map[string]Kind{"loading\nKilled\n": Killed, " Killed \n": Killed, "Killed by the user\n": "", "3 jobs: Killed\n": ""} {
		got := Kind("")
		if f := read(t, text).First(); f != nil {
			got = f.Kind
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestAdvice: what a program says of failures that may come is none.
func TestAdvice(t *testing.T) {
	for _, line := range []string{
		"If you are running out of memory, consider decreasing gpu_memory_utilization.",
		"If you see CUDA out of memory, lower the batch size",
		"hint: to avoid CUDA out of memory errors set max_split_size_mb",
		"This may cause OOMKilled pods",
		"INFO: set --swap-space to prevent RuntimeError: CUDA error: out of memory",
		`"OOMKilled": false, "ExitCode": 0`,
		"INFO oom_score_adj:0 memory 137 tokens",
	} {
		if f := read(t, line).First(); f != nil {
			t.Errorf("%q is taken for %s", line, f.Kind)
		}
	}
}

// TestRealLogs: start-up logs of servers that ran hold no failure, and the one of a server that refused holds that.
func TestRealLogs(t *testing.T) {
	logs, err := filepath.Glob("../engine/*/testdata/logs/*.log")
	if err != nil || len(logs) < 10 {
		t.Fatalf("%d logs, %v", len(logs), err)
	}
	for _, name := range logs {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f := read(t, string(data)).First()
		if refused := strings.Contains(name, "refused"); (f != nil) != refused || refused && f.Kind != KVCacheTooSmall {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// TestSeveral: each message is reported, the first cause first, and what only tells of its end belongs to it.
func TestSeveral(t *testing.T) {
	text := "WARNING: failed to allocate 256.00 MB of pinned memory: out of memory\n" +
		strings.Repeat("step\n", 200) +
		"[rank1]: " + torchOOM + "\n[rank0]: " + torchOOM + "\n" +
		"torch.distributed.elastic: exitcode  : 1 (pid: 9)\n" + "  exitcode  : -9 (pid: 10)\n" +
		strings.Repeat("step\n", 200) +
		"triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 147456, Hardware limit: 101376."
	r := read(t, text)
	var kinds []string
	for _, f := range r.Findings {
		kinds = append(kinds, fmt.Sprint(f.Kind, " ", f.Times))
	}
	if want := []string{"device_memory 2", "pinned_memory 1", "kernel_resources 1"}; !slices.Equal(kinds, want) {
		t.Errorf("%q, want %q", kinds, want)
	}
}

// TestSecrets: nothing that looks like a key is kept of a message.
func TestSecrets(t *testing.T) {
	secret := []string{"hf_abcdefghijklmnopqrstuvwx", "sk-abcdefghijklmnopqrstuvwx", "hunter2pass", "eyJhbGciOiJIUzI1NiJ9abcdef"}
	text := "Authorization: Bearer " + secret[3] + " HF_TOKEN=" + secret[0] + " --api-key " + secret[1] + " https://me:" + secret[2] +
		"@host/x CUDA out of memory. Tried to allocate 1.50 GiB password: " + secret[2] + " {\"api_key\": \"" + secret[1] + "\"}"
	f := read(t, text).First()
	for _, s := range secret {
		if strings.Contains(f.Text, s) {
			t.Errorf("%s stands in %q", s, f.Text)
		}
	}
	if !strings.Contains(f.Text, "Tried to allocate 1.50 GiB") || !strings.Contains(f.Text, "REDACTED") {
		t.Errorf("%q", f.Text)
	}
}

// TestBadText: what is not text is refused, what is odd in a text is read over.
func TestBadText(t *testing.T) {
	for name, text := range map[string]string{"zip": "PK\x03\x04" + strings.Repeat("\x00\x01\x9a\xff", 100),
		"gzip": "\x1f\x8b\x08\x00" + strings.Repeat("\x80\x00\x03", 50), "empty": "", "blank": " \n \n"} {
		if _, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("%s is read", name)
		}
	}
	for name, text := range map[string]string{
		"coloured": "\x1b[31m" + torchOOM + "\x1b[0m", "zeros": torchOOM + "\x00", "windows": strings.ReplaceAll(torchOOM, ". ", ".\r\n"),
		"utf-16":   "\xff\xfe" + wide(torchOOM),
		"indented": "│   " + torchOOM + " │", "long line": strings.Repeat("x", 100_000) + " " + torchOOM,
		"progress": strings.Repeat("1%|x\r", 1000) + torchOOM,
	} {
		if f := read(t, text).First(); f == nil || f.Requested.Bytes != 1610612736 || !f.Free.Known {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

func wide(s string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteByte(byte(r))
		b.WriteByte(0)
	}
	return b.String()
}

// TestCut: a text that ends in a message has the figures that are there.
func TestCut(t *testing.T) {
	for n := range len(torchOOM) {
		r, err := Read(strings.NewReader(torchOOM[:n]))
		if n == 0 {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if f := r.First(); f != nil && f.Requested.Known && n > 80 && f.Requested.Bytes != 1610612736 {
			t.Errorf("cut at %d: %d", n, f.Requested.Bytes)
		}
	}
}

// TestPlaces: the nearest line of a traceback, and the step of a progress bar.
func TestPlaces(t *testing.T) {
	trace := func(frames ...string) string {
		s := "  3%|▎         | 312/10000 [04:11<2:01:00,  1.3it/s]\nTraceback (most recent call last):\n"
		for _, f := range frames {
			s += "  File \"/x/train.py\", line 10, in main\n    " + f + "\n"
		}
		return s + torchOOM
	}
	for _, c := range []struct {
		frames []string
		place  Place
	}{
		{[]string{"trainer.train()", "loss.backward()"}, Backward}, {[]string{"self.training_step(x)", "F.cross_entropy(a, b)"}, Loss},
		{[]string{"model(x)", "torch.nn.functional.softmax(w)"}, Attention},
		{[]string{"optimizer.step()", "state['exp_avg'] = torch.zeros_like(p)"}, Optimizer},
		{[]string{"AutoModel.from_pretrained(n)"}, Loading}, {[]string{"main()"}, Nowhere},
	} {
		f := read(t, trace(c.frames...)).First()
		if f.Place != c.place || f.Step != 312 {
			t.Errorf("%v: %q at step %d, want %q at 312", c.frames, f.Place, f.Step, c.place)
		}
	}
}

// TestSettings: arguments of training are read from flags, configurations and Python.
func TestSettings(t *testing.T) {
	for _, c := range []struct{ line, field, value string }{
		{"python train.py --per_device_train_batch_size 4 --bf16", "micro_batch", "4"},
		{"per_device_train_batch_size=8,", "micro_batch", "8"}, {"  micro_batch_size: 2", "micro_batch", "2"},
		{`"gradient_accumulation_steps": 16,`, "accumulation", "16"}, {"  Instantaneous batch size per device = 6", "micro_batch", "6"}, {"gradient_checkpointing=True,", "recompute", "full"},
		{"--max_seq_length=2048", "sequence_length", "2048"}, {"optim=OptimizerNames.X, optim: adamw_bnb_8bit", "", ""},
		{"--optim adamw_bnb_8bit", "optimizer", "adamw-8bit"},
	} {
		var s settings
		in := scan(c.line)
		s.read(c.line, &in)
		switch {
		case c.field == "" && len(s.list) == 0:
		case len(s.list) != 1 || s.list[0] != (Setting{c.field, c.value}):
			t.Errorf("%q: %v", c.line, s.list)
		}
	}
}

// TestGrowth: what rises and does not stop is growth; what warms up, swings or falls is none.
func TestGrowth(t *testing.T) {
	log := func(at func(i int) float64) string {
		var b strings.Builder
		for i := range 300 {
			fmt.Fprintf(&b, "step %d loss 1.2 memory_allocated: %.2f GiB\n", i, at(i))
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		at    func(int) float64
		grows bool
	}{
		"a leak":      {func(i int) float64 { return 10 + 0.01*float64(i) }, true},
		"a warm-up":   {func(i int) float64 { return min(14, 10+0.5*float64(i)) }, false},
		"a saw":       {func(i int) float64 { return 10 + float64(i%7) }, false},
		"a flat line": {func(int) float64 { return 12 }, false},
		"a fall":      {func(i int) float64 { return 20 - 0.01*float64(i) }, false},
	} {
		r := read(t, log(c.at))
		if got := r.First() != nil && r.First().Kind == Growth; got != c.grows {
			t.Errorf("%s: growth %v", name, got)
		}
	}
}

// repeated gives a text again and again, up to so many bytes.
type repeated struct {
	text string
	at   int
	left int
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), r.left)], r.text[r.at:])
	r.at = (r.at + n) % len(r.text)
	r.left -= n
	return n, nil
}

// ordinaryLines are of a server that runs.
const ordinaryLines = `INFO 11-02 09:02:00 [loggers.py:127] Engine 000: Avg prompt throughput: 137.0 tokens/s, Avg generation throughput: 200.9 tokens/s, Running: 9 reqs, Waiting: 0 reqs
INFO:     127.0.0.1:53712 - "POST /v1/chat/completions HTTP/1.1" 200 OK
{'loss': 1.2871, 'grad_norm': 0.713, 'learning_rate': 1.9e-05, 'epoch': 0.13}
[2025-11-02 09:01:10 TP0] Decode batch. #running-req: 137, #token: 13700, token usage: 0.03, gen throughput (token/s): 9137.01, #queue-req: 0
`

// TestBounded: of a long log little is kept.
func TestBounded(t *testing.T) {
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	r, err := Read(io.MultiReader(&repeated{text: ordinaryLines + torchOOM + "\n", left: 8 << 20}, strings.NewReader("\n"+torchOOM)))
	if err != nil {
		t.Fatal(err)
	}
	if grown := int64(heap()) - int64(before); grown > 4<<20 {
		t.Errorf("%d bytes are kept", grown)
	}
	if len(r.Findings) != 1 || r.Findings[0].Times < 500 {
		t.Errorf("%d findings", len(r.Findings))
	}
	runtime.KeepAlive(r)
}

func BenchmarkMessage(b *testing.B) {
	for b.Loop() {
		read(b, torchOOM)
	}
}

func BenchmarkLog(b *testing.B) {
	const size = 16 << 20
	b.SetBytes(size)
	for b.Loop() {
		if _, err := Read(&repeated{text: ordinaryLines, left: size}); err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzDiagnose: any text is read or refused, and what is kept is bounded.
func FuzzDiagnose(f *testing.F) {
	f.Add(torchOOM)
	f.Add(ordinaryLines)
	f.Add("GPU 0 has a total capacity of 99999999999999999999 GiB CUDA out of memory. Tried to allocate -1 GiB. Process 1 has Process 2 " +
		"has 1 GiB")
	f.Add("ggml_gallocr_reserve_n: failed to allocate  buffer of size 9223372036854775807\nOOMKilled\nCode: 137")
	f.Add("max seq len (0), (0 GiB KV cache is needed To serve at least one request with the model (1/0 GiB)")
	for _, r := range rules() {
		f.Add(r.words)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Read(strings.NewReader(text))
		if err != nil {
			return
		}
		if len(r.Findings) > maxFindings+1 || len(r.Settings) > maxSettings || len(r.Commands) > maxCommands || len(r.Series) > maxSeries {
			t.Fatal("more is kept than may be")
		}
		for i := range r.Findings {
			x := &r.Findings[i]
			if len(x.Text) > maxText+8 || x.Requested.Bytes < 0 || x.Unallocated.Bytes < 0 || x.Others.Bytes < 0 ||
				x.Requested.Bytes > unit.Bytes(most) || x.Kind == "" {
				t.Fatalf("%+v", x)
			}
		}
	})
}
