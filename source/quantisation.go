package source

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model/family"
)

// quantisation is what a checkpoint states about the storage of its weights. The first group that includes a tensor
// decides; tensors in no group, or kept, stay in the checkpoint's own format.
type quantisation struct {
	name   string // "fp8-block"; the name of an equivalent recipe if there is one
	base   *dtype.Format
	store  dtype.Store
	reach  reach
	groups []group
	keep   []string // modules left unquantized
	mean   bool     // bits are an average over different matrices
}

// group is a scheme with its modules.
type group struct {
	only   []string // nil for all within reach
	scheme *dtype.Scheme
}

// reach is the set of tensors that a method quantizes by default.
type reach uint8

const (
	linear   reach = iota // all linear layers, including the head
	headless              // all linear layers except the head
	blocks                // linear layers within the decoder's layers
	experts               // routed experts
	matrices              // all matrices, including embeddings (MLX)
)

func (r reach) touches(s *dtype.Site) bool {
	vision := s.Tower()
	switch r {
	case linear:
		return isLinear(s)
	case headless:
		return isLinear(s) && s.Role != dtype.Output
	case blocks:
		return isLinear(s) && s.Layer >= 0 && !vision
	case experts:
		return isLinear(s) && s.Role.Expert()
	case matrices:
		return s.Multiplied()
	}
	return false
}

// isLinear reports whether a tensor is of a linear layer; image patch embeddings are convolutions.
func isLinear(s *dtype.Site) bool {
	return s.Quantisable() && s.Role != dtype.VisionPatch && s.Role != dtype.VisionPosition
}

// readQuantisation reads the quantization in a config.json, nil if none: quantization_config in any form, or MLX's
// quantization.
func readQuantisation(c *family.Config, native *dtype.Format) (*quantisation, error) {
	for _, in := range []*family.Config{c, c.Text()} {
		if in.Has("quantization") && in.Sub("quantization") != nil {
			return checked(c, readMLX(in.Sub("quantization")))
		}
		for _, key := range []string{"quantization_config", "compression_config"} {
			if q := in.Sub(key); q != nil {
				out, err := readMethod(q, native)
				if err != nil {
					return nil, err
				}
				out.routed(in.Str("expert_dtype"))
				return checked(c, out)
			}
		}
	}
	return nil, c.Err()
}

// checked returns the config's first invalid field as an error, if any.
func checked(c *family.Config, q *quantisation) (*quantisation, error) {
	if err := c.Err(); err != nil {
		return nil, err
	}
	return q, nil
}

// readMethod reads a quantization_config by its quant_method, or by its fields if it has none.
func readMethod(q *family.Config, native *dtype.Format) (*quantisation, error) {
	method := strings.ToLower(q.Str("quant_method"))
	switch strings.ReplaceAll(method, "_", "-") {
	case "fp8":
		return readFP8(q)
	case "fbgemm-fp8":
		return simple("fp8", dtype.FP8E4M3, headless, float8("fp8-channel", dtype.F32, 1, 0, false), q.Strs("modules_to_not_convert")), nil
	case "compressed-tensors":
		return readCompressed(q, native)
	case "auto-round", "intel/auto-round", "inc":
		return readAutoRound(q)
	case "gptq", "gptq-marlin":
		return readGPTQ(q)
	case "awq", "awq-marlin":
		return readAWQ(q)
	case "bitsandbytes":
		return readBitsAndBytes(q), nil
	case "mxfp4":
		return simple("mxfp4", dtype.FP4E2M1, experts, dtype.MXFP4Split, q.Strs("modules_to_not_convert")), nil
	case "modelopt", "modelopt-fp4", "modelopt-mixed", "modelopt-mxfp8", "nvfp4":
		return readModelOpt(q)
	case "quark":
		return readQuark(q)
	case "torchao":
		return readTorchAO(q, native)
	case "":
		return readUnnamed(q)
	}
	if read := rarer[method]; read != nil {
		return read(q, native)
	}
	return nil, unknownMethod(method)
}

// readUnnamed recognizes methods without a name: modelopt by quant_algo, MLX and GPTQ by other fields.
func readUnnamed(q *family.Config) (*quantisation, error) {
	switch {
	case q.Has("quant_algo") || q.Has("producer"):
		return readModelOpt(q)
	case q.Has("desc_act") || q.Has("damp_percent"):
		return readGPTQ(q)
	case q.Has("w_bit"):
		return readAWQ(q)
	case q.Has("bits") && q.Has("group_size"):
		return readMLX(q), nil
	case q.Has("load_in_4bit") || q.Has("load_in_8bit"):
		return readBitsAndBytes(q), nil
	}
	return nil, unknownMethod("none named")
}

