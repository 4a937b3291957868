package quant

import (
	"strconv"
	"strings"
	"sync"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/spell"
)

// Formats returns every format, the widest of each family first.
func Formats() []*Format { return formats() }

// Find returns the format with a name in common spelling; if unknown, nil and similar names.
func Find(name string) (f *Format, near []string) {
	want := folded(name)
	for _, f := range formats() {
		if folded(f.Name) == want {
			return f, nil
		}
	}
	var names []string
	for _, f := range formats() {
		names = append(names, f.Name)
	}
	return nil, spell.Nearest(strings.ToLower(name), names)
}

var folder = strings.NewReplacer("_", "", "-", "", " ", "", ".", "")

func folded(s string) string { return folder.Replace(strings.ToLower(s)) }

var formats = sync.OnceValue(func() []*Format {
	return []*Format{
		ofGGML(dtype.Q8_0, q8zero{}), ofGGML(dtype.Q6_K, q6k{}), ofGGML(dtype.Q5_1, q5one{}), ofGGML(dtype.Q5_0, q5zero{}),
		ofGGML(dtype.Q5_K, q5k{}),
		ofGGML(dtype.Q4_1, q4one{}), ofGGML(dtype.Q4_K, q4k{}), ofGGML(dtype.Q4_0, q4zero{}), ofGGML(dtype.IQ4_NL, iq4nl{}),
		ofGGML(dtype.IQ4_XS, iq4xs{}),
		ofGGML(dtype.Q3_K, q3k{}), ofGGML(dtype.Q2_K, q2k{}),

		{Name: "fp8", Scheme: dtype.FP8Channel, Family: Hub, Note: "e4m3, a scale per row", coder: eight(e4m3, e4m3s, false, scaleBF16)},
		{Name: "fp8-tensor", Scheme: dtype.FP8Tensor, Family: Hub, Whole: true, Note: "e4m3, one scale",
			coder: eight(e4m3, e4m3s, true, scaleF32)},
		{Name: "fp8-block", Scheme: dtype.FP8Block, Family: Hub, Note: "e4m3, a scale per 128 × 128",
			coder: func(s *Survey) (Coder, error) { return &squares{int(s.Cols)}, nil }},
		{Name: "fp8-e5m2", Scheme: with(dtype.FP8Channel, "fp8-e5m2", dtype.FP8E5M2), Family: Hub, Note: "e5m2, a scale per row",
			coder: eight(e5m2, e5m2s, false, scaleBF16)},
		{Name: "mxfp8", Scheme: dtype.MXFP8, Family: Hub, Note: "e4m3, a power of two per 32", coder: mx(e4m3, e4m3s)},
		{Name: "int8", Scheme: dtype.Int8Channel, Family: Hub, Note: "a scale per row", coder: integerCoder(8, 0, false, scaleF32)},
		{Name: "int8-tensor", Scheme: integer("int8-tensor", dtype.I8, -1, false), Family: Hub, Whole: true, Note: "one scale",
			coder: integerCoder(8, -1, false, scaleF32)},
		{Name: "int8-g128", Scheme: dtype.Packed(dtype.I8, 128), Family: Hub, Note: "a scale per 128",
			coder: integerCoder(8, 128, false, scaleBF16)},
		{Name: "int8-zero", Scheme: integer("int8-zero", dtype.I8, 0, true), Family: Hub, Note: "a scale and a zero point per row",
			coder: integerCoder(8, 0, true, scaleF32)},
		{Name: "int8-zero-tensor", Scheme: integer("int8-zero-tensor", dtype.I8, -1, true), Family: Hub, Whole: true,
			Note: "one scale and one zero point", coder: integerCoder(8, -1, true, scaleF32)},
		{Name: "int8-zero-g128", Scheme: integer("int8-zero-g128", dtype.I8, 128, true), Family: Hub,
			Note: "a scale and a zero point per 128", coder: integerCoder(8, 128, true, scaleF32)},
		{Name: "llm.int8", Scheme: dtype.LLMInt8, Family: Hub, Note: "a scale per row, outlier columns in f16",
			coder: func(s *Survey) (Coder, error) { return &llmInt8{int(s.Cols), s.Outliers}, nil }},
		symmetric4(32), symmetric4(64), symmetric4(128), zero4(32), zero4(64), zero4(128), zero2(32), zero2(64),
		{Name: "gptq-g128", Scheme: dtype.GPTQ(dtype.I4, 128), Family: Hub, Asks: OfEach,
			Note:  "int4-zero-g128, each column makes up for those before",
			coder: func(s *Survey) (Coder, error) { return newGPTQ(newIntegers(s, 4, 128, true, scaleF16), s) }},
		{Name: "awq-g128", Scheme: dtype.AWQ(128), Family: Hub, Whole: true, Asks: OfColumns,
			Note: "int4-zero-g128, columns of large inputs scaled up", coder: newAWQ},
		{Name: "nvfp4", Scheme: dtype.NVFP4Split, Family: Hub, Whole: true, Note: "e2m1, e4m3 scales of 16",
			coder: func(s *Survey) (Coder, error) { return newNVFP4(s), nil }},
		{Name: "mxfp4", Scheme: dtype.MXFP4Split, Family: Hub, Note: "e2m1, a power of two per 32", coder: mx(e2m1, e2m1s)},
		{Name: "nf4", Scheme: dtype.NF4Double, Family: Hub, Whole: true, Note: "16 quantiles, scales of 64 in 8 bits",
			coder: double(nf4Levels)},
		{Name: "nf4-single", Scheme: dtype.NF4Single, Family: Hub, Note: "16 quantiles, f32 scales of 64",
			coder: func(*Survey) (Coder, error) { return flat{nf4Levels()}, nil }},
		{Name: "fp4", Scheme: named("fp4", dtype.NF4Double), Family: Hub, Whole: true, Note: "bitsandbytes fp4, scales of 64 in 8 bits",
			coder: double(fp4Levels)},
		{Name: "fp4-single", Scheme: named("fp4-single", dtype.NF4Single), Family: Hub, Note: "bitsandbytes fp4, f32 scales of 64",
			coder: func(*Survey) (Coder, error) { return flat{fp4Levels()}, nil }},
	}
})

