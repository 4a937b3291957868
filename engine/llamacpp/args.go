package llamacpp

import (
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/plan"
)

// Flags returns the flags of its common programs that FromArgs knows.
func Flags() []string { return argv.Names(argFlags) }

// Programs returns the programs that run llama.cpp, including names from before 2024-06.
func Programs() []string {
	return []string{"llama-server", "llama-cli", "llama-bench", "llama-run", "llama-simple", "llama-perplexity", "llama-mtmd-cli", "llama-batched-bench", "llama-completion", "llama-parallel", "llama-speculative", "llama-sweep-bench", "main", "server", "ollama", "llamafile"}
}

type launch struct {
	argv.Launch
	repo, file string
	made       string // the Modelfile it is created from
	zero       bool   // -c 0
	tested     bool
	forked     bool     // has ik_llama.cpp settings
	depth      plan.Int // of llama-bench: tokens cached before a test
}

// FromArgs parses the arguments of llama.cpp's programs (common/arg.cpp), of llama-bench (tools/llama-bench), and of
// ollama with its variables (envconfig/config.go).
func FromArgs(c *argv.Command) (*argv.Launch, error) {
	l := &launch{Launch: argv.Launch{Engine: argv.EngineAt(engineOf(c.Program), c.Tag()), Devices: c.Devices}}
	table, cmd := argFlags, *c
	switch c.Program {
	case "ollama":
		table = append(inheritable(), ollamaFlags...)
		cmd.Args = l.ollama(c.Args)
	case "llama-bench":
		table = benchFlags
	}
	beside, unknown, err := argv.Read(&cmd, argv.Syntax{Dashes: true}, table, l) // common/arg.cpp accepts underscores for dashes
	if err != nil {
		return nil, err
	}
	l.Beside, l.Unknown = append(l.Beside, beside...), append(l.Unknown, unknown...)
	if err := l.modelfile(c.Files); err != nil {
		return nil, err
	}
	l.Served = aliased(cmd.Args)
	if l.forked = l.forked || c.Program != "ollama" && c.OfFork(); l.forked {
		l.Engine = programNames[Fork]
	}
	if l.Model == "" && holdsModel(c.Program) {
		l.Model = c.Program[:len(c.Program)-len(fileSuffix)] + ".gguf"
	}
	if l.Plan.Backend == "" && strings.Contains(c.Image, "llama") && strings.Contains(c.Image, "vulkan") {
		l.Plan.Backend = "vulkan" // of devices whose usual back end is their maker's
	}
	l.hub()
	l.variables(&cmd, table)
	l.values(c.Program)
	l.lengths(c.Program)
	if l.Plan.ContextTotal > 0 && l.Plan.Sequences > l.Plan.ContextTotal {
		return nil, argv.Wrong("-np", "", "asks for more slots than -c has tokens", "fewer slots")
	}
	return &l.Launch, nil
}

// ownContext is the default context: from b7407 the model's own, before that a number (common/common.h).
var ownContext = []engine.Since[plan.Int]{
	{From: build(0), Value: 512, Source: "common/common.h"},
	{From: build(4014), Value: 4096, Source: "1926d6e (2024-11-02)"},
	{From: build(7407), Value: 0, Source: "b1f3a6e (2025-12-15)"},
}

// lengths fills in what -c leaves open; llama-bench computes 512 tokens.
func (l *launch) lengths(program string) {
	p := &l.Plan
	if program == "llama-bench" {
		const prompt = 512
		if !l.tested {
			p.ContextTotal = prompt
		}
		p.ContextTotal += l.depth
		return
	}
	if _, version, tagged := strings.Cut(l.Engine, "@"); tagged && program != "ollama" && !l.zero && p.ContextTotal == 0 {
		if v, err := (Engine{}).ParseVersion(version); err == nil {
			p.ContextTotal = engine.At(ownContext, v).Value
		}
	}
	l.FullContext = program != "ollama" && l.Engine != "llamafile" && p.ContextTotal == 0 && (p.Fit != "on" || l.zero)
}

