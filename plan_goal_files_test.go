package memwall

import (
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/memwall/memwall/format/yaml"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/workload"
)

// filesOf are those of the best fleet for a request that is completed with users and bounds.
func filesOf(t *testing.T, r *Request) *Answer {
	t.Helper()
	r.Ask, r.Goal = "plan", &Goal{TTFT: map[string]float64{"p99": 20_000}, TPOT: map[string]float64{"p99": 200}}
	r.Weights, r.Workload = "bf16", &workload.Spec{Requests: 200}
	if r.Day == nil {
		r.Workload.Concurrency = 8
	}
	a, err := (&Asker{}).Ask(r)
	if err != nil {
		t.Fatal(err)
	}
	if a.Best == nil {
		t.Fatalf("%s: nothing holds", r.Engine)
	}
	return a
}

func asEngine(name, hardware string, replicas int) *Request {
	r := &Request{Model: "llama-3.1-8b", Hardware: hardware, Replicas: plan.Int(replicas)}
	r.Engine = name
	return r
}

// Every file of a winner that runs on one host is read as the winner: command, compose file and manifest.
func TestFilesAreThePlan(t *testing.T) {
	t.Parallel()
	for _, r := range []*Request{asEngine("vllm", "h100", 1), asEngine("vllm", "h100", 3), asEngine("sglang", "l40s", 2),
		asEngine("tensorrt-llm", "h100", 2), asEngine("llama-server", "rtx-4090", 1), asEngine("vllm", "mi300x", 2)} {
		best := filesOf(t, r).Best
		for _, name := range []string{"command.sh", "compose.yaml", "kubernetes.yaml"} {
			text, ok := best.Files[name]
			if !ok {
				t.Errorf("%s: no %s", best.Change, name)
				continue
			}
			read, unread, err := FromCommand(text)
			if err != nil {
				t.Errorf("%s, %s: %v\n%s", best.Change, name, err, text)
				continue
			}
			engineName, _, _ := strings.Cut(read.Engine, "@")
			if want, _, _ := strings.Cut(best.Plan.Engine, "@"); engineName != want || read.TP != 0 && read.TP != max(1, best.Plan.TP) ||
				read.Context != 0 && read.Context != best.Plan.Context {
				t.Errorf("%s, %s: read as %s, tp %d, context %d; %v", best.Change, name, read.Engine, read.TP, read.Context, unread)
			}
		}
		if nginx := best.Files["nginx.conf"]; (nginx != "") != (r.Replicas > 1) ||
			strings.Count(nginx, "server 127.0.0.1:") != int(r.Replicas)*min(1, int(r.Replicas-1)) {
			t.Errorf("%s: %d replicas behind %q", best.Change, r.Replicas, nginx)
		}
	}
}

// objects of a Kubernetes file by their kind.
func objects(t *testing.T, text string) map[string]*yaml.Node {
	t.Helper()
	out := map[string]*yaml.Node{}
	for _, part := range strings.Split(text, "\n---\n") {
		docs, err := yaml.Decode(part, yaml.Limits{Bytes: 1 << 16, Depth: 32})
		if err != nil {
			t.Fatalf("%v\n%s", err, part)
		}
		for _, d := range docs {
			if d.At("apiVersion").Value() == "" || d.At("metadata", "name").Value() == "" {
				t.Errorf("no object:\n%s", part)
			}
			out[d.At("kind").Value()] = d
		}
	}
	return out
}

// A manifest says how many replicas there are, each with its devices; the Service finds them.
func TestKubernetesReplicas(t *testing.T) {
	t.Parallel()
	best := filesOf(t, asEngine("vllm", "2xh100", 0)).Best
	all := objects(t, best.Files["kubernetes.yaml"])
	d, s := all["Deployment"], all["Service"]
	if got := d.At("spec", "replicas").Value(); got != fmt.Sprint(best.Fleet.Replicas) {
		t.Errorf("%s replicas, not %d", got, best.Fleet.Replicas)
	}
	app := d.At("spec", "template", "metadata", "labels", "app").Value()
	if app == "" || s.At("spec", "selector", "app").Value() != app || d.At("spec", "selector", "matchLabels", "app").Value() != app {
		t.Errorf("labels differ:\n%s", best.Files["kubernetes.yaml"])
	}
	if all["HorizontalPodAutoscaler"] != nil {
		t.Error("scaled without a day")
	}
}

