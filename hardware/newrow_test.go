package hardware

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/memwall/memwall/unit"
)

// TestRow: the row reads back as the device that was described.
func TestRow(t *testing.T) {
	const text = "name=Foo X1,memory=141GB,usable=130GiB,bandwidth=4.8TB/s,bf16=989TFLOPS,fp8=1979TFLOPS,int8=1979TOPS,pcie=5x16,arch=hopper,link=nvlink:900GB/s,host=256GiB"
	line, empty, rest, err := Row(text)
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(devices.text, "\n")
	if strings.Count(line, "\t") != strings.Count(head, "\t") {
		t.Fatalf("%q has not the columns of the table", line)
	}
	d, err := readDevice(row{table: "devices", head: head, line: line})
	if err != nil {
		t.Fatal(err)
	}
	if d.ID != "foo-x1" || d.Name != "Foo X1" || d.Memory.Value != 141*unit.GB || d.Usable.Value != 130*unit.GiB ||
		d.Bandwidth.Value != 4.8e12 ||
		d.Peaks.BF16.Value != 989e12 || d.Peaks.FP8.Value != 1979e12 || d.Peaks.INT8.Value != 1979e12 || d.PCIe.Gen != 5 ||
		d.PCIe.Lanes != 16 ||
		d.Link.Name != "nvlink" || math.Abs(float64(d.Link.EachWay.Value)-450e9) > 1 || d.Architecture != "hopper" {
		t.Errorf("%q reads as %+v", line, d)
	}
	if !slices.Equal(empty, []string{"vendor", "form", "year", "memory_kind", "sources"}) || !slices.Equal(rest, []string{"host"}) {
		t.Errorf("empty %v, rest %v", empty, rest)
	}
}

// TestRowOfEachDevice: figures of the catalog survive their way through the keys.
func TestRowOfEachDevice(t *testing.T) {
	for _, d := range All() {
		if !d.Memory.Known {
			continue
		}
		c := Device{ID: d.ID, Name: d.ID, Memory: d.Memory, Usable: d.Memory, Bandwidth: d.Bandwidth, Peaks: d.Peaks, PCIe: d.PCIe}
		line, _ := devices.write(c.cells())
		head, _, _ := strings.Cut(devices.text, "\n")
		got, err := readDevice(row{table: "devices", head: head, line: line})
		if err != nil || got.Memory.Value != d.Memory.Value || got.Peaks.BF16.Value != d.Peaks.BF16.Value ||
			math.Abs(float64(got.Bandwidth.Value-d.Bandwidth.Value)) > 1 || got.PCIe.Gen != d.PCIe.Gen {
			t.Errorf("%s: %q, %v", d.ID, line, err)
		}
	}
}

func TestNoRow(t *testing.T) {
	for _, c := range []struct{ text, field string }{
		{"", "hardware"}, {"rtx-4090", "hardware"}, {"2xname=x,memory=24GiB", "hardware"}, {"name=x", "memory"}, {"memory=24GiB", "name"},
		{"name=x,memory=24", "memory"}, {"name=x,memory=24GiB,bandwidt=1TB/s", "bandwidt"},
	} {
		_, _, _, err := Row(c.text)
		if e := (*Error)(nil); !errors.As(err, &e) || e.Field != c.field || e.Fix == "" {
			t.Errorf("%q: %v", c.text, err)
		}
	}
}