func engineOf(program string) string {
	switch program {
	case "ollama":
		return "ollama"
	case "llama-server", "server":
		return "llama-server"
	}
	if holdsModel(program) || program == "llamafile" {
		return "llamafile"
	}
	return "llama.cpp"
}

// fileSuffix is the suffix of a llamafile that contains its model.
const fileSuffix = ".llamafile"

func holdsModel(program string) bool { return strings.HasSuffix(strings.ToLower(program), fileSuffix) }

// hub converts -hf user/repo:quant and -hff file to a reference.
func (l *launch) hub() {
	switch {
	case l.Model != "" || l.repo == "":
	case l.file != "":
		repo, _, _ := strings.Cut(l.repo, ":")
		l.Model = "hf:" + repo + "/" + l.file
	default:
		l.Model = "hf:" + l.repo
	}
}

// ollama strips "run MODEL", "create NAME -f FILE" or "serve" from the arguments; what follows a model is a prompt.
func (l *launch) ollama(args []string) (flags []string) {
	command := ""
	for i, a := range args {
		switch {
		case command == "create" && (a == "-f" || a == "--file") && i+1 < len(args):
			l.made = args[i+1]
		case strings.HasPrefix(a, "-"):
			flags = append(flags, a)
		case command == "":
			command = a
		case (command == "run" || command == "pull") && l.Model == "":
			l.Model = "ollama:" + a
		}
	}
	return flags
}

func argInt(field func(*plan.Plan) *plan.Int) func(*launch, string) error {
	return argv.Into(argv.Count[plan.Int], func(l *launch) *plan.Int { return field(&l.Plan) })
}

func argWord(field func(*plan.Plan) *string) func(*launch, string) error {
	return argv.Into(argv.Text, func(l *launch) *string { return field(&l.Plan) })
}

func argCount(field func(*plan.Plan) **plan.Int) func(*launch, string) error {
	return func(l *launch, v string) error {
		n, err := argv.Int[plan.Int](v)
		*field(&l.Plan) = &n
		return err
	}
}

func argToggle(value bool, field func(*plan.Plan) **bool) func(*launch, string) error {
	return argv.On(value, func(l *launch) **bool { return field(&l.Plan) })
}

