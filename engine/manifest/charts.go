package manifest

import (
	"maps"
	"slices"
	"strings"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/format/yaml"
)

// Files that say an engine's settings in keys of their own: values of charts, and objects whose controllers make the command.

// key is a setting's name in a file, and the flag that it becomes.
type key struct{ name, flag string }

// flags are the settings of a block as flags, where they stand there.
func flags(n *yaml.Node, keys []key) (out []string) {
	for _, k := range keys {
		if v := n.At(strings.Split(k.name, ".")...); v != nil && !v.Null() {
			out = append(out, k.flag+"="+v.Value())
		}
	}
	return out
}

// stackKeys of vllmConfig (production-stack: helm/templates/deployment-vllm-multi.yaml).
var stackKeys = []key{
	{"maxModelLen", "--max-model-len"}, {"dtype", "--dtype"}, {"tensorParallelSize", "--tensor-parallel-size"}, {"pipelineParallelSize", "--pipeline-parallel-size"}, {"maxNumSeqs", "--max-num-seqs"},
	{"gpuMemoryUtilization", "--gpu-memory-utilization"}, {"maxLoras", "--max-loras"}, {"runner", "--runner"}, {"convert", "--convert"}, {"enableChunkedPrefill", "--enable-chunked-prefill"}, {"enablePrefixCaching", "--enable-prefix-caching"},
	{"kvCacheDtype", "--kv-cache-dtype"}, {"quantization", "--quantization"},
}

// stacked are the models of vLLM's production stack.
func stacked(_ *file, d *yaml.Node) (out []container) {
	for _, m := range d.At("servingEngineSpec", "modelSpec").Items() {
		config := m.At("vllmConfig")
		c := container{entry: []string{"vllm", "serve", m.At("modelURL").Value()}, args: flags(config, stackKeys)}
		if config.At("enablePrefixCaching") == nil {
			c.args = append(c.args, "--no-enable-prefix-caching") // which the chart writes
		}
		if m.At("enableLoRA").Value() == "true" {
			c.args = append(c.args, "--enable-lora")
		}
		cached := m.At("lmcacheConfig", "enabled").Value() == "true"
		if cached {
			c.args = append(c.args, lmcached)
		}
		c.args = append(c.args, words(config.At("extraArgs"))...)
		c.Image = strings.TrimSuffix(m.At("repository").Value()+":"+m.At("tag").Value(), ":")
		c.Devices, c.Env = count(m.At("requestGPU").Value())*max(1, count(m.At("raySpec", "workerNodes").Value())), environment(m)
		if cached {
			c.Env = append(c.Env, cachedBy(m.At("lmcacheConfig"))...)
		}
		out = append(out, c)
	}
	return out
}

// cachedBy are the variables that the chart's templates and the operator make of LMCache's settings
// (helm/templates/deployment-vllm-multi.yaml; operator/internal/controller/vllmruntime_controller.go).
func cachedBy(n *yaml.Node) (out []argv.Variable) {
	for _, k := range [][3]string{{"cpuOffloadingBufferSize", "LMCACHE_LOCAL_CPU", "LMCACHE_MAX_LOCAL_CPU_SIZE"},
		{"diskOffloadingBufferSize", "LMCACHE_LOCAL_DISK", "LMCACHE_MAX_LOCAL_DISK_SIZE"}} {
		if v := n.At(k[0]).Value(); v != "" {
			out = append(out, argv.Variable{Name: k[1], Value: "True"}, argv.Variable{Name: k[2], Value: v})
		}
	}
	if v := n.At("remoteUrl").Value(); v != "" {
		out = append(out, argv.Variable{Name: "LMCACHE_REMOTE_URL", Value: v})
	}
	return out
}

// lmcached is the argument that they put before the user's own.
const lmcached = `--kv-transfer-config={"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}`

