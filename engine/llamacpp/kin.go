package llamacpp

import (
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/plan"
)

// kin is a program that runs llama.cpp with a command line of its own.
type kin struct {
	programs []string
	// engine is the program's name, by which its defaults are known.
	engine string
	// verbs stand between the program and its model.
	verbs []string
	flags []argv.Flag[launch]
	// shared: those of llama.cpp's programs are taken too.
	shared bool
	// usual is the format of a model that is named without one.
	usual string
	// model reads a word that is no flag; nil where flags alone name the model.
	model func(string) string
}

var kinds = []kin{
	{programs: []string{"koboldcpp", "koboldcpp.py", "koboldcpp_cu12", "koboldcpp-linux-x64", "koboldcpp_rocm"}, engine: "koboldcpp", flags: koboldFlags, model: asGiven},
	{programs: []string{"llamafile"}, engine: "llamafile", flags: llamafileFlags, shared: true},
	{programs: []string{"lms"}, engine: "lmstudio", verbs: []string{"load"}, flags: lmsFlags, usual: "q4_k_m", model: asGiven},
	{programs: []string{"docker model"}, engine: "dockermodelrunner", verbs: []string{"run", "configure"}, flags: dockerModelFlags, model: inDocker},
	{programs: []string{"ramalama"}, engine: "ramalama", verbs: []string{"run", "serve", "bench"}, flags: ramalamaFlags, model: transported},
	{programs: []string{"llama_cpp.server"}, engine: "llama-cpp-python", flags: pythonFlags},
	{programs: []string{"server.py"}, engine: "text-generation-webui", flags: webuiFlags},
}

func kinOf(program string) *kin {
	if strings.HasSuffix(strings.ToLower(program), ".llamafile") {
		program = "llamafile"
	}
	for i := range kinds {
		if slices.Contains(kinds[i].programs, program) {
			return &kinds[i]
		}
	}
	return nil
}

// fromArgs reads the arguments of a program that runs llama.cpp; nil where a program of a common name names no model.
func (k *kin) fromArgs(c *argv.Command) (*argv.Launch, error) {
	l := &launch{Launch: argv.Launch{Engine: k.engine, Devices: c.Devices}}
	cmd := *c
	for len(cmd.Args) > 0 && slices.Contains(k.verbs, cmd.Args[0]) {
		cmd.Args = cmd.Args[1:]
	}
	if len(k.verbs) > 0 && len(cmd.Args) == len(c.Args) {
		return nil, nil
	}
	table := k.flags
	if k.shared {
		table = append(table[:len(table):len(table)], argFlags...)
	}
	syntax := argv.Syntax{Dashes: true, Positional: func(word string) bool {
		if l.Model != "" || k.model == nil {
			return l.Model != "" && k.model != nil // a prompt
		}
		l.Model = k.model(word)
		return true
	}}
	beside, unknown, err := argv.Read(&cmd, syntax, table, l)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(strings.ToLower(c.Program), ".llamafile") && l.Model == "" {
		l.Model = c.Program[:len(c.Program)-len(".llamafile")] + ".gguf"
	}
	l.hub()
	if l.Model == "" && c.Program == "server.py" {
		return nil, nil
	}
	l.Beside, l.Unknown = append(l.Beside, beside...), append(l.Unknown, unknown...)
	l.settle(k)
	return &l.Launch, nil
}

// settle: a catalog's name without a format is the one that the program takes first; other loaders are other engines, whose
// cache is of each user.
func (l *launch) settle(k *kin) {
	p := &l.Plan
	if p.KV != "" && p.KVV == "" {
		p.KVV = "f16"
	}
	if r, err := catalog.Read(l.Model); err == nil && r.Format == "" && k.usual != "" {
		p.Weights = k.usual
	}
	if l.Engine != k.engine {
		p.Context, p.ContextTotal, p.GPULayers = p.ContextTotal, 0, nil
	}
}

func asGiven(word string) string { return word }

// inDocker: images of Docker's own are named as Ollama's are; others are repositories of the hub.
func inDocker(word string) string {
	if name, own := strings.CutPrefix(word, "ai/"); own {
		return "ollama:" + strings.ToLower(name)
	}
	if repo, hub := strings.CutPrefix(word, "hf.co/"); hub {
		return "hf:" + repo
	}
	return word
}

// transported is a model behind the name of what brings it (ramalama/transports).
func transported(word string) string {
	for prefix, to := range map[string]string{"ollama://": "ollama:", "huggingface://": "hf:", "hf://": "hf:", "file://": "", "hf.co/": "hf:"} {
		if rest, ok := strings.CutPrefix(word, prefix); ok {
			return to + rest
		}
	}
	if strings.Contains(word, "/") {
		return word
	}
	return "ollama:" + word
}

