package called

import (
	"strconv"
	"strings"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/plan"
)

func number(field func(*plan.Plan) *plan.Int) func(*launch, string) error {
	return argv.Into(argv.Count[plan.Int], func(l *launch) *plan.Int { return field(&l.Plan) })
}

func word(field func(*plan.Plan) *string) func(*launch, string) error {
	return argv.Into(argv.Text, func(l *launch) *string { return field(&l.Plan) })
}

func toggle(field func(*plan.Plan) **bool) func(*launch, string) error {
	return argv.On(true, func(l *launch) **bool { return field(&l.Plan) })
}

// layers reads a number of layers on devices: -1 and auto leave it to the program.
func layers(l *launch, v string) error {
	n, err := argv.Int[plan.Int](v)
	if v == "auto" || n < 0 {
		return nil
	}
	l.Plan.GPULayers = &n
	return err
}

func draftLayers(l *launch, v string) error {
	n, err := argv.Int[plan.Int](v)
	l.Plan.DraftLayers = &n
	return err
}

func split(l *launch, v string) error {
	if v = strings.ReplaceAll(v, " ", ","); v == "" || strings.Trim(v, "0123456789.,") != "" {
		return &argv.Error{Value: v, Problem: "is not a list of proportions", Fix: "numbers, such as 3,1"}
	}
	l.Plan.TensorSplit = v
	return nil
}

func slots(l *launch, v string) error {
	n, err := argv.Count[plan.Int](v)
	l.Plan.Sequences = n
	return err
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
	{Names: "--gpulayers", Set: layers},
	{Names: "--batchsize --blasbatchsize", Set: koboldBatch},
	{Names: "--usecublas --usecuda --usehipblas", Kind: argv.List, Set: koboldCUDA},
	{Names: "--usevulkan", Kind: argv.List, Set: func(l *launch, _ string) error { l.Plan.Backend = "vulkan"; return nil }},
	{Names: "--usecpu", Kind: argv.Switch, Set: noLayers},
	{Names: "--quantkv", Set: koboldKV},
	{Names: "--flashattention", Kind: argv.Switch, Set: func(l *launch, _ string) error { l.Plan.Attention = "flash"; return nil }},
	{Names: "--noflashattention", Kind: argv.Switch, Set: func(l *launch, _ string) error { l.Plan.Attention = "eager"; return nil }},
	{Names: "--tensor-split", Kind: argv.List, Set: split},
	{Names: "--moecpu", Kind: argv.Maybe, Set: koboldExperts},
	{Names: "--overridetensors", Set: word(func(p *plan.Plan) *string { return &p.OverrideTensor })},
	{Names: "--mmproj", Set: word(func(p *plan.Plan) *string { return &p.MMProj })},
	{Names: "--draftmodel", Set: argv.Into(argv.ModelRef, func(l *launch) *string { return &l.Plan.DraftModel })},
	{Names: "--draftamount", Set: number(func(p *plan.Plan) *plan.Int { return &p.DraftTokens })},
	{Names: "--draftgpulayers", Set: draftLayers},
	{Names: "--usemlock", Kind: argv.Switch, Set: toggle(func(p *plan.Plan) **bool { return &p.MLock })},
	{Names: "--usemmap", Kind: argv.Switch, Set: toggle(func(p *plan.Plan) **bool { return &p.Mmap })},
	{Names: "--maingpu", Set: mainGPU},
	{Names: "--lora", Kind: argv.List, Set: adapters},
	{Names: "--sdmodel --whispermodel --ttsmodel --embeddingsmodel --sdclip1 --sdclip2 --sdt5xxl --sdvae --savestate --autofit",
		Kind: argv.List, Unread: true},
	{Names: "--useswa --smartcontext", Kind: argv.Switch, Unread: true},
	{Names: "--port --host --threads --blasthreads --config --ropeconfig --multiuser --debugmode --chatcompletionsadapter --defaultgenamt --preloadstory --onready --password --ssl --benchmark --prompt --promptlimit --hordemodelname --hordekey", Kind: argv.List},
	{Names: "--launch --skiplauncher --noshift --nofastforward --quiet --highpriority --foreground --remotetunnel --jinja --singleinstance --nomodel --noblas --nommap --failsafe", Kind: argv.Switch},
}

