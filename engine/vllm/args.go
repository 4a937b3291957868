package vllm

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/plan"
)

// Flags returns the flags that FromArgs knows.
func Flags() []string { return argv.Names(flags) }

// Programs returns the programs that start vLLM's server.
func Programs() []string {
	return []string{"vllm", "vllm.entrypoints.openai.api_server", "vllm.entrypoints.api_server", "api_server.py", "dynamo.vllm",
		"huggingfaceserver", "aphrodite", "vllm.entrypoints.openai.run_batch", "vllm.entrypoints.cli.main", "vllm-omni",
		"benchmark_throughput.py", "benchmark_latency.py"}
}

// launch is a command line being converted to a plan.
type launch struct {
	argv.Launch
	experts, lora bool
	loras, rank   plan.Int
	states        string // of --mamba-cache-dtype
	swap          string // of --swap-space
	evicted       plan.Size
	connector     string // of --kv-transfer-config
}

// FromArgs parses the arguments of "vllm serve MODEL" and of its predecessor module (vllm/engine/arg_utils.py,
// vllm/entrypoints/openai/cli_args.py).
func FromArgs(c *argv.Command) (*argv.Launch, error) {
	l := &launch{Launch: argv.Launch{Engine: argv.EngineAt("vllm", c.Tag()), FullContext: true, Devices: c.AllDevices()}}
	cmd := *c
	switch first := strings.Join(c.Args[:min(1, len(c.Args))], ""); {
	case c.Program == "vllm" && first == "run-batch":
		cmd.Args = c.Args[1:]
	case c.Program == "vllm" && first == "bench" && len(c.Args) > 1 &&
		(c.Args[1] == "latency" || c.Args[1] == "throughput"): // which start an engine
		cmd.Args = c.Args[2:]
	case c.Program == "vllm" && first != "serve": // bench serve asks a server that runs
		return nil, argv.Wrong("vllm", first, "starts no server", "vllm serve MODEL …")
	case c.Program == "aphrodite" && first != "run" && first != "serve":
		return nil, nil
	case c.Program == "vllm" || c.Program == "aphrodite" || first == "serve": // its fork has a verb of its own
		cmd.Args = c.Args[1:]
	}
	args, err := configured(&cmd)
	if err != nil {
		return nil, err
	}
	cmd.Args = argv.Dotted(args)
	for i, a := range cmd.Args { // which else would stand for a word of the reader's
		if strings.HasSuffix(a, "[ngram]") {
			cmd.Args[i] = strings.TrimSuffix(a, "[ngram]") + "ngram"
		}
	}
	if c.Program == "aphrodite" {
		l.Engine = c.Program
	}
	syntax := argv.Syntax{Dashes: true, Prefixes: true, Positional: l.positional}
	beside, unknown, err := argv.Read(&cmd, syntax, flags, l)
	if err != nil {
		return nil, err
	}
	l.Beside, l.Unknown = append(l.Beside, beside...), append(append(l.Unknown, unknown...), variables(c)...)
	if err := l.connected(c); err != nil {
		return nil, err
	}
	l.finish(before(c.Tag(), v1Default))
	return &l.Launch, nil
}

func (l *launch) positional(word string) bool {
	if l.Model != "" {
		return false
	}
	l.Model = word
	return true
}