// A day's plan makes an autoscaler with the same least and most replicas, of an engine that tells a metric.
func TestAutoscaler(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ engine, metric, flag string }{{"vllm", "requests_running", ""},
		{"sglang", "requests_running", "--enable-metrics"}, {"tensorrt-llm", "requests_per_second", ""}, {"ollama", "", ""}} {
		r := asEngine(c.engine, "l40s", 0)
		r.Day = &Day{Rates: []float64{1, 20, 12}}
		if c.engine == "ollama" {
			r.Day = &Day{Rates: []float64{0.1, 3, 1}}
		}
		a := filesOf(t, r)
		text := a.Best.Files["kubernetes.yaml"]
		all := objects(t, text)
		h := all["HorizontalPodAutoscaler"]
		if a.Day == nil || a.Day.Peak < 2 {
			t.Fatalf("%s: no day to scale for: %+v", c.engine, a.Day)
		}
		if c.metric == "" {
			if h != nil || all["Deployment"].At("spec", "replicas").Value() != fmt.Sprint(a.Day.Peak) ||
				!strings.Contains(text, "no metric") {
				t.Errorf("%s: scaled by nothing:\n%s", c.engine, text)
			}
			continue
		}
		least := slices.MinFunc(a.Day.Parts, func(x, y DayPart) int { return int(x.Replicas - y.Replicas) }).Replicas
		if got, want := h.At("spec", "minReplicas").Value()+" "+h.At("spec", "maxReplicas").Value(),
			fmt.Sprintf("%d %d", least, a.Day.Peak); got != want {
			t.Errorf("%s: from and to %s, not %s", c.engine, got, want)
		}
		metric := h.At("spec", "metrics").Items()[0].At("pods")
		if metric.At("metric", "name").Value() != c.metric || !strings.HasSuffix(metric.At("target", "averageValue").Value(), "m") {
			t.Errorf("%s:\n%s", c.engine, text)
		}
		if h.At("spec", "scaleTargetRef", "name").Value() != all["Deployment"].At("metadata", "name").Value() ||
			all["Deployment"].At("spec", "replicas") != nil {
			t.Errorf("%s: two say how many replicas:\n%s", c.engine, text)
		}
		if c.flag != "" && !strings.Contains(text, c.flag) {
			t.Errorf("%s tells nothing without %s:\n%s", c.engine, c.flag, text)
		}
	}
}

// A shell reads the scripts: of one host, of several, of workers that hand caches on.
func TestScriptsAreShell(t *testing.T) {
	t.Parallel()
	sh, err := exec.LookPath("sh")
	if err != nil && runtime.GOOS == "windows" {
		t.Skip("Windows has no POSIX shell, and these scripts run on servers that have one")
	} else if err != nil {
		t.Fatal(err)
	}
	handing := func(name string) *Request {
		r := asEngine(name, "h100", 3)
		r.Disaggregated = &plan.Disaggregated{Prefill: 1, Decode: 3}
		return r
	}
	prefixes := asEngine("vllm", "h100", 2)
	prefixes.Router = "prefix-aware"
	for _, c := range []struct {
		r    *Request
		want []string
	}{
		{asEngine("vllm", "h100", 9), []string{"host-2)", "host-*)", "0.0.0.0"}},
		{asEngine("ollama", "h100", 2), []string{"OLLAMA_HOST=127.0.0.1:8002"}},
		{asEngine("llama-server", "m3-ultra-512gb", 2), []string{"No compose.yaml", "host-*)"}},
		{handing("vllm"), []string{"toy_proxy_server.py", "--prefiller-ports 8001 8005 8001", "VLLM_NIXL_SIDE_CHANNEL_HOST=$1"}},
		{handing("sglang"), []string{"--disaggregation-mode prefill", "--prefill http://host-1:8001 8998", "--decode http://host-2:8002"}},
		{handing("tensorrt-llm"), []string{"trtllm-serve disaggregated"}},
		{prefixes, []string{"vllm-router", "--routing-logic prefixaware"}},
	} {
		script := filesOf(t, c.r).Best.Files["command.sh"]
		check := exec.Command(sh, "-n")
		check.Stdin = strings.NewReader(script)
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("%v: %s\n%s", err, out, script)
		}
		for _, want := range c.want {
			if !strings.Contains(script, want) {
				t.Errorf("%s: no %q in\n%s", c.r.Engine, want, script)
			}
		}
	}
}

// A network that has no files has none that run it.
func TestNoFilesWithoutAModel(t *testing.T) {
	r := asEngine("vllm", "h100", 1)
	r.Override = map[string]plan.Int{"kv_heads": 1}
	if files := filesOf(t, r).Best.Files; files != nil {
		t.Errorf("%v", files)
	}
}
