// Package api defines requests and answers, their fields and errors, and the checks that need nothing else. It sizes
// nothing and depends on no engine.
package api

import (
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/workload"
)

// Goal is the objective of a search for plans.
type Goal struct {
	// TTFT and TPOT are bounds in milliseconds by percentile, as in {"p99": 500}. Requests that meet both count as
	// goodput.
	TTFT     map[string]float64 `json:"ttft_ms,omitempty" doc:"goal for TTFT in milliseconds, by percentile"`
	TPOT     map[string]float64 `json:"tpot_ms,omitempty" doc:"goal for TPOT in milliseconds, by percentile"`
	Minimize string             `json:"minimize,omitempty" enum:"latency,quality_loss,cost,devices" doc:"what to minimise; without it speed and quality are weighed against each other"`
	// Sure plans for the slow edge of the band: the bounds must hold even if every step takes as long as there.
	Sure bool `json:"sure,omitempty" doc:"the bounds must hold even at the slow edge of the band"`
	// MostUsers asks for the largest number of closed-loop users within the bounds, overriding the number requested.
	MostUsers bool `json:"most_users,omitempty" doc:"ask for the most users that the bounds allow"`
	// Attainment is the share of requests that must meet the bounds of TTFT and TPOT at once, each that of its highest
	// percentile.
	Attainment float64 `json:"attainment,omitempty" doc:"share of requests that must meet all bounds at once, such as 0.99"`
	// QualityLoss is the most quality that weight and cache formats may cost, in points: percent of perplexity, or as
	// much of another published score.
	QualityLoss *float64   `json:"quality_loss,omitempty" doc:"most that formats may cost in quality, in percent of perplexity"`
	Own         *Ownership `json:"own,omitempty" doc:"terms on which devices are bought, to compare with renting them"`
}

// Ownership is the cost of owning devices beyond their price.
type Ownership struct {
	LifetimeHours float64 `json:"lifetime_hours,omitempty" doc:"hours of use over which a purchase is written off"`
	PerKWh        float64 `json:"usd_per_kwh,omitempty" doc:"dollars per kWh"`
	// Overhead is the power a site draws per watt of the devices (PUE).
	Overhead float64 `json:"overhead,omitempty" doc:"watts that the site draws per device watt (PUE): hosts, losses, cooling"`
	// Purchase is the price of one device, overriding published prices.
	Purchase float64 `json:"usd_per_device,omitempty" doc:"price of one device, in dollars"`
}

