package plain

import (
	"strings"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/plan"
)

// startMLX: mlx_lm/server.py and generate.py; caches of fewer bits are generate's alone.
var startMLX = start{
	programs: []string{"mlx_lm.server", "mlx_lm.generate", "mlx_lm.chat", "mlx_lm", "mlx_vlm.server", "mlx_vlm.generate", "mlx_vlm.chat",
		"mlx-openai-server", "omlx", "vllm-mlx", "rapid-mlx"}, verbs: []string{"server", "generate", "chat", "serve"},
	others: []string{"convert", "lora", "fuse", "upload", "evaluate", "perplexity", "benchmark", "manage"},
	before: "mlx_lm.server", model: "--model",
	options: []option{
		modelBy("--model --model-path", ""), draftModelBy("--draft-model"), draftBy("--num-draft-tokens"),
		only("mlx_lm.server", chunkBy("--prefill-step-size", "")),
		only("mlx_lm.generate", cacheBy("--kv-bits", "", map[string]string{"q8": "8", "q6": "6", "q4": "4", "q3": "3", "q2": "2"})),
		{Flag: argv.Flag[launch]{Names: "--max-kv-size --context-length",
			Set: argv.Into(argv.Count[plan.Int], func(l *launch) *plan.Int { return &l.Plan.Context })}},
		unread(argv.Value, "--adapter-path --prompt-cache-bytes --prompt-cache-size --kv-group-size --quantized-kv-start --prompt-cache-file"), unread(argv.Switch, "--pipeline --quantize-activations"),
		passedOn(argv.Value, "--prompt -p --max-tokens -m --temp --top-p --top-k --min-p --seed --chat-template --chat-template-args --chat-template-config --allowed-origins --decode-concurrency --prompt-concurrency --system-prompt --image --audio --model-type"),
		passedOn(argv.Switch, "--use-default-chat-template --ignore-chat-template --verbose"),
	},
}

// startExLlama is TabbyAPI's: config_sample.yml, whose keys are options too.
func startExLlama(backend string, caches map[string]string) start {
	return start{
		programs: []string{"main.py", "start.py", "tabbyapi"}, before: "python main.py --backend " + backend, model: "--model-name",
		options: []option{
			modelBy("--model-name", ""), contextBy("--max-seq-len", ""), chunkBy("--chunk-size", ""), cacheBy("--cache-mode", "", caches),
			draftModelBy("--draft-model-name"), draftBy("--draft-num-tokens"),
			{Flag: argv.Flag[launch]{Names: "--backend", Set: func(l *launch, v string) error { l.Engine = v; return nil }}},
			{Flag: argv.Flag[launch]{Names: "--tensor-parallel", Kind: argv.Maybe, Unread: true}},
			unread(argv.List, "--gpu-split --autosplit-reserve --draft-gpu-split"),
			unread(argv.Value, "--cache-size --max-batch-size --rope-scale --rope-alpha --draft-cache-mode --draft-mode --draft-rope-scale --draft-rope-alpha"), unread(argv.Maybe, "--vision"),
			passedOn(argv.Value, "--model-dir --draft-model-dir --prompt-template --config --gpu-lib --output-chunking --gpu-split-auto --tensor-parallel-backend --reasoning --reasoning-start-token --reasoning-end-token --tool-format --inline-model-loading"),
			passedOn(argv.Maybe, "--use-dummy-models --dummy-model-names --use-as-default --disable-auth --force-enable-thinking --ngram-match-min"),
		},
	}
}

// startMLC: python/mlc_llm/cli/serve.py; numbers are one text of overrides.
var startMLC = start{
	programs: []string{"mlc_llm", "mlc_llm.serve"}, verbs: []string{"serve", "chat"},
	others: []string{"compile", "convert_weight", "gen_config", "package", "bench"}, before: "mlc_llm serve",
	options: []option{
		contextBy("context_window_size", ""), chunkBy("prefill_chunk_size", ""), ranksBy("tensor_parallel_shards", "", shards),
		ranksBy("pipeline_parallel_stages", "", stages),
		{Flag: argv.Flag[launch]{Names: "--overrides", Set: overrides}},
		unread(argv.Value, "--mode --speculative-mode"), unread(argv.List, "--additional-models"),
		passedOn(argv.Value, "--device --model-lib --prefix-cache-mode --prefill-mode --allow-origins --allow-methods --allow-headers"),
		passedOn(argv.Switch, "--enable-debug --enable-tracing --allow-credentials"),
	},
}

// overrides reads "context_window_size=8192;tensor_parallel_shards=2".
func overrides(l *launch, text string) error {
next:
	for _, pair := range strings.FieldsFunc(text, func(r rune) bool { return r == ';' || r == ' ' }) {
		name, v, _ := strings.Cut(pair, "=")
		for i := range l.rules.start.options {
			if o := &l.rules.start.options[i]; o.Names == name {
				if err := argv.Named(o.Set(l, v), name, v); err != nil {
					return err
				}
				continue next
			}
		}
		l.Unknown = append(l.Unknown, argv.ShownAs(name, v))
	}
	return nil
}

