package tensorrt

import (
	"strings"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/engine/manifest"
	"github.com/memwall/memwall/plan"
)

// Programs returns the programs that start TensorRT-LLM's server.
func Programs() []string {
	return []string{"trtllm-serve", "tensorrt_llm.commands.serve", "dynamo.trtllm"}
}

type launch struct {
	argv.Launch
	config string // the file of settings, by its name
	files  map[string]string
	// shared: attention runs in data parallel groups, whose number is that of tensor parallelism.
	shared bool
}

// FromArgs reads the arguments of "trtllm-serve [serve] MODEL" (tensorrt_llm/commands/serve.py).
func FromArgs(c *argv.Command) (*argv.Launch, error) {
	l := &launch{Launch: argv.Launch{Engine: argv.EngineAt("tensorrt-llm", c.Tag()), FullContext: true, Devices: c.Devices}}
	cmd := *c
	if len(cmd.Args) > 0 && cmd.Args[0] == "serve" {
		cmd.Args = cmd.Args[1:]
	}
	syntax := argv.Syntax{Dashes: true, Positional: l.positional}
	beside, unknown, err := argv.Read(&cmd, syntax, argFlags, l)
	if err != nil {
		return nil, err
	}
	l.files = c.Files
	if err := l.settings(c.Files); err != nil {
		return nil, err
	}
	l.Beside, l.Unknown = append(l.Beside, beside...), append(l.Unknown, unknown...)
	l.Plan.EngineArgs = append(append([]string(nil), l.Beside...), l.Unknown...)
	l.sharing()
	l.FullContext = l.Plan.Context == 0
	return &l.Launch, nil
}

// sharing has each rank attend for its own sequences, and all hold the experts together: whole ones where ep_size says so, else a
// slice of each (moe_tp_size = tp_size / moe_ep_size, tensorrt_llm/mapping.py), which takes as many bytes.
func (l *launch) sharing() {
	if p := &l.Plan; l.shared {
		p.TP, p.DP, p.EP = 1, max(1, p.TP), max(1, p.TP)
	}
}

func (l *launch) positional(word string) bool {
	if l.Model != "" {
		return false
	}
	l.Model = word
	return true
}

func argWhole(field func(*plan.Plan) *int64) func(*launch, string) error {
	return argv.Into(argv.Count[int64], func(l *launch) *int64 { return field(&l.Plan) })
}

func argNumber(field func(*plan.Plan) *plan.Int) func(*launch, string) error {
	return argv.Into(argv.Count[plan.Int], func(l *launch) *plan.Int { return field(&l.Plan) })
}

// argFlags are those of trtllm-serve; underscores and dashes are the same.
var argFlags = []argv.Flag[launch]{
	{Names: "--model --model-path", Set: argv.Into(argv.ModelRef, func(l *launch) *string { return &l.Model })},
	{Names: "--tp-size --tensor-parallel-size", Set: argWhole(func(p *plan.Plan) *int64 { return &p.TP })},
	{Names: "--pp-size --pipeline-parallel-size", Set: argWhole(func(p *plan.Plan) *int64 { return &p.PP })},
	{Names: "--ep-size --moe-expert-parallel-size --expert-parallel-size", Set: argWhole(func(p *plan.Plan) *int64 { return &p.EP })},
	{Names: "--cp-size --context-parallel-size", Set: argWhole(func(p *plan.Plan) *int64 { return &p.CP })},
	{Names: "--max-batch-size", Set: argNumber(func(p *plan.Plan) *plan.Int { return &p.MaxSeqs })},
	{Names: "--max-num-tokens", Set: argNumber(func(p *plan.Plan) *plan.Int { return &p.MaxBatchedTokens })},
	{Names: "--max-seq-len", Set: argNumber(func(p *plan.Plan) *plan.Int { return &p.Context })},
	{Names: "--tokens-per-block", Set: argNumber(func(p *plan.Plan) *plan.Int { return &p.BlockSize })},
	{Names: "--kv-cache-free-gpu-memory-fraction --free-gpu-memory-fraction --kv-cache-free-gpu-mem-fraction",
		Set: argv.Into(argv.Share, func(l *launch) **float64 { return &l.Plan.FreeGPUMemoryFraction })},
	{Names: "--kv-cache-dtype", Set: argKV},
	{Names: "--enable-chunked-prefill", Kind: argv.Switch, Set: argv.On(true, func(l *launch) **bool { return &l.Plan.ChunkedPrefill })},

	{Names: "--extra-llm-api-options --extra-engine-args --config",
		Set: argv.Into(argv.Text, func(l *launch) *string { return &l.config })},

	{Names: "--served-model-name", Set: func(l *launch, v string) error { return argv.Serves(&l.Launch, v) }},
	// Memory that no field of a plan holds.
	{Names: "--backend", Set: argBackend},
	{
		Names: "--max-beam-width --cluster-size --moe-cluster-parallel-size --spec-decoding --disaggregation-mode --modality " +
			"--encode-endpoint", Unread: true},

	// No bearing on memory.
	{Names: "--host --port --tokenizer --custom-tokenizer --gpus-per-node --num-postprocess-workers --log-level --reasoning-parser " +
		"--tool-parser --revision --chat-template --metadata-server-config-file --server-role --otlp-traces-endpoint"},
	{Names: "--trust-remote-code --fail-fast-on-attention-window-too-large", Kind: argv.Switch},
}

