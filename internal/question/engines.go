package question

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/called"
	"github.com/memwall/memwall/engine/generic"
	"github.com/memwall/memwall/engine/llamacpp"
	"github.com/memwall/memwall/engine/plain"
	"github.com/memwall/memwall/engine/sglang"
	"github.com/memwall/memwall/engine/tensorrt"
	"github.com/memwall/memwall/engine/transformers"
	"github.com/memwall/memwall/engine/vllm"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/spell"
)

// engines lists all engines. A new one is a line here.
var engines = slices.Concat([]engine.Engine{vllm.Engine{}, sglang.Engine{}, tensorrt.Engine{}, llamacpp.Engine{Program: llamacpp.CLI},
	llamacpp.Engine{Program: llamacpp.Server}, llamacpp.Engine{Program: llamacpp.Ollama}, llamacpp.Engine{Program: llamacpp.Fork},
	transformers.Engine{}}, plain.Engines(), []engine.Engine{generic.Engine{}})

// engineNames are aliases.
var engineNames = map[string]string{
	"llamacpp": "llama.cpp", "llama-cpp": "llama.cpp", "llama_cpp": "llama.cpp", "llama cpp": "llama.cpp", "llama-cli": "llama.cpp",
	"llamaserver": "llama-server", "tensorrt_llm": "tensorrt-llm", "tensorrtllm": "tensorrt-llm", "sg-lang": "sglang",
	"vllm-openai": "vllm", "trt-llm": "tensorrt-llm", "trtllm": "tensorrt-llm", "tensorrt": "tensorrt-llm", "hf": "transformers",
	"huggingface": "transformers",
}

// Engines returns the names of all engines.
func Engines() []string {
	var out []string
	for _, e := range engines {
		out = append(out, e.Name())
	}
	return out
}

// chooseEngine parses "vllm@0.19". By default llama.cpp runs GGUF files and formats, and on Apple devices and CPUs
// everything it supports; transformers runs the rest there, and vLLM everything else.
func (q *Question) chooseEngine() error {
	name, version, _ := strings.Cut(strings.ToLower(strings.TrimSpace(q.Request.Engine)), "@")
	if name == "" {
		name = defaultEngine(q.Resolved, q.Request.Weights, q.Job, serves(q))
		q.Job.Default("engine", name)
	}
	if canonical, ok := engineNames[name]; ok {
		name = canonical
	}
	if p := called.Find(name); p != nil && p.Engine != name {
		name, version = sizedAs(p, q.Job), p.Kept(version)
	}
	for _, e := range engines {
		if e.Name() == name {
			q.Engine = e
		}
	}
	if q.Engine == nil {
		return &api.Error{Code: api.BadField, Field: "engine", Value: q.Request.Engine,
			Message: fmt.Sprintf("engine = %q is not known", name), Hint: nearEngines(name)}
	}
	if Denoises(q.Resolved) {
		if name != TransformersEngine && name != "generic" {
			return &api.Error{Code: api.Unsupported, Field: "engine", Value: q.Request.Engine,
				Message: fmt.Sprintf("%s is a diffusion transformer, which %s does not load", q.Resolved.ID, name),
				Hint:    "--engine " + TransformersEngine}
		}
		q.Job.Note("diffusion", "info", "model", "the transformer of a diffusion model alone, as diffusers loads it; its text encoders "+
			"and its autoencoder are models of their own")
	}
	return q.engineVersion(version)
}

// sizedAs returns the engine whose rules size a program with a name of its own, and fills in the program's settings.
func sizedAs(p *called.Program, j *engine.Job) string {
	if set := p.Apply(j.Plan); len(set) > 0 {
		j.Note("program_defaults", "info", "engine", "%s sets %s by itself (%s)", p.Title, strings.Join(set, ", "), p.Source)
	}
	if p.Unsized != "" {
		j.Note("program_unsized", "warn", "engine", "%s: %s", p.Title, p.Unsized)
	} else {
		j.Note("program", "info", "engine", "%s is %s under a name of its own", p.Title, p.Engine)
	}
	return p.Engine
}

