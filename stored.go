package memwall

import (
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/model/catalog"
)

// What a checkpoint of the hub is stored in, from the method that an engine is told or prints and from the
// words of its name. A catalog entry's own checkpoint needs neither.

// isHubName tells a name of the hub from a path and from other references.
func isHubName(ref string) bool {
	if ref == "" || strings.ContainsAny(ref[:1], "./~\\") || strings.Contains(ref, ":") || strings.HasSuffix(ref, ".gguf") {
		return false
	}
	return strings.Count(ref, "/") <= 1
}

// published reports whether a name is that of an entry's own checkpoint, not of somebody's copy in another
// format.
func published(method, ref string) bool {
	e, err := catalog.Find(ref)
	if err != nil {
		return false
	}
	if strings.EqualFold(ref, e.ID) || strings.EqualFold(ref, e.Hub) {
		return method == "" || method == "none" || e.Weights != "" // else the engine quantises what it loads
	}
	return recipeInName(ref) == "" && e.Weights != ""
}

// methods are quantisations as vLLM and SGLang call them, where the method alone fixes the recipe.
var methods = map[string]string{
	"awq": "awq", "awq_marlin": "awq", "bitsandbytes": "nf4", "mxfp4": "mxfp4", "gpt-oss-mxfp4": "mxfp4", "fp8": "fp8", "fbgemm_fp8": "fp8", "ptpc_fp8": "fp8",
	"modelopt_fp4": "nvfp4", "petit_nvfp4": "nvfp4", "modelopt_fp8": "fp8-tensor", "w8a8_int8": "int8", "w8a8_fp8": "fp8", "nvfp4": "nvfp4",
}

// storedAs names the recipe of a checkpoint; known is false when a method is named that leaves it open.
func storedAs(method, ref string) (recipe string, known bool) {
	method = strings.ToLower(method)
	if published(method, ref) {
		return "", true
	}
	named := recipeInName(ref)
	switch method {
	case "", "none":
		return named, true
	case "gptq", "gptq_marlin", "auto-round", "inc":
		if named == "gptq-int8" || named == "int8" {
			return "gptq-int8", true
		}
		return "gptq", true
	case "compressed-tensors":
		if named == "awq" || named == "gptq" {
			named = "int4" // its packed layout, whatever found the codes
		}
		return named, named != ""
	case "modelopt", "quark":
		return named, named != ""
	}
	if m, ok := methods[method]; ok {
		if m == "fp8" && strings.HasPrefix(named, "fp8") {
			m = named
		}
		return m, true
	}
	return named, named != ""
}

// recipeInName reads words such as AWQ, GPTQ-Int8, FP8-dynamic, NVFP4, w4a16 in a model's name.
func recipeInName(ref string) string {
	org, name, ok := strings.Cut(strings.ToLower(ref), "/")
	if !ok {
		org, name = "", org
	}
	words := map[string]bool{}
	for _, w := range strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("-_. ", r) }) {
		words[w] = true
	}
	eight := words["int8"] || words["8bit"] || words["w8a16"]
	switch {
	case words["nvfp4"]:
		return "nvfp4"
	case words["mxfp4"]:
		return "mxfp4"
	case words["fp8"]:
		return fp8InName(org, words)
	case words["gptq"] && eight:
		return "gptq-int8"
	case words["gptq"]:
		return "gptq"
	case words["awq"]:
		return "awq"
	case words["bnb"]:
		if eight {
			return "bnb-int8"
		}
		return "nf4"
	case org == "mlx-community" && eight:
		return "mlx-8bit"
	case org == "mlx-community" && words["4bit"]:
		return "mlx-4bit"
	case words["w4a16"]:
		return "int4"
	case words["w8a8"]:
		return "int8"
	case words["bf16"]:
		return "bf16"
	}
	return ""
}

// fp8InName: Qwen's and DeepSeek's own FP8 checkpoints have a scale for each 128 × 128 block
// (quantization_config.weight_block_size), those of the compressed-tensors tools one for each row.
func fp8InName(org string, words map[string]bool) string {
	switch {
	case words["block"], org == "qwen", org == "deepseek-ai", org == "zai-org":
		return dtype.FindRecipe("fp8-block").Name
	case words["static"], words["tensor"]:
		return dtype.FindRecipe("fp8-tensor").Name
	}
	return dtype.FindRecipe("fp8").Name
}

// onDisk is a checkpoint of this machine.
func (q *question) onDisk() engine.Checkpoint {
	c := engine.Checkpoint{Name: q.resolved.Path, Stored: q.stored(), Library: q.resolved.Library}
	if q.resolved.Format == "gguf" {
		c.File = q.resolved.Path
	}
	return c
}

// checkpoint is what a command line calls the model: the hub's name or the path that was given, else the
// hub's name of the catalog.
func (q *question) checkpoint() engine.Checkpoint {
	ref, r := strings.TrimPrefix(q.request.Model, "hf:"), q.resolved
	read := r.Format == "safetensors" || r.Format == "gguf"
	given := strings.Contains(ref, "/") && (isHubName(ref) || read)
	switch {
	case r.Path != "": // its files say what is stored; the name is not asked
		return q.onDisk()
	case r.File != "" || read && r.Hub != "":
		return engine.Checkpoint{Name: r.Hub, Stored: q.stored(), HubFile: r.File}
	case r.Address != "" || r.Library != "":
		return engine.Checkpoint{Name: r.ID, Stored: q.stored(), Address: r.Address, Library: r.Library}
	case given && !strings.EqualFold(ref, r.Hub):
		c := engine.Checkpoint{Name: ref, Stored: q.stored()}
		if named, known := storedAs("", ref); known && named != "" {
			c.Stored = named
		}
		return c
	case r.Hub != "":
		return engine.Checkpoint{Name: r.Hub, Stored: q.stored()}
	}
	return engine.Checkpoint{Name: r.ID, Stored: q.stored()}
}
