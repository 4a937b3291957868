package source

import (
	"strings"

	"github.com/memwall/memwall/model/family"
)

// cache returns the KV cache format that a checkpoint's configuration states and the quantization method, or "":
// kv_cache_scheme of compressed-tensors and modelopt, kv_cache_quant_algo of hf_quant_config.json.
func (c *configuration) cache() (format, method string) {
	quantised := c.beside
	for _, in := range []*family.Config{c.config, c.config.Text()} {
		if q := in.Sub("quantization_config"); q != nil {
			quantised = q
		}
	}
	if quantised == nil {
		return "", ""
	}
	method, _, _ = strings.Cut(strings.ToLower(quantised.Str("quant_method")), "_")
	for _, in := range []*family.Config{quantised.Sub("quantization"), quantised} {
		if in == nil {
			continue
		}
		if s := in.Sub("kv_cache_scheme"); s != nil && s.Str("type") == "float" {
			return map[int64]string{8: "fp8", 4: "nvfp4"}[s.IntOr(0, "num_bits")], method
		}
		if algo := strings.ToLower(in.Str("kv_cache_quant_algo")); algo == "fp8" || algo == "nvfp4" {
			return algo, "modelopt"
		}
	}
	return "", method
}
