package source

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/internal/datatest"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog"
)

// counted is what a published count of a quantised repository counts. The hub's API counts stored elements,
// and over the years came to unpack words and to leave out companions for some methods.
type counted struct {
	word   int64    // bytes of the words that narrow elements are packed in; 0: they are counted unpacked
	beside []string // companions that count
	tied   bool     // the head is tied, and the files hold it twice
}

// count of the elements of a model stored by a recipe, as the hub counts them.
func (c *counted) count(m *model.Model, r *dtype.Recipe) (n int64) {
	note := *r
	note.Pick = func(s *dtype.Site) *dtype.Scheme {
		x := r.Pick(s)
		if x != nil {
			n += c.tensor(x, s)
		}
		return x
	}
	m.Store(&note)
	if c.tied {
		n += m.Totals().TiedHead
	}
	return n
}

func (c *counted) tensor(x *dtype.Scheme, s *dtype.Site) int64 {
	n := s.Rows * s.Cols
	if packed := x.Elem.BlockElems > 1 || x.Elem == dtype.I8 && c.word > 1; packed && c.word > 0 {
		n = s.Rows * int64(x.Elem.Row(s.Cols)) / c.word
	}
	extra := int64(0)
	for i := range x.With {
		if k := x.With[i]; slices.Contains(c.beside, k.Name) {
			ones := k
			ones.Elem = dtype.U8
			beside := &dtype.Scheme{Elem: nothing, With: []dtype.Companion{ones}}
			switch {
			case s.InRows == 0:
				extra += s.Batch * int64(beside.Bytes(1, s.Rows, s.Cols))
			case s.First:
				extra += int64(beside.Bytes(1, s.InRows, s.InCols))
			}
		}
	}
	return s.Batch*n + extra
}

var nothing = &dtype.Format{Name: "nothing", BlockElems: 1}

var (
	logical     = counted{}
	tiedTwice   = counted{tied: true}
	withScales  = counted{beside: []string{"weight_scale", "weight_scale_inv", "input_scale", "scales"}}
	scalesTwice = counted{beside: withScales.beside, tied: true}
	bytesAlone  = counted{word: 1}
	bytesScales = counted{word: 1, beside: []string{"weight_scale", "weight_scale_2", "input_scale"}}
	bytesGroups = counted{word: 1, beside: []string{"weight_scale"}}
	packedCount = counted{beside: []string{"weight_scale", "weight_shape"}}
	wordsTwice  = counted{word: 4, beside: []string{"weight_scale", "weight_shape"}, tied: true}
)