var kinModel = argv.Into(argv.ModelRef, func(l *launch) *string { return &l.Model })

// perSlot is a context that the program states of one user.
func perSlot(l *launch, v string) error {
	n, err := argv.Count[plan.Int](v)
	l.Plan.ContextTotal = n
	return err
}

// koboldFlags: koboldcpp.py.
var koboldFlags = []argv.Flag[launch]{
	{Names: "--model -m --model-param", Set: kinModel},
	{Names: "--contextsize", Set: perSlot},
	{Names: "--gpulayers", Set: argLayers},
	{Names: "--batchsize --blasbatchsize", Set: koboldBatch},
	{Names: "--usecublas --usecuda --usehipblas", Kind: argv.List, Set: koboldCUDA},
	{Names: "--usevulkan", Kind: argv.List, Set: func(l *launch, _ string) error { l.Plan.Backend = "vulkan"; return nil }},
	{Names: "--usecpu", Kind: argv.Switch, Set: func(l *launch, _ string) error { none := plan.Int(0); l.Plan.GPULayers = &none; return nil }},
	{Names: "--quantkv", Set: koboldKV},
	{Names: "--flashattention", Kind: argv.Switch, Set: func(l *launch, _ string) error { l.Plan.Attention = "flash"; return nil }},
	{Names: "--noflashattention", Kind: argv.Switch, Set: func(l *launch, _ string) error { l.Plan.Attention = "eager"; return nil }},
	{Names: "--tensor-split", Kind: argv.List, Set: func(l *launch, v string) error { return argSplit(l, strings.ReplaceAll(v, " ", ",")) }},
	{Names: "--moecpu", Kind: argv.Maybe, Set: koboldExperts},
	{Names: "--overridetensors", Set: argOverride},
	{Names: "--mmproj", Set: argWord(func(p *plan.Plan) *string { return &p.MMProj })},
	{Names: "--draftmodel", Set: argv.Into(argv.ModelRef, func(l *launch) *string { return &l.Plan.DraftModel })},
	{Names: "--draftamount", Set: argInt(func(p *plan.Plan) *plan.Int { return &p.DraftTokens })},
	{Names: "--draftgpulayers", Set: argDraftLayers},
	{Names: "--usemlock", Kind: argv.Switch, Set: argToggle(true, func(p *plan.Plan) **bool { return &p.MLock })},
	{Names: "--usemmap", Kind: argv.Switch, Set: argToggle(true, func(p *plan.Plan) **bool { return &p.Mmap })},
	{Names: "--maingpu", Set: argCount(func(p *plan.Plan) **plan.Int { return &p.MainGPU })},
	{Names: "--lora --sdmodel --whispermodel --ttsmodel --embeddingsmodel --sdclip1 --sdclip2 --sdt5xxl --sdvae --savestate --autofit", Kind: argv.List, Unread: true},
	{Names: "--useswa --smartcontext", Kind: argv.Switch, Unread: true},
	{Names: "--port --host --threads --blasthreads --config --ropeconfig --multiuser --debugmode --chatcompletionsadapter --defaultgenamt --preloadstory --onready --password --ssl --benchmark --prompt --promptlimit --hordemodelname --hordekey", Kind: argv.List},
	{Names: "--launch --skiplauncher --noshift --nofastforward --quiet --highpriority --foreground --remotetunnel --jinja --singleinstance --nomodel --noblas --nommap --failsafe", Kind: argv.Switch},
}

func koboldBatch(l *launch, v string) error {
	n, err := argv.Int[plan.Int](v)
	if n > 0 {
		l.Plan.BatchTokens, l.Plan.UBatch = n, n
	}
	return err
}

// koboldCUDA: lowvram keeps the cache on the host; a bare number is the main device.
func koboldCUDA(l *launch, v string) error {
	for _, word := range strings.Fields(v) {
		if word == "lowvram" {
			off := false
			l.Plan.KVOffload = &off
		}
		if n, err := strconv.ParseUint(word, 10, 8); err == nil {
			at := plan.Int(n)
			none := "none"
			l.Plan.MainGPU, l.Plan.SplitMode = &at, none
		}
	}
	return nil
}

func koboldKV(l *launch, v string) error {
	format, ok := map[string]string{"0": "f16", "1": "q8_0", "2": "q4_0"}[v]
	if !ok {
		return &argv.Error{Value: v, Problem: "is no level of --quantkv", Fix: "0 (16 bits), 1 (8 bits) or 2 (4 bits)"}
	}
	l.Plan.KV, l.Plan.KVV = format, format
	return nil
}

