package serving

import "github.com/memwall/memwall/engine"

// early maps engines to the first version whose kernels and own code resemble today's: vLLM 0.6 (September 2024) moved scheduling
// and output processing off the critical path of a step; TensorRT-LLM 1.0 changed its runtime. Earlier versions, measured in static
// batches of 2023 and 2024, were slower, several times so on AMD devices.
var early = map[string]engine.Version{"vllm": engine.V(0, 6, 0), "tensorrt-llm": engine.V(1, 0, 0)}

// oldest maps engines to the oldest version of which runs of servers were fitted, but for those before early.
var oldest = map[string]engine.Version{"vllm": engine.V(0, 12, 0), "sglang": engine.V(0, 5, 1), "tensorrt-llm": engine.V(1, 0, 0)}

// Older reports whether an engine's version is older than any of which runs of servers were fitted; an unknown version is the newest.
func Older(name string, v engine.Version) bool {
	first, ok := oldest[name]
	return ok && v != (engine.Version{}) && !v.AtLeast(first)
}

// Oldest returns the oldest version of an engine of which runs of servers were fitted; false of others.
func Oldest(name string) (v engine.Version, ok bool) {
	v, ok = oldest[name]
	return v, ok
}

// eraOf returns the name under which a device's coefficients know an earlier version's software stack; "" for today's stack and for
// an unknown version.
func eraOf(d *device, name string, v engine.Version) string {
	if !Early(name, v) {
		return ""
	}
	return eraKey(d.id, name)
}

// Early reports whether an engine's version has an earlier software stack.
func Early(name string, v engine.Version) bool {
	first, ok := early[name]
	return ok && v != (engine.Version{}) && !v.AtLeast(first)
}

// promptGraphs is the first SGLang that runs the pieces of prompts between attentions as graphs (sgl-project/sglang#16331).
var promptGraphs = engine.V(0, 5, 10)

// launcher is how an engine launches the kernels of prompts.
func launcher(name string, v engine.Version) string {
	if name == "sglang" && v != (engine.Version{}) && v.AtLeast(promptGraphs) {
		return name + " with graphs"
	}
	return name
}

func eraKey(device, name string) string {
	return device + "/" + name + " before " + versionKey(name, early[name])
}