// argFlags are the flags of llama.cpp's programs, b1700 to v0.5.
var argFlags = []argv.Flag[launch]{
	{Names: "-m --model", Env: "LLAMA_ARG_MODEL", Set: argv.Into(argv.ModelRef, func(l *launch) *string { return &l.Model })},
	{Names: "-mu --model-url", Env: "LLAMA_ARG_MODEL_URL", Set: argv.Into(argv.ModelRef, func(l *launch) *string { return &l.Model })},
	{Names: "-hf -hfr --hf-repo", Env: "LLAMA_ARG_HF_REPO", Set: argv.Into(argv.ModelRef, func(l *launch) *string { return &l.repo })},
	{Names: "-hff --hf-file", Env: "LLAMA_ARG_HF_FILE", Set: argv.Into(argv.ModelRef, func(l *launch) *string { return &l.file })},
	{Names: "-c --ctx-size", Env: "LLAMA_ARG_CTX_SIZE", Set: argContext},
	{Names: "-b --batch-size", Env: "LLAMA_ARG_BATCH", Set: argInt(func(p *plan.Plan) *plan.Int { return &p.BatchTokens })},
	{Names: "-ub --ubatch-size", Env: "LLAMA_ARG_UBATCH", Set: argInt(func(p *plan.Plan) *plan.Int { return &p.UBatch })},
	{Names: "-np --parallel -ns --sequences", Env: "LLAMA_ARG_N_PARALLEL", Set: argSlots},
	{Names: "-ngl --gpu-layers --n-gpu-layers", Env: "LLAMA_ARG_N_GPU_LAYERS", Set: argLayers},
	{Names: "-sm --split-mode", Env: "LLAMA_ARG_SPLIT_MODE", Set: argMode},
	{Names: "-ts --tensor-split", Env: "LLAMA_ARG_TENSOR_SPLIT", Set: argSplit},
	{Names: "-ot --override-tensor", Env: "LLAMA_ARG_OVERRIDE_TENSOR", Set: argOverride},
	{Names: "-cmoe --cpu-moe", Kind: argv.Switch, Env: "LLAMA_ARG_CPU_MOE", Set: argAllExperts},
	{Names: "-ncmoe --n-cpu-moe", Env: "LLAMA_ARG_N_CPU_MOE", Set: argExperts},
	{Names: "-fa --flash-attn", Kind: argv.Maybe, Env: "LLAMA_ARG_FLASH_ATTN", Set: argFlash},
	{Names: "-ctk --cache-type-k", Env: "LLAMA_ARG_CACHE_TYPE_K", Set: argWord(func(p *plan.Plan) *string { return &p.KV })},
	{Names: "-ctv --cache-type-v", Env: "LLAMA_ARG_CACHE_TYPE_V", Set: argWord(func(p *plan.Plan) *string { return &p.KVV })},
	{Names: "-kvu --kv-unified", Kind: argv.Switch, Env: "LLAMA_ARG_KV_UNIFIED", Set: argToggle(true, func(p *plan.Plan) **bool { return &p.KVUnified })},
	{Names: "-no-kvu --no-kv-unified", Kind: argv.Switch, Set: argToggle(false, func(p *plan.Plan) **bool { return &p.KVUnified })},
	{Names: "--swa-full", Kind: argv.Switch, Env: "LLAMA_ARG_SWA_FULL", Set: argToggle(true, func(p *plan.Plan) **bool { return &p.SWAFull })},
	{Names: "--mmap", Kind: argv.Switch, Env: "LLAMA_ARG_MMAP", Set: argToggle(true, func(p *plan.Plan) **bool { return &p.Mmap })},
	{Names: "--no-mmap", Kind: argv.Switch, Env: "LLAMA_ARG_NO_MMAP", Set: argToggle(false, func(p *plan.Plan) **bool { return &p.Mmap })},
	{Names: "-lm --load-mode", Set: argLoad},
	{Names: "-kvo --kv-offload", Kind: argv.Switch, Set: argToggle(true, func(p *plan.Plan) **bool { return &p.KVOffload })},
	{Names: "-nkvo --no-kv-offload", Kind: argv.Switch, Env: "LLAMA_ARG_NO_KV_OFFLOAD", Set: argToggle(false, func(p *plan.Plan) **bool { return &p.KVOffload })},
	{Names: "-mm --mmproj -mmu --mmproj-url", Env: "LLAMA_ARG_MMPROJ", Set: argWord(func(p *plan.Plan) *string { return &p.MMProj })},
	{Names: "-md --model-draft --spec-draft-model -hfd -hfrd --hf-repo-draft --spec-draft-hf", Set: argv.Into(argv.ModelRef, func(l *launch) *string { return &l.Plan.DraftModel })},
	{Names: "--draft-max --draft --draft-n --spec-draft-n-max", Set: argInt(func(p *plan.Plan) *plan.Int { return &p.DraftTokens })},

	{Names: "-mg --main-gpu", Env: "LLAMA_ARG_MAIN_GPU", Set: argCount(func(p *plan.Plan) **plan.Int { return &p.MainGPU })},
	{Names: "--mlock", Kind: argv.Switch, Env: "LLAMA_ARG_MLOCK", Set: argToggle(true, func(p *plan.Plan) **bool { return &p.MLock })},
	{Names: "--op-offload", Kind: argv.Switch, Set: argToggle(true, func(p *plan.Plan) **bool { return &p.OpOffload })},
	{Names: "--no-op-offload", Kind: argv.Switch, Set: argToggle(false, func(p *plan.Plan) **bool { return &p.OpOffload })},
	{Names: "--mmproj-offload", Kind: argv.Switch, Env: "LLAMA_ARG_MMPROJ_OFFLOAD", Set: argToggle(true, func(p *plan.Plan) **bool { return &p.MMProjOffload })},
	{Names: "--no-mmproj-offload", Kind: argv.Switch, Env: "LLAMA_ARG_NO_MMPROJ_OFFLOAD", Set: argToggle(false, func(p *plan.Plan) **bool { return &p.MMProjOffload })},
	{Names: "-fit --fit", Env: "LLAMA_ARG_FIT", Set: argFit},
	{Names: "-fitt --fit-target", Env: "LLAMA_ARG_FIT_TARGET", Set: argWord(func(p *plan.Plan) *string { return &p.FitTarget })},
	{Names: "-fitc --fit-ctx", Env: "LLAMA_ARG_FIT_CTX", Set: argInt(func(p *plan.Plan) *plan.Int { return &p.FitContext })},
	{Names: "-cram --cache-ram", Env: "LLAMA_ARG_CACHE_RAM", Set: argCount(func(p *plan.Plan) **plan.Int { return &p.CacheRAM })},
	{Names: "-ctxcp --ctx-checkpoints --swa-checkpoints", Env: "LLAMA_ARG_CTX_CHECKPOINTS", Set: argCount(func(p *plan.Plan) **plan.Int { return &p.Checkpoints })},
	{Names: "--control-vector --control-vector-scaled", Set: argVector},
	{Names: "-ngld --gpu-layers-draft --n-gpu-layers-draft --spec-draft-ngl", Env: "LLAMA_ARG_SPEC_DRAFT_N_GPU_LAYERS", Set: argDraftLayers},
	{Names: "-ctkd --cache-type-k-draft --spec-draft-type-k", Env: "LLAMA_ARG_SPEC_DRAFT_CACHE_TYPE_K", Set: argWord(func(p *plan.Plan) *string { return &p.DraftKV })},
	{Names: "-ctvd --cache-type-v-draft --spec-draft-type-v", Env: "LLAMA_ARG_SPEC_DRAFT_CACHE_TYPE_V", Set: argWord(func(p *plan.Plan) *string { return &p.DraftKVV })},
	{Names: "--spec-type", Env: "LLAMA_ARG_SPEC_TYPE", Set: argSpec},
	{Names: "--mtp -mtp", Kind: argv.Switch, Set: argToggle(true, func(p *plan.Plan) **bool { return &p.MTP })},
	{Names: "--override-kv", Set: argMetadata},
	{Names: "-dev --device", Env: "LLAMA_ARG_DEVICE", Set: argDevices},

	// Flags of ik_llama.cpp only.
	{Names: "-mla --mla-use --mla-attn", Set: ofFork(argCount(func(p *plan.Plan) **plan.Int { return &p.MLA }))},
	{Names: "-amb --attention-max-batch", Set: ofFork(argInt(func(p *plan.Plan) *plan.Int { return &p.AttnMaxBatch }))},
	{Names: "-fmoe --fused-moe", Kind: argv.Switch, Set: ofFork(argToggle(true, func(p *plan.Plan) **bool { return &p.FusedMoE }))},
	{Names: "--no-fmoe --no-fused-moe", Kind: argv.Switch, Set: ofFork(argToggle(false, func(p *plan.Plan) **bool { return &p.FusedMoE }))},
	{Names: "-rtr --run-time-repack", Kind: argv.Switch, Set: ofFork(argToggle(true, func(p *plan.Plan) **bool { return &p.Repack }))},
	{Names: "-ser --smart-expert-reduction", Set: ofFork(argWord(func(p *plan.Plan) *string { return &p.ExpertsAtMost }))},

	{Names: "--lora", Set: argAdapters},
	{Names: "--lora-scaled", Kind: argv.List, Set: argAdapters},
	{Names: "--gpu", Set: argVendor}, // of llamafile

	// Flags that affect memory but have no plan field.
	{Names: "-devd --device-draft --spec-draft-device --rpc -ncffn --n-cpu-ffn --moe-cache-mib -lzm --lazy-mode", Unread: true},
	{Names: "-cd --ctx-size-draft -otd --override-tensor-draft --spec-draft-override-tensor -ncmoed --n-cpu-moe-draft", Unread: true},
	{Names: "--pooling --rope-scaling --rope-scale --yarn-orig-ctx -gan --grp-attn-n -gaw --grp-attn-w --image-min-tokens --image-max-tokens --mtmd-batch-max-tokens -mv --model-vocoder", Unread: true},
	{Names: "--rerank --reranking --no-host --no-mmproj --eagle3 --spec-default -bs --backend-sampling", Kind: argv.Switch, Unread: true},

	// No bearing on memory.
	{Names: "--embedding --embeddings", Kind: argv.Switch},
	{Names: "--host --port --path --api-prefix --api-key --api-key-file --ssl-key-file --ssl-cert-file --chat-template --chat-template-file --chat-template-kwargs --reasoning-format --reasoning-budget -rea --reasoning -to --timeout --cors-origins --cors-methods --cors-headers --mcp-servers-config --mcp-servers-json -cms --checkpoint-min-step --threads-http -a --alias"},
	{Names: "-t --threads -tb --threads-batch -td --threads-draft -C --cpu-mask -Cr --cpu-range --cpu-strict --prio --prio-batch --poll --poll-batch --numa -hft --hf-token -sps --slot-prompt-similarity --slot-save-path --cache-reuse --models-dir --media-path"},
	{Names: "-n --predict --n-predict --keep --control-vector-layer-range -s --seed --temp --temperature --top-k --top-p --min-p --typical --repeat-last-n --repeat-penalty --presence-penalty --frequency-penalty --samplers --mirostat --grammar --grammar-file -j --json-schema --dry-multiplier"},
	{Names: "-p --prompt -f --file -sys --system-prompt -sysf --system-prompt-file -r --reverse-prompt --in-prefix --in-suffix --image --audio --log-file -lv --verbosity --log-verbosity --draft-min --draft-p-min --spec-draft-n-min --spec-draft-p-min -dt --defrag-thold"},
	{Names: "--server --nobrowser --chat --recompile --unsecure --v2", Kind: argv.Switch}, // of llamafile
	{Names: "--rope-freq-base --rope-freq-scale --logit-bias --chunks --ppl-stride --dynatemp-range --xtc-probability --log-colors -co --color"},
	{Names: "--reasoning-effort --skip-chat-parsing --moe-cache-profile -fa-impl --cache-list --models-max --sleep-idle-seconds --webui-config --spec-ngram-size-n --spec-ngram-size-m"},
	{Names: "-cb --cont-batching -nocb --no-cont-batching --jinja --no-jinja --metrics --slots --no-slots --props --no-webui -dio --direct-io --no-ui --reasoning-preserve --no-reasoning-preserve --cors-credentials --no-cors-credentials -ag --agent -no-ag --no-agent --no-warmup --warmup -v --verbose --log-disable --log-timestamps --log-prefix --offline --no-context-shift --context-shift -nr --no-repack --repack", Kind: argv.Switch},
	{Names: "-i --interactive -if --interactive-first -cnv --conversation -no-cnv --no-conversation -st --single-turn -e --escape --no-display-prompt --ignore-eos --special --perf --no-perf --check-tensors --no-cache-prompt --cache-prompt --simple-io -ins --instruct -ndio", Kind: argv.Switch},
}

