// Package dtype describes how numbers are stored: formats (bits, blocks, scales) and recipes, which say which format
// each tensor of a model gets under a named quantization.
//
// format.go and ggml.go hold the formats, scheme.go the companions of a stored tensor (scales, zero points, indices),
// role.go the purpose of a tensor, and recipe.go the named quantizations. To see what Q4_K_M does to a model, open
// recipe_ggml.go.
package dtype

import (
	"math"

	"github.com/memwall/memwall/unit"
)

// Format stores a row of numbers as blocks of BlockElems elements in BlockBytes bytes.
type Format struct {
	Name       string // canonical, lower case: "bf16", "q4_k"
	BlockElems int64
	BlockBytes int64
	RowBytes   int64  // preceding the blocks of each row, in ik_llama.cpp files
	GGML       int    // type number in GGUF files, or NoGGML
	Float      *Float // set for plain floating-point formats
	Note       string // one-line description of the block layout
}

// NoGGML marks a format that GGUF files cannot store.
const NoGGML = -1

// Float describes the bit layout of a floating-point number.
type Float struct {
	Exponent, Fraction int
	// NoInf reports that the largest exponent encodes finite numbers (E4M3: all codes but one, E2M1: all).
	NoInf bool
	// NoNaN reports that there is not a NaN at all (E2M1).
	NoNaN bool
}

// Bytes returns the size of n elements; n must be a multiple of BlockElems (see Fits).
func (f *Format) Bytes(n int64) unit.Bytes { return unit.Bytes(n / f.BlockElems * f.BlockBytes) }

// Row is Bytes for a row that may end within a block or a byte: the last block is stored whole.
func (f *Format) Row(n int64) unit.Bytes {
	return unit.Bytes(unit.CeilDiv(n, f.BlockElems)*f.BlockBytes + f.RowBytes)
}

// Fits reports whether a row of n elements consists of whole blocks.
func (f *Format) Fits(n int64) bool { return n%f.BlockElems == 0 }

// Bits returns the bits per element, block scales included.
func (f *Format) Bits() float64 { return float64(8*f.BlockBytes) / float64(f.BlockElems) }

// Bias returns the exponent bias, IEEE 754's 2^(e-1)-1.
func (f *Float) Bias() int { return 1<<(f.Exponent-1) - 1 }

// Max returns the largest finite value.
func (f *Float) Max() float64 {
	exp, frac := 1<<f.Exponent-2, 2-math.Pow(2, -float64(f.Fraction))
	if f.NoInf {
		exp++
		if !f.NoNaN {
			frac -= math.Pow(2, -float64(f.Fraction))
		}
	}
	return frac * math.Pow(2, float64(exp-f.Bias()))
}

// SmallestNormal returns the smallest positive normal number.
func (f *Float) SmallestNormal() float64 { return math.Pow(2, float64(1-f.Bias())) }

// SmallestSubnormal returns the smallest positive number.
func (f *Float) SmallestSubnormal() float64 {
	return f.SmallestNormal() * math.Pow(2, -float64(f.Fraction))
}

// Epsilon returns the gap between 1 and the next larger number.
func (f *Float) Epsilon() float64 { return math.Pow(2, -float64(f.Fraction)) }

// Plain formats, as PyTorch and safetensors store them.
var (
	F64  = &Format{Name: "f64", BlockElems: 1, BlockBytes: 8, GGML: 28, Float: &Float{Exponent: 11, Fraction: 52}}
	F32  = &Format{Name: "f32", BlockElems: 1, BlockBytes: 4, GGML: 0, Float: &Float{Exponent: 8, Fraction: 23}}
	TF32 = &Format{Name: "tf32", BlockElems: 1, BlockBytes: 4, GGML: NoGGML, Float: &Float{Exponent: 8, Fraction: 10},
		Note: "an arithmetic mode: stored as f32, multiplied with 10 fraction bits"}
	F16     = &Format{Name: "f16", BlockElems: 1, BlockBytes: 2, GGML: 1, Float: &Float{Exponent: 5, Fraction: 10}}
	BF16    = &Format{Name: "bf16", BlockElems: 1, BlockBytes: 2, GGML: 30, Float: &Float{Exponent: 8, Fraction: 7}}
	FP8E4M3 = &Format{Name: "fp8_e4m3", BlockElems: 1, BlockBytes: 1, GGML: NoGGML, Float: &Float{Exponent: 4, Fraction: 3, NoInf: true}}
	FP8E5M2 = &Format{Name: "fp8_e5m2", BlockElems: 1, BlockBytes: 1, GGML: NoGGML, Float: &Float{Exponent: 5, Fraction: 2}}
	FP4E2M1 = &Format{Name: "fp4_e2m1", BlockElems: 2, BlockBytes: 1, GGML: NoGGML,
		Float: &Float{Exponent: 2, Fraction: 1, NoInf: true, NoNaN: true}}
	E8M0 = &Format{Name: "e8m0", BlockElems: 1, BlockBytes: 1, GGML: NoGGML, Note: "a power of two: the scale of the MX formats"}
	NF4  = &Format{Name: "nf4_code", BlockElems: 2, BlockBytes: 1, GGML: NoGGML,
		Note: "16 levels at the quantiles of a normal distribution"}
	I64  = &Format{Name: "i64", BlockElems: 1, BlockBytes: 8, GGML: 27}
	I32  = &Format{Name: "i32", BlockElems: 1, BlockBytes: 4, GGML: 26}
	I16  = &Format{Name: "i16", BlockElems: 1, BlockBytes: 2, GGML: 25}
	I8   = &Format{Name: "i8", BlockElems: 1, BlockBytes: 1, GGML: 24}
	U8   = &Format{Name: "u8", BlockElems: 1, BlockBytes: 1, GGML: NoGGML}
	Bool = &Format{Name: "bool", BlockElems: 1, BlockBytes: 1, GGML: NoGGML}
	I4   = &Format{Name: "i4", BlockElems: 2, BlockBytes: 1, GGML: NoGGML}
	I3   = &Format{Name: "i3", BlockElems: 32, BlockBytes: 12, GGML: NoGGML}
	I2   = &Format{Name: "i2", BlockElems: 4, BlockBytes: 1, GGML: NoGGML}
	Bit  = &Format{Name: "bit", BlockElems: 8, BlockBytes: 1, GGML: NoGGML}
)

// Plain lists the formats above, widest first.
var Plain = []*Format{F64, F32, TF32, BF16, F16, FP8E4M3, FP8E5M2, FP4E2M1, NF4, E8M0, I64, I32, I16, I8, U8, Bool, I4, I3, I2, Bit}