func unknownMethod(method string) error {
	return &memwall.Error{Code: memwall.Unsupported, Field: "quantization_config.quant_method", Value: method,
		Message: fmt.Sprintf("quantization_config.quant_method = %.60q is not a method whose storage memwall knows", method),
		Hint:    "give the folder with the safetensors files for exact weights, or --weights with a known recipe"}
}

func simple(name string, base *dtype.Format, r reach, s *dtype.Scheme, keep []string) *quantisation {
	return &quantisation{name: name, base: base, reach: r, groups: []group{{scheme: s}}, keep: keep}
}

// readFP8 reads transformers' FineGrainedFP8Config, introduced with DeepSeek-V3: e4m3 with one f32 scale per block, or
// per matrix without weight_block_size. quantized_layers takes precedence.
func readFP8(q *family.Config) (*quantisation, error) {
	static := q.Str("activation_scheme") == "static"
	out := simple("fp8-tensor", dtype.FP8E4M3, headless, float8("fp8-tensor", dtype.F32, 0, 0, static), q.Strs("modules_to_not_convert"))
	if !static {
		out.name = "fp8-tensor-dynamic"
	}
	if size := q.Ints("weight_block_size"); len(size) == 2 {
		out.name = "fp8-block"
		out.groups[0].scheme = float8("fp8-block", dtype.F32, max(1, size[0]), max(1, size[1]), false)
	}
	listed, err := readLayers(q)
	out.groups = append(listed, out.groups...)
	return out, err
}

// routed gives routed experts a separate format, which DeepSeek V4 states outside quantization_config. Rules for single
// layers take precedence.
func (q *quantisation) routed(format string) {
	if format != "fp4" {
		return
	}
	last := len(q.groups) - 1
	q.groups = append(q.groups[:last:last], group{only: []string{"experts"}, scheme: dtype.MXFP4Split}, q.groups[last])
	q.name += "-fp4-experts"
}

