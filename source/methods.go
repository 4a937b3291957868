package source

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model/family"
)

// Less common quantization methods, by quant_method.

// rarer maps them to their readers.
var rarer = map[string]func(q *family.Config, native *dtype.Format) (*quantisation, error){
	"exl2": readEXL, "exl3": readEXL, "hqq": readHQQ, "aqlm": readAQLM, "quanto": readQuanto, "fp_quant": readFPQuant,
	"eetq": func(_ *family.Config, native *dtype.Format) (*quantisation, error) {
		return simple("eetq", dtype.I8, headless, rowScaled("eetq-int8", dtype.I8, native), nil), nil
	},
	// BitNet packs four ternary weights per byte (transformers, integrations/bitnet.py).
	"bitnet": func(q *family.Config, native *dtype.Format) (*quantisation, error) {
		s := &dtype.Scheme{Name: "bitnet", Elem: dtype.I2, With: []dtype.Companion{scalar("weight_scale", native)}}
		return simple("bitnet", dtype.I2, headless, s, q.Strs("modules_to_not_convert")), q.Err()
	},
	"mxfp8": func(q *family.Config, _ *dtype.Format) (*quantisation, error) {
		s := &dtype.Scheme{Name: "mxfp8", Elem: dtype.FP8E4M3, With: dtype.MXFP8.With}
		return simple("mxfp8", s.Elem, headless, s, append(q.Strs("modules_to_not_convert"), q.Strs("ignored_layers")...)), q.Err()
	},
}

// rowScaled returns a scheme with one scale per row.
func rowScaled(name string, elem, scale *dtype.Format) *dtype.Scheme {
	return &dtype.Scheme{Name: name, Elem: elem, With: []dtype.Companion{perGroup("weight_scale", scale, 0)}}
}

// grouped returns a scheme with a scale and zero point per group of columns.
func grouped(name string, bits, group int64, of *dtype.Format) *dtype.Scheme {
	return &dtype.Scheme{Name: schemeName(fmt.Sprintf("%s-int%d", name, bits), group), Elem: integers(bits), With: []dtype.Companion{perGroup("scale", of, group), perGroup("zero", of, group)}}
}

// readEXL reads ExLlama's configuration: average bits of the layers, and bits of the head (exllamav2, conversion;
// exllamav3, convert_model.py).
func readEXL(q *family.Config, _ *dtype.Format) (*quantisation, error) {
	bits, head := q.Float(0, "bits"), q.Float(6, "head_bits")
	if err := q.Err(); err != nil {
		return nil, err
	}
	for _, b := range []float64{bits, head} {
		if !(b >= 1 && b <= 16) {
			q.Fail("bits", b, "is not an average of bits", "2 to 8 are usual")
			return nil, q.Err()
		}
	}
	body, top := meanBits(bits), meanBits(head)
	text := strconv.FormatFloat(bits, 'f', -1, 64)
	if bits == math.Trunc(bits) {
		text += ".0"
	}
	return &quantisation{name: strings.ToLower(q.Str("quant_method")) + "-" + text + "bpw", base: body.Elem, reach: linear, mean: true,
		groups: []group{{only: []string{"lm_head"}, scheme: top}, {scheme: body}}}, nil
}

// meanBits returns a scheme with the given average, in steps of 1/16 bit per 128 elements.
func meanBits(bits float64) *dtype.Scheme {
	n := int64(math.Round(bits * 16))
	name := fmt.Sprintf("exl-%g", bits)
	return &dtype.Scheme{Name: name, Elem: &dtype.Format{Name: name, BlockElems: 128, BlockBytes: n, GGML: dtype.NoGGML}}
}

// readHQQ reads HQQ's config: codes, with scales and zero points in the checkpoint's format (mobiusml/hqq,
// core/quantize.py).
func readHQQ(q *family.Config, native *dtype.Format) (*quantisation, error) {
	w := q
	for _, key := range []string{"quant_config", "weight_quant_params"} {
		if w = w.Sub(key); w == nil {
			q.Fail(key, nil, "is missing", "give the model's own config.json")
			return nil, q.Err()
		}
	}
	s := grouped("hqq", bitsOf(w, 4, "nbits"), groupOf(w, 64, "group_size"), native)
	return simple(s.Name, s.Elem, headless, s, q.Strs("skip_modules")), q.Err()
}