// benchFlags are those of llama-bench, whose switches take 0 or 1; each test has a context of its own.
var benchFlags = append([]argv.Flag[launch]{
	{Names: "-p --n-prompt", Set: argTest}, {Names: "-n --n-gen", Set: argTest}, {Names: "-d --n-depth", Set: argDepth}, {Names: "-pg", Set: argBoth},
	{Names: "-mmp --mmap", Set: argToggle(true, func(p *plan.Plan) **bool { return &p.Mmap })},
	{Names: "-nkvo --no-kv-offload", Set: argToggle(false, func(p *plan.Plan) **bool { return &p.KVOffload })},
	{Names: "-embd -nopo --no-op-offload", Unread: true},
	{Names: "-r --repetitions -o --output -oe --output-err --delay --prio"},
}, argFlags...)

// ofFork marks a flag of ik_llama.cpp, which runs whatever the program's name.
func ofFork(set func(*launch, string) error) func(*launch, string) error {
	return func(l *launch, v string) error {
		l.forked = true
		return set(l, v)
	}
}

// argMode parses a split mode; tensor and graph splits are sized like layer splits.
func argMode(l *launch, v string) error {
	if v == "graph" || v == "attn" { // of ik_llama.cpp
		l.Unknown = append(l.Unknown, "--split-mode "+v)
		return nil
	}
	l.Plan.SplitMode = strings.TrimSpace(v)
	return nil
}

