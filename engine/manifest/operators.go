package manifest

import (
	"strings"

	"github.com/memwall/memwall/format/yaml"
)

// Objects of operators that name a model and an engine and make the rest by themselves.

// modelEngines are the engines of KubeAI's models (kubeai api/k8s/v1/model_types.go); others transcribe or embed.
var modelEngines = map[string][]string{"vllm": {"vllm", "serve"}, "ollama": {"ollama", "run"}}

// kubeModel is a model of KubeAI: a URL, an engine, arguments, and a profile of resources with a count (internal/modelcontroller).
func kubeModel(_ *file, d *yaml.Node) []container {
	spec := d.At("spec")
	entry := modelEngines[strings.ToLower(spec.At("engine").Value())]
	url := spec.At("url").Value()
	if d.At("kind").Value() != "Model" || entry == nil || url == "" {
		return nil
	}
	scheme, rest, _ := strings.Cut(url, "://")
	model := reference(url)
	if scheme == "ollama" {
		model = rest
	}
	c := container{entry: append(entry[:len(entry):len(entry)], model), args: words(spec.At("args"))}
	if adapters := spec.At("adapters").Items(); len(adapters) > 0 {
		c.args = append(c.args, "--enable-lora")
	}
	if profile, n, ok := strings.Cut(spec.At("resourceProfile").Value(), ":"); ok && !strings.HasPrefix(profile, "cpu") {
		c.Devices = count(n)
	}
	c.Env = variables(spec.At("env"))
	return []container{c}
}

// workspace is one of KAITO, whose preset is a model that vLLM serves (kaito presets/workspace/models).
func workspace(_ *file, d *yaml.Node) []container {
	preset := d.At("inference", "preset", "name").Value()
	if d.At("kind").Value() != "Workspace" || preset == "" {
		return nil
	}
	return []container{{entry: []string{"vllm", "serve", preset}}}
}

// microservice is one of NVIDIA's NIM operator, which names an image that holds how its model is served.
func microservice(_ *file, d *yaml.Node) []container {
	spec := d.At("spec")
	if d.At("kind").Value() != "NIMService" {
		return nil
	}
	var c container
	c.Image = image(spec.At("image"))
	c.Env, c.Devices = environment(spec), limits(spec.At("resources"))
	return []container{c}
}