// readAQLM reads AQLM's config: codes per group of weights, a scale per row, and codebooks per matrix
// (arXiv:2401.06118).
func readAQLM(q *family.Config, native *dtype.Format) (*quantisation, error) {
	books, codeBits := q.IntOr(1, "num_codebooks"), q.IntOr(16, "nbits_per_codebook")
	each := q.IntOr(8, "in_group_size") * q.IntOr(1, "out_group_size")
	if err := q.Err(); err != nil {
		return nil, err
	}
	if books < 1 || books > 64 || codeBits < 1 || codeBits > 16 || each < 1 || each > 1<<10 || books*codeBits%each != 0 || integers(books*codeBits/each) == nil {
		q.Fail("num_codebooks", books, fmt.Sprintf("× nbits_per_codebook = %d over groups of %d is not a whole number of bits", codeBits, each), "give the safetensors files")
		return nil, q.Err()
	}
	bits := books * codeBits / each
	s := &dtype.Scheme{Name: fmt.Sprintf("aqlm-%dbit", bits), Elem: integers(bits), With: []dtype.Companion{perGroup("scales", native, 0), {Name: "codebooks", Elem: native, Fixed: books << codeBits * each}}}
	var keep []string
	for _, name := range q.Strs("linear_weights_not_to_quantize") {
		keep = append(keep, strings.TrimSuffix(name, ".weight"))
	}
	return simple(s.Name, s.Elem, linear, s, keep), q.Err()
}

// readQuanto reads optimum-quanto's config: a scale per row at 8 bits, otherwise a scale and shift per 128 columns.
func readQuanto(q *family.Config, native *dtype.Format) (*quantisation, error) {
	var s *dtype.Scheme
	switch kind := q.Str("weights"); kind {
	case "int8":
		s = rowScaled("quanto-int8", dtype.I8, native)
	case "float8":
		s = rowScaled("quanto-float8", dtype.FP8E4M3, native)
	case "int4":
		s = grouped("quanto", 4, 128, native)
	case "int2":
		s = grouped("quanto", 2, 128, native)
	default:
		return nil, unknownMethod("quanto " + kind)
	}
	return simple(s.Name, s.Elem, headless, s, q.Strs("modules_to_not_convert")), q.Err()
}

// readFPQuant reads FP-Quant's config: MXFP4 or NVFP4 (transformers, FPQuantConfig).
func readFPQuant(q *family.Config, _ *dtype.Format) (*quantisation, error) {
	s := mxfp4(32)
	if strings.EqualFold(q.Str("forward_dtype"), "nvfp4") {
		s = nvfp4(16, false)
	}
	return simple(s.Name, s.Elem, headless, s, q.Strs("modules_to_not_convert")), q.Err()
}

// readAutoRound reads Intel AutoRound's config. By data_type it stores integers like GPTQ or AWQ, or floats like
// compressed-tensors.
func readAutoRound(q *family.Config) (*quantisation, error) {
	bits, kind := q.IntOr(4, "bits"), q.Str("data_type")
	var s *dtype.Scheme
	switch {
	case strings.HasPrefix(kind, "mx_fp") && bits == 4:
		s = mxfp4(32)
	case strings.HasPrefix(kind, "mx_fp") && bits == 8:
		s = &dtype.Scheme{Name: "mxfp8", Elem: dtype.FP8E4M3, With: dtype.MXFP8.With}
	case strings.HasPrefix(kind, "nv_fp"):
		s = nvfp4(16, q.IntOr(16, "act_bits") < 16)
	case strings.HasPrefix(kind, "fp") && bits == 8:
		s = float8("fp8-channel", dtype.F32, 1, 0, false)
	case strings.HasSuffix(q.Str("packing_format"), "awq"):
		return readAWQ(q)
	default:
		return readGPTQ(q)
	}
	out := simple(compressedName("", s.Name), s.Elem, blocks, s, q.Strs("modules_to_not_convert"))
	out.name = strings.Replace(out.name, "nvfp4-g16", "nvfp4", 1)
	return out, q.Err()
}

// lastOf returns an object, or the last of a list of objects: the result of several quantization steps.
func lastOf(c *family.Config, key string) *family.Config {
	list, ok := c.Value(key).([]any)
	if !ok {
		return c.Sub(key)
	}
	if len(list) == 0 {
		return nil
	}
	m, ok := list[len(list)-1].(map[string]any)
	if !ok {
		return nil
	}
	return c.Nested(key, m)
}
