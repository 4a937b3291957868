package source

import (
	"fmt"
	"strconv"

	"github.com/memwall/memwall/dtype"
)

// Schemes that checkpoints of the hub spell out in numbers. Those with a name of their own stand in package
// dtype; here they are made from bits, groups and scales.

// integers of a width; nil for a width that nobody packs.
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

// scalar is a single number beside a matrix.
func scalar(name string, f *dtype.Format) dtype.Companion {
	return dtype.Companion{Name: name, Elem: f, Fixed: 1}
}

// perGroup is one value for each group of columns, or for each row when the group is 0.
func perGroup(name string, f *dtype.Format, group int64) dtype.Companion {
	return dtype.Companion{Name: name, Elem: f, Rows: 1, Cols: group}
}

// float8 is e4m3 with scales: one per block of rows × cols, one per row (rows 1, cols 0), or one (0, 0).
// static adds the scale of the inputs.
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

// gptq with its zero points and the group of every column; group 0 is one group for all columns.
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

// mlx is affine codes with a scale and a bias for each group, in 16 bits; mode mxfp4 and nvfp4 have a scale
// alone.
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

// nvfp4 of modelopt: a scale for every 16 columns, one for the matrix and, when inputs are quantised too,
// one for them.
func nvfp4(group int64, inputs bool) *dtype.Scheme {
	s := &dtype.Scheme{Name: schemeName("nvfp4-w4a16", group), Elem: dtype.FP4E2M1, With: []dtype.Companion{perGroup("weight_scale", dtype.FP8E4M3, group), scalar("weight_scale_2", dtype.F32)}}
	if inputs {
		s.Name = schemeName("nvfp4", group)
		s.With = append(s.With, scalar("input_scale", dtype.F32))
	}
	return s
}

// mxfp4 in tensors of its own: e2m1 codes and a power of two for every 32 columns.
func mxfp4(group int64) *dtype.Scheme {
	return &dtype.Scheme{Name: schemeName("mxfp4", group), Elem: dtype.FP4E2M1, With: []dtype.Companion{perGroup("scales", dtype.E8M0, group)}}
}