// finish settles what several flags say together: experts are spread over all tensor and data parallel
// ranks; every LoRA slot has the largest rank.
func (l *launch) finish(v0 bool) {
	p := &l.Plan
	switch {
	case l.swap == "":
	case v0:
		l.swapped()
	default: // V1 computes again what it evicts (vllm/v1/core/sched/scheduler.py)
		l.Beside = append(l.Beside, "--swap-space "+argv.Quote(argv.Blotted(l.swap)))
	}
	if l.states != "" && p.StateFormat == "" {
		p.StateFormat = l.states
	}
	if l.evicted > 0 {
		p.KVHost = l.evicted / plan.Size(max(1, p.TP)*max(1, p.PP)) // vllm/config/vllm.py: of all ranks together
	}
	if p.DraftTokens > 0 && p.DraftModel == "" && p.DraftMethod == "" && p.MTP == nil { // of V0 (vllm/config.py, maybe_create_spec_config)
		own := true
		p.MTP = &own
	}
	if l.experts {
		p.EP = max(1, p.TP) * max(1, p.DP)
	}
	if l.lora {
		const defaultRank, most = 16, 256
		rank := l.rank
		if rank == 0 {
			rank = defaultRank
		}
		for range min(max(1, l.loras), most) {
			p.Adapters = append(p.Adapters, plan.Adapter{Rank: rank})
		}
	}
	p.EngineArgs = append(append([]string(nil), l.Beside...), l.Unknown...)
	l.FullContext = l.FullContext && p.Context == 0
}

// swapped: V0 keeps GiB of host memory for each device, page-locked, and moves caches there that it evicts
// (vllm/worker/cache_engine.py, _allocate_kv_cache of "cpu").
func (l *launch) swapped() {
	n, err := argv.GiB[plan.Size](l.swap)
	if err != nil {
		l.Unknown = append(l.Unknown, "--swap-space "+argv.Quote(argv.Blotted(l.swap)))
		return
	}
	l.Plan.KVHost = n
}

// before reports whether an image's tag states a version before another.
func before(tag string, v engine.Version) bool {
	at, err := engine.ParseVersion(tag)
	return err == nil && tag != "" && at.Before(v)
}

// variables that change what vLLM reserves.
func variables(c *argv.Command) (out []string) {
	for _, v := range c.Env {
		if v.Name == "VLLM_USE_V1" && v.Value == "1" { // whose rules these are
			continue
		}
		switch v.Name {
		case "VLLM_USE_V1", "VLLM_ATTENTION_BACKEND", "VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS", "VLLM_USE_FLASHINFER_SAMPLER",
			"VLLM_FUSED_MOE_CHUNK_SIZE", "VLLM_CPU_KVCACHE_SPACE", "VLLM_CPU_OMP_THREADS_BIND", "NIM_MODEL_PROFILE":
			out = append(out, argv.ShownAs(v.Name, v.Value))
		}
	}
	return out
}

func intoInt(field func(*plan.Plan) *int64) func(*launch, string) error {
	return argv.Into(argv.Count[int64], func(l *launch) *int64 { return field(&l.Plan) })
}

func intoCount(field func(*plan.Plan) *plan.Int) func(*launch, string) error {
	return argv.Into(argv.Human[plan.Int], func(l *launch) *plan.Int { return field(&l.Plan) })
}

func intoBool(value bool, field func(*plan.Plan) **bool) func(*launch, string) error {
	return argv.On(value, func(l *launch) **bool { return field(&l.Plan) })
}