// argContext parses a context; 0 is the model's own length.
func argContext(l *launch, v string) error {
	n, err := argv.Count[plan.Int](v)
	l.Plan.ContextTotal, l.zero = n, n == 0
	return err
}

// argSlots parses a number of slots; negative lets the server choose.
func argSlots(l *launch, v string) error {
	n, err := argv.Int[plan.Int](v)
	if n > 0 {
		l.Plan.Sequences = n
	}
	return err
}

// argLayers parses all, auto, or a number; -1 is auto and -2 all (common/arg.cpp).
func argLayers(l *launch, v string) error {
	n, err := layersOf(v)
	l.Plan.GPULayers = n
	return err
}

func argDraftLayers(l *launch, v string) error {
	n, err := layersOf(v)
	l.Plan.DraftLayers = n
	return err
}

// layersOf parses a number of layers; nil is auto.
func layersOf(v string) (*plan.Int, error) {
	n := plan.Int(-1)
	switch strings.ToLower(v) {
	case "all":
	case "auto":
		return nil, nil
	default:
		x, err := argv.Int[plan.Int](v)
		if err != nil {
			return nil, &argv.Error{Value: v, Problem: "is not a number of layers", Fix: "one number, or all"}
		}
		if x == -1 {
			return nil, nil
		}
		n = max(x, -1)
	}
	return &n, nil
}

