package sglang

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/engine/manifest"
	"github.com/memwall/memwall/plan"
)

// Flags returns the flags that FromArgs knows.
func Flags() []string { return argv.Names(argFlags) }

// Programs returns the programs that start SGLang's server.
func Programs() []string {
	return []string{"sglang.launch_server", "sglang", "launch_server.py", "dynamo.sglang", "sglang.srt.server",
		"sglang.bench_one_batch", "sglang.bench_offline_throughput"}
}

type launch struct {
	argv.Launch
	sharedDP    bool
	lora        bool
	loras, rank plan.Int
	stated      plan.Int // the largest rank that a name of an adapter says
	prefill     plan.Int // --max-prefill-tokens
	// steps of drafting, branches of a draft, and tokens that are verified
	steps, branches, verified plan.Int
	own                       *bool // the model's own layers draft, or what the text repeats
	deepEP                    bool
	kernels                   string // --deepep-mode
	// of caches that the device evicts
	tiers   bool
	tier    float64 // GB of each rank, before it a multiple of the device's pool
	tierFor *float64
	storing string // --hicache-storage-backend-extra-config
}

// Algorithms of speculation whose memory is known (srt/speculative/spec_info.py): an ordinary model drafts, the
// model's own prediction layers, or what the text repeats. Heads of EAGLE and blocks of DFlash are not models of their own.
const standalone, ownLayers, repeats, heads, blocks = "STANDALONE", "NEXTN", "NGRAM", "EAGLE3", "DFLASH"

// FromArgs reads the arguments of "python -m sglang.launch_server" and "sglang serve"
// (python/sglang/srt/server_args.py).
func FromArgs(c *argv.Command) (*argv.Launch, error) {
	l := &launch{Launch: argv.Launch{Engine: argv.EngineAt("sglang", c.Tag()), FullContext: true, Devices: c.AllDevices()}}
	cmd := *c
	if c.Program == "sglang" {
		if len(c.Args) == 0 || c.Args[0] != "serve" {
			return nil, argv.Wrong("sglang", strings.Join(c.Args[:min(1, len(c.Args))], ""), "starts no server",
				"sglang serve --model-path MODEL …")
		}
		cmd.Args = c.Args[1:]
	}
	syntax := argv.Syntax{Dashes: true, Prefixes: true, Positional: l.positional}
	beside, unknown, err := argv.Read(&cmd, syntax, argFlags, l)
	if err != nil {
		return nil, err
	}
	l.Beside, l.Unknown = append(l.Beside, beside...), append(l.Unknown, unknown...)
	if err := l.finish(c); err != nil {
		return nil, err
	}
	return &l.Launch, nil
}

func (l *launch) positional(word string) bool {
	if l.Model != "" {
		return false
	}
	l.Model = word
	return true
}

// finish: with attention in data parallel groups, --dp-size divides the tensor parallel group and adds no replicas: a group
// attends as one, and its ranks share experts with all others (server_args.py; layers/dp_attention.py). Experts of one
// expert parallel rank are cut over the rest, so that every rank holds as much as with experts of its own.
func (l *launch) finish(c *argv.Command) error {
	p := &l.Plan
	if all := p.TP; l.sharedDP && p.DP > 1 && all%p.DP == 0 {
		p.TP, p.EP = all/p.DP, all
		p.MaxSeqs = (p.MaxSeqs + plan.Int(p.DP) - 1) / plan.Int(p.DP) // of all groups (kv_cache_configurator.py, resolve_max_num_reqs)
	}
	l.dispatching()
	l.adapters()
	l.evicted()
	if err := l.stored(c); err != nil {
		return err
	}
	l.drafts()
	if p.DraftModel == "" || ownHeads.MatchString(p.DraftModel) {
		p.DraftModel, p.MTP = "", l.own
	}
	switch {
	case l.prefill == 0:
	case p.ChunkedPrefill != nil && !*p.ChunkedPrefill:
		p.MaxBatchedTokens = l.prefill
	default: // chunks bound the step
		l.Unknown = append(l.Unknown, fmt.Sprintf("--max-prefill-tokens %d", l.prefill))
	}
	p.EngineArgs = append(append([]string(nil), l.Beside...), l.Unknown...)
	l.FullContext = l.FullContext && p.Context == 0
	return nil
}