// runtimeObject is a model of the production stack's operator (operator/api/v1alpha1/vllmruntime_types.go), whose settings
// stand in blocks of their own, or all in the specification as its first version has them.
func runtimeObject(_ *file, d *yaml.Node) []container {
	spec := d.At("spec")
	model := spec.At("model", "modelURL").Value()
	if d.At("kind").Value() != "VLLMRuntime" || model == "" {
		return nil
	}
	c := container{entry: []string{"vllm", "serve", model}, args: flags(spec.At("model"), stackKeys)}
	config, deployed := spec.At("vllmConfig"), spec.At("deploymentConfig")
	if config == nil {
		config = spec
	}
	if deployed == nil {
		deployed = spec
	}
	c.args = append(c.args, flags(config, stackKeys)...)
	if spec.At("model", "enableLoRA").Value() == "true" {
		c.args = append(c.args, "--enable-lora")
	}
	c.args = append(c.args, words(config.At("extraArgs"))...)
	if at := deployed.At("image"); at.At("name") != nil {
		c.Image = at.At("name").Value()
	}
	c.Devices, c.Env = count(deployed.At("resources", "gpu").Value()), environment(config)
	if cache := spec.At("lmCacheConfig"); cache.At("enabled").Value() == "true" {
		c.args, c.Env = append(c.args, lmcached), append(c.Env, cachedBy(cache)...)
	}
	return []container{c}
}

func environment(n *yaml.Node) (out []argv.Variable) {
	for _, e := range n.At("env").Items() {
		if v := e.At("value"); v != nil {
			out = append(out, argv.Variable{Name: e.At("name").Value(), Value: v.Value()})
		}
	}
	return out
}

// parallelKeys are those of llm-d's charts and of KServe's LLMInferenceService.
var parallelKeys = []key{{"tensor", "--tensor-parallel-size"}, {"pipeline", "--pipeline-parallel-size"}, {"data", "--data-parallel-size"}, {"expert", "--enable-expert-parallel"}}

func parallelism(n *yaml.Node) []string { return flags(n, parallelKeys) }

// ranks of a layout.
func ranks(n *yaml.Node) int64 {
	return max(1, count(n.At("tensor").Value())) * max(1, count(n.At("pipeline").Value())) * max(1, count(n.At("data").Value()))
}

// modelService are roles of llm-d's chart whose containers name neither image nor command.
func modelService(_ *file, d *yaml.Node) (out []container) {
	model := reference(d.At("modelArtifacts", "name").Value())
	if model == "" {
		model = reference(d.At("modelArtifacts", "uri").Value())
	}
	for _, role := range []string{"decode", "prefill"} {
		for _, v := range d.At(role, "containers").Items() {
			if v.At("modelCommand").Value() != "vllmServe" || model == "" || v.At("image") != nil {
				continue
			}
			c := container{entry: []string{"vllm", "serve", model}, args: append(words(v.At("args")), parallelism(d.At(role, "parallelism"))...)}
			c.Env, c.Devices = environment(v), limits(v.At("resources"))
			out = append(out, c)
		}
	}
	return out
}

// formats of models that KServe serves with an engine of language models.
var formats = map[string]string{"huggingface": "huggingfaceserver", "vllm": "vllm.entrypoints.openai.api_server", "sglang": "sglang.launch_server"}

