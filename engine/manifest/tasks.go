package manifest

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/format/yaml"
)

// Tasks of launchers of machines, and values of charts that say the model in a key of its own.

var (
	taskRun = regexp.MustCompile(`(?m)^(commands|run):|^[ \t]+commands:`)
	taskOf  = regexp.MustCompile(`(?m)^(type:[ \t]*(service|task|dev-environment)|resources:|setup:|envs:)`)
)

// isTask tells a configuration of dstack, whose commands are a list, or a task of SkyPilot, whose commands are a text.
func isTask(text string) bool {
	return keyed.MatchString(text) && taskRun.MatchString(text) && taskOf.MatchString(text)
}

// task is what such a file runs (dstack.ai/docs/reference/dstack.yml, docs.skypilot.co/reference/yaml-spec.html): one script, or one
// for each group of replicas.
func task(_ *file, d *yaml.Node) (out []container) {
	for _, group := range d.At("replicas").Items() {
		for _, c := range script(group) {
			c.Env = append(c.Env, variables(d.At("env"))...)
			out = append(out, c)
		}
	}
	return append(out, script(d)...)
}

func script(d *yaml.Node) []container {
	script := d.At("run").Value()
	for _, l := range d.At("commands").Items() {
		script += l.Value() + "\n"
	}
	if script == "" || d.At("kind") != nil || d.At("services") != nil {
		return nil
	}
	c := container{entry: []string{"sh", "-c", script}}
	c.Image, c.Env = d.At("image").Value(), append(variables(d.At("env")), variables(d.At("envs"))...)
	for _, at := range [][]string{{"accelerators"}, {"gpu"}} {
		g := d.At(append([]string{"resources"}, at...)...)
		_, n, _ := strings.Cut(g.Value(), ":")
		if g != nil && len(g.Keys) == 1 && at[0] == "accelerators" {
			n = g.Of[g.Keys[0]].Value() // {H100: 8}
		}
		c.Devices = max(c.Devices, count(n))
	}
	if n := d.At("resources", "gpu", "count"); n != nil {
		c.Devices = count(n.Value())
	}
	for _, name := range []string{"SKYPILOT_NUM_GPUS_PER_NODE", "DSTACK_GPUS_NUM", "DSTACK_GPUS_PER_NODE"} {
		c.Env = append(c.Env, argv.Variable{Name: name, Value: strconv.FormatInt(max(1, c.Devices), 10)})
	}
	return []container{c}
}

// trussed is a Truss whose image starts a server by a command (docs.baseten.co: truss configuration, docker_server).
func trussed(_ *file, d *yaml.Node) []container {
	words := argv.Words(d.At("docker_server", "start_command").Value())
	if len(words) == 0 {
		return nil
	}
	c := container{entry: words}
	c.Image, c.Env = d.At("base_image", "image").Value(), variables(d.At("environment_variables"))
	_, n, _ := strings.Cut(d.At("resources", "accelerator").Value(), ":")
	c.Devices = count(n)
	return []container{c}
}

var (
	valueImage = regexp.MustCompile(`(?m)^[ \t]+repository:[ \t]*\S*(vllm|sglang)`)
	valueModel = regexp.MustCompile(`(?m)^(modelName|modelID|modelId|model_name|model):`)
)

// isValues tells values of a chart by an image of an engine and a key of the model, at the margin.
func isValues(text string) bool {
	return keyed.MatchString(text) && valueImage.MatchString(text) && valueModel.MatchString(text)
}

// valued are such values: the engine's image takes the model and what the keys of arguments hold.
func valued(_ *file, d *yaml.Node) []container {
	c := container{}
	c.Image = image(d.At("image"))
	engine := "vllm serve"
	switch {
	case d.At("kind") != nil || d.At("services") != nil:
		return nil
	case strings.Contains(c.Image, "sglang"):
		engine = "python3 -m sglang.launch_server --model-path"
	case !strings.Contains(c.Image, "vllm"):
		return nil
	}
	for _, at := range [][]string{{"modelName"}, {"modelID"}, {"modelId"}, {"model_name"}, {"model"}, {"model", "name"}, {"model", "id"}, {"model", "repository"}} {
		if ref := reference(d.At(at...).Value()); ref != "" {
			c.entry = append(strings.Fields(engine), ref)
		}
	}
	for _, at := range []string{"args", "extraArgs", "vllmArgs", "engineArgs"} {
		if n := d.At(at); n != nil && n.Of != nil {
			c.args = append(c.args, Arguments(n)...)
		} else {
			c.args = append(c.args, words(n)...)
		}
	}
	if c.entry == nil {
		return nil
	}
	c.Env, c.Devices = environment(d), limits(d.At("resources"))
	return []container{c}
}

// backends of Dynamo, by the names that its requests have.
var backends = map[string]string{"vllm": "dynamo.vllm", "sglang": "dynamo.sglang", "trtllm": "dynamo.trtllm"}

// profiled is a request for a deployment of Dynamo, which names a model and a backend and leaves the layout open.
func profiled(_ *file, d *yaml.Node) []container {
	model, backend := d.At("spec", "model").Value(), backends[d.At("spec", "backend").Value()]
	if d.At("kind").Value() != "DynamoGraphDeploymentRequest" || model == "" || backend == "" {
		return nil
	}
	flag := "--model"
	if backend == "dynamo.sglang" || backend == "dynamo.trtllm" {
		flag = "--model-path"
	}
	return []container{{entry: []string{"python3", "-m", backend, flag, model}}}
}