// published are counts of quantised repositories of models of the catalog, with the quantisation that their
// config.json states. Counts: safetensors totals of the hub's API, 2025 and 2026.
var published = []struct {
	hub, model, config string
	counted            counted
	elements           int64
}{
	{"Qwen/Qwen2.5-0.5B-Instruct-AWQ", "qwen2.5-0.5b", awq128, tiedTwice, 630167424},
	{"Qwen/Qwen2.5-1.5B-Instruct-AWQ", "qwen2.5-1.5b", awq128, tiedTwice, 1777088000},
	{"Qwen/Qwen2.5-Coder-3B-Instruct-AWQ", "qwen2.5-3b", awq128, tiedTwice, 3397103616},
	{"Qwen/Qwen2-1.5B-Instruct-AWQ", "qwen2.5-1.5b", awq128, tiedTwice, 1777088000},
	{"Qwen/Qwen2.5-Coder-1.5B-Instruct-AWQ", "qwen2.5-1.5b", awq128, tiedTwice, 1777088000},
	{"Qwen/Qwen2.5-Coder-14B-Instruct-AWQ", "qwen2.5-14b", awq128, logical, 14770033664},
	{"Qwen/Qwen2.5-Coder-14B-Instruct-GPTQ-Int8", "qwen2.5-14b", `{"quant_method":"gptq","bits":8,"group_size":128}`, logical, 14770033664},
	{"Qwen/Qwen2.5-Coder-7B-Instruct-GPTQ-Int4", "qwen2.5-7b", gptq128, logical, 7615616512},
	{"Qwen/QwQ-32B-AWQ", "qwen2.5-32b", awq128, logical, 32763876352},
	{"Qwen/Qwen2.5-14B-Instruct-AWQ", "qwen2.5-14b", awq128, logical, 14770033664},
	{"Qwen/Qwen2.5-32B-Instruct-AWQ", "qwen2.5-32b", awq128, logical, 32763876352},
	{"Qwen/Qwen3-8B-AWQ", "qwen3-8b", awq128, logical, 8190735360},
	{"Qwen/Qwen3-14B-AWQ", "qwen3-14b", awq128, logical, 14768307200},
	{"Qwen/Qwen3-32B-AWQ", "qwen3-32b", awq128, logical, 32762123264},
	{"Qwen/Qwen2.5-14B-Instruct-GPTQ-Int4", "qwen2.5-14b", gptq128, logical, 14770033664},
	{"Qwen/Qwen2.5-32B-Instruct-GPTQ-Int8", "qwen2.5-32b", `{"quant_method":"gptq","bits":8,"group_size":128}`, logical, 32763876352},
	{"Qwen/Qwen3-30B-A3B-GPTQ-Int4", "qwen3-30b-a3b", gptq128, logical, 30532122624},
	{"Qwen/Qwen3.5-35B-A3B-GPTQ-Int4", "qwen3.5-35b-a3b", gptq128, logical, 35951822704},
	{"Qwen/Qwen3-1.7B-FP8", "qwen3-1.7b", fp8Blocks, scalesTwice, 2031825920},
	{"Qwen/Qwen3-30B-A3B-Instruct-2507-FP8", "qwen3-30b-a3b-2507", fp8Blocks, withScales, 30533947392},
	{"Qwen/Qwen3-Coder-30B-A3B-Instruct-FP8", "qwen3-30b-a3b-2507", fp8Blocks, withScales, 30533947392},
	{"Qwen/Qwen3-235B-A22B-Instruct-2507-FP8", "qwen3-235b-a22b", fp8Blocks, withScales, 235107904512},
	{"Qwen/Qwen3.6-35B-A3B-FP8", "qwen3.5-35b-a3b", fp8NoTower, withScales, 35953925552},
	{"Qwen/Qwen3-Next-80B-A3B-Instruct-FP8", "qwen3-next-80b-a3b", fp8Blocks, withScales, 81329784384},
	{"Qwen/Qwen3.5-35B-A3B-FP8", "qwen3.5-35b-a3b", fp8NoTower, withScales, 35953925552},
	{"Qwen/Qwen3.6-27B-FP8", "qwen3.5-27b", fp8NoTower, withScales, 27782935472},
	{"deepseek-ai/DeepSeek-R1", "deepseek-r1", fp8Blocks, withScales, 684531386000},
	{"nvidia/DeepSeek-V3-0324-NVFP4", "deepseek-v3", modelopt(`"lm_head","*self_attn*","model.layers.61*"`), bytesGroups, 396767013632},
	{"nvidia/DeepSeek-R1-0528-NVFP4-v2", "deepseek-r1", modelopt(`"lm_head","*q_a_proj*","*q_b_proj*","*kv_a_proj*","*kv_b_proj*","model.layers.61*"`), bytesGroups, 393632819968},
	{"nvidia/Qwen3-8B-NVFP4", "qwen3-8b", modelopt(`"lm_head"`), bytesAlone, 4717851648},
	{"nvidia/Qwen3-14B-NVFP4", "qwen3-14b", modelopt(`"lm_head"`), bytesAlone, 8162278400},
	{"nvidia/Qwen3-32B-NVFP4", "qwen3-32b", modelopt(`"lm_head"`), bytesAlone, 17159312384},
	{"nvidia/Qwen3-30B-A3B-NVFP4", "qwen3-30b-a3b", modelopt(`"lm_head"`), bytesAlone, 15583623168},
	{"nvidia/Qwen3-8B-FP8", "qwen3-8b", modeloptFP8, logical, 8190735360},
	{"nvidia/Llama-3.1-405B-Instruct-FP8", "llama-3.1-405b", modeloptFP8, logical, 405853388800},
	{"RedHatAI/Meta-Llama-3.1-8B-FP8", "llama-3.1-8b", ctStatic, withScales, 8030261696},
	{"RedHatAI/Meta-Llama-3.1-8B-Instruct-FP8-dynamic", "llama-3.1-8b", ctDynamic, withScales, 8031637504},
	{"RedHatAI/Meta-Llama-3.1-8B-Instruct-FP8", "llama-3.1-8b", ctStatic, withScales, 8030261696},
	{"RedHatAI/Meta-Llama-3-8B-Instruct-FP8-KV", "llama-3-8b", `{"quant_method":"fp8","activation_scheme":"static"}`, logical, 8030261248},
	{"RedHatAI/DeepSeek-R1-Distill-Llama-70B-FP8-dynamic", "llama-3.3-70b", ctDynamic, withScales, 70560423936},
	{"NousResearch/Hermes-4-70B-FP8", "llama-3.3-70b", ctDynamic, withScales, 70560423936},
	{"RedHatAI/Llama-3.3-70B-Instruct-FP8-dynamic", "llama-3.3-70b", ctDynamic, withScales, 70560423936},
	{"RedHatAI/Llama-3.2-1B-Instruct-FP8", "llama-3.2-1b", ctStatic, scalesTwice, 1498482912},
	{"RedHatAI/Llama-3.2-1B-Instruct-FP8-dynamic", "llama-3.2-1b", ctDynamic, scalesTwice, 1498859520},
	{"RedHatAI/Llama-3.2-3B-Instruct-FP8", "llama-3.2-3b", ctStatic, scalesTwice, 3606752648},
	{"RedHatAI/Qwen3-8B-FP8-dynamic", "qwen3-8b", ctDynamic, withScales, 8192136192},
	{"RedHatAI/Qwen3-32B-FP8-dynamic", "qwen3-32b", ctDynamic, withScales, 32766710784},
	{"RedHatAI/gemma-3-12b-it-FP8-dynamic", "gemma-3-12b", ctNoTower("float-quantized", "float"), withScales, 12189561456},
	{"RedHatAI/gemma-3-27b-it-FP8-dynamic", "gemma-3-27b", ctNoTower("float-quantized", "float"), withScales, 27436247664},
	{"RedHatAI/gemma-3-12b-it-quantized.w8a8", "gemma-3-12b", ctNoTower("int-quantized", "int"), scalesTwice, 13196440176},
	{"RedHatAI/Mistral-Small-24B-Instruct-2501-FP8-dynamic", "mistral-small-24b", ctDynamic, withScales, 23575680000},
	{"RedHatAI/Mistral-Small-24B-Instruct-2501-quantized.w8a8", "mistral-small-24b", ctInt8, withScales, 23575680000},
	{"RedHatAI/Qwen2.5-1.5B-quantized.w8a8", "qwen2.5-1.5b", ctInt8, scalesTwice, 1777733120},
	{"RedHatAI/Qwen3-30B-A3B-FP8-block", "qwen3-30b-a3b", compressed("float-quantized", `"num_bits":8,"type":"float","strategy":"block","block_structure":[128,128]`, `{"dynamic":true}`), withScales, 30533947392},
	{"RedHatAI/Qwen3-14B-NVFP4", "qwen3-14b", ctNVFP4, bytesScales, 8988032560},
	{"RedHatAI/Qwen3-32B-NVFP4", "qwen3-32b", ctNVFP4, bytesScales, 19109664640},
	{"RedHatAI/Qwen3-30B-A3B-NVFP4", "qwen3-30b-a3b", ctNVFP4, bytesScales, 17452222848},
	{"RedHatAI/Qwen3-8B-quantized.w4a16", "qwen3-8b", compressed("pack-quantized", `"num_bits":4,"type":"int","strategy":"group","group_size":64`, "null"), packedCount, 8299263480},
	{"RedHatAI/SmolLM-135M-Instruct-quantized.w8a16", "smollm2-135m", compressed("pack-quantized", `"num_bits":8,"type":"int","strategy":"channel"`, "null"), wordsTwice, 83356260},
	{"RedHatAI/Qwen2-7B-Instruct-FP8", "qwen2-7b", `{"quant_method":"fp8","activation_scheme":"static"}`, logical, 7615616512},
	{"openai/gpt-oss-20b", "gpt-oss-20b", `{"quant_method":"mxfp4"}`, withScales, 21511953984},
	{"unsloth/gpt-oss-20b-unsloth-bnb-4bit", "gpt-oss-20b", bnb4, logical, 20914757184},
	{"unsloth/gpt-oss-120b-unsloth-bnb-4bit", "gpt-oss-120b", bnb4, logical, 116829156672},
	{"unsloth/Llama-3.3-70B-Instruct-bnb-4bit", "llama-3.3-70b", bnb4, logical, 70553706496},
}