// argFit: on or off.
func argFit(l *launch, v string) error {
	on, err := argv.Bool(v)
	if l.Plan.Fit = "off"; on {
		l.Plan.Fit = "on"
	}
	return err
}

// argVector counts control vectors, which are summed into one.
func argVector(l *launch, _ string) error {
	on := true
	l.Plan.ControlVector = &on
	return nil
}

// argSpec parses a drafting method; only prediction layers, and a draft model given by -md, take memory.
func argSpec(l *launch, v string) error {
	switch {
	case strings.Contains(v, "mtp"):
		on := true
		l.Plan.MTP = &on
	case strings.HasPrefix(v, "draft-") && v != "draft-simple": // heads that read the network's inner states
		l.Unknown = append(l.Unknown, "--spec-type "+argv.Quote(argv.Blotted(v)))
	}
	return nil
}

// argMetadata parses a metadata override; the tokenizer's keys have no effect on memory.
func argMetadata(l *launch, v string) error {
	text := "--override-kv " + argv.Quote(argv.Blotted(v))
	if strings.HasPrefix(v, "tokenizer.") {
		l.Beside = append(l.Beside, text)
		return nil
	}
	l.Unknown = append(l.Unknown, text)
	return nil
}

// aliased returns the server's own name of the model (-a), which may identify it if its file does not.
func aliased(args []string) string {
	for i, a := range args {
		if (a == "-a" || a == "--alias") && i+1 < len(args) {
			if own, _, _ := strings.Cut(args[i+1], ","); !argv.Open(own) {
				return own
			}
		}
	}
	return ""
}

