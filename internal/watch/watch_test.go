package watch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/detect"
	"github.com/memwall/memwall/live"
	"github.com/memwall/memwall/unit"
)

const secret = "sk-abcdefghijklmnopqrstuvw"

// tree is a machine's files: a process for each line of "pid parent name rss|arg|arg…", of which all but 1,000 kB is its
// own.
func tree(lines ...string) fstest.MapFS {
	files := fstest.MapFS{}
	put := func(name, text string) { files[name] = &fstest.MapFile{Data: []byte(text)} }
	put("proc/meminfo", "MemTotal:       67108864 kB\nMemAvailable:   50331648 kB\n")
	put("proc/self/stat", "1 (memwall) S 0")
	for _, l := range lines {
		head, args, _ := strings.Cut(l, "|")
		var pid, parent, rss int
		var name string
		if _, err := fmt.Sscan(head, &pid, &parent, &name, &rss); err != nil {
			panic(err)
		}
		at := fmt.Sprintf("proc/%d/", pid)
		put(at+"stat", fmt.Sprintf("%d (%s) S %d 1 1", pid, name, parent))
		put(at+"cmdline", strings.ReplaceAll(args, "|", "\x00")+"\x00")
		put(at+"status", fmt.Sprintf("Name:\t%s\nVmRSS:\t%d kB\nRssAnon:\t%d kB\nRssShmem:\t0 kB\n", name, rss, max(0, rss-1000)))
		put(at+"environ", "HF_TOKEN="+secret+"\x00CUDA_VISIBLE_DEVICES=0,1\x00")
	}
	return files
}

var served = []string{
	"700 1 bash 3000|bash|-c|vllm serve meta-llama/Llama-3.1-70B-Instruct --tensor-parallel-size 2",
	"701 700 vllm 900000|/usr/bin/python3|/usr/local/bin/vllm|serve|meta-llama/Llama-3.1-70B-Instruct|--tensor-parallel-size|2|--max-model-len|8192|--api-key|" + secret + "|--port|8001",
	"710 701 VLLM::EngineCor 1900000|VLLM::EngineCore",
	"711 710 VLLM::Worker_TP 2900000|VLLM::Worker_TP0",
	"712 710 VLLM::Worker_TP 2900000|VLLM::Worker_TP1",
	"720 1 vllm 1000|vllm|bench|serve|--model|x",
	"902 1 Xorg 90000|/usr/lib/xorg/Xorg",
}

const (
	gpuLines = "2026/11/22 19:00:00.001, 0, GPU-00, NVIDIA H100 80GB HBM3, 81559, 74752, 6200, 43\n2026/11/22 19:00:00.009, 1, GPU-11, " +
		"NVIDIA H100 80GB HBM3, 81559, 74752, 6200, [N/A]\n"
	appLines = "2026/11/22 19:00:00.001, GPU-00, 711, 74700, VLLM::Worker_TP0\n2026/11/22 19:00:00.002, GPU-11, 712, 74690, " +
		"VLLM::Worker_TP1\n2026/11/22 19:00:00.002, GPU-00, 902, 20, /usr/lib/xorg/Xorg, with a comma\n"
)

// smiOf answers as nvidia-smi would.
func smiOf(gpus, apps string) detect.Runner {
	return func(_ context.Context, name string, args ...string) ([]byte, error) {
		switch {
		case name != "nvidia-smi":
			return nil, fs.ErrNotExist
		case slices.Contains(args, askGPUs):
			return []byte(gpus), nil
		case slices.Contains(args, askApps):
			return []byte(apps), nil
		}
		return nil, errors.New("asleep")
	}
}

func ports(files fstest.MapFS, run detect.Runner) Ports {
	if run != nil {
		files["proc/driver/nvidia/version"] = &fstest.MapFile{}
	}
	return Ports{Machine: detect.Machine{OS: "linux", Files: files, Run: run, Patience: 200 * time.Millisecond}, Read: memwall.FromCommand,
		Ask: memwall.Ask}
}

// once takes one moment, and the picture when all is said.
func once(t *testing.T, p Ports, o Options) (*live.Moment, *live.Picture) {
	t.Helper()
	w := New(t.Context(), p, o)
	defer w.Close()
	m := w.Moment()
	for w.Asking() {
		time.Sleep(time.Millisecond)
	}
	var s live.Session
	for pid, said := range w.Predictions() {
		s.Predict(pid, said)
	}
	s.Add(m)
	return m, s.Picture()
}