const (
	awq128      = `{"quant_method":"awq","bits":4,"group_size":128,"zero_point":true}`
	gptq128     = `{"quant_method":"gptq","bits":4,"group_size":128,"desc_act":false}`
	fp8Blocks   = `{"quant_method":"fp8","activation_scheme":"dynamic","weight_block_size":[128,128]}`
	fp8NoTower  = `{"quant_method":"fp8","activation_scheme":"dynamic","weight_block_size":[128,128],"modules_to_not_convert":["lm_head","model.visual"]}`
	modeloptFP8 = `{"quant_method":"modelopt","quant_algo":"FP8","exclude_modules":["lm_head"]}`
	bnb4        = `{"quant_method":"bitsandbytes","load_in_4bit":true,"bnb_4bit_quant_type":"nf4","bnb_4bit_use_double_quant":true}`
)

var (
	ctDynamic = compressed("float-quantized", `"num_bits":8,"type":"float","strategy":"channel"`, `{"dynamic":true}`)
	ctStatic  = compressed("float-quantized", `"num_bits":8,"type":"float","strategy":"tensor"`, `{"dynamic":false}`)
	ctInt8    = compressed("int-quantized", `"num_bits":8,"type":"int","strategy":"channel"`, `{"dynamic":true}`)
	ctNVFP4   = compressed("nvfp4-pack-quantized", `"num_bits":4,"type":"float","strategy":"tensor_group","group_size":16`, `{"dynamic":"local"}`)
)