// flags of vllm serve, 0.4 to 0.24.
var flags = []argv.Flag[launch]{
	{Names: "--model --model_id --model-id --model_dir", Set: argv.Into(argv.ModelRef, func(l *launch) *string { return &l.Model })},
	{Names: "--tensor-parallel-size -tp", Set: intoInt(func(p *plan.Plan) *int64 { return &p.TP })},
	{Names: "--pipeline-parallel-size -pp", Set: intoInt(func(p *plan.Plan) *int64 { return &p.PP })},
	{Names: "--data-parallel-size -dp", Set: intoInt(func(p *plan.Plan) *int64 { return &p.DP })},
	{Names: "--enable-expert-parallel --expert-parallel -ep", Kind: argv.Switch,
		Set: func(l *launch, _ string) error { l.experts = true; return nil }},
	{Names: "--max-model-len", Env: "NIM_MAX_MODEL_LEN", Set: maxModelLen},
	{Names: "--max-num-seqs", Set: intoCount(func(p *plan.Plan) *plan.Int { return &p.MaxSeqs })},
	{Names: "--max-num-batched-tokens", Set: intoCount(func(p *plan.Plan) *plan.Int { return &p.MaxBatchedTokens })},
	{Names: "--block-size", Set: intoCount(func(p *plan.Plan) *plan.Int { return &p.BlockSize })},
	{Names: "--gpu-memory-utilization", Set: argv.Into(argv.Share, func(l *launch) **float64 { return &l.Plan.GPUMemoryUtilization })},
	{Names: "--num-gpu-blocks-override", Set: argv.Into(argv.Count[plan.Int], func(l *launch) *plan.Int { return &l.Blocks })},
	{Names: "--kv-cache-memory-bytes --kv-cache-memory", Set: argv.Into(argv.Human[plan.Size],
		func(l *launch) *plan.Size { return &l.Plan.KVCacheMemory })},
	{Names: "--cpu-offload-gb", Set: argv.Into(argv.GiB[plan.Size], func(l *launch) *plan.Size { return &l.Plan.CPUOffload })},
	{Names: "--kv-cache-dtype", Set: kvDtype},
	{Names: "--dtype", Set: func(l *launch, v string) error { return argv.Dtype(&l.Launch, v) }},
	{Names: "--quantization -q", Set: argv.Into(method, func(l *launch) *string { return &l.Quant })},
	{Names: "--enforce-eager", Kind: argv.Switch, Set: intoBool(true, func(p *plan.Plan) **bool { return &p.EnforceEager })},
	{Names: "--no-enforce-eager", Kind: argv.Switch, Set: intoBool(false, func(p *plan.Plan) **bool { return &p.EnforceEager })},
	{Names: "--enable-prefix-caching", Kind: argv.Switch, Set: intoBool(true, func(p *plan.Plan) **bool { return &p.PrefixCache })},
	{Names: "--no-enable-prefix-caching", Kind: argv.Switch, Set: intoBool(false, func(p *plan.Plan) **bool { return &p.PrefixCache })},
	{Names: "--enable-chunked-prefill", Kind: argv.Switch, Set: intoBool(true, func(p *plan.Plan) **bool { return &p.ChunkedPrefill })},
	{Names: "--no-enable-chunked-prefill", Kind: argv.Switch, Set: intoBool(false, func(p *plan.Plan) **bool { return &p.ChunkedPrefill })},
	{Names: "--speculative-config -sc", Set: speculative},
	{Names: "--speculative-model", Set: formerDraft},
	{Names: "--ngram-prompt-lookup-max --ngram-prompt-lookup-min --speculative-disable-by-batch-size"},
	{Names: "--speculative-disable-mqa-scorer --spec-decoding-acceptance-method"},
	{Names: "--typical-acceptance-sampler-posterior-threshold"},
	{Names: "--stream-interval", Set: intoCount(func(p *plan.Plan) *plan.Int { return &p.StreamInterval })},
	{Names: "--num-speculative-tokens", Set: intoCount(func(p *plan.Plan) *plan.Int { return &p.DraftTokens })},
	{Names: "--enable-lora", Kind: argv.Switch, Set: func(l *launch, _ string) error { l.lora = true; return nil }},
	{Names: "--max-loras", Set: argv.Into(argv.Count[plan.Int], func(l *launch) *plan.Int { return &l.loras })},
	{Names: "--linear-backend", Set: func(l *launch, v string) error { argLinear(l, v); return nil }},
	{Names: "--moe-backend", Set: func(l *launch, v string) error { expertKernels.Read(&l.Launch, "--moe-backend", v); return nil }},
	{Names: "--max-lora-rank", Set: argv.Into(argv.Count[plan.Int], func(l *launch) *plan.Int { return &l.rank })},

	{Names: "--served-model-name", Kind: argv.List, Set: func(l *launch, v string) error { return argv.Serves(&l.Launch, v) }},
	{Names: "--compilation-config -cc", Set: compilation},
	{Names: "--max-cudagraph-capture-size", Set: intoCount(func(p *plan.Plan) *plan.Int { return &p.GraphBatch })},
	{Names: "--cudagraph-capture-sizes --cuda-graph-sizes", Kind: argv.List, Set: graphSizes},
	{Names: "--limit-mm-per-prompt", Kind: argv.List, Set: mediaLimit},
	{Names: "--language-model-only", Kind: argv.Switch, Set: intoBool(true, func(p *plan.Plan) **bool { return &p.TextOnly })},
	{Names: "--mm-encoder-tp-mode", Set: func(l *launch, v string) error { whole := v == "data"; l.Plan.WholeTower = &whole; return nil }},
	{Names: "--mamba-ssm-cache-dtype", Set: argv.Into(argv.Torch, func(l *launch) *string { return &l.Plan.StateFormat })},
	{Names: "--mamba-cache-dtype", Set: argv.Into(argv.Torch, func(l *launch) *string { return &l.states })},
	{Names: "--decode-context-parallel-size -dcp", Set: intoInt(func(p *plan.Plan) *int64 { return &p.DCP })},
	{Names: "--all2all-backend", Env: "VLLM_ALL2ALL_BACKEND", Set: dispatcher},
	{Env: chunkVariable, Set: intoCount(func(p *plan.Plan) *plan.Int { return &p.DispatchTokens })},
	{Names: "--enable-dbo", Kind: argv.Switch, Set: intoBool(true, func(p *plan.Plan) **bool { return &p.TwoBatches })},
	{Names: "--dbo-decode-token-threshold --dbo-prefill-token-threshold"},
	{Names: "--num-redundant-experts", Set: intoCount(func(p *plan.Plan) *plan.Int { return &p.RedundantExperts })},
	{Names: "--eplb-config", Set: balancing},
	{Names: "--device", Set: func(l *launch, v string) error { argv.Backend(&l.Launch, v); return nil }},
	{Names: "--kv-offloading-size", Set: argv.Into(argv.GiB[plan.Size], func(l *launch) *plan.Size { return &l.evicted })},
	{Names: "--kv-transfer-config", Set: argv.Into(argv.Text, func(l *launch) *string { return &l.connector })},
	{Names: "--kv-offloading-backend", Set: func(l *launch, v string) error {
		if v != "native" {
			l.Beside = append(l.Beside, "--kv-offloading-backend "+argv.Quote(argv.Blotted(v)))
		}
		return nil
	}},
	{Names: "--swap-space", Set: argv.Into(argv.Text, func(l *launch) *string { return &l.swap })},

	// Memory that no field of a plan holds.
	{Names: "--config --hf-overrides --additional-config --mm-processor-kwargs --rope-scaling --hf-config-path --mm-processor-cache-gb", Unread: true},
	{Names: "--cpu-offload-params --offload-backend --offload-group-size --offload-num-in-group --offload-prefetch-step --prefill-context-parallel-size -pcp --max-seq-len-to-capture --kv-cache-dtype-skip-layers", Unread: true},
	{Names: "--disable-sliding-window --disable-hybrid-kv-cache-manager --skip-mm-profiling --enable-prompt-embeds --mm-encoder-only",
		Kind: argv.Switch, Unread: true},
	{Names: "--task --runner --convert --mamba-block-size --mamba-cache-mode --backend --disaggregation-mode", Unread: true},
	{Names: "--is-prefill-worker --is-decode-worker --multimodal-worker --multimodal-encode-worker", Kind: argv.Switch,
		Unread: true}, // of Dynamo: a part of the work

	{Names: "--optimization-level -O", Set: optimized}, // vllm/config/vllm.py, OptimizationLevel
	{Names: "-O0", Kind: argv.Switch, Set: argv.On(true, func(l *launch) **bool { return &l.Plan.EnforceEager })},
	{Names: "-O1", Kind: argv.Switch, Unread: true},
	// Kernels, and how steps are put together: their speed is not sized, nor what they work in.
	{Names: "--attention-config -ac --attention-backend --gdn-prefill-backend --performance-mode", Unread: true},
	{Names: "--disable-cascade-attn --disable-custom-all-reduce --no-async-scheduling", Kind: argv.Switch, Unread: true},

	// No bearing on memory.
	{Names: "--kernel-config --profiler-config --mm-processor-cache-type --model-loader-extra-config --default-chat-template-kwargs --reasoning-parser-plugin --tool-server --mamba-backend --logits-processors --shutdown-timeout"},
	{Names: "--connector --endpoint --namespace --store-kv --request-plane --event-plane --kv-events-config --migration-limit --custom-jinja-template --dyn-tool-call-parser --dyn-reasoning-parser --endpoint-types --model_name --model-name --model-class-name --return-probabilities"},
	{Names: "-i --input-file -o --output-file --input-len --output-len --batch-size --num-prompts --dataset-name --dataset-path --dataset --num-iters --num-iters-warmup --output-json --enable-metrics --async-engine"}, // of run-batch and bench
	{Names: "-O2 -O3", Kind: argv.Switch}, // which is how it starts by itself
	{Names: "--allow-credentials --no-enable-expert-parallel --no-enable-lora --no-trust-remote-code", Kind: argv.Switch},
	{Names: "--disable-async-output-proc --no-enable-log-outputs --no-enable-prompt-embeds --no-enable-dbo", Kind: argv.Switch},
	{Names: "--enable-ssl-refresh --enable-tokenizer-info-endpoint", Kind: argv.Switch},
	{Names: "--init-timeout --disable-access-log-for-endpoints --lora-extra-vocab-size --ngram"},
	{Names: "--show-hidden-metrics-for-version --otlp-traces-endpoint --collect-detailed-traces"},
	{Names: "--ray-workers-use-nsight --num-scheduler-steps --preemption-mode --stage-id --stage-configs-path"},
	{Names: "--log-config-file --distributed-timeout-seconds"},
	{Names: "--lora-modules", Kind: argv.List}, // adapters for the slots that --max-loras reserves
	{Names: "--enable-eplb --disable-uvicorn-access-log --no-disable-hybrid-kv-cache-manager --enable-flashinfer-autotune --no-enable-flashinfer-autotune --enable-multimodal --enable-mfu-metrics --fail-on-environ-validation --enable-log-outputs --enable-per-request-metrics", Kind: argv.Switch},
	{Names: "--host --port --uds --api-key --root-path --uvicorn-log-level --allowed-origins --allowed-methods --allowed-headers --ssl-keyfile --ssl-certfile --ssl-ca-certs --chat-template --chat-template-content-format --response-role"},
	{Names: "--tokenizer --tokenizer-mode --tokenizer-revision --revision --code-revision --download-dir --load-format --config-format --hf-token --seed --allowed-local-media-path --model-impl --generation-config --override-generation-config"},
	{Names: "--tool-call-parser --reasoning-parser --tool-parser-plugin --guided-decoding-backend --structured-outputs-config --distributed-executor-backend --max-logprobs --logprobs-mode --scheduling-policy --max-log-len --middleware --worker-cls"},
	{Names: "--data-parallel-rank -dpn --data-parallel-address -dpa --data-parallel-rpc-port -dpp --data-parallel-backend -dpb --data-parallel-size-local -dpl --data-parallel-start-rank -dpr --api-server-count -asc --nnodes --node-rank --master-addr --master-port"},
	{Names: "--omni --calculate-kv-scales --trust-remote-code --disable-log-requests --disable-log-stats --enable-log-requests --no-enable-log-requests --enable-auto-tool-choice --disable-frontend-multiprocessing --disable-fastapi-docs --enable-sleep-mode", Kind: argv.Switch},
	{Names: "--enable-reasoning --async-scheduling --enable-request-id-headers --enable-prompt-tokens-details --enable-force-include-usage --headless --return-tokens-as-token-ids --enable-server-load-tracking --use-v2-block-manager", Kind: argv.Switch},
}

