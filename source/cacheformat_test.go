package source

import (
	"testing"

	"github.com/memwall/memwall/model/family"
)

// TestCacheFormat: what a checkpoint's configuration says of its KV cache.
func TestCacheFormat(t *testing.T) {
	for _, c := range []struct{ config, beside, format, method string }{
		{`{"quantization_config":{"quant_method":"compressed-tensors","kv_cache_scheme":{"num_bits":8,"type":"float"}}}`, ``, "fp8", "compressed-tensors"},
		{`{"quantization_config":{"quant_method":"compressed-tensors","kv_cache_scheme":null}}`, ``, "", "compressed-tensors"},
		{`{"quantization_config":{"quant_method":"modelopt_fp4","kv_cache_quant_algo":"FP8"}}`, ``, "fp8", "modelopt"},
		{`{"text_config":{"quantization_config":{"quant_method":"modelopt","kv_cache_scheme":{"num_bits":4,"type":"float"}}}}`, ``, "nvfp4", "modelopt"},
		{`{}`, `{"producer":{},"quantization":{"quant_algo":"NVFP4","kv_cache_quant_algo":"FP8"}}`, "fp8", "modelopt"},
		{`{}`, `{"quantization":{"quant_algo":"NVFP4","kv_cache_quant_algo":null}}`, "", ""},
		{`{}`, ``, "", ""},
	} {
		in := &configuration{config: parsed(t, c.config)}
		if c.beside != "" {
			in.beside = parsed(t, c.beside)
		}
		if format, method := in.cache(); format != c.format || method != c.method {
			t.Errorf("%s %s: %q of %q, want %q of %q", c.config, c.beside, format, method, c.format, c.method)
		}
	}
}

func parsed(t *testing.T, text string) *family.Config {
	t.Helper()
	c, err := family.ParseConfig([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}