func ctNoTower(format, kind string) string {
	return fmt.Sprintf(`{"quant_method":"compressed-tensors","format":%q,"ignore":["re:.*lm_head","re:vision_tower.*","re:multi_modal_projector.*"],
		"config_groups":{"group_0":{"targets":["Linear"],"weights":{"num_bits":8,"type":%q,"strategy":"channel"},"input_activations":{"dynamic":true}}}}`, format, kind)
}

func recipeOfResolved(r *Resolved) *dtype.Recipe {
	if r.Scheme != nil {
		return r.Scheme
	}
	return dtype.FindRecipe(r.Recipe)
}

// TestPublishedCounts: element counts of published quantised repositories, to the last one.
func TestPublishedCounts(t *testing.T) {
	for _, p := range published {
		e, err := catalog.Find(p.model)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Config(p.hub, []byte(strings.TrimSuffix(string(e.Config), "}")+`,"quantization_config":`+p.config+"}"))
		if err != nil {
			t.Errorf("%s: %v", p.hub, err)
			continue
		}
		if got := p.counted.count(r.Model, recipeOfResolved(r)); got != p.elements {
			t.Errorf("%s: %d elements, published %d (%+d)", p.hub, got, p.elements, p.elements-got)
		}
	}
}

// TestBitsAndBytesCounts: older counts take every byte of 4-bit repositories twice, absolute maxima and the
// text of each matrix's state too. That text has 160 to 180 bytes; all else is exact.
func TestBitsAndBytesCounts(t *testing.T) {
	for _, p := range []struct {
		hub, model string
		elements   int64
	}{
		{"unsloth/llama-2-7b-chat-bnb-4bit", "llama-2-7b", 6941323894},
		{"unsloth/llama-3-8b-bnb-4bit", "llama-3-8b", 8248929386},
		{"unsloth/Llama-3.2-1B-Instruct-bnb-4bit", "llama-3.2-1b", 1266351458},
		{"unsloth/mistral-7b-bnb-4bit", "mistral-7b-v0.1", 7460400452},
		{"unsloth/mistral-7b-v0.3-bnb-4bit", "mistral-7b-v0.3", 7466691914},
		{"unsloth/Mistral-Nemo-Instruct-2407-bnb-4bit", "mistral-nemo-12b", 12589408254},
		{"unsloth/gemma-2-9b-it-bnb-4bit", "gemma-2-9b", 9502508184},
		{"unsloth/Qwen2.5-0.5B-Instruct-bnb-4bit", "qwen2.5-0.5b", 505339710},
		{"unsloth/Qwen2.5-1.5B-Instruct-bnb-4bit", "qwen2.5-1.5b", 1584858476},
		{"unsloth/Qwen2.5-3B-Instruct-bnb-4bit", "qwen2.5-3b", 3172967424},
		{"unsloth/Qwen2.5-7B-bnb-4bit", "qwen2.5-7b", 7820050938},
		{"unsloth/Qwen2.5-Coder-14B-Instruct-bnb-4bit", "qwen2.5-14b", 15183924206},
	} {
		e, err := catalog.Find(p.model)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Config(p.hub, []byte(strings.TrimSuffix(string(e.Config), "}")+`,"quantization_config":`+bnb4+"}"))
		if err != nil {
			t.Errorf("%s: %v", p.hub, err)
			continue
		}
		recipe := recipeOfResolved(r)
		one := counted{beside: []string{"absmax", "nested_absmax", "nested_quant_map", "quant_map"}}
		alone := func(companion string) int64 {
			with := counted{beside: []string{companion}}
			return with.count(r.Model, recipe) - logical.count(r.Model, recipe)
		}
		matrices, absmax := alone("offset"), alone("absmax")
		rest := p.elements - one.count(r.Model, recipe) - absmax
		if per := float64(rest) / float64(2*matrices); per < 160 || per > 180 {
			t.Errorf("%s: %d elements are left for the states of %d matrices, %.1f bytes each", p.hub, rest, matrices, per)
		}
	}
}