// optimized reads a level: at 0 nothing is compiled and no graphs are kept, from 2 on both are as by default.
func optimized(l *launch, v string) error {
	switch written := "--optimization-level " + argv.Quote(argv.Blotted(v)); strings.TrimSpace(v) {
	case "0":
		eager := true
		l.Plan.EnforceEager = &eager
	case "2", "3":
		l.Beside = append(l.Beside, written)
	default:
		l.Unknown = append(l.Unknown, written)
	}
	return nil
}

// maxModelLen reads a length; auto and -1 let vLLM take what fits.
func maxModelLen(l *launch, v string) error {
	if v == "auto" || v == "-1" {
		return nil
	}
	n, err := argv.Human[plan.Int](v)
	l.Plan.Context = n
	return err
}

// kvDtype: auto is the format of the unquantised weights.
func kvDtype(l *launch, v string) error {
	v = strings.ToLower(v)
	format, scaled := strings.CutSuffix(v, "_per_token_head")
	switch {
	case v == "auto":
		return nil
	case v == "bfloat16":
		format = "bf16"
	case v == "float16" || v == "half":
		format = "f16"
	case v == "fp8_ds_mla": // the layout of FP8 in the kernels of sparse attention, which slots.go sizes
		format = "fp8"
	case scaled:
		l.Plan.KVScales = &scaled
	}
	l.Plan.KV = format
	return nil
}