// TestEngine: an engine behind a shell, its workers, their memory, and what is said of it.
func TestEngine(t *testing.T) {
	p := ports(tree(served...), smiOf(gpuLines, appLines))
	p.Page = func(_ context.Context, address string, _ int64) ([]byte, error) {
		if address != "http://127.0.0.1:8001/metrics" {
			t.Errorf("asked %s", address)
		}
		return []byte("vllm:num_requests_running 3\nvllm:kv_cache_usage_perc " +
			"0.5\nvllm:cache_config_info{block_size=\"16\",num_gpu_blocks=\"1871\"} 1\n"), nil
	}
	m, pic := once(t, p, Options{})
	if len(m.Engines) != 1 || m.Engines[0].PID != 701 || m.Engines[0].Name != "vllm" || *m.Engines[0].KVTokens != 29936 {
		t.Fatalf("%+v", m.Engines)
	}
	of := map[int]int{}
	for _, x := range m.Processes {
		of[x.PID] = x.Engine
	}
	if of[711] != 701 || of[712] != 701 || of[710] != 701 || of[902] != 0 || len(m.Processes) != 5 {
		t.Errorf("%v", of)
	}
	d := pic.Devices[1]
	if d.Said == nil || *d.Engines != 74690*unit.MiB || d.Busy != nil || d.Off == nil || !d.Off.Within {
		t.Errorf("%+v", d)
	}
	if len(pic.Others) != 1 || pic.Others[0].Name != "Xorg, with a comma" {
		t.Errorf("%+v", pic.Others)
	}
	text, _ := json.Marshal(pic)
	if strings.Contains(string(text), secret) || !strings.Contains(string(text), "REDACTED") {
		t.Errorf("a key: %s", text)
	}
}

