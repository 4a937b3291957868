package source

import (
	"slices"
	"strings"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/model/family"
)

func TestReadName(t *testing.T) {
	params := map[string]param{"weight": weight, "bias": biasTerm, "companion": companion}
	for _, c := range table(t, "names.tsv") {
		name, want := c[0], tensorName{c[1], wholeOf(t, c[2]), c[3], params[c[4]]}
		if got, ok := readName(name); !ok || got != want {
			t.Errorf("%s is %+v (%v), want %+v", name, got, ok, want)
		}
	}
	for _, name := range []string{"", "model", "model.language_model.weight"} {
		if got, ok := readName(name); ok && got.module != "" {
			t.Errorf("%q is %+v", name, got)
		}
	}
}

// TestEveryTensorHasAName: every tensor of every model of the catalog that files of the hub hold has a
// module there.
func TestEveryTensorHasAName(t *testing.T) {
	// Roles of models that the catalog does not have yet: Kimi K3, MiniMax-M3, Qwen3-VL, Qwen-Image-Layered.
	used := map[dtype.Role]bool{dtype.FFNLatentNorm: true, dtype.RecallAttnNorm: true, dtype.RecallAttn: true, dtype.RecallFFNNorm: true,
		dtype.RecallFFN: true, dtype.RecallOutNorm: true, dtype.RecallOut: true, dtype.IndexQNorm: true,
		dtype.DeepStackNorm: true, dtype.DeepStackIn: true, dtype.DeepStackOut: true, dtype.SizeEmbed: true}
	for _, e := range catalog.All() {
		s, err := e.Spec()
		if err != nil {
			t.Fatal(err)
		}
		m := s.Model(e.ID)
		f := newFiling(m)
		for i := range m.Parts {
			p := &m.Parts[i]
			p.Tensors(func(layer int, x *model.Tensor) {
				used[x.Role] = true
				if e.ID == "phi-4-multimodal" { // its files keep adapters and a conformer under names that no section has
					return
				}
				if x.Table || hasName(f.parts[p.Name], m.Family, max(layer, -1), x) {
					return
				}
				t.Errorf("%s: %s of layer %d of the %s has no name on the hub", e.ID, x.Role, layer, p.Name)
			})
		}
	}
	for s, names := range allModules() {
		if !slices.Contains(sections[:], s) && !strings.HasPrefix(s, "layer of ") {
			t.Errorf("nobody reads the section %q", s)
		}
		for module, choices := range names {
			for _, x := range slices.Concat(choices...) {
				if !used[x.role] {
					t.Errorf("%s: %s holds %s, which no model has", s, module, x.role)
				}
			}
		}
	}
}

// hasName looks for a module that, read from a file, would end in the tensor's slot.
func hasName(p *filedPart, family string, layer int, x *model.Tensor) bool {
	n := tensorName{part: p.part.Name, layer: layer}
	wants := p.wants(layer)
	for _, module := range append(spellings(n.scope(), x.Role), spellings(inPrediction, x.Role)...) {
		for _, n.param = range []param{weight, biasTerm} {
			n.module = module
			f := firstComplete(spoken(family, &n), func(s slot) bool { return wants[s].tensors > 0 })
			if slices.Contains(f, slot{x.Role, x.Bias}) {
				return true
			}
		}
	}
	return false
}

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"a*", "abc", true}, {"a*", "ba", false}, {"*c", "abc", true}, {"*b*", "abc", true}, {"a*c", "abbc", true}, {"a*c", "abbd", false},
		{"", "", true}, {"*", "", true}, {"", "a", false}, {"a", "", false}, {"*.attn.*", "layers.3.attn.wq", true}, {"a**b", "ab", true},
		{"mtp*", "mtp.layers.0.norm", true}, {"layers.1.*", "layers.10.x", false},
	} {
		if got := glob(c.pattern, c.name); got != c.want {
			t.Errorf("glob(%q, %q) = %v", c.pattern, c.name, got)
		}
	}
}