// readGPTQ reads the config of AutoGPTQ and GPTQModel, and of AutoRound, which is stored alike. dynamic holds rules for
// modules: "-:" excludes one, "+:" or no prefix gives it other bits.
func readGPTQ(q *family.Config) (*quantisation, error) {
	bits, size := bitsOf(q, 4, "bits"), groupOf(q, 128, "group_size")
	if err := q.Err(); err != nil {
		return nil, err
	}
	out := simple(gptqName(bits, size), integers(bits), blocks, gptq(bits, size), q.Strs("modules_to_not_convert"))
	if q.Bool(false, "lm_head") {
		out.reach = linear
	}
	out.groups[0].only = inBlocks(q)
	for _, key := range []string{"dynamic", "extra_config"} {
		if err := out.rules(q.Sub(key), bits, size); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func gptqName(bits, size int64) string {
	switch {
	case bits == 4 && size == 128:
		return "gptq"
	case bits == 4 && size > 0:
		return schemeName("gptq", size)
	case bits == 8 && size == 128:
		return "gptq-int8"
	}
	return schemeName(fmt.Sprintf("gptq-int%d", bits), size)
}

// inBlocks returns modules_in_block_to_quantize, flattened; nil if absent.
func inBlocks(q *family.Config) (out []string) {
	rows, _ := q.Value("modules_in_block_to_quantize").([]any)
	for _, row := range rows {
		names, _ := row.([]any)
		for _, n := range names {
			if s, ok := n.(string); ok {
				out = append(out, s)
			}
		}
	}
	return out
}

// rules adds a map from patterns to settings.
func (out *quantisation) rules(rules *family.Config, bits, size int64) error {
	if rules == nil {
		return nil
	}
	var own []group
	for _, key := range rules.Keys() {
		pattern, drop := rule(key)
		r := rules.Sub(key)
		switch {
		case drop || r != nil && r.IntOr(bits, "bits") >= 16:
			out.keep = append(out.keep, pattern)
		case r != nil:
			b, g := bitsOf(r, bits, "bits"), groupOf(r, size, "group_size")
			own = append(own, group{only: []string{pattern}, scheme: gptq(b, g)})
		}
		if err := rules.Err(); err != nil {
			return err
		}
	}
	out.groups = append(joined(own), out.groups...)
	return nil
}

// rule parses a key of such a map: "-:" excludes the pattern, "+:" or no prefix configures it; it may be a regular
// expression.
func rule(key string) (pattern string, drop bool) {
	pattern, drop = strings.CutPrefix(key, "-:")
	pattern, set := strings.CutPrefix(pattern, "+:")
	if drop || set || strings.ContainsAny(pattern, `\[(^$`) {
		pattern = "re:" + pattern
	}
	return pattern, drop
}

// readAWQ reads AutoAWQ's config.
func readAWQ(q *family.Config) (*quantisation, error) {
	bits, size := bitsOf(q, 4, "bits", "w_bit"), groupOf(q, 128, "group_size", "q_group_size")
	if err := q.Err(); err != nil {
		return nil, err
	}
	name := "awq"
	if bits != 4 || size != 128 {
		name = schemeName(fmt.Sprintf("awq-int%d", bits), size)
	}
	return simple(name, integers(bits), blocks, awq(bits, size), q.Strs("modules_to_not_convert")), nil
}

// readBitsAndBytes reads transformers' BitsAndBytesConfig.
func readBitsAndBytes(q *family.Config) *quantisation {
	keep := q.Strs("llm_int8_skip_modules")
	if q.Bool(false, "load_in_8bit", "_load_in_8bit") {
		return simple("bnb-int8", dtype.I8, headless, dtype.LLMInt8, keep)
	}
	double := q.Bool(false, "bnb_4bit_use_double_quant")
	switch {
	case strings.EqualFold(q.Str("bnb_4bit_quant_type"), "nf4") && double:
		return simple("nf4", dtype.NF4, headless, dtype.NF4Double, keep)
	case strings.EqualFold(q.Str("bnb_4bit_quant_type"), "nf4"):
		return simple("nf4-single", dtype.NF4, headless, dtype.NF4Single, keep)
	case double:
		return simple("fp4-double", dtype.FP4E2M1, headless, dtype.NF4Double, keep)
	}
	return simple("fp4", dtype.FP4E2M1, headless, dtype.NF4Single, keep) // FP4 has the same layout as NF4
}

// readMLX reads MLX's quantization: bits and group size for all, with settings or false for single modules.
func readMLX(q *family.Config) *quantisation {
	out := &quantisation{store: dtype.MLX, reach: matrices}
	bits, size, mode := mlxSettings(q, 4, 64, "affine")
	out.name, out.base = fmt.Sprintf("mlx-%dbit", bits), integers(bits)
	if size != 64 {
		out.name = schemeName(out.name, size)
	}
	for _, module := range q.Keys() {
		switch v := q.Value(module).(type) {
		case bool:
			if !v {
				out.keep = append(out.keep, module)
			}
		case map[string]any:
			b, g, m := mlxSettings(q.Sub(module), bits, size, mode)
			out.groups = append(out.groups, group{only: []string{module}, scheme: mlx(b, g, m)})
		}
	}
	out.groups = append(joined(out.groups), group{scheme: mlx(bits, size, mode)})
	return out
}

func mlxSettings(q *family.Config, bits, size int64, mode string) (int64, int64, string) {
	if m := q.Str("mode"); m != "" {
		mode = m
	}
	return bitsOf(q, bits, "bits"), groupOf(q, size, "group_size"), mode
}

// joined merges groups with equal schemes: thousands of individually configured modules become a few groups.
func joined(groups []group) (out []group) {
	at := map[string]int{}
	for _, g := range groups {
		i, ok := at[g.scheme.Name]
		if !ok {
			i = len(out)
			at[g.scheme.Name] = i
			out = append(out, group{scheme: g.scheme})
		}
		out[i].only = append(out[i].only, g.only...)
	}
	return out
}

// bitsOf reads a supported bit width.
func bitsOf(q *family.Config, def int64, keys ...string) int64 {
	n := q.IntOr(def, keys...)
	if integers(n) == nil {
		q.Fail(keys[0], n, "is not a width that weights are packed in", "2, 3, 4, 5, 6 or 8")
		return def
	}
	return n
}

// groupOf reads the group size; -1 and 0 mean all columns and return 0.
func groupOf(q *family.Config, def int64, keys ...string) int64 {
	for _, key := range keys {
		v, ok := q.Value(key).(json.Number)
		if !ok {
			continue
		}
		if n, err := v.Int64(); err == nil && n == -1 {
			return 0
		}
		n := q.IntOr(def, key)
		if n > 1<<20 {
			q.Fail(key, n, "is wider than any matrix", "64 or 128 are usual")
			return def
		}
		return n
	}
	return def
}