// drafts: the number of tokens counts the one that is known; of a chain it is one more than the steps, whatever is said
// (server_args.py, _handle_speculative_decoding).
func (l *launch) drafts() {
	p := &l.Plan
	switch {
	case l.branches > 1:
		p.DraftSteps, p.DraftBranches, p.DraftTokens = l.steps, l.branches, max(0, l.verified-1)
	case l.steps > 0:
		p.DraftTokens = l.steps
	case l.verified > 1:
		p.DraftTokens = l.verified - 1
	}
	if l.own != nil && !*l.own && l.Plan.DraftModel == "" {
		p.DraftMethod = plan.DraftNGram
	}
}

// deepEPModes are the values of --deepep-mode (sglang/srt/layers/moe/utils.py, DeepEPMode).
var deepEPModes = map[string]string{"": plan.DeepEP, "auto": plan.DeepEP, "normal": plan.DeepEPNormal, "low_latency": plan.DeepEPLowLatency}

// dispatching: with DeepEP every rank of the group has experts of its own (server_args.py).
func (l *launch) dispatching() {
	p := &l.Plan
	if !l.deepEP {
		p.DispatchTokens = 0 // a bound of kernels that do not run
		return
	}
	p.All2All = deepEPModes[l.kernels]
	if p.EP == 0 {
		p.EP = p.TP
	}
}

// argDispatcher reads --moe-a2a-backend.
func argDispatcher(l *launch, v string) error {
	switch v = strings.ToLower(v); v {
	case plan.DeepEP:
		l.deepEP = true
	case "none":
	default:
		l.Unknown = append(l.Unknown, "--moe-a2a-backend "+argv.Quote(argv.Blotted(v)))
	}
	return nil
}

// argDeepEPMode reads --deepep-mode.
func argDeepEPMode(l *launch, v string) error {
	if l.kernels = strings.ToLower(v); deepEPModes[l.kernels] == "" {
		return &argv.Error{Value: v, Problem: "is not a mode of DeepEP", Fix: "auto, normal or low_latency"}
	}
	return nil
}

// ownHeads are checkpoints of a model's own prediction layers, cut out of it (docs of DeepSeek's usage, NextN).
var ownHeads = regexp.MustCompile(`(?i)[-_](nextn|mtp)/?$`)

// evicted: with --enable-hierarchical-cache each rank keeps twice the device's pool in host memory, or as much as is said
// (server_args.py, hicache_ratio; mem_cache/memory_pool_host.py).
func (l *launch) evicted() {
	const usual = 2.0
	switch p := &l.Plan; {
	case !l.tiers:
		p.KVTierPolicy, p.KVStore = "", "" // flags without the cache that they are of
	case l.tier > 0:
		p.KVHost = plan.Size(l.tier * 1e9)
	case l.tierFor != nil:
		p.KVHostRatio = l.tierFor
	default:
		r := usual
		p.KVHostRatio = &r
	}
}

// written are the policies of --hicache-write-policy (server_args.py).
var written = map[string]string{"write_through": "write-through", "write_through_selective": "write-through-selective",
	"write_back": "write-back"}

func argWritten(l *launch, v string) error {
	if l.Plan.KVTierPolicy = written[strings.ToLower(v)]; l.Plan.KVTierPolicy == "" {
		return &argv.Error{Value: v, Problem: "is not a policy", Fix: "write_through, write_through_selective or write_back"}
	}
	return nil
}

// stores are the back ends of --hicache-storage-backend (server_args.py); dynamic names a class of one's own.
var stores = map[string]string{"mooncake": "mooncake", "hf3fs": "hf3fs", "nixl": "nixl", "file": "file", "aibrix": "aibrix", "eic": "eic",
	"simm": "other", "dynamic": "other"}

func argStore(l *launch, v string) error {
	if l.Plan.KVStore = stores[strings.ToLower(v)]; l.Plan.KVStore == "" { // a build's own
		l.Plan.KVStore = "other"
		l.Unknown = append(l.Unknown, "--hicache-storage-backend "+argv.Quote(argv.Blotted(v)))
	}
	return nil
}