// rowCounts says how the published counts of configurations in the shared data were made, and what is known
// to be missing from them or from the model.
var rowCounts = map[string]struct {
	counted counted
	beyond  int64 // elements that neither the configuration nor the family tells
	why     string
}{
	"deepseek-ai/DeepSeek-R1":      {counted: withScales},
	"deepseek-ai/DeepSeek-R1-0528": {counted: withScales},
	"MiniMaxAI/MiniMax-M2.5":       {counted: withScales},
	"MiniMaxAI/MiniMax-M2.7":       {counted: withScales},
	"Qwen/Qwen3-235B-A22B-FP8":     {counted: withScales},
	"openai/gpt-oss-20b":           {counted: withScales},
	"zai-org/GLM-5-FP8":            {counted: withScales},
	"zai-org/GLM-5.1-FP8":          {counted: withScales},
	"deepseek-ai/DeepSeek-V4-Pro": {counted: counted{word: 1, beside: withScales.beside}, beyond: 3*129280*6 + 2*56*56,
		why: "tables of three layers that choose six experts by the token, and scales of the prediction layer's projections, taken to stay in 16 bits"},
	"moonshotai/Kimi-K2-Instruct": {counted: withScales, beyond: 61 * 56, why: "56 more elements in each of 61 layers, of unknown purpose"},
	"nvidia/Gemma-4-31B-IT-NVFP4": {counted: bytesAlone, beyond: -60, why: "the scalars of 60 layers are not counted"},
	"meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8": {counted: withScales, beyond: -2661440,
		why: "the configuration names no module to leave alone; the files quantise the routed experts alone"},
	"RedHatAI/Llama-4-Scout-17B-16E-Instruct-FP8-dynamic": {counted: withScales},
	"nvidia/MiniMax-M2.5-NVFP4":                           {counted: bytesAlone, beyond: -62 * 256, why: "the biases of the routers, in F32, are not counted"},
}

