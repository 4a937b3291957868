package autoscale

import (
	"fmt"
	"math"

	"github.com/memwall/memwall"
)

// series are what engines export for a metric, as PromQL over a deployment's pods (docs.vllm.ai: usage/metrics, docs.sglang.io:
// references/production_metrics, llama.cpp: tools/server/README.md, tensorrt_llm/metrics/collector.py). A rate is of requests that ended.
var series = map[string]map[string]string{
	"vllm": {"running": "vllm:num_requests_running", "waiting": "vllm:num_requests_waiting", "kv": "vllm:kv_cache_usage_perc",
		"rate": "vllm:request_success_total"},
	"sglang": {"running": "sglang:num_running_reqs", "waiting": "sglang:num_queue_reqs", "kv": "sglang:token_usage",
		"rate": "sglang:num_requests_total"},
	"llama-server": {"running": "llamacpp:requests_processing", "waiting": "llamacpp:requests_deferred"},
	"tensorrt-llm": {"rate": "trtllm_request_success_total"},
}

// query is the sum of a metric over pods, each series with a selector.
func (r *ScalingReport) query(metric, selector string) (string, error) {
	engine := engineName(r.Engine)
	if engine == "llama.cpp" {
		engine = "llama-server"
	}
	of := series[engine]
	one := func(name string) string { return fmt.Sprintf("sum(%s%s)", of[name], selector) }
	switch {
	case metric == "in_flight" && of["running"] != "" && of["waiting"] != "":
		return one("running") + " + " + one("waiting"), nil
	case metric == "rate" && of["rate"] != "":
		return fmt.Sprintf("sum(rate(%s%s[1m]))", of["rate"], selector), nil
	case of[metric] != "":
		return one(metric), nil
	}
	return "", &memwall.Error{Code: memwall.Unsupported, Field: "emit", Value: metric,
		Message: fmt.Sprintf("%s exports no series of %s", engine, metric), Hint: "--target running=N, or rate=N for TensorRT-LLM"}
}

// head is that of an object of a cluster, up to its spec.
func (w *writing) head(version, kind string) {
	w.line(0, "apiVersion: %s", version)
	w.line(0, "kind: %s", kind)
	w.line(0, "metadata:")
	w.line(1, "name: %s", w.name)
	w.line(0, "spec:")
}

func writeHPA(r *ScalingReport, p *Policy, w *writing) error {
	if _, err := r.query(p.Metric, ""); err != nil {
		return err
	}
	rule, _ := r.query(p.Metric, "{<<.LabelMatchers>>}")
	w.line(0, "# The metric is made by prometheus-adapter, by this query of a rule: %s by (<<.GroupBy>>)", rule)
	w.head("autoscaling/v2", "HorizontalPodAutoscaler")
	w.line(1, "scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: %s}", w.name)
	w.line(1, "minReplicas: %d", max(1, r.Least))
	w.line(1, "maxReplicas: %d", r.Most)
	w.line(1, "metrics:")
	w.line(2, "- type: Pods")
	w.line(2, "  pods:")
	w.line(4, "metric: {name: %s}", w.name+"-"+p.Metric)
	w.line(4, "target: {type: AverageValue, averageValue: %dm}", thousandths(*p.Target))
	w.line(1, "behavior: # as replayed: the controller's own")
	w.line(2, "scaleUp:")
	w.line(3, "stabilizationWindowSeconds: 0")
	w.line(3, "selectPolicy: Max")
	w.line(3, "policies: [{type: Pods, value: 4, periodSeconds: 15}, {type: Percent, value: 100, periodSeconds: 15}]")
	w.line(2, "scaleDown:")
	w.line(3, "stabilizationWindowSeconds: 300")
	w.line(3, "policies: [{type: Percent, value: 100, periodSeconds: 15}]")
	return nil
}

func thousandths(x float64) int64 { return max(1, int64(math.Round(1000*x))) }

func writeKEDA(r *ScalingReport, p *Policy, w *writing) error {
	query, err := r.query(p.Metric, fmt.Sprintf("{namespace=\"default\",pod=~\"%s-.*\"}", w.name))
	if err != nil {
		return err
	}
	w.head("keda.sh/v1alpha1", "ScaledObject")
	w.line(1, "scaleTargetRef: {name: %s}", w.name)
	w.line(1, "pollingInterval: 30")
	w.line(1, "cooldownPeriod: 300")
	w.line(1, "minReplicaCount: %d", r.Least)
	w.line(1, "maxReplicaCount: %d", r.Most)
	w.line(1, "triggers:")
	w.line(2, "- type: prometheus")
	w.line(2, "  metadata:")
	w.line(4, "serverAddress: http://prometheus-server.monitoring.svc # yours")
	w.line(4, "query: '%s'", query)
	w.line(4, "threshold: \"%g\"", *p.Target)
	w.line(4, "activationThreshold: \"0\"")
	if r.Least == 0 {
		w.line(0, "# From no replica on, the engine exports nothing: a trigger of the gateway's requests in front has to wake the first.")
	}
	return nil
}

// writeDynamo writes the planner's part of a DynamoGraphDeployment (components/src/dynamo/planner, 0.8 to 1.0).
func writeDynamo(r *ScalingReport, _ *Policy, w *writing) error {
	w.line(0, "# The service of the planner, for the graph of the deployment; its profile comes from Dynamo's own profiler.")
	w.line(0, "Planner:")
	w.line(1, "componentType: planner")
	w.line(1, "replicas: 1")
	w.line(1, "extraPodSpec:")
	w.line(2, "mainContainer:")
	w.line(3, "command: [python3, -m, dynamo.planner.planner_sla]")
	w.line(3, "args:")
	w.line(4, "- --environment=kubernetes")
	w.line(4, "- --backend=%s", engineName(r.Engine))
	w.line(4, "- --adjustment-interval=180")
	w.line(4, "- --load-predictor=constant")
	if r.Goal.TTFT != nil {
		w.line(4, "- --ttft=%g", *r.Goal.TTFT)
	}
	if r.Goal.TPOT != nil {
		w.line(4, "- --itl=%g", *r.Goal.TPOT)
	}
	w.line(4, "- --min-endpoint=%d", max(1, r.Least))
	w.line(4, "- --max-gpu-budget=%d", int64(r.Most)*max(1, r.Devices))
	return nil
}