// mooncakeFile is the variable that names Mooncake's own file.
const mooncakeFile = "SGLANG_HICACHE_MOONCAKE_CONFIG_PATH"

// stored reads what the server gives of its host's memory to Mooncake's store, the ranks of a TP group together: from the argument,
// else from the file, else from the variable; of other stores the argument is not read
// (mem_cache/storage/mooncake_store/mooncake_store.py, MooncakeStoreConfig and per_tp_global_segment_size).
func (l *launch) stored(c *argv.Command) error {
	if l.storing != "" {
		l.Unknown = append(l.Unknown, "--hicache-storage-backend-extra-config "+argv.Quote(argv.Blotted(l.storing)))
	}
	if l.Plan.KVStore != "mooncake" {
		return nil
	}
	var said struct {
		Segment json.RawMessage `json:"global_segment_size"`
	}
	if json.Unmarshal([]byte(l.storing), &said) == nil && said.Segment != nil {
		return l.segment("global_segment_size", strings.Trim(string(said.Segment), `"`))
	}
	keys, open, err := manifest.Named(c, mooncakeFile)
	switch {
	case err != nil:
		return err
	case open:
		file, _ := c.Getenv(mooncakeFile)
		l.Unknown = append(l.Unknown, argv.ShownAs(mooncakeFile, file))
		return nil
	case keys != nil:
		return l.segment("global_segment_size", keys["global_segment_size"])
	}
	if alone, _ := c.Getenv("MOONCAKE_STANDALONE_STORAGE"); alone == "1" || strings.EqualFold(alone, "true") {
		return nil // another process has it
	}
	v, _ := c.Getenv("MOONCAKE_GLOBAL_SEGMENT_SIZE")
	return l.segment("MOONCAKE_GLOBAL_SEGMENT_SIZE", v)
}

// segment of the store: each rank of a TP group gives its share, of 4 GiB where nothing is said (environ.py).
func (l *launch) segment(argument, v string) error {
	n, err := argv.Segment(argument, cmp.Or(strings.TrimSpace(v), "4gb"))
	l.Plan.KVStoreSegment = plan.Size(n / max(1, l.Plan.TP))
	return err
}

// argTier reads a number of --hicache-size or --hicache-ratio.
func argTier(v string) (float64, error) {
	x, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
	if err != nil || !(x >= 0 && x <= 1<<20) {
		return 0, &argv.Error{Value: v, Problem: "is not a number", Fix: "a number such as 2"}
	}
	return x, nil
}

// adapters: the pool has a slot of the largest rank for each adapter of a batch; without a rank the files say it.
func (l *launch) adapters() {
	const slots, most = 8, 256 // server_args.py, max_loras_per_batch
	if l.rank == 0 {
		l.rank = l.stated
	}
	switch {
	case l.lora && l.rank == 0:
		l.Unknown = append(l.Unknown, "--enable-lora")
	case l.lora:
		n := l.loras
		if n == 0 {
			n = slots
		}
		for range min(n, most) {
			l.Plan.Adapters = append(l.Plan.Adapters, plan.Adapter{Rank: l.rank})
		}
	}
}

// argLoRA: name=path of each adapter; with them LoRA is on, and their largest rank is that of the pool (server_args.py).
func argLoRA(l *launch, v string) error {
	l.lora = true
	text := "--lora-paths"
	for word := range strings.FieldsSeq(v) {
		l.stated = max(l.stated, argv.RankOf(word))
		text += " " + argv.Quote(argv.Blotted(word))
	}
	l.Beside = append(l.Beside, text)
	return nil
}

// argAlgorithm: what drafts beside or inside of the model.
func argAlgorithm(l *launch, v string) error {
	switch v = strings.ToUpper(v); v {
	case standalone, blocks:
	case ownLayers, "EAGLE", heads, repeats: // without a draft model EAGLE's are the model's own layers (server_args.py)
		own := v != repeats
		l.own = &own
	default:
		l.Unknown = append(l.Unknown, "--speculative-algorithm "+argv.Blotted(v))
	}
	return nil
}