// argBackend: the rules are those of PyTorch's, which is what trtllm-serve takes by itself.
func argBackend(l *launch, v string) error {
	if strings.EqualFold(v, "pytorch") {
		l.Beside = append(l.Beside, "--backend pytorch")
	} else {
		l.Unknown = append(l.Unknown, "--backend "+argv.Quote(argv.Blotted(v)))
	}
	return nil
}

func argKV(l *launch, v string) error {
	if v = strings.ToLower(v); v != "auto" {
		l.Plan.KV = v
	}
	return nil
}

// settings reads the file that the command names, where the text holds it; else its name is listed.
func (l *launch) settings(files map[string]string) error {
	text, ok := files[l.config]
	switch {
	case l.config == "":
		return nil
	case !ok:
		l.Unknown = append(l.Unknown, "--extra_llm_api_options "+argv.Quote(argv.Blotted(l.config)))
		return nil
	}
	list, err := manifest.Settings(text)
	if err != nil {
		return err
	}
	for _, v := range list {
		if err := l.setting(v); err != nil {
			return err
		}
	}
	return nil
}

// keys of the file, as flags (tensorrt_llm/llmapi/llm_args.py).
var keys = map[string]string{
	"kv_cache_config.tokens_per_block":         "--tokens-per-block",
	"kv_cache_config.free_gpu_memory_fraction": "--kv-cache-free-gpu-memory-fraction", "kv_cache_config.dtype": "--kv-cache-dtype",
	"max_batch_size": "--max-batch-size", "max_num_tokens": "--max-num-tokens", "max_seq_len": "--max-seq-len",
	"tensor_parallel_size": "--tp-size", "pipeline_parallel_size": "--pp-size", "moe_expert_parallel_size": "--ep-size",
}

// besides are keys without bearing on memory.
var besides = map[string]bool{"model": true,
	"print_iter_log": true, "disable_overlap_scheduler": true, "enable_iter_perf_stats": true, "backend": true,
	"trust_remote_code": true, "moe_config.load_balancer.layer_updates_per_iter": true}

func (l *launch) setting(v argv.Variable) error {
	if flag, ok := keys[v.Name]; ok {
		for i := range argFlags {
			if strings.Contains(" "+argFlags[i].Names+" ", " "+flag+" ") {
				return argv.Named(argFlags[i].Set(l, v.Value), v.Name, v.Value)
			}
		}
	}
	if set, ok := fileOnly[v.Name]; ok {
		return argv.Named(set(l, v.Value), v.Name, v.Value)
	}
	if !besides[v.Name] {
		l.Unknown = append(l.Unknown, argv.ShownAs(v.Name, v.Value))
	}
	return nil
}

// argExperts: kernels that no plan has stay a key of the file.
func argExperts(l *launch, v string) error {
	n := len(l.Unknown)
	if expertKernels.Read(&l.Launch, "moe_config.backend", v); len(l.Unknown) > n {
		l.Unknown[n] = argv.ShownAs("moe_config.backend", v)
	}
	return nil
}

var argSlots = argNumber(func(p *plan.Plan) *plan.Int { return &p.ExpertSlots })

// argBalancer is a file of the expert load balancer (tensorrt_llm/llmapi/llm_args.py, MoeLoadBalancerConfig): of its keys num_slots
// moves memory.
func argBalancer(l *launch, v string) error {
	list, err := manifest.Settings(l.files[v])
	for i := range list {
		if list[i].Name == "num_slots" && err == nil {
			return argv.Named(argSlots(l, list[i].Value), "num_slots", list[i].Value)
		}
	}
	l.Unknown = append(l.Unknown, argv.ShownAs("moe_config.load_balancer", v))
	return err
}

// repeats are decoding types that draft what the text repeats (llm_args.py, NGramDecodingConfig and SADecodingConfig).
var repeats = map[string]string{"ngram": plan.DraftNGram, "sa": plan.DraftSuffix}

// argDrafter: the model's own prediction layers, or what the text repeats; other types name a model.
func argDrafter(l *launch, v string) error {
	own, found := strings.EqualFold(v, "MTP"), repeats[strings.ToLower(v)]
	if own || found != "" {
		l.Plan.MTP, l.Plan.DraftMethod = &own, found
	}
	return nil
}

// fileOnly are keys that no flag has.
var fileOnly = map[string]func(*launch, string) error{
	"kv_cache_config.enable_block_reuse":          argv.On(true, func(l *launch) **bool { return &l.Plan.PrefixCache }),
	"enable_chunked_prefill":                      argv.On(true, func(l *launch) **bool { return &l.Plan.ChunkedPrefill }),
	"enable_attention_dp":                         argv.Into(argv.Bool, func(l *launch) *bool { return &l.shared }),
	"moe_config.backend":                          argExperts,
	"moe_config.load_balancer":                    argBalancer,
	"moe_config.load_balancer.num_slots":          argSlots,
	"stream_interval":                             argNumber(func(p *plan.Plan) *plan.Int { return &p.StreamInterval }),
	"batch_wait_timeout_iters":                    argNumber(func(p *plan.Plan) *plan.Int { return &p.BatchWait }),
	"speculative_config.decoding_type":            argDrafter,
	"speculative_config.max_draft_len":            argNumber(func(p *plan.Plan) *plan.Int { return &p.DraftTokens }),
	"speculative_config.num_nextn_predict_layers": argNumber(func(p *plan.Plan) *plan.Int { return &p.DraftTokens }),
	"speculative_config.speculative_model_dir":    argv.Into(argv.ModelRef, func(l *launch) *string { return &l.Plan.DraftModel }),
	"speculative_config.speculative_model":        argv.Into(argv.ModelRef, func(l *launch) *string { return &l.Plan.DraftModel }),
}