// TestFound: which processes are engines.
func TestFound(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		want  string // pid:engine of each
	}{
		{"two of them", []string{"5 1 a 1|llama-server|-m|a.gguf", "6 1 b 1|python3|-m|sglang.launch_server|--model-path|x"},
			"5:llama-server 6:sglang"},
		{"a fork of itself", []string{"5 1 a 1|trtllm-serve|x", "6 5 a 1|trtllm-serve|x"}, "5:tensorrt-llm"},
		{"a runner of ollama", []string{"5 1 ollama 1|/usr/bin/ollama|serve", "6 5 ollama 1|/usr/bin/ollama|runner|--model|/x|--port|4"},
			"5:ollama"},
		{"docker", []string{"5 1 docker 1|docker|run|vllm/vllm-openai:v0.11.0|--model|x"}, "5:vllm"},
		{"two behind one shell", []string{"4 1 sh 1|sh|-c|vllm serve a & vllm serve b", "5 4 vllm 1|vllm|serve|a",
			"6 4 vllm 1|vllm|serve|b"}, "5:vllm 6:vllm"},
		{"tgi", []string{"5 1 t 1|text-generation-launcher|--model-id|x", "6 5 t 1|python|text-generation-server|serve|x"}, "5:tgi"},
		{"none", []string{"5 1 vim 1|vim|vllm", "6 1 ollama 1|ollama|list", "7 1 x 1|", "8 1 y 1|grep|vllm serve"}, ""},
	} {
		m, _ := once(t, ports(tree(c.lines...), nil), Options{})
		var got []string
		for _, e := range m.Engines {
			got = append(got, fmt.Sprintf("%d:%s", e.PID, e.Name))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
	m, _ := once(t, ports(tree(served...), nil), Options{PID: 902})
	if len(m.Engines) != 1 || m.Engines[0].PID != 902 {
		t.Errorf("by its pid: %+v", m.Engines)
	}
}

// TestListed: systems that list processes have no files of them; what ps prints and what a list says come to the same.
func TestListed(t *testing.T) {
	const gib = unit.GiB
	ps := "    4   1  1024 -zsh\n   5   4 2097152 /opt/bin/llama-server -m a.gguf\nno line of processes\n   6   5 1048576 llama-server " +
		"-m a.gguf\n"
	mac := Ports{Machine: detect.Machine{OS: "darwin",
		Run: func(context.Context, string, ...string) ([]byte, error) { return []byte(ps), nil }}}
	windows := Ports{Machine: detect.Machine{OS: "windows"}, Processes: func() ([]Process, error) {
		return []Process{
			{PID: 4, Parent: 1, Args: []string{"cmd.exe", "/c", "start.bat"}, Resident: unit.MiB, Own: unit.MiB},
			{PID: 5, Parent: 4, Args: []string{`C:\Program Files\llama-server.exe`, "-m", "a.gguf"}, Resident: 2 * gib, Own: 2 * gib, Environment: []string{"Path=C:\\", "LLAMA_ARG_CTX_SIZE=4096"}, Folder: `C:\models`},
			{PID: 6, Parent: 5, Args: []string{"llama-server.exe", "-m", "a.gguf"}, Resident: gib, Own: gib},
		}, nil
	}}
	for name, p := range map[string]Ports{"darwin": mac, "windows": windows} {
		m, _ := once(t, p, Options{})
		if len(m.Engines) != 1 || m.Engines[0].PID != 5 || m.Engines[0].Name != "llama-server" {
			t.Errorf("%s: %+v", name, m.Engines)
		}
		var held unit.Bytes
		for _, p := range m.Processes {
			held += *p.Resident
		}
		if held != 3*gib {
			t.Errorf("%s: %v held of the host", name, held)
		}
	}
	windows.Processes = func() ([]Process, error) { return nil, errors.New("access denied") }
	if m, _ := once(t, windows, Options{}); len(m.Troubles) != 1 || !strings.Contains(m.Troubles[0].Why, "access denied") {
		t.Errorf("%+v", m.Troubles)
	}
}

// TestOnProcessor: without a device, the ledger is of the host.
func TestOnProcessor(t *testing.T) {
	_, pic := once(t, ports(tree("5 1 llama-server 5000000|llama-server|-m|x|-c|4096|--port|9"), nil),
		Options{Settle: func(r *memwall.Request) *memwall.Request {
			r.Model, r.Weights = "llama-3.1-8b", "q4_k_m"
			return r
		}})
	if pic.Host == nil || pic.Host.Said == nil || pic.Host.Off == nil || *pic.Host.Engines != 5000000*unit.KiB {
		t.Fatalf("%+v %+v", pic.Host, pic.Engines)
	}
}

// TestOllama: what /api/ps says is loaded is what is asked about.
func TestOllama(t *testing.T) {
	p := ports(tree("5 1 ollama 90000|/usr/bin/ollama|serve", "6 5 ollama 5000000|/usr/bin/ollama|runner|--port|4"), nil)
	var asked *memwall.Request
	p.Ask = func(r *memwall.Request) (*memwall.Answer, error) {
		asked = r
		return nil, &memwall.Error{Message: "far away"}
	}
	p.Page = func(_ context.Context, address string, _ int64) ([]byte, error) {
		if address != "http://127.0.0.1:11434/api/ps" {
			t.Error(address)
		}
		return []byte(`{"models":[{"name":"llama3.1:8b","size":6654289920,"size_vram":6654289920,"context_length":8192}]}`), nil
	}
	m, pic := once(t, p, Options{})
	if asked == nil || asked.Model != "ollama:llama3.1:8b" || asked.Context != 8192 || m.Engines[0].Model != "llama3.1:8b" ||
		*m.Engines[0].OnDevice != 6654289920 {
		t.Errorf("%+v %+v", asked, m.Engines[0])
	}
	if pic.Engines[0].Unsaid != "far away" {
		t.Errorf("%+v", pic.Engines[0])
	}
}

// TestPages: servers that lie, hang, redirect and send without end.
func TestPages(t *testing.T) {
	mux := http.NewServeMux()
	answer := func(path string, do http.HandlerFunc) { mux.HandleFunc(path, do) }
	answer("/metrics", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "vllm:num_requests_running 2\n") })
	answer("/html", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html><body>hello</body></html>") })
	answer("/hang", func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	answer("/drip", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			io.WriteString(w, "a 1\n")
			w.(http.Flusher).Flush()
			time.Sleep(100 * time.Millisecond)
		}
	})
	answer("/circle", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/circle", http.StatusFound) })
	answer("/inside", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/latest/meta-data", http.StatusFound)
	})
	answer("/much", func(w http.ResponseWriter, r *http.Request) {
		for line := strings.Repeat("vllm:x 1\n", 1<<12); r.Context().Err() == nil; {
			if _, err := io.WriteString(w, line); err != nil {
				return
			}
		}
	})
	answer("/key", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	for path, says := range map[string]string{
		"/metrics": "", "/html": "no metric", "/hang": "no answer in time", "/drip": "", "/circle": "circles", "/inside": "not encrypted",
		"/much": "more than 8 MiB", "/key": "wants a key", "/none": "404",
	} {
		t.Run(path[1:], func(t *testing.T) {
			t.Parallel()
			p := ports(tree(), nil)
			p.Page = Fetch(func(string) string { return "" })
			began := time.Now()
			m, _ := once(t, p, Options{Pages: []string{server.URL + path}})
			if took := time.Since(began); took > 4*time.Second {
				t.Errorf("took %s", took)
			}
			if says == "" && path == "/metrics" {
				if len(m.Troubles) > 0 || m.Engines[0].Reading == nil || *m.Engines[0].Running != 2 {
					t.Errorf("%+v", m)
				}
				return
			}
			if len(m.Troubles) != 1 || !strings.Contains(m.Troubles[0].Why, says) {
				t.Errorf("%+v, want %q", m.Troubles, says)
			}
		})
	}
}

