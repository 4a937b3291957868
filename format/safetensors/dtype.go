package safetensors

import "github.com/memwall/memwall/dtype"

// Types that the format has but models rarely use. The last two are the FP8 types of AMD's MI300: no negative zero, a
// single NaN, no infinity, and an exponent bias one larger than IEEE 754's.
var (
	u16     = unsigned("u16", 2)
	u32     = unsigned("u32", 4)
	u64     = unsigned("u64", 8)
	c64     = &dtype.Format{Name: "c64", BlockElems: 1, BlockBytes: 8, GGML: dtype.NoGGML, Note: "a complex number: two f32"}
	fp6e2m3 = &dtype.Format{Name: "fp6_e2m3", BlockElems: 4, BlockBytes: 3, GGML: dtype.NoGGML,
		Float: &dtype.Float{Exponent: 2, Fraction: 3, NoInf: true, NoNaN: true}}
	fp6e3m2 = &dtype.Format{Name: "fp6_e3m2", BlockElems: 4, BlockBytes: 3, GGML: dtype.NoGGML,
		Float: &dtype.Float{Exponent: 3, Fraction: 2, NoInf: true, NoNaN: true}}
	fp8e4m3z = &dtype.Format{Name: "fp8_e4m3fnuz", BlockElems: 1, BlockBytes: 1, GGML: dtype.NoGGML,
		Note: "e4m3 with a bias of 8 and no negative zero"}
	fp8e5m2z = &dtype.Format{Name: "fp8_e5m2fnuz", BlockElems: 1, BlockBytes: 1, GGML: dtype.NoGGML,
		Note: "e5m2 with a bias of 16 and no negative zero"}
)

func unsigned(name string, bytes int64) *dtype.Format {
	return &dtype.Format{Name: name, BlockElems: 1, BlockBytes: bytes, GGML: dtype.NoGGML}
}

// named are the types of the format (enum Dtype of safetensors/src/tensor.rs, version 0.8.0-dev).
type named struct {
	name   string
	format *dtype.Format
}

var dtypes = []named{
	{"BF16", dtype.BF16}, {"F16", dtype.F16}, {"F32", dtype.F32}, {"F64", dtype.F64},
	{"F8_E4M3", dtype.FP8E4M3}, {"F8_E5M2", dtype.FP8E5M2}, {"F8_E8M0", dtype.E8M0},
	{"F8_E4M3FNUZ", fp8e4m3z}, {"F8_E5M2FNUZ", fp8e5m2z},
	{"F6_E2M3", fp6e2m3}, {"F6_E3M2", fp6e3m2}, {"F4", dtype.FP4E2M1},
	{"I64", dtype.I64}, {"I32", dtype.I32}, {"I16", dtype.I16}, {"I8", dtype.I8},
	{"U64", u64}, {"U32", u32}, {"U16", u16}, {"U8", dtype.U8},
	{"BOOL", dtype.Bool}, {"C64", c64},
}

// byName returns the type with a name. For known types the returned name is shared, not allocated.
func byName(name []byte) (string, *dtype.Format) {
	for i := range dtypes {
		if string(name) == dtypes[i].name {
			return dtypes[i].name, dtypes[i].format
		}
	}
	return string(name), nil
}

// ByName returns the type with a name in the format ("F8_E4M3"), or nil.
func ByName(name string) *dtype.Format {
	_, f := byName([]byte(name))
	return f
}
