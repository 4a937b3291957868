package hardware

import (
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall/unit"
)

// Row formats a custom device (name=x,memory=24GiB,...) as a row of catalog/devices.tsv without the newline, with empty
// cells for figures that were not given. empty lists the required columns that the keys cannot express, rest the keys
// that describe a machine rather than a device.
func Row(text string) (line string, empty, rest []string, err error) {
	head, options, err := cut(strings.TrimSpace(text))
	if err != nil {
		return "", nil, nil, err
	}
	if head != "" || len(options) == 0 {
		return "", nil, nil, bad("hardware", text, "is not a description of one device", "name=x,memory=24GiB,bandwidth=1TB/s")
	}
	m, _, err := Parse(text, 0)
	if err != nil {
		return "", nil, nil, err
	}
	cells := m.Groups[0].Device.cells()
	for _, o := range options {
		switch {
		case o.key == "link":
			cells["link"], cells["link_gbs_both_ways"] = m.Intra.Name, plainNumber(2*float64(m.Intra.EachWay.Value)/gbs)
		case o.key == "per-node":
			cells["per_node"] = o.value
		case machineKeys[o.key]:
			rest = append(rest, o.key)
		}
	}
	line, empty = devices.write(cells)
	return line, empty, rest, nil
}

// required lists the columns that a useful row must have.
var required = []string{"vendor", "architecture", "form", "year", "memory_kind", "bandwidth_gbs", "sources"}

// write returns the cells in column order, and the required columns that are empty.
func (t table) write(cells map[string]string) (line string, empty []string) {
	head, _, _ := strings.Cut(t.text, "\n")
	var out []string
	for column := range strings.SplitSeq(head, "\t") {
		out = append(out, cells[column])
		if cells[column] == "" && slices.Contains(required, column) {
			empty = append(empty, column)
		}
	}
	return strings.Join(out, "\t"), empty
}

// cells returns the figures of a custom device in the units of the columns.
func (d *Device) cells() map[string]string {
	c := map[string]string{"id": rowID(d.Name), "name": d.Name, "architecture": d.Architecture, "memory_gib": memoryCell(d.Memory.Value)}
	if d.Usable.Value != d.Memory.Value {
		c["torch_gib"] = plainNumber(d.Usable.Value.GiB())
	}
	rates := map[string]Fact[unit.FLOPRate]{"fp32_tflops": d.Peaks.FP32, "tf32_tflops": d.Peaks.TF32, "fp16_tflops": d.Peaks.FP16,
		"bf16_tflops": d.Peaks.BF16,
		"fp8_tflops":  d.Peaks.FP8, "fp4_tflops": d.Peaks.FP4, "int8_tops": d.Peaks.INT8}
	for column, f := range rates {
		if f.Known {
			c[column] = plainNumber(float64(f.Value) / tflops)
		}
	}
	if d.Bandwidth.Known {
		c["bandwidth_gbs"] = plainNumber(float64(d.Bandwidth.Value) / gbs)
	}
	if d.PCIe.Gen > 0 {
		c["pcie"] = strconv.Itoa(d.PCIe.Gen) + "x" + strconv.Itoa(d.PCIe.Lanes)
	}
	return c
}

// rowID formats a name as an id: lower case, words joined by hyphens.
func rowID(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == ' ' || r == '_' || r == '-' })
	return strings.Join(words, "-")
}

// memoryCell formats a size in whole GiB, or else in the decimal unit it was meant in.
func memoryCell(b unit.Bytes) string {
	switch {
	case b%unit.GiB == 0:
		return strconv.FormatInt(int64(b/unit.GiB), 10)
	case b%unit.MB == 0:
		return strconv.FormatInt(int64(b/unit.MB), 10) + "MB"
	}
	return plainNumber(b.GiB())
}

// plainNumber formats a figure without an exponent, to nine digits, which hides rounding from divisions by powers of
// ten.
func plainNumber(x float64) string {
	s := unit.Significant(x, 9)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}
