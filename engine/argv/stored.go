package argv

// What --quantization and --dtype of vLLM and SGLang say of a recipe.

// methods of --quantization by recipe, where the method alone says the recipe. Those that quantise what they
// load need no checkpoint of their own (vllm/model_executor/layers/quantization, sglang/srt/layers/quantization).
var methods = map[string]struct {
	name   string
	onLoad bool
}{
	"fp8": {"fp8", true}, "nf4": {"bitsandbytes", true}, "awq": {"awq", false}, "gptq": {"gptq", false}, "nvfp4": {"modelopt_fp4", false}, "mxfp4": {"mxfp4", false},
}

// plainDtypes are what --dtype makes of each other when it loads.
var plainDtypes = map[string]bool{"bf16": true, "f16": true, "f32": true}

// StoredArgs returns the arguments that state how a checkpoint is stored if its name does not.
func StoredArgs(weights, stored string) []string {
	switch {
	case weights == "" || weights == stored:
		return nil
	case weights == "f32":
		return []string{"--dtype float32"}
	case weights == "f16":
		return []string{"--dtype half"}
	case methods[weights].name != "":
		return []string{"--quantization " + methods[weights].name}
	}
	return nil
}

// OnLoad reports whether a server makes the weights of a checkpoint that is stored otherwise.
func OnLoad(weights, stored string) bool {
	return weights == "" || weights == stored || methods[weights].onLoad || plainDtypes[weights] && plainDtypes[stored]
}