func intoInt(field func(*plan.Plan) *int64) func(*launch, string) error {
	return argv.Into(argv.Count[int64], func(l *launch) *int64 { return field(&l.Plan) })
}

func intoCount(field func(*plan.Plan) *plan.Int) func(*launch, string) error {
	return argv.Into(argv.Count[plan.Int], func(l *launch) *plan.Int { return field(&l.Plan) })
}

func intoBool(value bool, field func(*plan.Plan) **bool) func(*launch, string) error {
	return argv.On(value, func(l *launch) **bool { return field(&l.Plan) })
}

// argFlags are those of launch_server, 0.2 to 0.5.
var argFlags = []argv.Flag[launch]{
	{Names: "--model-path --model", Set: argv.Into(argv.ModelRef, func(l *launch) *string { return &l.Model })},
	{Names: "--tensor-parallel-size --tp-size --tp", Set: intoInt(func(p *plan.Plan) *int64 { return &p.TP })},
	{Names: "--pipeline-parallel-size --pp-size --pp", Set: intoInt(func(p *plan.Plan) *int64 { return &p.PP })},
	{Names: "--data-parallel-size --dp-size --dp", Set: intoInt(func(p *plan.Plan) *int64 { return &p.DP })},
	{Names: "--expert-parallel-size --ep-size --ep", Set: intoInt(func(p *plan.Plan) *int64 { return &p.EP })},
	{Names: "--enable-dp-attention", Kind: argv.Switch, Set: func(l *launch, _ string) error { l.sharedDP = true; return nil }},
	{Names: "--device", Set: func(l *launch, v string) error { argv.Backend(&l.Launch, v); return nil }},
	{Names: "--context-length", Set: intoCount(func(p *plan.Plan) *plan.Int { return &p.Context })},
	{Names: "--mem-fraction-static", Set: argv.Into(argv.Share, func(l *launch) **float64 { return &l.Plan.MemFractionStatic })},
	{Names: "--max-total-tokens", Set: intoCount(func(p *plan.Plan) *plan.Int { return &p.KVPoolTokens })},
	{Names: "--max-running-requests", Set: intoCount(func(p *plan.Plan) *plan.Int { return &p.MaxSeqs })},
	{Names: "--chunked-prefill-size", Set: argChunk},
	{Names: "--page-size", Set: intoCount(func(p *plan.Plan) *plan.Int { return &p.BlockSize })},
	{Names: "--cpu-offload-gb", Set: argv.Into(argv.GiB[plan.Size], func(l *launch) *plan.Size { return &l.Plan.CPUOffload })},
	{Names: "--kv-cache-dtype", Set: argKV},
	{Names: "--dtype", Set: func(l *launch, v string) error { return argv.Dtype(&l.Launch, v) }},
	{Names: "--quantization", Set: argMethod},
	{Names: "--disable-cuda-graph", Kind: argv.Switch, Set: intoBool(true, func(p *plan.Plan) **bool { return &p.EnforceEager })},
	{Names: "--disable-radix-cache", Kind: argv.Switch, Set: intoBool(false, func(p *plan.Plan) **bool { return &p.PrefixCache })},
	{Names: "--speculative-draft-model-path --speculative-draft-model --speculative-draft",
		Set: argv.Into(argv.ModelRef, func(l *launch) *string { return &l.Plan.DraftModel })},
	{Names: "--speculative-num-draft-tokens", Set: argv.Into(argv.Count[plan.Int], func(l *launch) *plan.Int { return &l.verified })},

	{Names: "--max-prefill-tokens", Set: argv.Into(argv.Count[plan.Int], func(l *launch) *plan.Int { return &l.prefill })},
	{Names: "--speculative-num-steps", Set: argv.Into(argv.Count[plan.Int], func(l *launch) *plan.Int { return &l.steps })},
	{Names: "--speculative-eagle-topk", Set: argv.Into(argv.Count[plan.Int], func(l *launch) *plan.Int { return &l.branches })},
	{Names: "--speculative-algorithm --speculative-algo", Set: argAlgorithm},
	{Names: "--enable-lora", Kind: argv.Switch, Set: func(l *launch, _ string) error { l.lora = true; return nil }},
	{Names: "--max-lora-rank", Set: argv.Into(argv.Count[plan.Int], func(l *launch) *plan.Int { return &l.rank })},
	{Names: "--max-loras-per-batch", Set: argv.Into(argv.Count[plan.Int], func(l *launch) *plan.Int { return &l.loras })},

	{Names: "--moe-runner-backend", Set: func(l *launch,
		v string) error {
		expertKernels.Read(&l.Launch, "--moe-runner-backend", v)
		return nil
	}},
	{Names: "--stream-interval", Set: intoCount(func(p *plan.Plan) *plan.Int { return &p.StreamInterval })},
	{Names: "--scheduler-recv-interval", Set: intoCount(func(p *plan.Plan) *plan.Int { return &p.RecvInterval })},

	{Names: "--served-model-name", Set: func(l *launch, v string) error { return argv.Serves(&l.Launch, v) }},
	{Names: "--cuda-graph-max-bs", Set: intoCount(func(p *plan.Plan) *plan.Int { return &p.GraphBatch })},
	{Names: "--cuda-graph-bs --cuda-graph-bs-decode", Kind: argv.List, Set: argGraphs},
	{Names: "--ep-num-redundant-experts", Set: intoCount(func(p *plan.Plan) *plan.Int { return &p.RedundantExperts })},
	{Names: "--moe-a2a-backend", Set: argDispatcher},
	{Names: "--enable-deepep-moe", Kind: argv.Switch, Set: func(l *launch, _ string) error { l.deepEP = true; return nil }},
	{Names: "--deepep-mode", Set: argDeepEPMode},
	{Env: mostDispatched, Set: intoCount(func(p *plan.Plan) *plan.Int { return &p.DispatchTokens })},
	{Names: "--enable-two-batch-overlap", Kind: argv.Switch, Set: intoBool(true, func(p *plan.Plan) **bool { return &p.TwoBatches })},
	{Names: "--enable-mixed-chunk", Kind: argv.Switch, Set: intoBool(true, func(p *plan.Plan) **bool { return &p.MixedChunk })},
	{Names: "--mm-enable-dp-encoder", Kind: argv.Switch, Set: intoBool(true, func(p *plan.Plan) **bool { return &p.WholeTower })},
	{Names: "--enable-hierarchical-cache", Kind: argv.Switch, Set: func(l *launch, _ string) error { l.tiers = true; return nil }},
	{Names: "--hicache-size", Set: argv.Into(argTier, func(l *launch) *float64 { return &l.tier })},
	{Names: "--hicache-ratio", Set: func(l *launch, v string) error {
		x, err := argTier(v)
		if err == nil && x > 0 {
			l.tierFor = &x
		}
		return err
	}},
	{Names: "--hicache-write-policy", Set: argWritten},
	{Names: "--hicache-storage-backend", Set: argStore},
	{Names: "--hicache-storage-backend-extra-config", Set: argv.Into(argv.Text, func(l *launch) *string { return &l.storing })},
	{Names: "--mamba-ssm-dtype", Set: argv.Into(argv.Torch, func(l *launch) *string { return &l.Plan.StateFormat })},

	// Memory that no field of a plan holds.
	{Names: "--torch-compile-max-bs --piecewise-cuda-graph-max-tokens --offload-group-size --offload-num-in-group " +
		"--offload-prefetch-step --offload-mode --hybrid-kvcache-ratio --swa-full-tokens-ratio --max-mamba-cache-size " +
		"--mamba-full-memory-ratio", Unread: true},
	{Names: "--json-model-override-args --config --torchao-config", Unread: true},
	{Names: "--moe-dense-tp-size", Set: intoInt(func(p *plan.Plan) *int64 { return &p.DenseTP })},
	{Names: "--lora-paths", Kind: argv.List, Set: argLoRA},
	{Names: "--piecewise-cuda-graph-tokens", Kind: argv.List, Unread: true},
	{Names: "--enable-torch-compile --disable-hybrid-swa-memory --enable-memory-saver",
		Kind: argv.Switch, Unread: true},

	// No bearing on memory.
	{Names: "--nsa-prefill-backend --nsa-decode-backend --dsa-prefill-backend --dsa-decode-backend --fp4-gemm-backend --fp8-gemm-backend " +
		"--bf16-gemm-backend --linear-attn-backend --mamba-backend --speculative-moe-runner-backend --speculative-moe-a2a-backend " +
		"--speculative-attention-mode"},
	{Names: "--log-requests-level --tokenizer-worker-num --prefill-schedule-interval --model-loader-extra-config --hicache-io-backend " +
		"--hicache-mem-layout --hicache-storage-prefetch-policy --preferred-sampling-params --dp-attention-local-control-broadcast " +
		"--init-expert-location --eplb-algorithm --ep-dispatch-algorithm"},
	// Kernels, buffers of collectives, and how steps are put together: their speed is not sized, nor what they work in.
	{Names: "--attention-backend --prefill-attention-backend --decode-attention-backend --num-continuous-decode-steps", Unread: true},
	{Names: "--enable-symm-mem --enable-nccl-nvls --disable-custom-all-reduce --disable-overlap-schedule --disable-shared-experts-fusion " +
		"--enable-prefill-delayer", Kind: argv.Switch, Unread: true},
	{Names: "--enable-dp-lm-head", Kind: argv.Switch}, // as heads are sized with groups of attention
	{Names: "--moe-dense-tp-size"},                    // of which 1 is what is sized
	{Names: "--enable-aiter-allreduce-fusion --disable-flashinfer-autotune " +
		"--enable-dp-attention-local-control-broadcast --enable-eplb --disable-cuda-graph-padding --incremental-streaming-output " +
		"--disable-fast-image-processor --sleep-on-idle", Kind: argv.Switch},
	{Names: "--host --port --api-key --tokenizer-path --tokenizer-mode --load-format --download-dir --revision --chat-template " +
		"--reasoning-parser --tool-call-parser --random-seed --log-level --log-level-http"},
	{Names: "--dist-init-addr --nccl-init-addr --nnodes --node-rank --base-gpu-id --gpu-id-step --nccl-port --dist-timeout " +
		"--watchdog-timeout --schedule-policy --schedule-conservativeness --load-balance-method --model-impl"},
	{Names: "--sampling-backend --grammar-backend " +
		"--mm-attention-backend --decode-log-interval"},
	{Names: "--trust-remote-code --log-requests --enable-metrics --skip-tokenizer-init --is-embedding " +
		"--enable-p2p-check --enable-cache-report --show-time-cost --enable-multimodal", Kind: argv.Switch},
	{Names: "--numa-node --cors-allow-origins", Kind: argv.List},
	{Names: "--disaggregation-transfer-backend --disaggregation-ib-device --disaggregation-bootstrap-port"},
	{Names: "--flashinfer-autotune-skip-ops --sampling-defaults --crash-dump-folder --weight-version"},
	{Names: "--mm-process-config --served-model-names"},
	{Names: "--allow-auto-truncate --skip-server-warmup " +
		"--disable-chunked-prefix-cache --enable-flashinfer-allreduce-fusion --triton-attention-reduce-in-fp32 --stream-output",
		Kind: argv.Switch},
}

// argGraphs: the largest of the batches with graphs says the others.
func argGraphs(l *launch, v string) error {
	for _, word := range strings.Fields(v) {
		n, err := argv.Count[plan.Int](word)
		if err != nil {
			return err
		}
		l.Plan.GraphBatch = max(l.Plan.GraphBatch, n)
	}
	return nil
}

// argChunk: -1 switches chunked prefill off.
func argChunk(l *launch, v string) error {
	n, err := argv.Int[plan.Int](v)
	if err != nil {
		return err
	}
	if n < 0 {
		no := false
		l.Plan.ChunkedPrefill = &no
		return nil
	}
	l.Plan.MaxBatchedTokens = n
	return nil
}

func argKV(l *launch, v string) error {
	switch v = strings.ToLower(v); v {
	case "auto":
		return nil
	case "bfloat16":
		v = "bf16"
	}
	l.Plan.KV = v
	return nil
}

func argMethod(l *launch, v string) error {
	l.Quant = strings.ToLower(v)
	return nil
}