func koboldExperts(l *launch, v string) error {
	if v == "" {
		return argAllExperts(l, v)
	}
	return argExperts(l, v)
}

// llamafileFlags are those that llamafile has beside llama.cpp's.
var llamafileFlags = []argv.Flag[launch]{
	{Names: "--gpu", Set: llamafileGPU},
	{Names: "--server --v2 --nobrowser --chat --cli --recompile --unsecure --tinyblas --nocompile --embedding-only", Kind: argv.Switch},
}

// llamafileGPU: disable computes on the processor; others name a vendor.
func llamafileGPU(l *launch, v string) error {
	if strings.EqualFold(v, "disable") {
		none := plan.Int(0)
		l.Plan.GPULayers = &none
	}
	return nil
}

// lmsFlags: lms load --help.
var lmsFlags = []argv.Flag[launch]{
	{Names: "--context-length -c", Set: perSlot},
	{Names: "--gpu", Set: lmsShare},
	{Names: "--parallel", Set: argSlots},
	{Names: "--identifier --ttl --host --port"},
	{Names: "--exact -y --yes --estimate-only --quiet", Kind: argv.Switch},
}

// lmsShare: max, off, or a share of the layers, which no field holds.
func lmsShare(l *launch, v string) error {
	switch layers := plan.Int(-1); {
	case v == "off", v == "0":
		layers = 0
		fallthrough
	case v == "max", v == "1", v == "1.0":
		l.Plan.GPULayers = &layers
	case v != "auto":
		l.Unknown = append(l.Unknown, "--gpu "+argv.Quote(argv.Blotted(v)))
	}
	return nil
}

// dockerModelFlags: docker model run and configure.
var dockerModelFlags = []argv.Flag[launch]{
	{Names: "--context-size", Set: perSlot},
	{Names: "--color --backend"},
	{Names: "--debug --detach -d --ignore-runtime-memory-check", Kind: argv.Switch},
}

// ramalamaFlags: docs/ramalama-serve.1.md.
var ramalamaFlags = []argv.Flag[launch]{
	{Names: "--ctx-size -c --max-model-len", Set: perSlot},
	{Names: "--ngl", Set: argLayers},
	{Names: "--cache-reuse --name -n --port -p --host --threads -t --temp --seed --image --device --network --env --oci-runtime --selinux --authfile --keep-groups --prefix --backend --log-level --thinking --webui"},
	{Names: "--model-draft", Set: argv.Into(argv.ModelRef, func(l *launch) *string { return &l.Plan.DraftModel })},
	{Names: "--runtime --runtime-args --rag", Unread: true},
	{Names: "--detach -d --privileged --nocontainer --dryrun --generate --debug --quiet", Kind: argv.Maybe},
}

// pythonFlags are arguments of llama_cpp.Llama, which its server has as flags (llama_cpp/llama.py, server/settings.py).
var pythonFlags = []argv.Flag[launch]{
	{Names: "--model --model-path", Set: kinModel},
	{Names: "--hf-model-repo-id --repo-id", Set: argv.Into(argv.ModelRef, func(l *launch) *string { return &l.repo })},
	{Names: "--filename", Set: globbed},
	{Names: "--n-ctx", Set: argContext},
	{Names: "--n-gpu-layers", Set: pythonLayers},
	{Names: "--n-batch", Set: argInt(func(p *plan.Plan) *plan.Int { return &p.BatchTokens })},
	{Names: "--n-ubatch", Set: argInt(func(p *plan.Plan) *plan.Int { return &p.UBatch })},
	{Names: "--flash-attn", Kind: argv.Maybe, Set: pythonFlash},
	{Names: "--type-k", Set: ggmlType(func(p *plan.Plan) *string { return &p.KV })},
	{Names: "--type-v", Set: ggmlType(func(p *plan.Plan) *string { return &p.KVV })},
	{Names: "--offload-kqv", Kind: argv.Maybe, Set: argToggle(true, func(p *plan.Plan) **bool { return &p.KVOffload })},
	{Names: "--use-mmap", Kind: argv.Maybe, Set: argToggle(true, func(p *plan.Plan) **bool { return &p.Mmap })},
	{Names: "--use-mlock", Kind: argv.Maybe, Set: argToggle(true, func(p *plan.Plan) **bool { return &p.MLock })},
	{Names: "--main-gpu", Set: argCount(func(p *plan.Plan) **plan.Int { return &p.MainGPU })},
	{Names: "--lora-path --lora-base --clip-model-path --draft-model --tensor-split --split-mode --rope-scaling-type --yarn-orig-ctx --logits-all --embedding", Kind: argv.Maybe, Unread: true},
	{Names: "--chat-format --host --port --n-threads --n-threads-batch --seed --verbose --interrupt-requests --cache --cache-type --cache-size --model-alias --api-key --chat-handler --rope-freq-base --rope-freq-scale --last-n-tokens-size --numa --local-dir --cache-dir --additional-files --hf-tokenizer-config-path --hf-pretrained-model-name-or-path --vocab-only --config-file", Kind: argv.Maybe},
}