// inferenceService is one of KServe whose predictor names a format and leaves the command to a runtime.
func inferenceService(_ *file, d *yaml.Node) []container {
	p := d.At("spec", "predictor")
	m := p.At("model")
	c := container{args: words(m.At("args"))}
	format := strings.ToLower(m.At("modelFormat", "name").Value())
	program := formats[format]
	for _, name := range slices.Sorted(maps.Keys(formats)) {
		if program == "" && strings.Contains(strings.ToLower(m.At("runtime").Value()), name) {
			program = formats[name]
		}
	}
	if program == "" && m.At("storageUri") != nil && strings.Contains(strings.Join(c.args, " "), "--max-model-len") {
		program = formats["vllm"] // whose flag that is
	}
	c.Env, c.Devices = environment(m), limits(m.At("resources"))
	if packaged, nim := strings.CutPrefix(format, "nvidia-nim-"); nim { // NVIDIA's runtimes name what their images hold
		c.Image = "nvcr.io/nim/nvidia/" + packaged
		return []container{c}
	}
	if program == "" {
		return nil
	}
	c.entry = []string{program}
	if ref := reference(m.At("storageUri").Value()); ref != "" {
		c.args = append(c.args, "--model="+ref)
	}
	c.args = append(c.args, flags(p.At("workerSpec"), []key{{"tensorParallelSize", "--tensor-parallel-size"}, {"pipelineParallelSize", "--pipeline-parallel-size"}})...)
	if strings.Contains(program, ".") {
		c.entry = []string{"python3", "-m", program}
	}
	return []container{c}
}

// llmService is KServe's object for language models: vLLM, unless its template says a command.
func llmService(_ *file, d *yaml.Node) []container {
	model := reference(d.At("spec", "model", "uri").Value())
	if !strings.HasPrefix(d.At("kind").Value(), "LLMInferenceService") || model == "" {
		return nil
	}
	c := container{entry: []string{"vllm", "serve", model}, args: parallelism(d.At("spec", "parallelism"))}
	if name := d.At("spec", "model", "name").Value(); name != "" && strings.HasPrefix(model, "/") { // which a path need not say
		c.args = append(c.args, "--served-model-name", name)
	}
	for _, v := range d.At("spec", "template", "containers").Items() {
		if v.At("command") != nil {
			return nil
		}
		c.Image, c.Env, c.Devices = v.At("image").Value(), environment(v), limits(v.At("resources"))
		c.args = append(c.args, words(v.At("args"))...)
	}
	if layout := d.At("spec", "parallelism"); c.Devices < ranks(layout) {
		c.Devices = 0 // of one pod of several
	}
	more, _ := c.Getenv("VLLM_ADDITIONAL_ARGS")
	c.args = append(c.args, argv.Words(more)...)
	return []container{c}
}

// rayService are the models of Ray Serve: its settings stand as YAML within YAML, or alone.
func rayService(_ *file, d *yaml.Node) (out []container) {
	if inner := d.At("spec", "serveConfigV2"); inner != nil {
		docs, _ := documents(inner.Value())
		for _, v := range docs {
			out = append(out, rayService(nil, v)...)
		}
		return out
	}
	for _, l := range d.At("llm_configs").Items() {
		out = append(out, rayModel(l))
	}
	for _, a := range d.At("applications").Items() {
		for _, l := range a.At("args", "llm_configs").Items() {
			out = append(out, rayModel(l))
		}
		if env := variables(a.At("runtime_env", "env_vars")); len(env) > 0 {
			c := container{entry: []string{"vllm", "serve", "$(MODEL_ID)"}, args: rayParallel(env)}
			c.Env = env
			out = append(out, c)
		}
	}
	return out
}

// rayParallel are the variables that KubeRay's own examples of vLLM read.
func rayParallel(env []argv.Variable) (out []string) {
	for _, v := range env {
		switch v.Name {
		case "TENSOR_PARALLELISM":
			out = append(out, "--tensor-parallel-size="+v.Value)
		case "PIPELINE_PARALLELISM":
			out = append(out, "--pipeline-parallel-size="+v.Value)
		}
	}
	return out
}

// rayModel is one of llm_configs (ray.serve.llm, LLMConfig): its engine_kwargs are flags of vLLM.
func rayModel(n *yaml.Node) container {
	loading := n.At("model_loading_config")
	model := reference(loading.At("model_source").Value())
	if model == "" {
		model = loading.At("model_id").Value()
	}
	c := container{entry: []string{"vllm", "serve", model}}
	if kwargs := n.At("engine_kwargs"); kwargs != nil {
		c.args = Arguments(kwargs)
	}
	return c
}