// nearEngines returns the three names closest in spelling, or else all engines.
func nearEngines(name string) string {
	all := append(append(Engines(), called.Names()...), slices.Sorted(maps.Keys(engineNames))...)
	if near := spell.Nearest(name, all); len(near) > 0 {
		return "did you mean: " + strings.Join(near, ", ")
	}
	return strings.Join(Engines(), ", ")
}

// versionParser is an engine with its own version numbering.
type versionParser interface {
	ParseVersion(text string) (engine.Version, error)
}

func (q *Question) engineVersion(text string) error {
	q.Job.Version = q.Engine.Latest()
	if text != "" && text != "latest" {
		parse := engine.ParseVersion
		if own, ok := q.Engine.(versionParser); ok {
			parse = own.ParseVersion
		}
		v, err := parse(text)
		if err != nil {
			return &api.Error{Code: api.BadField, Field: "engine", Value: q.Request.Engine, Message: err.Error(),
				Hint: q.Engine.Name() + "@" + engine.VersionName(q.Engine, q.Engine.Latest())}
		}
		q.Job.Version = v
		if !q.Engine.Latest().AtLeast(v) {
			q.Job.Note("newer_engine", "warn", "engine", "%s %s is newer than %s, whose rules are the newest known here", q.Engine.Name(),
				engine.VersionName(q.Engine, v), engine.VersionName(q.Engine, q.Engine.Latest()))
		}
	}
	q.Request.Engine = q.Engine.Name() + "@" + engine.VersionName(q.Engine, q.Job.Version)
	return nil
}

// serves reports whether the question has settings of serving engines, which exclude llama.cpp.
func serves(q *Question) bool {
	p := &q.Original.Plan
	return q.Original.Foreign("llama.cpp") != nil || q.Env.Crowd || p.TP > 1 || p.PP > 1 || p.DP > 1 || p.EP > 1 || p.Sequences > 4
}

const TransformersEngine = "transformers"

// Denoises reports whether a model is a diffusion transformer, which text serving engines do not load.
func Denoises(r *api.Resolved) bool {
	if s := r.Spec; s != nil {
		return slices.ContainsFunc(s.Beside, func(t *family.Tower) bool { return t.Name == family.PartDenoiser })
	}
	return r.Model != nil && r.Model.Part(family.PartDenoiser) != nil
}

// FormatEngine returns the only engine that reads a format: ExLlama for its own, ik_llama.cpp for its quants; "" for
// others.
func FormatEngine(format string) string {
	recipe := dtype.FindRecipe(format)
	switch {
	case strings.HasPrefix(format, "exl2-"):
		return "exllamav2"
	case strings.HasPrefix(format, "exl3-"):
		return "exllamav3"
	case recipe != nil && recipe.Store == dtype.GGUF && slices.Contains(dtype.Forked, recipe.Base):
		return "ik_llama.cpp"
	}
	return ""
}

// defaultEngine returns the usual engine for such a model and machine; serving says whether the question has settings
// of serving engines.
func defaultEngine(r *api.Resolved, weights string, j *engine.Job, serving bool) string {
	stored, gguf := cmp.Or(weights, r.Asked, r.Recipe), r.Format == "gguf"
	if recipe := dtype.FindRecipe(stored); recipe != nil {
		gguf = recipe.Store == dtype.GGUF
	}
	if l := dtype.FindLoose(weights); l != nil && l.OnHub == "" {
		gguf = true
	}
	d := j.Device(0)
	switch {
	case Denoises(r):
		return TransformersEngine
	case FormatEngine(stored) != "":
		return FormatEngine(stored)
	case r.Engine != "" && weights == "":
		return r.Engine
	case called.Owner(stored) != nil:
		return called.Owner(stored).Names[0]
	case gguf:
		return "llama.cpp"
	case j.Machine != nil && personal(j) && r.Spec != nil && crosses(r.Spec) && !serving:
		return TransformersEngine
	case j.Machine != nil && (d == nil || d.Vendor == "Apple"):
		if s := r.Spec; s != nil && !llamacpp.Loads(s.Family) {
			return TransformersEngine
		}
		return "llama.cpp"
	case j.Machine != nil && personal(j) && takesGGUF(r) && weights == "" && !serving:
		return "llama.cpp"
	}
	return "vllm"
}
