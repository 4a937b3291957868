package source

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format/gguf"
	"github.com/memwall/memwall/format/gguf/gguftest"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/unit"
)

// FuzzQuantisation: whatever stands in quantization_config, there is a recipe that stores every tensor, or
// an error, soon.
func FuzzQuantisation(f *testing.F) {
	for _, p := range published {
		f.Add(p.config)
	}
	for _, s := range []string{compressedIgnoring(`"re:.*","a*b"`), modelopt(`"*"`), `{"bits":3,"group_size":64,"lm_head":false,"x":{"bits":8}}`,
		`{"quant_method":"gptq","bits":4,"dynamic":{"-:.*a":{},"+:b":{"bits":8,"group_size":-1}},"modules_to_not_convert":["a",""]}`,
		`{"quant_method":"fp8","weight_block_size":[0,1],"quantized_layers":{"a":{"quant_algo":"NVFP4"}}}`,
		`{"quant_method":"quark","global_quant_config":{"weight":{"dtype":"fp4"}}}`, `{"quant_method":"torchao","quant_type":"int4_weight_only"}`} {
		f.Add(s)
	}
	var specs []*family.Spec
	for i := range networks {
		r, err := Config("m", []byte(networks[i].config))
		if err != nil {
			f.Fatal(err)
		}
		specs = append(specs, r.Spec)
	}
	f.Fuzz(func(t *testing.T, config string) {
		c, err := family.ParseConfig([]byte(`{"quantization_config":` + config + "}"))
		if err != nil {
			return
		}
		q, err := readQuantisation(c, dtype.BF16)
		if err != nil || q == nil {
			return
		}
		for _, s := range specs {
			m := s.Model("m")
			r, err := q.recipe(m)
			if err != nil {
				return
			}
			if b := m.Store(r).Bytes(); b <= 0 {
				t.Errorf("%s: %d bytes", config, b)
			}
		}
	})
}

// FuzzNames: any name of a tensor is filed somewhere.
func FuzzNames(f *testing.F) {
	r, err := Config("m", []byte(networks[2].config))
	if err != nil {
		f.Fatal(err)
	}
	for _, x := range tensorLines(networks[2].hub) {
		f.Add(x.name, int64(7), int64(14))
	}
	f.Fuzz(func(t *testing.T, name string, elems, size int64) {
		filed := newFiling(r.Model)
		filed.put(&fileTensor{name: name, elems: max(0, elems), bytes: unit.Bytes(max(0, size))})
		if _, wrong := filed.weights("x", nil); wrong.err("llama", "") == nil {
			t.Errorf("%q fills a whole model", name)
		}
	})
}

// FuzzFiles: any bytes under the names that are opened give a model or an error.
func FuzzFiles(f *testing.F) {
	small := networks[0]
	f.Add([]byte(small.config), small.tensors().File().Head, []byte(`{"weight_map":{"a":"model.safetensors"}}`))
	f.Add([]byte(small.config), small.file().File().Head, []byte("{}"))
	f.Fuzz(func(t *testing.T, config, tensors, index []byte) {
		dir := t.TempDir()
		for name, data := range map[string][]byte{"config.json": config, "model.safetensors": tensors, indexName: index, "model.gguf": tensors, "adapter_config.json": index} {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, ref := range []string{"config.json", "model.safetensors", indexName, "model.gguf", "adapter_config.json", ""} {
			r, err := New(Options{Root: dir}).Model("./" + ref)
			if (r == nil) == (err == nil) {
				t.Errorf("%s: %v, %v", ref, r, err)
			}
			if err != nil && strings.TrimSpace(err.Error()) == "" {
				t.Errorf("%s: an error without words", ref)
			}
		}
	})
}

// FuzzGGUF: any header that can be read gives a model or an error.
func FuzzGGUF(f *testing.F) {
	for i := range networks {
		f.Add(networks[i].file().Header())
	}
	f.Add(gguftest.Tiny.Builder().Header())
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := gguf.ReadHeader(bytes.NewReader(data), int64(len(data)), 1<<40)
		if err != nil {
			return
		}
		r, err := GGUF("m", h)
		if (r == nil) == (err == nil) {
			t.Errorf("%v, %v", r, err)
		}
	})
}
