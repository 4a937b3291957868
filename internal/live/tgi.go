package live

import (
	"strings"

	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/plan"
)

// What text-generation-inference publishes (router/src/lib.rs, Info): the model, its type, and how many tokens its cache
// was found to hold. memwall has no rules of TGI: those of no engine in particular are used.
func readTGI(p Pages) *startup.Log {
	l := &startup.Log{Engine: "generic"}
	info := p.json("/info")
	l.Named(info.text("model_id"))
	if len(l.Models) == 0 {
		p.models(l)
	}
	l.Plan.Weights = map[string]string{"float16": "f16", "bfloat16": "bf16",
		"float32": "f32"}[strings.TrimPrefix(info.text("model_dtype"), "torch.")]
	if n, ok := info.integer("max_total_tokens", plan.MaxContext); ok {
		l.Plan.Context = plan.Int(n)
	}
	if n, ok := info.integer("max_batch_total_tokens", 1e12); ok {
		add(l, "kv_tokens", "max_batch_total_tokens", "", "tokens", float64(n), 0)
	}
	latencies(l, p["/metrics"])
	l.Note("no_rules", "memwall has no rules of TGI %s: the figures are those of weights and cache on the device, without what TGI keeps "+
		"beside them", info.text("version"))
	return l
}