func method(v string) (string, error) {
	if v == "None" || v == "none" {
		return "", nil
	}
	return strings.ToLower(v), nil
}

// ownLayers tells whether a method drafts by the model's own prediction layers, as "mtp", "deepseek_mtp" and their kin do, or by
// what the text repeats; nil where the model that is named drafts.
func (d *drafting) ownLayers() *bool {
	own := d.Method == "mtp" || strings.HasSuffix(d.Method, "_mtp")
	if repeats := d.Method == "suffix" || strings.HasPrefix(d.Method, "ngram"); d.Model == "" && (own || repeats) {
		return &own
	}
	return nil
}

// found is how drafts are found in the text; GPU variants of n-grams find the same.
func (d *drafting) found() string {
	if d.Method == plan.DraftSuffix {
		return plan.DraftSuffix
	}
	return plan.DraftNGram
}

// formerDraft reads --speculative-model of V0, whose [ngram] finds drafts in the text (vllm/config.py, SpeculativeConfig).
func formerDraft(l *launch, v string) (err error) {
	if v == "ngram" {
		l.Plan.DraftMethod = plan.DraftNGram
		return nil
	}
	l.Plan.DraftModel, err = argv.ModelRef(v)
	return err
}

// speculative reads {"model":…,"num_speculative_tokens":…}.
func speculative(l *launch, v string) error {
	var c drafting
	if err := json.Unmarshal([]byte(v), &c); err != nil {
		return &argv.Error{Value: v, Problem: "is not JSON", Fix: `'{"model":"…","num_speculative_tokens":4}', in single quotes`}
	}
	if c.Tokens < 0 || c.Tokens > 1<<10 {
		return &argv.Error{Value: v, Problem: "asks for no possible number of tokens", Fix: "num_speculative_tokens from 1 to 1,024"}
	}
	if strings.Trim(c.Tree, "[](), 0") != "" { // of branches: chains go along zeros
		return &argv.Error{Value: "speculative_token_tree", Problem: "is a tree with branches, which memwall does not size for vLLM",
			Fix: "leave it out for a chain; vLLM drafts none with branches since it lost its tree attention (#42121)"}
	}
	if argv.Open(c.Model) { // nobody knows which
		l.Unknown = append(l.Unknown, "--speculative-config.model "+argv.Quote(argv.Blotted(c.Model)))
		return nil
	}
	l.Plan.DraftModel, l.Plan.DraftTokens = c.Model, c.Tokens
	l.Plan.MTP = c.ownLayers()
	if own := l.Plan.MTP; own != nil && !*own {
		l.Plan.DraftMethod = c.found()
	}
	if c.Tokens == 0 && l.Plan.DraftMethod == plan.DraftSuffix {
		l.Plan.DraftTokens = cmp.Or(c.Depth, engine.SuffixDepth)
	}
	return nil
}
