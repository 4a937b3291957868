package source

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model/family"
)

// readCompressed reads a compressed-tensors configuration (src/compressed_tensors/quantization/quant_config.py and
// compressors): config_groups of schemes with their target modules.
func readCompressed(q *family.Config, native *dtype.Format) (*quantisation, error) {
	out := &quantisation{reach: linear, keep: q.Strs("ignore")}
	all := q.Sub("config_groups")
	if all == nil {
		q.Fail("config_groups", nil, "is missing", "give the model's own config.json")
		return nil, q.Err()
	}
	var named, rest []group
	for _, key := range all.Keys() {
		g := all.Sub(key)
		if g == nil {
			continue
		}
		scheme, base, err := compressedScheme(g, q.Str("format"), native)
		if err != nil {
			return nil, err
		}
		if sp := q.Sub("sparsity_config"); sp != nil && sp.Str("format") == "sparse-24-bitmask" {
			scheme = halved(scheme)
			base = scheme.Elem
		}
		if only := targets(g); only != nil {
			named = append(named, group{only, scheme})
		} else {
			rest = append(rest, group{scheme: scheme})
		}
		out.base, out.name = base, compressedName(out.name, scheme.Name)
	}
	out.groups = append(named, rest...)
	if len(out.groups) == 0 {
		q.Fail("config_groups", nil, "is empty", "give the model's own config.json")
	}
	return out, q.Err()
}

// halved stores two of every four values, and a bit per value that says which (compressed-tensors,
// compressors/sparse_compressors/sparse_24_bitmask.py: compressed, bitmask and the shape).
func halved(s *dtype.Scheme) *dtype.Scheme {
	if s.Elem.BlockElems != 1 || s.Elem.BlockBytes != 1 {
		return s
	}
	kept := &dtype.Format{Name: s.Elem.Name + "-2of4", BlockElems: 2, BlockBytes: 1, GGML: dtype.NoGGML}
	bits := &dtype.Format{Name: "bit", BlockElems: 8, BlockBytes: 1, GGML: dtype.NoGGML}
	out := &dtype.Scheme{Name: s.Name + "-2of4", Elem: kept, With: append(s.With[:len(s.With):len(s.With)], dtype.Companion{Name: "bitmask", Elem: bits, Rows: 1, Cols: 1})}
	return out
}

// compressedName returns the scheme's name, or that of an equivalent recipe; several are joined.
func compressedName(before, scheme string) string {
	if r, ok := recipeOf[scheme]; ok {
		scheme = r
	}
	if before == "" || before == scheme {
		return scheme
	}
	return before + " + " + scheme
}

var recipeOf = map[string]string{"fp8-channel": "fp8", "int8-channel": "int8", "packed-int4-g128": "int4", "nvfp4-g16": "nvfp4", "mxfp4-g32": "mxfp4-all", "packed-int4-g64": "int4-g64", "packed-int4-g32": "int4-g32"}

