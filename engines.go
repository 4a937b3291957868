package memwall

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/generic"
	"github.com/memwall/memwall/engine/llamacpp"
	"github.com/memwall/memwall/engine/sglang"
	"github.com/memwall/memwall/engine/tensorrt"
	"github.com/memwall/memwall/engine/transformers"
	"github.com/memwall/memwall/engine/vllm"
	"github.com/memwall/memwall/model/family"
)

// engines are all that a plan may name. A new one is a line here.
var engines = []engine.Engine{vllm.Engine{}, sglang.Engine{}, tensorrt.Engine{}, llamacpp.Engine{Program: llamacpp.CLI}, llamacpp.Engine{Program: llamacpp.Server}, llamacpp.Engine{Program: llamacpp.Ollama}, transformers.Engine{}, generic.Engine{}}

// engineNames are other names that people use.
var engineNames = map[string]string{
	"llamacpp": "llama.cpp", "llama-cpp": "llama.cpp", "trt-llm": "tensorrt-llm", "trtllm": "tensorrt-llm", "tensorrt": "tensorrt-llm", "hf": "transformers", "huggingface": "transformers",
}

// Engines lists the names of all engines.
func Engines() []string {
	var out []string
	for _, e := range engines {
		out = append(out, e.Name())
	}
	return out
}

// chooseEngine reads "vllm@0.19"; without a name llama.cpp takes GGUF files and formats, and on Apple's devices
// and processors all that it loads; transformers takes what else they run, and vLLM everything else.
func (q *question) chooseEngine() error {
	name, version, _ := strings.Cut(strings.ToLower(strings.TrimSpace(q.request.Engine)), "@")
	if name == "" {
		name = q.defaultEngine()
		q.job.Default("engine", name)
	}
	if canonical, ok := engineNames[name]; ok {
		name = canonical
	}
	for _, e := range engines {
		if e.Name() == name {
			q.engine = e
		}
	}
	if q.engine == nil {
		return &Error{Code: BadField, Field: "engine", Value: q.request.Engine, Message: fmt.Sprintf("engine = %q is not known", name), Hint: strings.Join(Engines(), ", ")}
	}
	if q.denoises() {
		if name != transformersEngine {
			return &Error{Code: Unsupported, Field: "engine", Value: q.request.Engine, Message: fmt.Sprintf("%s is a diffusion transformer, which %s does not load", q.resolved.Model.ID, name), Hint: "--engine " + transformersEngine}
		}
		q.job.Note("diffusion", "info", "model", "the transformer of a diffusion model alone, as diffusers loads it; its text encoders and its autoencoder are models of their own")
	}
	return q.engineVersion(version)
}

// versionParser is an engine that counts its versions in a way of its own.
type versionParser interface {
	ParseVersion(text string) (engine.Version, error)
}

func (q *question) engineVersion(text string) error {
	q.job.Version = q.engine.Latest()
	if text != "" && text != "latest" {
		parse := engine.ParseVersion
		if own, ok := q.engine.(versionParser); ok {
			parse = own.ParseVersion
		}
		v, err := parse(text)
		if err != nil {
			return &Error{Code: BadField, Field: "engine", Value: q.request.Engine, Message: err.Error(), Hint: q.engine.Name() + "@" + engine.VersionName(q.engine, q.engine.Latest())}
		}
		q.job.Version = v
		if !q.engine.Latest().AtLeast(v) {
			q.job.Note("newer_engine", "warn", "engine", "%s %s is newer than %s, whose rules are the newest known here", q.engine.Name(), engine.VersionName(q.engine, v), engine.VersionName(q.engine, q.engine.Latest()))
		}
	}
	q.request.Engine = q.engine.Name() + "@" + engine.VersionName(q.engine, q.job.Version)
	return nil
}

const transformersEngine = "transformers"

// denoises: the model is the transformer of a diffusion model, which serving engines for text do not load.
func (q *question) denoises() bool {
	m := q.resolved.Model
	return m != nil && m.Part(family.PartDenoiser) != nil
}

func (q *question) defaultEngine() string {
	gguf := q.resolved.Format == "gguf"
	if r := dtype.FindRecipe(cmp.Or(q.request.Weights, q.resolved.Asked, q.resolved.Recipe)); r != nil {
		gguf = r.Store == dtype.GGUF
	}
	d := q.job.Device(0)
	switch {
	case q.denoises():
		return transformersEngine
	case q.resolved.Engine != "" && q.request.Weights == "":
		return q.resolved.Engine
	case gguf:
		return "llama.cpp"
	case q.job.Machine != nil && (d == nil || d.Vendor == "Apple"):
		if s := q.resolved.Spec; s != nil && !llamacpp.Loads(s.Family) {
			return transformersEngine
		}
		return "llama.cpp"
	}
	return "vllm"
}