// argDevices parses a list of devices, whose length is the device count; none leaves all layers on the host.
func argDevices(l *launch, v string) error {
	if v == "none" {
		l.Plan.GPULayers = new(plan.Int)
		return nil
	}
	l.Devices = int64(strings.Count(v, ",") + 1)
	if strings.HasPrefix(strings.ToLower(v), "vulkan") { // which the vendor's own backends run, too
		l.Plan.Backend = "vulkan"
	}
	return nil
}

// argSplit parses 3,1 or 3/1.
func argSplit(l *launch, v string) error {
	v = strings.ReplaceAll(v, "/", ",")
	if strings.Trim(v, "0123456789.,") != "" || v == "" {
		return &argv.Error{Value: v, Problem: "is not a list of proportions", Fix: "numbers with commas, such as 3,1"}
	}
	l.Plan.TensorSplit = v
	return nil
}

// argOverride may occur several times.
func argOverride(l *launch, v string) error {
	if !strings.Contains(v, "=") {
		return &argv.Error{Value: v, Problem: "names no place", Fix: `pattern=place, such as "exps=CPU"`}
	}
	if l.Plan.OverrideTensor != "" {
		v = l.Plan.OverrideTensor + "," + v
	}
	l.Plan.OverrideTensor = v
	return nil
}

func argAllExperts(l *launch, v string) error {
	all := plan.Int(-1)
	l.Plan.CPUMoE = &all
	return nil
}

func argExperts(l *launch, v string) error {
	n, err := argv.Count[plan.Int](v)
	l.Plan.CPUMoE = &n
	return err
}

// argFlash treats a bare -fa of older builds as on.
func argFlash(l *launch, v string) error {
	switch strings.ToLower(v) {
	case "auto", "-1":
		l.Plan.Attention = "auto"
		return nil
	case "":
		v = "on"
	}
	on, err := argv.Bool(v)
	if err != nil {
		return &argv.Error{Value: v, Problem: "is not known", Fix: "on, off or auto"}
	}
	l.Plan.Attention = "eager"
	if on {
		l.Plan.Attention = "flash"
	}
	return nil
}

// argLoad parses --load-mode, which replaced --mmap and --mlock in 2026.
func argLoad(l *launch, v string) error {
	mapped, locked := v == "auto" || strings.HasPrefix(v, "mmap") || v == "mlock", strings.HasSuffix(v, "mlock")
	if l.Plan.Mmap = &mapped; locked {
		l.Plan.MLock = &locked
	}
	return nil
}

// argTest sets llama-bench's context to that of its longest test.
func argTest(l *launch, v string) error {
	n, err := longest(v)
	l.Plan.ContextTotal, l.tested = max(l.Plan.ContextTotal, n), true
	return err
}

func argDepth(l *launch, v string) error {
	n, err := longest(v)
	l.depth = n
	return err
}

// argBoth parses prompt,output of one test.
func argBoth(l *launch, v string) error {
	prompt, answer, ok := strings.Cut(v, ",")
	if !ok {
		return &argv.Error{Value: v, Problem: "is not a pair", Fix: "prompt and answer, such as 512,128"}
	}
	p, err := argv.Count[plan.Int](prompt)
	if err != nil {
		return err
	}
	n, err := argv.Count[plan.Int](answer)
	l.Plan.ContextTotal, l.tested = max(l.Plan.ContextTotal, p+n), true
	return err
}

// longest returns the longest in a list of lengths.
func longest(list string) (most plan.Int, err error) {
	for _, part := range strings.Split(list, ",") {
		n, err := argv.Count[plan.Int](part)
		if err != nil {
			return 0, err
		}
		most = max(most, n)
	}
	return most, nil
}
