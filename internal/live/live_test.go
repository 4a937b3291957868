package live

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/internal/observe"
)

// site gives the pages of a fixture.
func site(t testing.TB, name string) Pages {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	p := Pages{}
	for _, f := range a.Files {
		p["/"+f.Name] = f.Data
	}
	return p
}

// told is a log in words.
func told(l *startup.Log) string {
	if l == nil {
		return "nobody"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s, %s;", l.Engine, l.Version, strings.Join(l.Models, " | "))
	p := &l.Plan
	fmt.Fprintf(&b, " tp %d context %d sequences %d quant %q weights %q;", p.TP, p.Context, p.Sequences, l.Quant, p.Weights)
	for _, f := range l.Figures {
		fmt.Fprintf(&b, " %s=%s%s", f.ID, f.Text, f.Unit)
	}
	return b.String()
}

// TestRead: what each engine publishes becomes settings, names and figures.
func TestRead(t *testing.T) {
	for name, want := range map[string]string{
		"vllm":         `vllm 0.12.0, meta-llama/Llama-3.1-8B-Instruct | llama; tp 0 context 31800 sequences 0 quant "" weights ""; kv_blocks=3548 speed_ttft=95.0ms speed_tpot=19.0ms`,
		"sglang":       `sglang 0.5.6, Qwen/Qwen3-8B; tp 2 context 40960 sequences 0 quant "" weights ""; kv_tokens=775301tokens weights=7.68GB kv_pool=53.24GB graphs=0.62GB`,
		"trtllm":       `tensorrt-llm 1.0.0, Llama-3.1-8B-Instruct; tp 0 context 0 sequences 0 quant "" weights ""; kv_blocks=14250 block_tokens=32tokens kv_tokens=456000tokens device_used=76665782272bytes`,
		"llama-server": `llama-server b6500, Meta-Llama-3.1-8B-Instruct-Q4_K_M | Meta-Llama-3.1-8B-Instruct; tp 0 context 8192 sequences 4 quant "Q4_K_M" weights ""; parameter_count=8030261312parameters file_bytes=4912898304bytes`,
		"tgi":          `generic , meta-llama/Llama-3.1-8B-Instruct; tp 0 context 8192 sequences 0 quant "" weights "bf16"; kv_tokens=431248tokens`,
		"ollama":       `ollama 0.12.3, llama3.1:8b; tp 0 context 4096 sequences 1 quant "Q4_K_M" weights ""; parameter_count=8030261312parameters held=5750.00MiB held_device=5421.00MiB`,
	} {
		l := Read(site(t, name))
		if got := told(l); got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
		if l == nil || l.Teller != "server" {
			t.Errorf("%s: who says it?", name)
		}
		if strings.Contains(fmt.Sprintf("%+v", l), "sk-not") {
			t.Errorf("%s: a key is kept", name)
		}
	}
}

// TestOddPages: pages that lack things, or say what cannot be.
func TestOddPages(t *testing.T) {
	models := []byte(`{"data":[{"id":"m","owned_by":"vllm","max_model_len":4096}]}`)
	for _, c := range []struct {
		name  string
		pages Pages
		want  string
	}{
		{"nothing", Pages{}, "nobody"},
		{"garbage", Pages{"/metrics": []byte("\x00\x01"), "/v1/models": []byte("[[[")}, "nobody"},
		{"another program's metrics", Pages{"/metrics": []byte("go_goroutines 5\n")}, "nobody"},
		{"models alone", Pages{"/v1/models": models}, `vllm , m; tp 0 context 4096 sequences 0 quant "" weights "";`},
		{"blocks that are no number", Pages{"/v1/models": models, "/metrics": []byte(`vllm:cache_config_info{num_gpu_blocks="None",gpu_memory_utilization="7"} 1` + "\n")}, `vllm , m; tp 0 context 4096 sequences 0 quant "" weights "";`},
		{"two workers", Pages{"/metrics": []byte("vllm:cache_config_info{engine=\"0\",num_gpu_blocks=\"5\"} 1\nvllm:cache_config_info{engine=\"1\",num_gpu_blocks=\"6\"} 1\n")}, `vllm , ; tp 0 context 0 sequences 0 quant "" weights ""; kv_blocks=5 kv_blocks=6`},
		{"a length beyond all", Pages{"/v1/models": []byte(`{"data":[{"id":"m","owned_by":"llamacpp"}]}`), "/props": []byte(`{"total_slots":1e30,"default_generation_settings":{"n_ctx":-5}}`)}, `llama-server , m; tp 0 context 0 sequences 0 quant "" weights "";`},
		{"Ollama without a model", Pages{"/api/version": []byte(`{"version":"0.9"}`), "/api/ps": []byte(`{"models":[]}`)}, `ollama 0.9, ; tp 0 context 0 sequences 0 quant "" weights "";`},
		{"Triton",
			Pages{"/metrics": []byte("nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type=\"max\"} " +
				"100\nnv_trt_llm_kv_cache_block_metrics{kv_cache_block_type=\"tokens_per\"} " +
				"64\nnv_trt_llm_kv_cache_block_metrics{kv_cache_block_type=\"fraction\"} 0.5\n")},
			`tensorrt-llm , ; tp 0 context 0 sequences 0 quant "" weights ""; kv_blocks=100 block_tokens=64tokens kv_tokens=6400tokens`},
		{"letters that a terminal obeys", Pages{"/v1/models": []byte(`{"data":[{"id":"m\u001b[31mx","owned_by":"vllm"}]}`)}, `vllm , m[31mx; tp 0 context 0 sequences 0 quant "" weights "";`},
	} {
		if got := told(Read(c.pages)); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestWatched: the means are of the time between two readings, at the load of that time.
func TestWatched(t *testing.T) {
	p := site(t, "vllm")
	old, err := observe.Read(p["/metrics"])
	if err != nil {
		t.Fatal(err)
	}
	later := strings.NewReplacer(`tokens_total{engine="0",model_name="llama"} 12800.0`, `tokens_total{engine="0",model_name="llama"} 14800.0`,
		"seconds_sum{engine=\"0\",model_name=\"llama\"} 241.3", "seconds_sum{engine=\"0\",model_name=\"llama\"} 281.3",
		"} 12700.0", "} 14700.0").Replace(string(p["/metrics"]))
	now, err := observe.Read([]byte(later))
	if err != nil {
		t.Fatal(err)
	}
	l := Read(p)
	Watched(l, old, now, 3.2, 10)
	if got, want := told(l), `vllm 0.12.0, meta-llama/Llama-3.1-8B-Instruct | llama; tp 0 context 31800 sequences 3 quant "" weights ""; kv_blocks=3548 speed_tpot=20.0ms speed_out=200.0tokens/s`; got != want || !l.Loaded || l.Plan.PromptTokens != 512 || l.Plan.OutputTokens != 148 {
		t.Errorf("got %s %+v\nwant %s", got, l.Plan, want)
	}
	l = Read(p)
	if Watched(l, old, now, 0.1, 10); l.Loaded || !l.Noted("idle") {
		t.Errorf("idle: %s", told(l))
	}
	l = Read(p)
	if Watched(l, now, nil, 3, 10); l.Loaded || !l.Noted("not_watched") {
		t.Errorf("gone: %s", told(l))
	}
}

// FuzzRead: whatever a server publishes, reading ends, and what is read is bounded.
func FuzzRead(f *testing.F) {
	for _, n := range []string{"vllm", "sglang", "trtllm", "llama-server", "tgi", "ollama"} {
		p := site(f, n)
		for _, path := range []string{"/server_info", "/props", "/info", "/api/ps", "/api/show", "/version"} {
			f.Add(p["/metrics"], p["/v1/models"], p[path], p["/slots"])
		}
	}
	f.Fuzz(func(t *testing.T, metrics, models, info, slots []byte) {
		p := Pages{"/metrics": metrics, "/v1/models": models, "/slots": slots}
		for _, path := range []string{"/server_info", "/props", "/info", "/api/ps", "/version", "/api/version", "/api/show"} {
			p[path] = info
		}
		l := Read(p)
		if l == nil {
			return
		}
		for _, f := range l.Figures {
			if !(f.Value >= 0) || len(f.Name) > 64 || len(f.Device) > 1024 {
				t.Errorf("%+v", f)
			}
		}
		if len(l.Figures) > startup.MaxFigures || len(l.Models) > 8 || l.Plan.Context < 0 || l.Plan.Sequences < 0 {
			t.Errorf("%+v", l)
		}
	})
}