// Request is a question in flat JSON. Only Ask and Model are required; CONTRACT.md beside the project's documentation
// specifies the fields. Command-line flags, JSON Schema and the other interfaces are derived from this struct.
type Request struct {
	Ask      string `json:"ask" enum:"fit,plan,pick,train,sim,diff,compare,diagnose" doc:"the question"`
	Model    string `json:"model,omitempty" doc:"catalog id, file, folder, config.json or hub name"`
	Hardware string `json:"hardware,omitempty" flag:"on" doc:"device, node or custom device, with counts: 2xh100, rtx-4090+rtx-3060, p5.48xlarge"`
	Devices  int64  `json:"devices,omitempty" flag:"devices" doc:"number of devices"`
	plan.Plan
	plan.Training
	Override   map[string]plan.Int   `json:"override,omitempty" flag:"set" doc:"architecture what-if: kv_heads=1 and the like"`
	For        string                `json:"for,omitempty" asks:"plan" enum:"fit,train" doc:"what plans are for: to serve, or to train"`
	Use        string                `json:"use,omitempty" flag:"for" asks:"pick" enum:"chat,coding,reasoning,agents,vision,long-context,embedding,ocr,speech" doc:"what a model is picked for"`
	Goal       *Goal                 `json:"goal,omitempty" asks:"plan,pick,sim" doc:"what a search for plans must meet and favour"`
	Workload   *workload.Spec        `json:"workload,omitempty" asks:"plan,sim" doc:"who asks for what, and when"`
	Versus     []string              `json:"versus,omitempty" flag:"versus" asks:"sim" doc:"run the workload again with one technique less: static, contiguous-kv, no-prefix-cache, no-speculation; or with another kv-tier: kv-tier=100GB, kv-tier=0, kv-tier=all"`
	Replicas   plan.Int              `json:"replicas,omitempty" flag:"replicas" asks:"plan,sim" doc:"replicas behind a router, each with the given hardware"`
	Router     string                `json:"router,omitempty" flag:"router" asks:"plan,sim" enum:"least-loaded,round-robin,prefix-aware" doc:"how requests are routed to replicas"`
	Scheduler  string                `json:"scheduler,omitempty" flag:"scheduler" asks:"sim" enum:"vllm-v1,sglang,trtllm,trtllm-max-utilization,llama-server,orca,static" doc:"scheduler, instead of the engine's own"`
	KVTier     plan.Size             `json:"kv_tier_bytes,omitempty" flag:"kv-tier" asks:"sim" doc:"host memory per replica for KV blocks evicted from the device (vLLM --kv-offloading-size, SGLang --hicache-size)"`
	KVTierOn   string                `json:"kv_tier,omitempty" flag:"kv-tier-on" asks:"sim" enum:"host,nvme" doc:"where evicted KV blocks go"`
	LongPrompt plan.Int              `json:"long_prompt_tokens,omitempty" flag:"long-prompt" unit:"length" asks:"sim" doc:"most tokens of one prompt in a step (vLLM --long-prefill-token-threshold)"`
	MaxLoRAs   plan.Int              `json:"max_loras,omitempty" flag:"max-loras" asks:"sim" doc:"most adapters per step (vLLM --max-loras)"`
	MaxQueued  plan.Int              `json:"max_queued,omitempty" flag:"max-queued" asks:"sim" doc:"most requests that may queue at a replica; further ones are refused"`
	KVBlocks   plan.Int              `json:"kv_blocks,omitempty" flag:"kv-blocks" asks:"sim" doc:"KV blocks per replica, if known"`
	MaxDevices plan.Int              `json:"max_devices,omitempty" flag:"max-devices" asks:"plan" doc:"most devices of a plan, over all replicas"`
	Day        *Day                  `json:"day,omitempty" asks:"plan" doc:"how the load varies over a day"`
	Change     map[string]any        `json:"change,omitempty" asks:"diff" doc:"JSON merge patch that makes the second plan of a diff"`
	Also       []Request             `json:"also,omitempty" asks:"fit" doc:"further fit requests that share the hardware"`
	Measured   map[string]float64    `json:"measured_errors,omitempty" asks:"fit,plan" doc:"relative errors of the weights by recipe, measured on them (memwall quant --save), in place of published rows: {\"q4_k_m\":0.071}"`
	Text       string                `json:"text,omitempty" asks:"compare,diagnose,fit,train" doc:"the start-up log of a server, for compare; what a program printed when memory ran out, for diagnose; a command, manifest or configuration, for fit and train, under the fields that are given"`
	Among      map[string][]plan.Int `json:"among,omitempty" asks:"plan" doc:"numbers to search, of fields that a list was given for: {\"tp\":[1,2,4]}"`
	All        bool                  `json:"all,omitempty" asks:"plan,pick" doc:"all that a search finds, not the first few"`
	Explain    bool                  `json:"explain,omitempty" doc:"formula, inputs, source and band of every number"`
}

// Questions other than "fit".
const (
	AskPlan     = "plan"
	AskPick     = "pick"
	AskTrain    = "train"
	AskSim      = "sim"
	AskDiff     = "diff"
	AskCompare  = "compare"
	AskDiagnose = "diagnose"
)

// ServingLists are the word fields that a search for serving plans accepts a list for.
var ServingLists = []string{"engine", "weights", "kv"}

// TrainLists are the word fields that a search for training plans accepts a list for.
var TrainLists = []string{"method", "framework", "optimizer", "precision", "sharding", "recompute"}

// Aims reports whether a search for plans has a load to serve within bounds.
func (r *Request) Aims() bool {
	g := r.Goal
	return r.Workload != nil || r.Day != nil || g != nil &&
		(len(g.TTFT) > 0 || len(g.TPOT) > 0 || g.Attainment > 0 || g.Sure || g.Own != nil || g.MostUsers)
}

// AnyHardware stands for all hardware on offer, in usual device counts.
const AnyHardware = "any"

// DefaultContext is the context in tokens of plans that give none, if the model was trained on that much.
const DefaultContext = 8192