// TestLongLists: a list of modules as long as a real one, for a model of many layers, is matched at once.
func TestLongLists(t *testing.T) {
	e, err := catalog.Find("deepseek-r1")
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Spec()
	if err != nil {
		t.Fatal(err)
	}
	keep := expand("model.layers.{0-60}.{self_attn*,mlp.gate,mlp.experts.0.up_proj,input_layernorm}")
	q := &quantisation{name: "fp8-block", base: dtype.FP8E4M3, reach: linear, groups: []group{{scheme: dtype.FP8Block}}, keep: keep}
	m := s.Model("m")
	r, err := q.recipe(m)
	if err != nil {
		t.Fatal(err)
	}
	bits := bitsOfRoles(t, &Resolved{Spec: s, Model: m, Scheme: r})
	for at, want := range map[string]float64{"decoder 9 attn_q_b": 16, "decoder 60 ffn_up_exps": 16, "decoder 60 ffn_down_exps": 8, "decoder -1 output": 8, "mtp 0 attn_q_a": 8} {
		if bits[at] != want {
			t.Errorf("%s has %v bits, want %v", at, bits[at], want)
		}
	}
}

// TestStagesAndStacks: blocks that files number within a stage or a stack are found where the model has them.
func TestStagesAndStacks(t *testing.T) {
	for _, c := range []struct {
		model, name, part string
		layer             int
		module            string
	}{
		{"gemma-3n-e4b", "model.vision_tower.timm_model.blocks.3.5.attn.query.proj.weight", family.PartVision, 2, "attn.query.proj"},
		{"gemma-3n-e4b", "model.vision_tower.timm_model.blocks.3.0.dw_start.conv.weight", family.PartVision, -1, "dw_start.conv"},
		{"gemma-3n-e4b", "model.vision_tower.timm_model.blocks.2.11.pw_exp.bn.weight", family.PartVision, -1, "pw_exp.bn"},
		{"flux.1-dev", "single_transformer_blocks.3.proj_mlp.weight", family.PartDenoiser, 22, "proj_mlp"},
		{"hunyuan-video", "transformer_blocks.0.ff.net.2.weight", family.PartDenoiser, 2, "ff.net.#"},
		{"z-image", "layers.1.adaLN_modulation.0.weight", family.PartDenoiser, 5, "adaLN_modulation.#"},
		{"longcat-flash-chat", "model.layers.3.self_attn.1.q_a_proj.weight", partDecoder, 7, "self_attn.q_a_proj"},
		{"longcat-flash-chat", "model.layers.3.mlps.0.gate_proj.weight", partDecoder, 6, "mlp.gate_proj"},
		{"longcat-flash-chat", "model.layers.3.post_attention_layernorm.1.weight", partDecoder, 7, "post_attention_layernorm"},
		{"longcat-flash-chat", "model.layers.3.mlp.experts.17.up_proj.weight", partDecoder, 6, "mlp.experts.#.up_proj"},
		{"plamo-2-8b", "model.layers.layers.4.mixer.bcdt_proj.weight", partDecoder, 4, "mixer.bcdt_proj"},
		{"wan2.1-t2v-14b", "blocks.39.attn2.to_k.weight", family.PartDenoiser, 39, "attn2.to_k"},
	} {
		e, err := catalog.Find(c.model)
		if err != nil {
			t.Fatal(err)
		}
		s, err := e.Spec()
		if err != nil {
			t.Fatal(err)
		}
		f := newFiling(s.Model(c.model))
		n, ok := readName(c.name)
		f.settle(&fileTensor{name: c.name}, &n)
		if !ok || n.part != c.part || n.layer != c.layer || n.module != c.module {
			t.Errorf("%s: %+v", c.name, n)
		}
		if forms("", n.scope(), n.module) == nil {
			t.Errorf("%s: %q holds nothing", c.name, n.module)
		}
	}
}
