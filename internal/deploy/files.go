// Package deploy generates the files that run a fleet: commands per host, the router, compose files and Kubernetes
// manifests.
package deploy

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/manifest"
	"github.com/memwall/memwall/internal/launch"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/unit"
)

// Files run a fleet of replicas that have so many devices each, by their names: a command for each replica and a router in front of them,
// the same for Kubernetes with
// as many replicas as each part of the day takes, and as a compose file where one host holds all. What cannot be written is
// left out, and the commands say why. A model that has no files, or an engine that runs nothing, has none.
func Files(q *question.Question, a *api.Answer, f *api.Fleet, day *api.DayPlan, router string, devices int64) map[string]string {
	if q.Flags() == nil {
		return nil
	}
	d := deploy(q, f.Replicas, router, devices)
	out := map[string]string{}
	if err := d.writeContainers(a, f, day, out); err != nil {
		d.unwritten = err.Error()
	}
	if d.nginx() {
		out["nginx.conf"] = d.nginxConf(d.addresses())
	}
	out["command.sh"] = d.script()
	return out
}

// deployment is a fleet with a place for each of its workers.
type deployment struct {
	q         *question.Question
	replicas  int64
	router    string
	workers   []worker
	hosts     int64
	spans     int64  // hosts of one worker, where they are several
	unwritten string // why a container runs it not
}

// worker is one server: its devices follow each other on its host.
type worker struct {
	q              *question.Question
	prompts        bool // it computes prompts for others
	host           int64
	first, devices int64
	port           int
}

const (
	routerPort, firstPort = 8000, 8001
	leastLoaded           = "least-loaded"
	roundRobin            = "round-robin"
	prefixAware           = "prefix-aware"
)

// deploy gives every worker of a fleet its devices, host by host.
func deploy(q *question.Question, replicas int64, router string, devices int64) *deployment {
	d := &deployment{q: q, replicas: replicas, router: cmp.Or(router, leastLoaded)}
	p := placer{d: d, holds: devicesOfHost(q)}
	one := q.Request.Worker()
	for range replicas {
		s := q.Request.Disaggregated
		if s == nil {
			p.place(worker{q: q, devices: devices})
			continue
		}
		for range int64(s.Prefill) {
			p.place(worker{q: q.Prompter, prompts: true, devices: q.Prompter.Request.Ranks()})
		}
		for range int64(s.Decode) {
			p.place(worker{q: q, devices: one.Ranks()})
		}
	}
	d.hosts = p.host + 1
	return d
}

// devicesOfHost is how many devices a host has; 0 where nobody knows.
func devicesOfHost(q *question.Question) int64 {
	m := q.Job.Machine
	switch {
	case m == nil || m.CPUOnly:
		return 0
	case m.Node != "" || len(m.Groups) != 1:
		return int64(m.PerNode)
	}
	return int64(m.Groups[0].Device.PerNode.Value)
}

// placer fills hosts with workers.
type placer struct {
	d           *deployment
	holds       int64
	host, taken int64
	port        int
}

func (p *placer) place(w worker) {
	if p.taken > 0 && p.taken+w.devices > p.holds {
		p.host, p.taken, p.port = p.host+1, 0, 0
	}
	w.host, w.first, w.port = p.host, p.taken, firstPort+p.port
	p.d.workers = append(p.d.workers, w)
	p.taken += w.devices
	p.port++
	if more := unit.CeilDiv(w.devices, max(1, p.holds)) - 1; p.holds > 0 && more > 0 {
		p.host, p.d.spans = p.host+more, more+1
	}
}

// writeContainers writes what runs in containers.
func (d *deployment) writeContainers(a *api.Answer, f *api.Fleet, day *api.DayPlan, out map[string]string) error {
	if d.q.Prompter != nil {
		return fmt.Errorf("workers of two kinds, of which one hands caches to the other, are not a single service")
	}
	s, err := launch.Service(d.q, a)
	if err != nil {
		return err
	}
	s.Replicas = d.replicas
	if d.hosts == 1 {
		one := *s
		if d.replicas > 1 {
			one.Router = &manifest.Router{Image: "nginx:stable", Port: routerPort,
				Config: manifest.File{Path: "/etc/nginx/conf.d/default.conf", Text: d.nginxConf(d.services(s))}}
		}
		out["compose.yaml"] = manifest.Compose(&one)
	}
	if d.replicas > 1 {
		s.Notes = []string{fmt.Sprintf("The Service gives requests to replicas at random; the plan was played with a %s router: put one "+
			"in front.", d.router)}
	}
	d.scale(s, f, day)
	out["kubernetes.yaml"] = manifest.Kubernetes(s)
	return nil
}

