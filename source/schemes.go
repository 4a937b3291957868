package source

import (
	"fmt"
	"strconv"

	"github.com/memwall/memwall/dtype"
)

// Schemes that hub checkpoints describe numerically. Named schemes are in package dtype; here they are built from bits,
// groups and scales.

// integers returns the integer format of a width; nil if unsupported.
func integers(bits int64) *dtype.Format {
	switch bits {
	case 2:
		return dtype.I2
	case 3:
		return dtype.I3
	case 4:
		return dtype.I4
	case 5:
		return dtype.I5
	case 6:
		return dtype.I6
	case 8:
		return dtype.I8
	}
	return nil
}

func schemeName(base string, group int64) string {
	if group > 0 {
		return base + "-g" + strconv.FormatInt(group, 10)
	}
	return base
}

// scalar is a single number per matrix.
func scalar(name string, f *dtype.Format) dtype.Companion {
	return dtype.Companion{Name: name, Elem: f, Fixed: 1}
}

// perGroup is one value per group of columns, or per row if group is 0.
func perGroup(name string, f *dtype.Format, group int64) dtype.Companion {
	return dtype.Companion{Name: name, Elem: f, Rows: 1, Cols: group}
}

// float8 returns e4m3 with scales: one per block of rows × cols, one per row (rows 1, cols 0), or a single one (0, 0).
// static adds a scale for the inputs.
func float8(name string, scale *dtype.Format, rows, cols int64, static bool) *dtype.Scheme {
	s := &dtype.Scheme{Name: name, Elem: dtype.FP8E4M3, With: []dtype.Companion{{Name: "weight_scale", Elem: scale, Rows: rows, Cols: cols}}}
	if rows == 0 && cols == 0 {
		s.With[0] = scalar("weight_scale", scale)
	}
	if static {
		s.With = append(s.With, scalar("input_scale", scale))
	}
	return s
}

// gptq returns a scheme with zero points and the group index of every column; group 0 is a single group.
func gptq(bits, group int64) *dtype.Scheme {
	s := dtype.GPTQ(integers(bits), group)
	s.Name = schemeName(fmt.Sprintf("gptq-int%d", bits), group)
	return s
}

func awq(bits, group int64) *dtype.Scheme {
	s := dtype.AWQ(group)
	s.Elem, s.With[1].Elem = integers(bits), integers(bits)
	s.Name = schemeName(fmt.Sprintf("awq-int%d", bits), group)
	return s
}

// mlx returns affine codes with a 16-bit scale and bias per group; modes mxfp4 and nvfp4 have only a scale.
func mlx(bits, group int64, mode string) *dtype.Scheme {
	switch mode {
	case "mxfp4":
		return &dtype.Scheme{Name: schemeName("mlx-mxfp4", group), Elem: dtype.FP4E2M1, With: []dtype.Companion{perGroup("scales", dtype.E8M0, group)}}
	case "mxfp8":
		return &dtype.Scheme{Name: schemeName("mlx-mxfp8", group), Elem: dtype.FP8E4M3, With: []dtype.Companion{perGroup("scales", dtype.E8M0, group)}}
	case "nvfp4":
		return &dtype.Scheme{Name: schemeName("mlx-nvfp4", group), Elem: dtype.FP4E2M1, With: []dtype.Companion{perGroup("scales", dtype.FP8E4M3, group)}}
	}
	s := dtype.MLXGroup(integers(bits), group)
	s.Name = schemeName(fmt.Sprintf("mlx-int%d", bits), group)
	return s
}

// nvfp4 returns modelopt's scheme: a scale per 16 columns, one for the matrix and, if inputs are quantized, one for
// them.
func nvfp4(group int64, inputs bool) *dtype.Scheme {
	s := &dtype.Scheme{Name: schemeName("nvfp4-w4a16", group), Elem: dtype.FP4E2M1, With: []dtype.Companion{perGroup("weight_scale", dtype.FP8E4M3, group), scalar("weight_scale_2", dtype.F32)}}
	if inputs {
		s.Name = schemeName("nvfp4", group)
		s.With = append(s.With, scalar("input_scale", dtype.F32))
	}
	return s
}

// mxfp4 returns e2m1 codes with a power-of-two scale per 32 columns, in separate tensors.
func mxfp4(group int64) *dtype.Scheme {
	return &dtype.Scheme{Name: schemeName("mxfp4", group), Elem: dtype.FP4E2M1, With: []dtype.Companion{perGroup("scales", dtype.E8M0, group)}}
}
