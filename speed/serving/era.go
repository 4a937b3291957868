package serving

import "github.com/memwall/memwall/engine"

// early are the first versions of engines whose kernels and own code are still those of today: vLLM 0.6 (September
// 2024) took its scheduler and its output processing off the path of a step, TensorRT-LLM 1.0 moved to another runtime.
// What came before, measured in static batches of 2023 and 2024, was slower, on AMD's devices several times.
var early = map[string]engine.Version{"vllm": engine.V(0, 6, 0), "tensorrt-llm": engine.V(1, 0, 0)}

// eraOf a version of an engine on a device: what its stack took there beyond that of today is known by this name. ""
// is today's, and that of a version that nobody states.
func eraOf(d *device, name string, v engine.Version) string {
	if !Early(name, v) {
		return ""
	}
	return eraKey(d.id, name)
}

// Early reports whether an engine's version has the stack of another era.
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