// targets returns the modules of a group; nil for all linear layers, as meant by a class name such as Linear.
func targets(g *family.Config) []string {
	list := g.Strs("targets")
	for _, t := range list {
		if !strings.HasPrefix(t, "re:") && !strings.Contains(t, ".") && t != strings.ToLower(t) {
			return nil
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list
}

// compressedScheme reads the weights of a group. Scales are in the checkpoint's 16-bit format.
func compressedScheme(g *family.Config, format string, native *dtype.Format) (*dtype.Scheme, *dtype.Format, error) {
	w := g.Sub("weights")
	if w == nil {
		g.Fail("weights", nil, "is missing: only activations are quantised", "give the safetensors files")
		return nil, nil, g.Err()
	}
	if f := g.Str("format"); f != "" {
		format = f
	}
	a := compressedArgs{bits: w.IntOr(8, "num_bits"), kind: w.Str("type"), strategy: w.Str("strategy"), group: groupOf(w, 0, "group_size"), block: w.Ints("block_structure"),
		symmetric: w.Bool(true, "symmetric"), order: actOrder(w), native: native}
	if in := g.Sub("input_activations"); in != nil {
		a.inputs, a.static = true, !inputsDynamic(in)
	}
	if err := w.Err(); err != nil {
		return nil, nil, err
	}
	if s := a.scheme(format); s != nil {
		return s, s.Elem, nil
	}
	return nil, nil, &memwall.Error{Code: memwall.Unsupported, Field: "quantization_config.format", Value: format,
		Message: fmt.Sprintf("quantization_config: %d-bit %.20s weights in the format %.40q are not known", a.bits, a.kind, format), Hint: "give the folder with the safetensors files for exact weights"}
}

// actOrder reports whether a group index is stored: "group" (or true) stores it for every column; "static" sorts
// beforehand and stores nothing.
func actOrder(w *family.Config) bool {
	switch v := w.Value("actorder").(type) {
	case bool:
		return v
	case string:
		return v == "group" || v == "dynamic"
	}
	return false
}

// inputsDynamic reports whether activation scales are computed at run time: true, or "local" with a stored global
// scale.
func inputsDynamic(in *family.Config) bool {
	v, _ := in.Value("dynamic").(bool)
	return v
}

// compressedArgs are the QuantizationArgs of weights, and what is stored for the inputs.
type compressedArgs struct {
	bits             int64
	kind, strategy   string
	group            int64
	block            []int64
	symmetric, order bool
	inputs, static   bool
	native           *dtype.Format
}

func (a *compressedArgs) scheme(format string) *dtype.Scheme {
	switch {
	case strings.Contains(format, "24") || strings.Contains(format, "sparse"):
		return nil
	case a.kind == "float" && a.bits == 4 && strings.HasPrefix(format, "mxfp4"), a.kind == "float" && a.bits == 4 && a.group == 32:
		return mxfp4(32)
	case a.kind == "float" && a.bits == 4:
		return a.nvfp4()
	case a.kind == "float" && a.bits == 8 && a.group == 32:
		return &dtype.Scheme{Name: "mxfp8", Elem: dtype.FP8E4M3, With: dtype.MXFP8.With}
	case a.kind == "float" && a.bits == 8:
		return a.float8()
	case a.kind == "int" && format == "pack-quantized" && integers(a.bits) != nil:
		return a.packed()
	case a.kind == "int" && a.bits == 8:
		return a.int8()
	case a.kind == "int" && integers(a.bits) != nil:
		return a.packed()
	}
	return nil
}

// scales returns the scales of the strategy: one per matrix, row, group of columns or block.
func (a *compressedArgs) scales(name string, f *dtype.Format) dtype.Companion {
	switch {
	case a.strategy == "block" && len(a.block) == 2:
		return dtype.Companion{Name: name, Elem: f, Rows: max(1, a.block[0]), Cols: max(1, a.block[1])}
	case a.group > 0:
		return perGroup(name, f, a.group)
	case a.strategy == "channel":
		return perGroup(name, f, 0)
	}
	return scalar(name, f)
}

func (a *compressedArgs) float8() *dtype.Scheme {
	s := &dtype.Scheme{Name: "fp8-" + a.layout("tensor"), Elem: dtype.FP8E4M3, With: []dtype.Companion{a.scales("weight_scale", a.native)}}
	return a.withInputs(s)
}

func (a *compressedArgs) int8() *dtype.Scheme {
	s := &dtype.Scheme{Name: "int8-" + a.layout("tensor"), Elem: dtype.I8, With: []dtype.Companion{a.scales("weight_scale", a.native)}}
	if !a.symmetric {
		s.With = append(s.With, a.scales("weight_zero_point", dtype.I8))
	}
	return a.withInputs(s)
}

// withInputs adds the scale of inputs if static.
func (a *compressedArgs) withInputs(s *dtype.Scheme) *dtype.Scheme {
	if a.static {
		s.With = append(s.With, scalar("input_scale", a.native))
	}
	return s
}

// layout returns the name of the strategy: "channel", "block", "g128", or def.
func (a *compressedArgs) layout(def string) string {
	switch {
	case a.strategy == "block" && len(a.block) == 2:
		return "block"
	case a.group > 0:
		return fmt.Sprintf("g%d", a.group)
	case a.strategy == "channel":
		return "channel"
	}
	return def
}

// packed returns integers packed in i32 words, with the matrix's shape as two i64.
func (a *compressedArgs) packed() *dtype.Scheme {
	f := integers(a.bits)
	s := &dtype.Scheme{Name: fmt.Sprintf("packed-int%d-%s", a.bits, a.layout("tensor")), Elem: f,
		With: []dtype.Companion{a.scales("weight_scale", a.native), {Name: "weight_shape", Elem: dtype.I64, Fixed: 2}}}
	if !a.symmetric {
		s.With = append(s.With, a.scales("weight_zero_point", f))
	}
	if a.order {
		s.With = append(s.With, dtype.Companion{Name: "weight_g_idx", Elem: dtype.I32, Cols: 1})
	}
	return s
}

// nvfp4 has a global scale for the weights, and one for the inputs if quantized.
func (a *compressedArgs) nvfp4() *dtype.Scheme {
	group := a.group
	if group == 0 {
		group = 16
	}
	return nvfp4(group, a.inputs)
}

// readModelOpt reads NVIDIA modelopt's configuration, from config.json or hf_quant_config.json: one algorithm for all
// linear layers, or one per listed layer (MIXED_PRECISION).
func readModelOpt(q *family.Config) (*quantisation, error) {
	algo := strings.ToUpper(q.Str("quant_algo"))
	out := &quantisation{reach: linear, keep: append(q.Strs("exclude_modules"), q.Strs("ignore")...)}
	listed, err := readLayers(q)
	if err != nil {
		return nil, err
	}
	if (algo == "" || algo == "MIXED_PRECISION") && len(listed) == 0 {
		return readModelOptGroups(q, out)
	}
	out.groups = listed
	if algo == "MIXED_PRECISION" || algo == "" {
		out.name, out.base = "modelopt-mixed", dtype.FP4E2M1
		return out, q.Err()
	}
	name, s := modelOptScheme(algo, q)
	if s == nil {
		return nil, unknownAlgo(algo)
	}
	out.name, out.base = name, s.Elem
	out.groups = append(out.groups, group{scheme: s})
	return out, q.Err()
}

// readModelOptGroups reads a modelopt config with groups instead of an algorithm, or with several.
func readModelOptGroups(q *family.Config, out *quantisation) (*quantisation, error) {
	if !q.Has("config_groups") {
		return nil, unknownAlgo("")
	}
	c, err := readCompressed(q, dtype.F32)
	if err != nil {
		return nil, err
	}
	c.keep = out.keep
	return c, nil
}

func unknownAlgo(algo string) error {
	return &memwall.Error{Code: memwall.Unsupported, Field: "quantization_config.quant_algo", Value: algo,
		Message: fmt.Sprintf("quantization_config.quant_algo = %.40q is not known", algo), Hint: "give the folder with the safetensors files for exact weights"}
}

// readLayers reads quantized_layers: an algorithm per named module.
func readLayers(q *family.Config) ([]group, error) {
	layers := q.Sub("quantized_layers")
	if layers == nil {
		return nil, q.Err()
	}
	var out []group
	for _, name := range layers.Keys() {
		l := layers.Sub(name)
		if l == nil {
			continue
		}
		algo := strings.ToUpper(l.Str("quant_algo"))
		_, s := modelOptScheme(algo, l)
		if s == nil {
			return nil, unknownAlgo(algo)
		}
		out = append(out, group{only: []string{name}, scheme: s})
	}
	return joined(out), q.Err()
}

// modelOptScheme returns what an algorithm stores (modelopt/torch/export/quant_utils.py).
func modelOptScheme(algo string, q *family.Config) (name string, s *dtype.Scheme) {
	size := groupOf(q, 0, "group_size")
	or := func(def int64) int64 {
		if size > 0 {
			return size
		}
		return def
	}
	switch algo {
	case "FP8":
		return "fp8-tensor", float8("fp8-tensor", dtype.F32, 0, 0, true)
	case "FP8_PER_CHANNEL_PER_TOKEN":
		return "fp8", float8("fp8-channel", dtype.F32, 1, 0, false)
	case "FP8_PB_WO", "FP8_PB_REAL":
		return "fp8-block", float8("fp8-block", dtype.F32, 128, 128, false)
	case "NVFP4", "NVFP4_AWQ":
		return "nvfp4", nvfp4(or(16), true)
	case "W4A16_NVFP4":
		return "nvfp4-w4a16", nvfp4(or(16), false)
	case "W4A8_NVFP4_FP8":
		return "nvfp4-w4a16", nvfp4(or(32), false)
	case "MXFP4", "W4A8_MXFP4_FP8", "W4A16_MXFP4":
		return "mxfp4-all", mxfp4(or(32))
	case "MXFP8":
		return "mxfp8", &dtype.Scheme{Name: "mxfp8", Elem: dtype.FP8E4M3, With: dtype.MXFP8.With}
	case "W4A8_AWQ":
		return dtype.W4A8AWQ.Name, dtype.W4A8AWQ
	case "W4A16_AWQ", "INT4_AWQ":
		s := &dtype.Scheme{Name: schemeName("int4-awq", or(128)), Elem: dtype.I4, With: []dtype.Companion{perGroup("weight_scale", dtype.F32, or(128)), {Name: "pre_quant_scale", Elem: dtype.F32, Cols: 1}}}
		return s.Name, s
	case "W8A8_SQ_PER_CHANNEL", "INT8_SQ":
		return "int8", &dtype.Scheme{Name: "int8-channel", Elem: dtype.I8, With: []dtype.Companion{perGroup("weight_scale", dtype.F32, 0)}}
	}
	return "", nil
}

// readQuark reads AMD Quark's configuration: one setting for all linear layers, others for single modules.
func readQuark(q *family.Config) (*quantisation, error) {
	out := &quantisation{reach: linear, keep: q.Strs("exclude")}
	global := q.Sub("global_quant_config")
	if global == nil {
		q.Fail("global_quant_config", nil, "is missing", "give the model's own config.json")
		return nil, q.Err()
	}
	if layers := q.Sub("layer_quant_config"); layers != nil {
		for _, name := range layers.Keys() {
			s := quarkScheme(layers.Sub(name))
			if s == nil {
				return nil, unknownMethod("quark for " + name)
			}
			out.groups = append(out.groups, group{only: []string{name}, scheme: s})
		}
		out.groups = joined(out.groups)
	}
	s := quarkScheme(global)
	switch {
	case s != nil:
		out.groups = append(out.groups, group{scheme: s})
	case len(out.groups) > 0 && lastOf(global, "weight") == nil: // all other modules stay unquantized
		s = out.groups[0].scheme
	default:
		return nil, unknownMethod("quark")
	}
	out.name, out.base = compressedName("", s.Name), s.Elem
	return out, q.Err()
}

func quarkScheme(c *family.Config) *dtype.Scheme {
	if c == nil {
		return nil
	}
	w := lastOf(c, "weight")
	if w == nil {
		return nil
	}
	in := c.Sub("input_tensors")
	static := in != nil && !in.Bool(false, "is_dynamic")
	channel, size := strings.HasPrefix(w.Str("qscheme"), "per_channel"), groupOf(w, 0, "group_size")
	switch kind := w.Str("dtype"); {
	case kind == "fp8_e4m3" && channel:
		return float8("fp8-channel", dtype.F32, 1, 0, static)
	case kind == "fp8_e4m3":
		return float8("fp8-tensor", dtype.F32, 0, 0, static)
	case strings.HasPrefix(kind, "fp4") && (size == 32 || size == 0):
		return mxfp4(32)
	case kind == "int4" || kind == "uint4":
		s := &dtype.Scheme{Name: schemeName("quark-"+kind, size), Elem: dtype.I4, With: []dtype.Companion{perGroup("weight_scale", dtype.F32, size)}}
		if kind == "uint4" {
			s.With = append(s.With, perGroup("weight_zero_point", dtype.I4, size))
		}
		return s
	case kind == "int8":
		return &dtype.Scheme{Name: "int8-channel", Elem: dtype.I8, With: []dtype.Companion{perGroup("weight_scale", dtype.F32, 0)}}
	}
	return nil
}

// readTorchAO reads torchao's weight-only and float8 configs in either spelling: a name, or a type with data.
func readTorchAO(q *family.Config, native *dtype.Format) (*quantisation, error) {
	kind, size := textOf(q, "quant_type"), int64(128)
	if d := objectOf(q, "quant_type_kwargs"); d != nil {
		size = groupOf(d, 128, "group_size")
	}
	if t := objectOf(q, "quant_type"); t != nil {
		if d := t.Sub("default"); d != nil {
			t = d
		}
		kind = t.Str("_type")
		if d := t.Sub("_data"); d != nil {
			size = groupOf(d, 128, "group_size")
		}
	}
	keep := q.Strs("modules_to_not_convert")
	switch strings.ToLower(strings.NewReplacer("_", "", "Config", "").Replace(kind)) {
	case "int4weightonly":
		s := &dtype.Scheme{Name: schemeName("torchao-int4", size), Elem: dtype.I4, With: []dtype.Companion{perGroup("scale", native, size), perGroup("zero", native, size)}}
		return simple(s.Name, dtype.I4, headless, s, keep), nil
	case "int8weightonly", "int8dynamicactivationint8weight":
		s := &dtype.Scheme{Name: "torchao-int8", Elem: dtype.I8, With: []dtype.Companion{perGroup("scale", native, 0)}}
		return simple(s.Name, dtype.I8, headless, s, keep), nil
	case "float8weightonly", "float8dynamicactivationfloat8weight":
		return simple("torchao-fp8", dtype.FP8E4M3, headless, float8("torchao-fp8", dtype.F32, 0, 0, false), keep), nil
	}
	if strings.HasPrefix(kind, "NVFP4") {
		s := nvfp4(16, kind == "NVFP4DynamicActivationNVFP4WeightConfig")
		return simple(s.Name, dtype.FP4E2M1, headless, s, keep), nil
	}
	return nil, unknownMethod("torchao " + kind)
}

func textOf(q *family.Config, key string) string {
	s, _ := q.Value(key).(string)
	return s
}

func objectOf(q *family.Config, key string) *family.Config {
	if _, ok := q.Value(key).(map[string]any); !ok {
		return nil
	}
	return q.Sub(key)
}