// TestCountsOfSharedRows: every row of an exact count of stored elements with a configuration of a family
// that is known.
func TestCountsOfSharedRows(t *testing.T) {
	if datatest.Path("") == "" {
		return
	}
	files := map[string]string{}
	for _, r := range datatest.Shared(t, "configs_index.csv") {
		files[r["hf_id"]] = r["file"]
	}
	checked := 0
	for _, row := range datatest.Shared(t, "params_truth.csv") {
		file := row["config_file"]
		if file == "" {
			file = files[row["hf_id"]]
		}
		if row["exactness"] != "exact-elements" || file == "" {
			continue
		}
		data, err := os.ReadFile(datatest.Path("configs/" + file))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Config(row["hf_id"], data)
		if err != nil || r.Recipe == "" {
			t.Logf("%s is passed over: %v", row["hf_id"], err)
			continue
		}
		want, err := strconv.ParseInt(row["total_params"], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		known, ok := rowCounts[row["hf_id"]]
		if got := known.counted.count(r.Model, recipeOfResolved(r)); !ok || got+known.beyond != want {
			t.Errorf("%s: %d elements, published %d (%+d)", row["hf_id"], got, want, want-got)
		}
		checked++
	}
	if checked < 9 {
		t.Errorf("%d rows checked", checked)
	}
}

// TestCheckpointBytes: bytes of published checkpoints (metadata.total_size of their indices).
func TestCheckpointBytes(t *testing.T) {
	if datatest.Path("") == "" {
		return
	}
	exact := 0
	for _, row := range datatest.Shared(t, "params_truth.csv") {
		if row["checkpoint_bytes"] == "" || row["config_file"] == "" {
			continue
		}
		data, err := os.ReadFile(datatest.Path("configs/" + row["config_file"]))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Config(row["hf_id"], data)
		if err != nil {
			t.Logf("%s is passed over: %v", row["hf_id"], err)
			continue
		}
		want, err := strconv.ParseInt(row["checkpoint_bytes"], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		recipe := recipeOfResolved(r)
		if recipe == nil {
			recipe = dtype.FindRecipe(r.Spec.Native.Name)
		}
		got, known := int64(r.Model.Store(recipe).Bytes()), bytesBeyond[row["hf_id"]]
		if got+known.bytes != want {
			t.Errorf("%s: %d bytes, published %d (%+d) %s", row["hf_id"], got, want, want-got, row["note"])
			continue
		}
		exact++
	}
	if exact < 20 {
		t.Errorf("%d checkpoints compared", exact)
	}
}

// bytesBeyond is what published sizes have beyond the parameters, and why.
var bytesBeyond = map[string]struct {
	bytes int64
	why   string
}{
	"bryce-hoehn/Qwen3.5-25B-REAP-A3B-Coding":            {-1210819584, "the files lack the prediction layer of the configuration"},
	"cognitivecomputations/Wizard-Vicuna-30B-Uncensored": {15360, "60 rotary buffers of 64 f32"},
	"LeoWang0086/chatglm3-6b-qxs":                        {64, "a rotary buffer of 32 f16"},
	"Orenguteng/Lexi-Llama-3-8B-Uncensored":              {1610612736, "the index is stale"},
	"PygmalionAI/pygmalion-7b":                           {4096, "32 rotary buffers of 64 f16"},
	"FreedomIntelligence/openPangu-Embedded-7B":          {8704, "34 rotary buffers of 64 f32"},
	"internlm/internlm-chat-7b":                          {8192, "32 rotary buffers of 64 f32"},
	"MerlynMind/merlyn-education-teacher-assistant":      {36 * (2048*2048/8 + 64 + 4), "36 masks of 2048 × 2048 bits, rotary buffers of 16 f32, and a number each"},
	"openbmb/Scicore-Omics":                              {12000, "its two totals disagree by 6,000 elements"},
	"Salesforce/xgen-mm-phi3-mini-instruct-r-v1":         {8718514438, "the files are in fp32, though the configuration says bf16"},
	"MBZUAI/AIN":                     {16582751232, "the files are in fp32, though the configuration says bf16"},
	"Salesforce/instructcodet5p-16b": {55 * 2048 * 2048, "masks of one byte in 54 layers, and one for cross-attention"},
	"deepseek-ai/DeepSeek-OCR-2":     {2 * 564 * 896, "the files are of a study of its queries, which has as many more of them"},
	"tiiuae/falcon-180B-chat":        {1930952704, "the files hold the tied head twice"},
}