// TestChecked refuses what is not an address.
func TestChecked(t *testing.T) {
	for address, ok := range map[string]bool{"http://127.0.0.1:8000/metrics": true, "https://host/metrics": true, "host:8000": false,
		"file:///etc/passwd": false, "http://": false, "http://me:hunter2@host/": false} {
		if err := Checked(address); (err == nil) != ok || err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestBrokenSMI: nvidia-smi that is absent, hangs, or prints what cannot be read is a line of trouble, and the rest goes on.
func TestBrokenSMI(t *testing.T) {
	for name, c := range map[string]struct {
		run  detect.Runner
		says string
	}{
		"absent":  {func(context.Context, string, ...string) ([]byte, error) { return nil, fs.ErrNotExist }, "failed"},
		"hangs":   {func(ctx context.Context, _ string, _ ...string) ([]byte, error) { <-ctx.Done(); return nil, ctx.Err() }, "deadline"},
		"garbled": {smiOf("\x00\xff,,,,,,,\nNo devices were found\n", "garbage"), "cannot be read"},
	} {
		m, pic := once(t, ports(tree(served...), c.run), Options{})
		if len(m.Devices) != 0 || m.Host == nil || len(m.Engines) != 1 || len(m.Troubles) == 0 ||
			!strings.Contains(m.Troubles[0].Why, c.says) || pic == nil {
			t.Errorf("%s: %+v", name, m.Troubles)
		}
	}
}

// TestLoop: lines of nvidia-smi as they come, a run that ends, and one that says nothing more.
func TestLoop(t *testing.T) {
	now := time.Unix(0, 0)
	l := &loop{smi: &smi{ports: &Ports{Now: func() time.Time { return now }, Start: Start}, every: time.Second}, least: 2,
		ready: make(chan struct{})}
	if lines, why := l.lines(now); lines != nil || why != "" {
		t.Error(lines, why)
	}
	l.line("2026/11/22 19:00:00.001, a")
	if lines, _ := l.lines(now); lines != nil {
		t.Error("half a batch")
	}
	l.line("2026/11/22 19:00:00.003, b")
	if lines, _ := l.lines(now); len(lines) != 2 {
		t.Error(lines)
	}
	l.line("2026/11/22 19:00:01.001, a")
	if lines, _ := l.lines(now); len(lines) != 2 || !strings.HasSuffix(lines[0], "00.001, a") {
		t.Error(lines)
	}
	l.line("2026/11/22 19:00:02.001, a")
	if lines, _ := l.lines(now); len(lines) != 1 {
		t.Errorf("one is left: %q", lines)
	}
	if lines, why := l.lines(now.Add(time.Minute)); lines != nil || why == "" {
		t.Error("old lines count", lines)
	}
	for range 2 * maxLines {
		l.line("2026/11/22 19:00:03.001, a")
	}
	if len(l.next) > maxLines {
		t.Error(len(l.next))
	}
	l.ended(errors.New("no such program"))
	if _, why := l.lines(now); !strings.Contains(why, "no such program") {
		t.Error(why)
	}
}

// FuzzLines: whatever nvidia-smi prints, reading it ends, and sizes are believable.
func FuzzLines(f *testing.F) {
	f.Add(gpuLines + appLines)
	f.Add("Field \"x\" is not a valid field to query.\n")
	f.Fuzz(func(t *testing.T, text string) {
		s := &smi{}
		for line := range strings.SplitSeq(text, "\n") {
			if d, _, ok := s.gpu(line); ok && (d.Total < 0 || d.Index < 0 || d.Used != nil && *d.Used < 0) {
				t.Errorf("%+v", d)
			}
			if _, p, b, ok := app(line); ok && (p.PID <= 0 || b != nil && *b < 0) {
				t.Errorf("%+v", p)
			}
			if sameTime(line, text) && !sameTime(text, line) {
				t.Errorf("%q", line)
			}
		}
	})
}

// FuzzProcess: whatever a process calls itself, its secrets are not shown.
func FuzzProcess(f *testing.F) {
	f.Add("vllm\x00serve\x00m\x00--api-key\x00" + secret)
	f.Add("sh\x00-c\x00OPENAI_API_KEY=" + secret + " vllm serve m --hf-token=" + secret)
	f.Add("llama-server\x00--header\x00Authorization: Bearer " + secret)
	f.Fuzz(func(t *testing.T, line string) {
		e := engineOf(1, strings.Split(line, "\x00"), true)
		parentOf(line)
		if e == nil {
			return
		}
		e.page()
		if i := strings.Index(e.shown, secret); i >= 0 && (i == 0 || strings.ContainsAny(e.shown[i-1:i], " '\"=")) {
			t.Errorf("%q is shown", e.shown)
		}
	})
}