// globbed is a file by a pattern ("*q4_k_m.gguf"), of which the format is read.
func globbed(l *launch, v string) error {
	name := strings.Trim(v, "*")
	if i := strings.LastIndexByte(name, '.'); i >= 0 && strings.EqualFold(name[i:], ".gguf") && strings.HasPrefix(v, "*") {
		l.repo += ":" + strings.Trim(name[:i], "-_.*")
		return nil
	}
	l.file = name
	return nil
}

// pythonLayers: -1 is all of them (llama_cpp/llama.py).
func pythonLayers(l *launch, v string) error {
	n, err := argv.Int[plan.Int](v)
	l.Plan.GPULayers = &n
	return err
}

func pythonFlash(l *launch, v string) error {
	on, err := argv.Bool(v)
	if l.Plan.Attention = "eager"; on || v == "" {
		l.Plan.Attention, err = "flash", nil
	}
	return err
}

// ggmlType is a format by its number in ggml.h.
func ggmlType(field func(*plan.Plan) *string) func(*launch, string) error {
	return func(l *launch, v string) error {
		name, ok := map[string]string{"0": "f32", "1": "f16", "2": "q4_0", "3": "q4_1", "6": "q5_0", "7": "q5_1", "8": "q8_0", "20": "iq4_nl", "30": "bf16"}[v]
		if !ok {
			return &argv.Error{Value: v, Problem: "is no type of a cache", Fix: "1 (f16), 8 (q8_0) or 2 (q4_0)"}
		}
		*field(&l.Plan) = name
		return nil
	}
}

// webuiFlags: modules/shared.py of text-generation-webui; its other loaders are other engines.
var webuiFlags = []argv.Flag[launch]{
	{Names: "--model", Set: kinModel},
	{Names: "--loader", Set: webuiLoader},
	{Names: "--ctx-size --n-ctx --max-seq-len --ctx_size", Set: perSlot},
	{Names: "--gpu-layers --n-gpu-layers", Set: argLayers},
	{Names: "--batch-size", Set: argInt(func(p *plan.Plan) *plan.Int { return &p.BatchTokens })},
	{Names: "--cache-type", Set: webuiCache},
	{Names: "--tensor-split", Set: argSplit},
	{Names: "--model-draft", Set: argv.Into(argv.ModelRef, func(l *launch) *string { return &l.Plan.DraftModel })},
	{Names: "--draft-max", Set: argInt(func(p *plan.Plan) *plan.Int { return &p.DraftTokens })},
	{Names: "--mmproj", Set: argWord(func(p *plan.Plan) *string { return &p.MMProj })},
	{Names: "--lora --gpu-split --extra-flags --gpu-memory --cpu-memory", Kind: argv.List, Unread: true},
	{Names: "--load-in-4bit --load-in-8bit --row-split --no-kv-offload --no-mmap --mlock --cpu --enable-tp --streaming-llm", Kind: argv.Switch, Unread: true},
	{Names: "--listen-port --listen-host --model-dir --settings --extensions --api-port --api-key --threads --threads-batch --character --chat-buttons --admin-key --user-data-dir", Kind: argv.List},
	{Names: "--listen --api --auto-launch --share --verbose --trust-remote-code --public-api --nowebui --multi-user --no-use-fast --notebook --chat", Kind: argv.Switch},
}

func webuiLoader(l *launch, v string) error {
	switch v = strings.ToLower(v); {
	case strings.HasPrefix(v, "exllamav3"):
		l.Engine = "exllamav3"
	case strings.HasPrefix(v, "exllamav2"):
		l.Engine = "exllamav2"
	case v == "transformers":
		l.Engine = "transformers"
	}
	return nil
}

// webuiCache: fp16, q8_0, q4_0 and their kin; pairs of bits with ExLlama.
func webuiCache(l *launch, v string) error {
	v = strings.ToLower(v)
	if v == "fp16" {
		v = "f16"
	}
	l.Plan.KV, l.Plan.KVV = v, v
	return nil
}
