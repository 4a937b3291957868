package quant

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/memwall/memwall/dtype"
)

// modulesOf a mixture of a model of three layers with experts.
func modulesOf(formats map[string]string) *Mixed {
	x := &Mixed{}
	add := func(name string, role dtype.Role, layer int) {
		f, ok := formats[name]
		if !ok {
			f = formats[string(role)]
		}
		x.Parts = append(x.Parts, Given{Tensor: &Tensor{Name: name, Role: role, Layer: layer, Stored: dtype.BF16}, Format: f})
	}
	for _, l := range []string{"0", "1", "2"} {
		at := "model.layers." + l + "."
		n := int(l[0] - '0')
		add(at+"self_attn.q_proj.weight", dtype.AttnQ, n)
		add(at+"mlp.experts.0.up_proj.weight", dtype.FFNUpExps, n)
		add(at+"mlp.experts.1.up_proj.weight", dtype.FFNUpExps, n)
	}
	return x
}

// TestModules: every module is matched by the pattern of its format and by no other, names are not patterns by accident,
// and the arguments are those of the presets of compressed-tensors (quant_scheme.py: W4A16, NVFP4A16, FP8_BLOCK).
func TestModules(t *testing.T) {
	x := modulesOf(map[string]string{"attn_q": "fp8", "ffn_up_exps": "nvfp4", "model.layers.1.self_attn.q_proj.weight": "int4-g128",
		"model.layers.2.self_attn.q_proj.weight": ""})
	c, why := x.Modules()
	if c == nil {
		t.Fatal(why)
	}
	for i := range x.Parts {
		p := &x.Parts[i]
		module := strings.TrimSuffix(p.Tensor.Name, ".weight")
		for _, g := range c.Groups {
			hit := slices.ContainsFunc(g.Targets, func(p string) bool {
				return regexp.MustCompile("^(?:" + strings.TrimPrefix(p, "re:") + ")").MatchString(module)
			})
			if hit != (g.Format == p.Format) {
				t.Errorf("%s, which is %q: %v by %v", module, p.Format, hit, g.Targets)
			}
		}
	}
	want := []string{`re:model\.layers\.(0)\.self_attn\.q_proj$`, `re:model\.layers\.\d+\.mlp\.experts\.\d+\.up_proj$`, `re:model\.layers\.(1)\.self_attn\.q_proj$`}
	for i, g := range c.Groups {
		if g.Targets[0] != want[i] {
			t.Errorf("%s, want %s", g.Targets[0], want[i])
		}
	}
	if len(c.Ignore) != 2 || c.Ignore[0] != `re:model\.layers\.(2)\.self_attn\.q_proj$` {
		t.Errorf("ignored: %v", c.Ignore)
	}
	for _, line := range []string{
		`QuantizationModifier:`,
		`targets: ["re:model\\.layers\\.(0)\\.self_attn\\.q_proj$"]`,
		`weights: {"num_bits":8,"type":"float","symmetric":true,"strategy":"channel","dynamic":false}`,
		`weights: {"num_bits":4,"type":"float","symmetric":true,"strategy":"tensor_group","group_size":16,"dynamic":false,"scale_dtype":"torch.float8_e4m3fn"}`,
		`weights: {"num_bits":4,"type":"int","symmetric":true,"strategy":"group","group_size":128,"dynamic":false}`,
	} {
		if !strings.Contains(c.YAML(), line) {
			t.Errorf("no %s in\n%s", line, c.YAML())
		}
	}
	block, _ := modulesOf(map[string]string{"attn_q": "fp8-block", "ffn_up_exps": "fp8-block"}).Modules()
	if len(block.Groups) != 1 || !strings.Contains(block.YAML(), `"block_structure":[128,128]`) || !strings.Contains(block.YAML(), `input_activations: {"num_bits":8,"type":"float","symmetric":true,"strategy":"group","group_size":128,"dynamic":true}`) {
		t.Error(block.YAML())
	}
	if c, why := modulesOf(map[string]string{"attn_q": "fp8", "ffn_up_exps": "nf4"}).Modules(); c != nil ||
		!strings.Contains(why, "nf4 lies beside no other") {
		t.Errorf("%+v %q", c, why)
	}
}
