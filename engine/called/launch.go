package called

import (
	"cmp"
	"slices"
	"strings"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/model/catalog"
)

// launch is a command line on its way to a plan.
type launch struct {
	argv.Launch
	repo, file string // of the hub
	exllamaKV  string // the cache's format, were ExLlamaV2 the loader
}

// Programs whose command lines FromArgs reads.
func Programs() (out []string) {
	for i := range kinds {
		out = append(out, kinds[i].programs...)
	}
	return out
}

// FromArgs reads the command line of a program that runs llama.cpp; nil where one of a common name is none of them.
func FromArgs(c *argv.Command) (*argv.Launch, error) { return kinOf(c.Program).fromArgs(c) }

// kin is a program that runs llama.cpp with a command line of its own.
type kin struct {
	programs []string
	// engine is the program's name, by which its defaults are known.
	engine string
	// verbs stand between the program and its model.
	verbs []string
	flags []argv.Flag[launch]
	// usual is the format of a model that is named without one.
	usual string
	// model reads a word that is not a flag; nil where flags alone name the model.
	model func(string) string
}

var kinds = []kin{
	{programs: []string{"koboldcpp", "koboldcpp.py", "koboldcpp_cu12", "koboldcpp-linux-x64", "koboldcpp_rocm"}, engine: "koboldcpp",
		flags: koboldFlags, model: asGiven},
	{programs: []string{"lms"}, engine: "lmstudio", verbs: []string{"load"}, flags: lmsFlags, usual: "q4_k_m", model: asGiven},
	{programs: []string{"docker model"}, engine: "dockermodelrunner", verbs: []string{"run", "configure"}, flags: dockerModelFlags,
		model: inDocker},
	{programs: []string{"ramalama"}, engine: "ramalama", verbs: []string{"run", "serve", "bench"}, flags: ramalamaFlags,
		model: transported},
	{programs: []string{"local-ai"}, engine: "localai", verbs: []string{"run"}, flags: localFlags, model: inGallery},
	{programs: []string{"llama_cpp.server"}, engine: "llama-cpp-python", flags: pythonFlags},
	{programs: []string{"server.py"}, engine: "text-generation-webui", flags: webuiFlags},
}

func kinOf(program string) *kin {
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
	syntax := argv.Syntax{Dashes: true, Positional: func(word string) bool {
		if l.Model != "" || k.model == nil {
			return l.Model != "" && k.model != nil // a prompt
		}
		l.Model = k.model(word)
		return true
	}}
	beside, unknown, err := argv.Read(&cmd, syntax, k.flags, l)
	if err != nil {
		return nil, err
	}
	if l.Model == "" && l.repo != "" {
		l.Model = "hf:" + strings.TrimSuffix(l.repo+"/"+l.file, "/")
	}
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
		p.Weights = cmp.Or(r.KeptInFiles(), k.usual)
	}
	if l.Engine == "koboldcpp" && p.Attention != "flash" && p.KVV != "" && p.KVV != "f16" {
		p.KVV = "f16" // llama.cpp quantises values for its fused attention alone
	}
	if strings.HasPrefix(l.Engine, "exllama") && l.exllamaKV != "" {
		p.KV, p.KVV = l.exllamaKV, ""
		if l.Engine == "exllamav3" && p.KV == "fp8" {
			p.KV = "q8"
		}
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

// inGallery is a name of LocalAI's gallery, which says a model as others do, or a model behind the name of what brings it.
func inGallery(word string) string {
	if strings.Contains(word, "://") {
		return transported(word)
	}
	return word
}

// transported is a model behind the name of what brings it (ramalama/transports).
func transported(word string) string {
	for prefix, to := range map[string]string{"ollama://": "ollama:", "huggingface://": "hf:", "hf://": "hf:", "file://": "",
		"hf.co/": "hf:"} {
		if rest, ok := strings.CutPrefix(word, prefix); ok {
			return to + rest
		}
	}
	if strings.Contains(word, "/") {
		return word
	}
	return "ollama:" + word
}