// services are the replicas as a compose file calls them.
func (d *deployment) services(s *manifest.Service) (out []string) {
	for i := range d.replicas {
		out = append(out, fmt.Sprintf("%s:%d", s.Replica(i), s.Port))
	}
	return out
}

// scaleMetric is the metric by which an engine's replicas are scaled: requests that run, or where the engine tells no such gauge
// those that end, a second.
type scaleMetric struct {
	engine, series string
	ends           bool
	flag, note     string
}

// What engines tell (docs.vllm.ai: usage/metrics, docs.sglang.io: references/production_metrics, llama.cpp: tools/server;
// TensorRT-LLM 1.2: tensorrt_llm/metrics/collector.py).
var scaleMetrics = []scaleMetric{
	{engine: "vllm", series: "vllm:num_requests_running"},
	{engine: "sglang", series: "sglang:num_running_reqs", flag: "--enable-metrics"},
	{engine: "llama-server", series: "llamacpp:requests_processing", flag: "--metrics"},
	{engine: "tensorrt-llm", series: "trtllm_request_success_total", ends: true,
		note: "TensorRT-LLM tells it at /prometheus/metrics, with return_perf_metrics: true in its configuration."},
}

// scale lets the number of replicas follow a day's load.
func (d *deployment) scale(s *manifest.Service, f *api.Fleet, day *api.DayPlan) {
	if day == nil || day.Peak <= 1 {
		return
	}
	c, err := launch.Container(d.q)
	i := slices.IndexFunc(scaleMetrics, func(w scaleMetric) bool { return err == nil && w.engine == c.Engine })
	if i < 0 {
		s.Notes = append(s.Notes, "The load of the day takes fewer replicas at times, but the engine tells no metric to scale by.")
		return
	}
	w := &scaleMetrics[i]
	if w.flag != "" {
		s.Args = append(s.Args, w.flag)
	}
	s.Scale = w.scale(f, day)
}

func (w *scaleMetric) scale(f *api.Fleet, day *api.DayPlan) *manifest.Scale {
	least := day.Peak
	for i := range day.Parts {
		least = min(least, day.Parts[i].Replicas)
	}
	name, query, each := "requests_running", "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)", f.UsersEach
	if w.ends {
		name, query, each = "requests_per_second", "sum(rate(<<.Series>>{<<.LabelMatchers>>}[1m])) by (<<.GroupBy>>)", day.Each
	}
	out := &manifest.Scale{Least: least, Most: day.Peak, Metric: name, Thousandths: max(1, int64(math.Floor(1000*each/(1+day.Headroom))))}
	out.Notes = []string{
		fmt.Sprintf("From %d to %d replicas with the load of the day. As played, a replica holds %s requests/s within the goal, and runs "+
			"%s of them at the peak;", least, day.Peak, unit.Significant(day.Each, 3), unit.Significant(f.UsersEach, 3)),
		fmt.Sprintf("the target leaves %s %% for what comes while another starts, which takes %s s.", unit.Significant(100*day.Headroom, 2),
			unit.Significant(day.StartS, 3)),
		"This needs Prometheus and a metrics adapter. prometheus-adapter makes the metric by this rule:",
		fmt.Sprintf("- {seriesQuery: '%s{namespace!=\"\",pod!=\"\"}', resources: {overrides: {namespace: {resource: namespace}, pod: "+
			"{resource: pod}}}, name: {as: %s}, metricsQuery: '%s'}", w.series, name, query),
	}
	if w.note != "" {
		out.Notes = append(out.Notes, w.note)
	}
	return out
}

// title says what is run.
func (d *deployment) title() string {
	where := "one host"
	if d.hosts > 1 {
		where = fmt.Sprintf("%d hosts", d.hosts)
	}
	words := fmt.Sprintf("%s: %s of %s, %s %s, on %s", d.q.Job.Model.ID, ReplicasWords(d.replicas), d.q.Request.Hardware, d.q.Engine.Name(),
		engine.VersionName(d.q.Engine, d.q.Job.Version), where)
	return strings.Join(strings.Fields(words), " ")
}

// ReplicasWords counts replicas in words.
func ReplicasWords(n int64) string {
	if n == 1 {
		return "one replica"
	}
	return fmt.Sprintf("%d replicas", n)
}