// startTGI: docs/source/reference/launcher.md. Without a number of shards it takes all devices.
var startTGI = start{
	programs: []string{"text-generation-launcher", "tgi"}, before: "text-generation-launcher", model: "--model-id",
	options: []option{
		modelBy("--model-id", "MODEL_ID"), always(ranksBy("--num-shard", "NUM_SHARD", shards), shards),
		contextBy("--max-total-tokens", "MAX_TOTAL_TOKENS"), chunkBy("--max-batch-prefill-tokens", "MAX_BATCH_PREFILL_TOKENS"),
		cacheBy("--kv-cache-dtype", "KV_CACHE_DTYPE", map[string]string{"fp8": "fp8_e4m3fn", "fp8_e5m2": "fp8_e5m2"}),
		methodBy("--quantize", "QUANTIZE", map[string]string{"eetq": "int8", "bitsandbytes": "bnb-int8", "bitsandbytes-nf4": "nf4",
			"bitsandbytes-fp4": "nf4-single"}),
		unread(argv.Value, "--cuda-memory-fraction --max-batch-total-tokens --cuda-graphs --speculate --lora-adapters --rope-scaling --rope-factor --max-batch-size --attention --usage-stats"), unread(argv.Maybe, "--sharded"),
		passedOn(argv.Value, "--dtype --max-input-length --max-input-tokens --max-concurrent-requests --max-best-of --max-stop-sequences --max-top-n-tokens --validation-workers --waiting-served-ratio --max-waiting-tokens --hostname -p --shard-uds-path --master-addr --master-port --huggingface-hub-cache --weights-cache-override --otlp-endpoint --cors-allow-origin --tokenizer-config-path --max-client-batch-size --payload-limit"),
		passedOn(argv.Switch, "--disable-custom-kernels --json-output --disable-grammar-support --enable-prefill-logprobs"),
	},
}

// startLMDeploy: lmdeploy/cli/utils.py and serve.py.
var startLMDeploy = start{
	programs: []string{"lmdeploy", "lmdeploy.serve.openai.api_server"}, verbs: []string{"serve", "api_server", "gradio", "chat"},
	others: []string{"proxy", "api_client", "convert", "lite", "check_env", "list"}, before: "lmdeploy serve api_server",
	options: []option{
		ranksBy("--tp", "", shards), ranksBy("--dp", "", func(p *plan.Plan) *int64 { return &p.DP }), contextBy("--session-len", ""),
		shareBy("--cache-max-entry-count"), chunkBy("--max-prefill-token-num", ""),
		cacheBy("--quant-policy", "", map[string]string{"int8": "8", "int4": "4"}), methodBy("--model-format", "", nil),
		unread(argv.Value, "--max-batch-size --cache-block-seq-len --ep --cp --rope-scaling-factor --num-tokens-per-iter --max-prefill-iters --speculative-algorithm --speculative-draft-model --speculative-num-draft-tokens --device --role"),
		unread(argv.List, "--adapters"), {Flag: argv.Flag[launch]{Names: "--backend", Set: backendOfLMDeploy}},
		passedOn(argv.Value, "--model-name --chat-template --dtype --server-name --server-port --instance-num --tool-call-parser --reasoning-parser --download-dir --session-id --proxy-url --max-log-len"), passedOn(argv.List, "--api-keys"),
		passedOn(argv.Switch, "--enable-prefix-caching --ssl --use-logn-attn --eager-mode --disable-fastapi-docs --allow-terminate-by-client --enable-metrics --communicator"),
	},
}

func backendOfLMDeploy(l *launch, v string) error {
	if v != "turbomind" { // whose rules these are
		l.Unknown = append(l.Unknown, "--backend "+argv.Quote(argv.Blotted(v)))
	}
	return nil
}

// startKTransformers: ktransformers/server/args.py.
var startKTransformers = start{
	programs: []string{"ktransformers", "ktransformers.server.main", "ktransformers.local_chat", "local_chat.py", "main.py"},
	before:   "ktransformers", model: "--model_path",
	options: []option{
		modelBy("--model_path --model_dir", ""), contextBy("--cache_lens", ""), chunkBy("--chunk_size", ""), ranksBy("--tp", "", shards),
		{Flag: argv.Flag[launch]{Names: "--gguf_path", Set: ggufFolder}},
		unread(argv.Value, "--optimize_config_path --optimize_rule_path --experts_per_token --cache_8bit --cache_q4 --max_batch_size --batch_size --gpu_split --draft_model_path --draft_gguf_path --memory_gpu_only --cpu_memory_size_GB --backend_type --mode"),
		passedOn(argv.Value, "--cpu_infer --max_new_tokens --model_name --web --architectures --length --temperature --top_k --top_p --prompt_file --page_size --log_dir --log_file --force_think"), passedOn(argv.Maybe, "--use_cuda_graph --no-use_cuda_graph"),
	},
}

// ggufFolder: its name says the format, where that is one; the model's own repository says the model.
func ggufFolder(l *launch, v string) error {
	if _, err := argv.ModelRef(v); err != nil {
		return err
	}
	l.files = v
	return nil
}
