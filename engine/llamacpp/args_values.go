package llamacpp

import (
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/plan"
)

// Defaults of command lines, and environment variables.

// ollamaFlags holds Ollama's settings, nearly all of which are variables (envconfig/config.go).
var ollamaFlags = []argv.Flag[launch]{
	{Env: "OLLAMA_CONTEXT_LENGTH", Set: argInt(func(p *plan.Plan) *plan.Int { return &p.Context })},
	{Env: "OLLAMA_NUM_PARALLEL", Set: argInt(func(p *plan.Plan) *plan.Int { return &p.Sequences })},
	{Env: "OLLAMA_FLASH_ATTENTION", Set: argFlash},
	{Env: "OLLAMA_KV_CACHE_TYPE", Set: argWord(func(p *plan.Plan) *string { return &p.KV })},
	{Env: "OLLAMA_GPU_OVERHEAD", Set: argv.Into(argv.Count[plan.Size], func(l *launch) *plan.Size { return &l.Plan.Reserved })},
	{Env: "OLLAMA_MAX_LOADED_MODELS", Unread: true}, // further models loaded with this one
	{Env: "OLLAMA_NEW_ENGINE", Unread: true},        // an engine that is not described
	{Env: "OLLAMA_SCHED_SPREAD", Unread: true},      // over all devices, even if one suffices
	{Env: "OLLAMA_LLM_LIBRARY", Unread: true},       // another backend
	{Env: "OLLAMA_VULKAN", Unread: true},
	{Names: "--verbose --nowordwrap --hidethinking --insecure", Kind: argv.Switch},
}

// quiet are variables without effect on memory that do not correspond to a flag.
var quiet = map[string]bool{
	"OLLAMA_HOST": true, "OLLAMA_ORIGINS": true, "OLLAMA_MODELS": true, "OLLAMA_KEEP_ALIVE": true, "OLLAMA_LOAD_TIMEOUT": true, "OLLAMA_DEBUG": true, "OLLAMA_MAX_QUEUE": true,
	"OLLAMA_NOHISTORY": true, "OLLAMA_NOPRUNE": true, "OLLAMA_REMOTES": true, "OLLAMA_NO_CLOUD": true, "OLLAMA_EDITOR": true, "OLLAMA_DEBUG_LOG_REQUESTS": true, "OLLAMA_GO_TEMPLATE": true,
	"OLLAMA_MAX_TRANSFER_STREAMS": true, "OLLAMA_AUTH": true, "LLAMA_ARG_ENDPOINT_METRICS": true, "LLAMA_ARG_ENDPOINT_SLOTS": true, "LLAMA_ARG_ENDPOINT_PROPS": true, "LLAMA_ARG_THINK": true,
}

// variables returns those of the program that affect memory but have no field, and unknown ones.
func (l *launch) variables(c *argv.Command, table []argv.Flag[launch]) {
	for _, v := range c.Env {
		if !strings.HasPrefix(v.Name, "LLAMA_ARG_") && !strings.HasPrefix(v.Name, "OLLAMA_") || quiet[v.Name] {
			continue
		}
		if f := flagOf(v.Name, table); f == nil || f.Unread {
			l.Unknown = append(l.Unknown, argv.ShownAs(v.Name, v.Value))
		}
	}
}

// flagOf returns the flag that a variable sets: the one that names it, or whose long name it spells.
func flagOf(variable string, table []argv.Flag[launch]) *argv.Flag[launch] {
	long := "--" + strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(variable, "LLAMA_ARG_")), "_", "-")
	for i := range table {
		f := &table[i]
		if f.Env == variable || f.Env == "" && slices.Contains(strings.Fields(f.Names), long) {
			return f
		}
	}
	return nil
}

// fitters are programs that fit unset parameters to memory (common/common.cpp, common_init_from_params).
var fitters = map[string]bool{
	"llama-server": true, "llama-cli": true, "llama-completion": true, "llama-mtmd-cli": true, "llama-perplexity": true, "llama-parallel": true, "llama-speculative": true, "llama-batched-bench": true,
}

// values fills in the program's defaults.
func (l *launch) values(program string) {
	p := &l.Plan
	if program != "ollama" {
		f16 := func(k, v *string) {
			if *k != "" && *v == "" {
				*v = "f16" // -ctk does not imply the format of values
			}
		}
		f16(&p.KV, &p.KVV)
		f16(&p.DraftKV, &p.DraftKVV)
	}
	if p.Checkpoints != nil && engineOf(program) == "llama.cpp" { // accepts the flag, but keeps none
		l.Beside, p.Checkpoints = append(l.Beside, "--ctx-checkpoints"), nil
	}
	at, known := l.version(program)
	if !known || l.forked {
		return
	}
	if p.SplitMode == "tensor" && p.Fit == "" {
		p.Fit = "off" // does not fit such a plan
	}
	if p.Fit == "" && (fitters[program] || program == "ollama") && engine.At(fitting, at).Value {
		p.Fit = "on"
	}
	if program == "llama-server" && p.Sequences == 0 && at.AtLeast(autoSlots) {
		shared := true
		p.Sequences, p.KVUnified = autoSlotCount, &shared
	}
}

// autoSlotCount is the default number of llama-server's slots, which share a cache (tools/server/server.cpp).
const autoSlotCount = 4

// version returns the version of llama.cpp that the command runs, the latest unless its image says otherwise.
func (l *launch) version(program string) (engine.Version, bool) {
	own := Engine{CLI}
	if program == "ollama" {
		own = Engine{Ollama}
	}
	_, tag, tagged := strings.Cut(l.Engine, "@")
	if !tagged {
		return own.Program.llamaVersion(own.Latest()), true
	}
	v, err := own.ParseVersion(tag)
	return own.Program.llamaVersion(v), err == nil
}

// argAdapters parses files, each with an optional scale after a colon or space (common/arg.cpp).
func argAdapters(l *launch, v string) error {
	for name := range strings.FieldsFuncSeq(v, func(r rune) bool { return r == ',' || r == ' ' }) {
		if _, err := strconv.ParseFloat(name, 64); err != nil { // a scale for the preceding file
			argv.Adapter(&l.Launch, "--lora", name)
		}
	}
	return nil
}

// argVendor parses llamafile's device selection, which may be none.
func argVendor(l *launch, v string) error {
	if none := plan.Int(0); strings.EqualFold(v, "disable") {
		l.Plan.GPULayers = &none
	}
	return nil
}