func mainGPU(l *launch, v string) error {
	n, err := argv.Count[plan.Int](v)
	l.Plan.MainGPU = &n
	return err
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

func noLayers(l *launch, _ string) error {
	none := plan.Int(0)
	l.Plan.GPULayers = &none
	return nil
}

// adapters: files, and scales among them.
func adapters(l *launch, v string) error {
	for word := range strings.FieldsSeq(v) {
		if _, err := strconv.ParseFloat(word, 64); err != nil {
			argv.Adapter(&l.Launch, "--lora", word)
		}
	}
	return nil
}

// koboldKV: without --flashattention the values stay in 16 bits (koboldcpp.py, --quantkv), which settle sees to.
func koboldKV(l *launch, v string) error {
	format, ok := map[string]string{"0": "f16", "1": "q8_0", "2": "q4_0"}[v]
	if !ok {
		return &argv.Error{Value: v, Problem: "is not a level of --quantkv", Fix: "0 (16 bits), 1 (8 bits) or 2 (4 bits)"}
	}
	l.Plan.KV, l.Plan.KVV = format, format
	return nil
}

func koboldExperts(l *launch, v string) error {
	n := plan.Int(-1)
	var err error
	if v != "" {
		n, err = argv.Count[plan.Int](v)
	}
	l.Plan.CPUMoE = &n
	return err
}

// lmsFlags: lms load --help.
var lmsFlags = []argv.Flag[launch]{
	{Names: "--context-length -c", Set: perSlot},
	{Names: "--gpu", Set: lmsShare},
	{Names: "--parallel", Set: slots},
	{Names: "--identifier --ttl --host --port"},
	{Names: "--exact -y --yes --estimate-only --quiet", Kind: argv.Switch},
}

// localFlags are those of local-ai run (core/cli/run.go).
var localFlags = []argv.Flag[launch]{
	{Names: "--context-size", Set: perSlot},
	{Names: "--models-path --address --threads --api-keys --galleries --backends-path --log-level --upload-limit --localai-config-dir --preload-models --preload-models-config"},
	{Names: "--f16 --debug --cors --single-active-backend --disable-web-ui --parallel-requests --autoload-galleries", Kind: argv.Switch},
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
	{Names: "--ngl", Set: layers},
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
	{Names: "--n-ctx", Set: perSlot},
	{Names: "--n-gpu-layers", Set: pythonLayers},
	{Names: "--n-batch", Set: number(func(p *plan.Plan) *plan.Int { return &p.BatchTokens })},
	{Names: "--n-ubatch", Set: number(func(p *plan.Plan) *plan.Int { return &p.UBatch })},
	{Names: "--flash-attn", Kind: argv.Maybe, Set: pythonFlash},
	{Names: "--type-k", Set: ggmlType(func(p *plan.Plan) *string { return &p.KV })},
	{Names: "--type-v", Set: ggmlType(func(p *plan.Plan) *string { return &p.KVV })},
	{Names: "--offload-kqv", Kind: argv.Maybe, Set: toggle(func(p *plan.Plan) **bool { return &p.KVOffload })},
	{Names: "--use-mmap", Kind: argv.Maybe, Set: toggle(func(p *plan.Plan) **bool { return &p.Mmap })},
	{Names: "--use-mlock", Kind: argv.Maybe, Set: toggle(func(p *plan.Plan) **bool { return &p.MLock })},
	{Names: "--main-gpu", Set: mainGPU},
	{Names: "--clip-model-path", Set: word(func(p *plan.Plan) *string { return &p.MMProj })},
	{Names: "--lora-path --lora-base --draft-model --tensor-split --split-mode --rope-scaling-type --yarn-orig-ctx --logits-all --embedding", Kind: argv.Maybe, Unread: true},
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
		name, ok := map[string]string{"0": "f32", "1": "f16", "2": "q4_0", "3": "q4_1", "6": "q5_0", "7": "q5_1", "8": "q8_0",
			"20": "iq4_nl", "30": "bf16"}[v]
		if !ok {
			return &argv.Error{Value: v, Problem: "is not a type of a cache", Fix: "1 (f16), 8 (q8_0) or 2 (q4_0)"}
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
	{Names: "--gpu-layers --n-gpu-layers", Set: layers},
	{Names: "--batch-size", Set: number(func(p *plan.Plan) *plan.Int { return &p.BatchTokens })},
	{Names: "--cache-type", Set: webuiCache},
	{Names: "--tensor-split", Set: split},
	{Names: "--model-draft", Set: argv.Into(argv.ModelRef, func(l *launch) *string { return &l.Plan.DraftModel })},
	{Names: "--draft-max", Set: number(func(p *plan.Plan) *plan.Int { return &p.DraftTokens })},
	{Names: "--mmproj", Set: word(func(p *plan.Plan) *string { return &p.MMProj })},
	{Names: "--cache-8bit", Kind: argv.Switch, Set: webuiBits("q8_0", "fp8")},
	{Names: "--cache-4bit --cache-q4", Kind: argv.Switch, Set: webuiBits("q4_0", "q4")},
	{Names: "--lora", Kind: argv.List, Set: adapters},
	{Names: "--gpu-split --extra-flags --gpu-memory --cpu-memory", Kind: argv.List, Unread: true},
	{Names: "--cpu", Kind: argv.Switch, Set: noLayers},
	{Names: "--mlock", Kind: argv.Switch, Set: toggle(func(p *plan.Plan) **bool { return &p.MLock })},
	{Names: "--no-mmap", Kind: argv.Switch, Set: argv.On(false, func(l *launch) **bool { return &l.Plan.Mmap })},
	{Names: "--no-kv-offload", Kind: argv.Switch, Set: argv.On(false, func(l *launch) **bool { return &l.Plan.KVOffload })},
	{Names: "--row-split", Kind: argv.Switch, Set: func(l *launch, _ string) error { l.Plan.SplitMode = "row"; return nil }},
	{Names: "--load-in-4bit --load-in-8bit --enable-tp --streaming-llm", Kind: argv.Switch, Unread: true},
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

// webuiBits is a cache of so many bits by its flag of before --cache-type, as llama.cpp calls it and as ExLlamaV2 does
// (modules/exllamav2.py: ExLlamaV2Cache_8bit, ExLlamaV2Cache_Q4).
func webuiBits(ggml, exllama string) func(*launch, string) error {
	return func(l *launch, _ string) error {
		l.Plan.KV, l.Plan.KVV, l.exllamaKV = ggml, ggml, exllama
		return nil
	}
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