func ofGGML(f *dtype.Format, c Coder) *Format {
	return &Format{Name: f.Name, Scheme: dtype.Of(f), Family: GGUF, Note: f.Note, coder: func(*Survey) (Coder, error) { return c, nil }}
}

func eight(of *minifloat, codes []float32, tensor bool, scale scaleStore) func(*Survey) (Coder, error) {
	return func(s *Survey) (Coder, error) { return newEights(s, of, codes, tensor, scale), nil }
}

func mx(of *minifloat, codes []float32) func(*Survey) (Coder, error) {
	return func(s *Survey) (Coder, error) {
		return &shared{cols: int(s.Cols), group: 32, of: of, codes: codes}, nil
	}
}

// integerCoder returns a coder of integers in groups of columns; group 0 is a row, negative the matrix.
func integerCoder(bits int, group int64, zero bool, scale scaleStore) func(*Survey) (Coder, error) {
	return func(s *Survey) (Coder, error) { return newIntegers(s, bits, group, zero, scale), nil }
}

func double(of func() *levels) func(*Survey) (Coder, error) {
	return func(s *Survey) (Coder, error) { return &doubled{of(), s.blockMean()}, nil }
}

func symmetric4(group int64) *Format {
	n := strconv.FormatInt(group, 10)
	return &Format{Name: "int4-g" + n, Scheme: dtype.Packed(dtype.I4, group), Family: Hub, Note: "a scale per " + n,
		coder: integerCoder(4, group, false, scaleBF16)}
}

func zero4(group int64) *Format {
	n := strconv.FormatInt(group, 10)
	return &Format{Name: "int4-zero-g" + n, Scheme: dtype.AWQ(group), Family: Hub, Note: "a scale and a zero point per " + n,
		coder: integerCoder(4, group, true, scaleF16)}
}

// zero2 returns a 2-bit format for KV caches (KIVI, arXiv:2402.02750).
func zero2(group int64) *Format {
	n := strconv.FormatInt(group, 10)
	s := with(dtype.AWQ(group), "int2-zero-g"+n, dtype.I2)
	s.With = []dtype.Companion{s.With[0], {Name: s.With[1].Name, Elem: dtype.I2, Rows: 1, Cols: group}}
	return &Format{Name: s.Name, Scheme: s, Family: Hub, Note: "a scale and a zero point per " + n,
		coder: integerCoder(2, group, true, scaleF16)}
}

// integer returns a scheme of integers with f32 scales; group as in whole.
func integer(name string, elem *dtype.Format, group int64, zero bool) *dtype.Scheme {
	beside := func(what string, f *dtype.Format) dtype.Companion {
		if group < 0 {
			return dtype.Companion{Name: what, Elem: f, Fixed: 1}
		}
		return dtype.Companion{Name: what, Elem: f, Rows: 1, Cols: group}
	}
	s := &dtype.Scheme{Name: name, Elem: elem, With: []dtype.Companion{beside("weight_scale", dtype.F32)}}
	if zero {
		s.With = append(s.With, beside("weight_zero_point", elem))
	}
	return s
}

func with(s *dtype.Scheme, name string, elem *dtype.Format) *dtype.Scheme {
	return &dtype.Scheme{Name: name, Elem: elem, With: s.With}
}

func named(name string, s *dtype.Scheme) *dtype.Scheme { return with(s, name, s.Elem) }
