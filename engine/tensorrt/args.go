package tensorrt

import (
	"strings"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/plan"
)

// Programs are what starts TensorRT-LLM's server.
func Programs() []string { return []string{"trtllm-serve", "tensorrt_llm.commands.serve"} }

type launch struct {
	argv.Launch
}

// FromArgs reads the arguments of "trtllm-serve [serve] MODEL" (tensorrt_llm/commands/serve.py).
func FromArgs(c *argv.Command) (*argv.Launch, error) {
	l := &launch{argv.Launch{Engine: argv.EngineAt("tensorrt-llm", c.Tag()), FullContext: true, Devices: c.Devices}}
	cmd := *c
	if len(cmd.Args) > 0 && cmd.Args[0] == "serve" {
		cmd.Args = cmd.Args[1:]
	}
	syntax := argv.Syntax{Dashes: true, Positional: l.positional}
	beside, unknown, err := argv.Read(&cmd, syntax, argFlags, l)
	if err != nil {
		return nil, err
	}
	if l.Model == "" {
		return nil, argv.Wrong("trtllm-serve", "", "names no model", "trtllm-serve MODEL …")
	}
	l.Beside, l.Unknown = beside, unknown
	l.Plan.EngineArgs = append(append([]string(nil), beside...), unknown...)
	l.FullContext = l.Plan.Context == 0
	return &l.Launch, nil
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
	{Names: "--model", Set: argv.Into(argv.ModelRef, func(l *launch) *string { return &l.Model })},
	{Names: "--tp-size --tensor-parallel-size", Set: argWhole(func(p *plan.Plan) *int64 { return &p.TP })},
	{Names: "--pp-size --pipeline-parallel-size", Set: argWhole(func(p *plan.Plan) *int64 { return &p.PP })},
	{Names: "--ep-size --moe-expert-parallel-size", Set: argWhole(func(p *plan.Plan) *int64 { return &p.EP })},
	{Names: "--cp-size --context-parallel-size", Set: argWhole(func(p *plan.Plan) *int64 { return &p.CP })},
	{Names: "--max-batch-size", Set: argNumber(func(p *plan.Plan) *plan.Int { return &p.MaxSeqs })},
	{Names: "--max-num-tokens", Set: argNumber(func(p *plan.Plan) *plan.Int { return &p.MaxBatchedTokens })},
	{Names: "--max-seq-len", Set: argNumber(func(p *plan.Plan) *plan.Int { return &p.Context })},
	{Names: "--tokens-per-block", Set: argNumber(func(p *plan.Plan) *plan.Int { return &p.BlockSize })},
	{Names: "--kv-cache-free-gpu-memory-fraction --free-gpu-memory-fraction --kv-cache-free-gpu-mem-fraction", Set: argv.Into(argv.Share, func(l *launch) **float64 { return &l.Plan.FreeGPUMemoryFraction })},
	{Names: "--kv-cache-dtype", Set: argKV},
	{Names: "--enable-chunked-prefill", Kind: argv.Switch, Set: argv.On(true, func(l *launch) **bool { return &l.Plan.ChunkedPrefill })},

	// Memory that no field of a plan holds: the YAML file has the settings of the PyTorch backend.
	{Names: "--extra-llm-api-options --config --backend --max-beam-width --cluster-size --moe-cluster-parallel-size --spec-decoding", Unread: true},

	// No bearing on memory.
	{Names: "--host --port --tokenizer --custom-tokenizer --gpus-per-node --num-postprocess-workers --log-level --reasoning-parser --tool-parser --revision --chat-template --metadata-server-config-file --server-role --otlp-traces-endpoint --served-model-name"},
	{Names: "--trust-remote-code --fail-fast-on-attention-window-too-large", Kind: argv.Switch},
}

func argKV(l *launch, v string) error {
	if v = strings.ToLower(v); v != "auto" {
		l.Plan.KV = v
	}
	return nil
}
