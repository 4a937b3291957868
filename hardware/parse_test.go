package hardware

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

// shape is a machine in a line: its groups, nodes and the rates of its links, each way, in GB/s.
func shape(m *Machine) string {
	var groups []string
	for _, g := range m.Groups {
		groups = append(groups, fmt.Sprintf("%dx%s", g.Count, g.Device.ID))
	}
	link := func(l Link) string {
		if !l.EachWay.Known {
			return "?"
		}
		return fmt.Sprintf("%.4g", float64(l.EachWay.Value)/gbs)
	}
	return fmt.Sprintf("%s nodes %d of %d, intra %s, inter %s", strings.Join(groups, "+"), m.Nodes, m.PerNode, link(m.Intra), link(m.Inter))
}

// TestHere: what a driver, a slot or a limit of one machine changes of the catalog's devices.
func TestHere(t *testing.T) {
	m, _, err := Parse("2xrtx-3090,usable=23GiB,pcie=3x8,cores=12,host=62GiB@40GB/s", 0)
	d := m.Groups[0].Device
	if err != nil || d.Usable.Value != 23*unit.GiB || d.Usable.Basis != ledger.Exact || m.Host.Cores.Value != 12 ||
		math.Abs(float64(m.Intra.EachWay.Value)/gbs-7.877) > 0.001 {
		t.Errorf("%+v, %v", m, err)
	}
	if m, _, err = Parse("2xa100,pcie=4x8", 0); err != nil || m.Intra.EachWay.Value != 300*gbs {
		t.Errorf("NVLink stays: %v, %v", m.Intra, err)
	}
	if m, _, err = Parse("Apple M3 Max 128GB,usable=112GiB", 0); err != nil || m.Groups[0].Device.Usable.Value != 112*unit.GiB {
		t.Errorf("%v", err)
	}
	if m, _, err = Parse("name=x,memory=24GiB,vendor=nvidia", 0); err != nil || m.Groups[0].Device.Vendor != "NVIDIA" {
		t.Errorf("%v", err)
	}
	for text, field := range map[string]string{
		"name=x,memory=24GiB,vendor=acme": "vendor", "rtx-3090,usable=25GiB": "usable", "rtx-3090,usable=x": "usable",
		"cpu,usable=1GiB": "usable", "rtx-3090+rtx-4090,usable=20GiB": "usable",
		"cpu,pcie=4x8": "pcie", "rtx-3090,pcie=9x9": "pcie", "cpu,cores=0": "cores", "cpu,cores=x": "cores",
	} {
		var e *Error
		if _, _, err := Parse(text, 0); !errors.As(err, &e) || e.Field != field || e.Fix == "" {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text    string
		devices int
		want    string
	}{
		{"rtx-4090", 0, "1xrtx-4090 nodes 1 of 1, intra ?, inter ?"},
		{"rtx-4090", 2, "2xrtx-4090 nodes 1 of 2, intra 31.51, inter ?"},
		{"2xh100", 0, "2xh100-sxm-80gb nodes 1 of 2, intra 450, inter ?"},
		{"2 x H100", 2, "2xh100-sxm-80gb nodes 1 of 2, intra 450, inter ?"},
		{"2× H100", 2, "2xh100-sxm-80gb nodes 1 of 2, intra 450, inter ?"},
		{"8xh100", 0, "8xh100-sxm-80gb nodes 1 of 8, intra 450, inter ?"},
		{"h100", 16, "16xh100-sxm-80gb nodes 2 of 8, intra 450, inter 50"},
		{"9xh100", 0, "9xh100-sxm-80gb nodes 2 of 8, intra 450, inter 50"},
		{"144xgb200", 0, "144xgb200 nodes 2 of 72, intra 900, inter 50"},
		{"rtx-4090+rtx-3060", 0, "1xrtx-4090+1xrtx-3060-12gb nodes 1 of 2, intra 31.51, inter ?"},
		{"2xrtx-3090+rtx-4090", 3, "2xrtx-3090+1xrtx-4090 nodes 1 of 3, intra 31.51, inter ?"},
		{"RTX 4090 + RTX 4060", 0, "1xrtx-4090+1xrtx-4060 nodes 1 of 2, intra 15.75, inter ?"},
		{"8xh100+8xa100", 0, "8xh100-sxm-80gb+8xa100-sxm-80gb nodes 2 of 8, intra 31.51, inter 50"},
		{"Apple M3 Pro 5P+6E+14GPU", 0, "1xm3-pro-14-core nodes 1 of 1, intra ?, inter ?"},
		{"2xApple M3 Pro 5P+6E+14GPU+rtx-4090", 0, "2xm3-pro-14-core+1xrtx-4090 nodes 3 of 1, intra ?, inter ?"},
		{"7900 XTX", 0, "1xrx-7900-xtx nodes 1 of 1, intra ?, inter ?"},
		{"2xgb10", 0, "2xgb10 nodes 2 of 1, intra ?, inter 37.5"},
		{"p5.48xlarge", 0, "8xh100-sxm-80gb nodes 1 of 8, intra 450, inter ?"},
		{"p5.48xlarge", 4, "4xh100-sxm-80gb nodes 1 of 4, intra 450, inter ?"},
		{"P5.48xLarge", 16, "16xh100-sxm-80gb nodes 2 of 8, intra 450, inter 50"},
		{"2xp5.48xlarge", 0, "16xh100-sxm-80gb nodes 2 of 8, intra 450, inter 50"},
		{"2xp5.48xlarge", 16, "16xh100-sxm-80gb nodes 2 of 8, intra 450, inter 50"},
		{"dgx-h100", 0, "8xh100-sxm-80gb nodes 1 of 8, intra 450, inter ?"},
		{"dgx-spark", 0, "1xgb10 nodes 1 of 1, intra ?, inter ?"},
		{"8x_H100_192V_1600G", 0, "8xh100-sxm-80gb nodes 1 of 8, intra 450, inter ?"},
		{"2x8x_H100_192V_1600G", 0, "16xh100-sxm-80gb nodes 2 of 8, intra 450, inter 50"},
		{"Azure Standard_NC80adis_H100_v5", 0, "2xh100-nvl-94gb nodes 1 of 2, intra 300, inter ?"},
		{"TPU v5e-8", 0, "8xtpu-v5e nodes 1 of 8, intra 100, inter ?"},
		{"16xh100,fabric=ib:100GB/s", 0, "16xh100-sxm-80gb nodes 2 of 8, intra 450, inter 100"},
		{"16xh100,per-node=4", 0, "16xh100-sxm-80gb nodes 4 of 4, intra 450, inter 50"},
		{"16xh100,fabric=ib:100GB/s,per-node=16", 0, "16xh100-sxm-80gb nodes 1 of 16, intra 450, inter 100"},
		{"2xrtx-3090,link=nvlink:112.5GB/s", 0, "2xrtx-3090 nodes 1 of 2, intra 56.25, inter ?"},
		{"name=x,memory=24GiB", 0, "1xx nodes 1 of 1, intra ?, inter ?"},
		{"4xname=x,memory=24GiB,pcie=5x16", 0, "4xx nodes 1 of 4, intra 63.02, inter ?"},
		{"4 x memory=24GiB,name=x", 4, "4xx nodes 1 of 4, intra ?, inter ?"},
		{"name=x,memory=24GiB,link=nvlink:900GB/s,per-node=8", 16, "16xx nodes 2 of 8, intra 450, inter 50"},
		{"cpu", 0, " nodes 1 of 0, intra ?, inter ?"},
		{"CPU,host=64GiB@50GB/s", 0, " nodes 1 of 0, intra ?, inter ?"},
		{"2xepyc-9654", 0, " nodes 1 of 0, intra ?, inter ?"},
		{"rtx-4090+epyc-9654", 0, "1xrtx-4090 nodes 1 of 1, intra ?, inter ?"},
		{"local", 0, " nodes 0 of 0, intra ?, inter ?"},
		{" Local ", 3, " nodes 0 of 0, intra ?, inter ?"},
	} {
		m, _, err := Parse(c.text, c.devices)
		if err != nil {
			t.Errorf("Parse(%q, %d): %v", c.text, c.devices, err)
		} else if got := shape(&m); got != c.want {
			t.Errorf("Parse(%q, %d) is\n%s, not\n%s", c.text, c.devices, got, c.want)
		}
	}
}

func TestParseNotes(t *testing.T) {
	for _, c := range []struct {
		text string
		code []string
	}{
		{"rtx-4090", nil}, {"2xrtx-4090", nil}, {"8xmi300x", nil}, {"cpu", nil}, {"local", nil}, {"p5.48xlarge", nil},
		{"2xp5.48xlarge", nil},
		{"h100", []string{"default_used"}},
		{"16xmi300x", []string{"nodes_assumed", "fabric_assumed"}},
		{"16xmi300x,fabric=ib:25GB/s", []string{"nodes_assumed"}},
		{"2xrtx-3090", []string{"link_assumed"}},
		{"2xrtx-3090,link=nvlink:112.5GB/s", []string{"link_halved"}},
		{"2xm4-pro-64gb", []string{"nodes_assumed", "fabric_assumed"}},
		{"mi250", []string{"board_of_dies"}},
		{"2xgpu_8x_v100", []string{"fabric_assumed"}},
		{"name=x,memory=24GiB,link=nvlink:900GB/s", []string{"link_halved"}},
	} {
		_, notes, err := Parse(c.text, 0)
		var got []string
		for _, n := range notes {
			got = append(got, n.Code)
		}
		if err != nil || !slices.Equal(got, c.code) {
			t.Errorf("Parse(%q): notes %v, not %v (%v)", c.text, notes, c.code, err)
		}
	}
	_, notes, _ := Parse("p5.48xlarge", 12)
	if len(notes) != 1 || notes[0].Code != "partly_used" {
		t.Errorf("12 devices on nodes of 8: %v", notes)
	}
}

// Each error names the field, the value and the fix.
func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		text    string
		devices int
		field   string
		says    string
	}{
		{"", 0, "hardware", "is empty"},
		{"   ", 0, "hardware", "is empty"},
		{strings.Repeat("x", 3000), 0, "hardware", "too long"},
		{"h100", -1, "devices", "out of bounds"},
		{"h100", 1_000_001, "devices", "out of bounds"},
		{"2xh100", 4, "devices", "does not agree"},
		{"rtx-4090+rtx-3060", 4, "devices", "does not agree"},
		{"2xp5.48xlarge", 8, "devices", "does not agree"},
		{"4xname=x,memory=1GiB", 2, "devices", "does not agree"},
		{"cpu", 2, "devices", "does not go with cpu"},
		{"0xh100", 0, "hardware", "out of bounds"},
		{"0xname=x,memory=1GiB", 0, "hardware", "out of bounds"},
		{"1000001xh100", 0, "hardware", "out of bounds"},
		{"999999xh100+2xh100", 0, "hardware", "too many"},
		{"200000xp5.48xlarge", 0, "hardware", "too many"},
		{"p5.48xlarge+p4d.24xlarge", 0, "hardware", "is a node"},
		{"rtx-4090+rtx-4091", 0, "hardware", "did you mean"},
		{"8xh1000", 0, "hardware", "did you mean"},
		{strings.Repeat("t4+", 20) + "t4", 0, "hardware", "too many names"},
		{"+", 0, "hardware", "is not in the catalog"},
		{"local,host=1GiB", 0, "hardware", "takes no keys"},
		{"name=x", 0, "memory", "is missing"},
		{"memory=24GiB", 0, "name", "is missing"},
		{"name=,memory=24GiB", 0, "name", "is not a name"},
		{"name=a/b,memory=24GiB", 0, "name", "is not a name"},
		{"name=" + strings.Repeat("x", 65) + ",memory=24GiB", 0, "name", "is not a name"},
		{"name=x,memory=24", 0, "memory", "add a unit"},
		{"name=x,memory=0GiB", 0, "memory", "is nothing"},
		{"name=x,memory=NaN", 0, "memory", "is not a size"},
		{"name=x,memory=NaNGiB", 0, "memory", "is not a size"},
		{"name=x,memory=-1GiB", 0, "memory", "is not a size"},
		{"name=x,memory=1e300GiB", 0, "memory", "is not a size"},
		{"name=x,memory=InfGiB", 0, "memory", "is not a size"},
		{"name=x,memory=24GiB,usable=25GiB", 0, "usable", "more than memory"},
		{"name=x,memory=24GiB,bandwidth=1TB", 0, "bandwidth", "is not a rate"},
		{"name=x,memory=24GiB,bandwidth=0GB/s", 0, "bandwidth", "is nothing"},
		{"name=x,memory=24GiB,bandwidth=1e300TB/s", 0, "bandwidth", "is not a rate"},
		{"name=x,memory=24GiB,bf16=80", 0, "bf16", "is not a peak"},
		{"name=x,memory=24GiB,bf16=NaNTFLOPS", 0, "bf16", "is not a peak"},
		{"name=x,memory=24GiB,bf16=0TFLOPS", 0, "bf16", "is nothing"},
		{"name=x,memory=24GiB,bf61=80TFLOPS", 0, "bf61", "did you mean bf16"},
		{"name=x,memory=24GiB,speed=80TFLOPS", 0, "speed", "the keys are"},
		{"name=x,memory=24GiB,pcie=9x16", 0, "pcie", "generation and lanes"},
		{"name=x,memory=24GiB,link=900GB/s", 0, "link", "is not a link"},
		{"name=x,memory=24GiB,link=nvlink:900", 0, "link", "is not a rate"},
		{"name=x,memory=24GiB,host=128GiB@fast", 0, "host", "is not a rate"},
		{"name=x,memory=24GiB,host=@200GB/s", 0, "host", "is not a size"},
		{"name=x,memory=24GiB,memory=25GiB", 0, "memory", "twice"},
		{"name=x,memory=24GiB,host=1GiB,host=2GiB", 0, "host", "twice"},
		{"name=x,memory=24GiB,per-node=0", 0, "per-node", "is not a number of devices"},
		{"h100,memory=24GiB", 0, "hardware", "24"},
		{"p5.48xlarge,per-node=4", 0, "per-node", "does not go with"},
		{"name=x,memory=24GiB,h100", 0, "hardware", "is not key=value"},
		{"name=x,memory=1GiB+rtx-4090", 0, "memory", "is not a size"},
		{"=5", 0, "", "is not a key of a device"},
	} {
		_, _, err := Parse(c.text, c.devices)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("Parse(%q, %d): %v", c.text, c.devices, err)
			continue
		}
		if e.Field != c.field || !strings.Contains(err.Error(), c.says) || e.Fix == "" {
			t.Errorf("Parse(%q, %d): field %q: %v; not %q: %q", c.text, c.devices, e.Field, err, c.field, c.says)
		}
	}
}

func TestCustom(t *testing.T) {
	m, _, err := Parse(
		"2xname=my card,memory=24GiB,usable=23GiB,bandwidth=1TB/s,bf16=80TFLOPS,int8=160TOPS,pcie=4x16,arch=Ada,link=nvlink:900GB/s,host=128GiB@200GB/s,nvme=4TB@7GB/s,pool=2TB@64GB/s", 0)
	if err != nil {
		t.Fatal(err)
	}
	d := m.Groups[0].Device
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"memory", float64(d.Memory.Value), 24 << 30}, {"usable", float64(d.Usable.Value), 23 << 30},
		{"bandwidth", float64(d.Bandwidth.Value), 1e12},
		{"bf16", float64(d.Peaks.At("bf16").Value), 80e12}, {"int8", float64(d.Peaks.INT8.Value), 160e12},
		{"link", float64(m.Intra.EachWay.Value), 450e9},
		{"host", float64(m.Host.Memory.Value), 128 << 30}, {"host rate", float64(m.Host.Bandwidth.Value), 200e9},
		{"nvme", float64(m.NVMe.Capacity.Value), 4e12}, {"nvme rate", float64(m.NVMe.Bandwidth.Value), 7e9},
		{"pool", float64(m.Pool.Capacity.Value), 2e12}, {"pool rate", float64(m.Pool.Bandwidth.Value), 64e9},
	} {
		if c.got != c.want {
			t.Errorf("%s is %v, not %v", c.what, c.got, c.want)
		}
	}
	if d.Name != "my card" || d.Architecture != "ada" || m.Intra.Name != "nvlink" || d.Memory.Basis != ledger.Exact || m.Devices() != 2 {
		t.Errorf("%+v", m)
	}
	if d.Peaks.FP8.Known || d.L2.Known || d.TDP.Known {
		t.Error("a figure that was not given is known")
	}
	checkFacts(t, "custom", m)
	// Without usable, the memory is what is usable.
	m, _, _ = Parse("name=x,memory=24GB", 0)
	if m.Groups[0].Device.Usable.Value != 24*unit.GB {
		t.Errorf("usable %v", m.Groups[0].Device.Usable)
	}
}

// What nobody gave is unknown: no host is made up.
func TestHosts(t *testing.T) {
	for _, text := range []string{"8xh100", "rtx-4090", "m4-max", "rtx-4090+rtx-3060", "cpu", "name=x,memory=24GiB"} {
		m, _, err := Parse(text, 0)
		if err != nil || m.Host.Memory.Known || m.NVMe.Capacity.Known || m.Pool.Capacity.Known {
			t.Errorf("%s: host %+v, nvme %+v (%v)", text, m.Host, m.NVMe, err)
		}
	}
	for text, want := range map[string]unit.Bytes{
		"p5.48xlarge": 2048 * unit.GiB, "4xgb200": 960 * unit.GB, "gh200": 480 * unit.GB, "ampereone-a192-512gb": 512 * unit.GiB,
		"2xgrace":             960 * unit.GiB,
		"rtx-4090,host=64GiB": 64 * unit.GiB, "cpu,host=64GiB@50GB/s": 64 * unit.GiB,
	} {
		m, _, err := Parse(text, 0)
		if err != nil || m.Host.Memory.Value != want {
			t.Errorf("%s: host %v, not %v (%v)", text, m.Host.Memory.Value, want, err)
		}
	}
	m, _, _ := Parse("rtx-4090+2xepyc-9654", 0)
	if m.CPUOnly || math.Abs(float64(m.Host.Bandwidth.Value)/gbs-921.6) > 0.01 {
		t.Errorf("two sockets beside a card read %v", m.Host.Bandwidth.Value)
	}
	m, _, _ = Parse("workstation-2p-epyc-9755", 0)
	if !m.CPUOnly || m.Host.Memory.Value != 1536*unit.GiB || m.Devices() != 0 {
		t.Errorf("a node of processors: %+v", m)
	}
}

// A machine's name, beside its number of devices, is read as the same machine.
func TestMachineNames(t *testing.T) {
	for _, c := range []struct {
		text    string
		devices int
	}{
		{"rtx-4090", 0}, {"H100", 16}, {"rtx-4090+2xrtx-3060", 0}, {"p5.48xlarge", 12}, {"2xp5.48xlarge", 0}, {"M4 Max 64GB", 0},
		{"2xgb10", 0}, {"rtx-4090+epyc-9654", 0}, {"mac-studio-m3-ultra-512gb", 0}, {"cpu", 0}, {"local", 0}, {"epyc-9654", 0},
	} {
		m, _, err := Parse(c.text, c.devices)
		if err != nil {
			t.Errorf("Parse(%q, %d): %v", c.text, c.devices, err)
			continue
		}
		devices := m.Devices()
		if m.Local || m.CPUOnly || strings.Contains(m.Name, "epyc") {
			devices = 0
		}
		again, _, err := Parse(m.Name, devices)
		if err != nil || !reflect.DeepEqual(again, m) {
			t.Errorf("%q of %q is read as %s (%v), not %s", m.Name, c.text, shape(&again), err, shape(&m))
		}
	}
}

// Every node of the catalog makes a machine with its devices in one node.
func TestEveryNodeParses(t *testing.T) {
	for _, n := range Nodes() {
		m, _, err := Parse(n.ID, 0)
		if err != nil || m.Node != n.ID || m.Nodes != 1 {
			t.Errorf("%s: %+v, %v", n.ID, m, err)
			continue
		}
		if !m.CPUOnly && (m.Devices() != n.Devices || m.PerNode != n.Devices) {
			t.Errorf("%s: %s", n.ID, shape(&m))
		}
		if n.Devices > 1 && !m.CPUOnly && !m.Intra.EachWay.Known {
			t.Errorf("%s: no link between %d devices", n.ID, n.Devices)
		}
		checkFacts(t, n.ID, m)
	}
}

// TestTooManyAreTooMany: a count beyond any machine is an error about the count.
func TestTooManyAreTooMany(t *testing.T) {
	for _, text := range []string{"1000000000xh100", "999999999999999999xh100", "1000000000xp5.48xlarge"} {
		_, _, err := Parse(text, 0)
		if err == nil || !strings.Contains(err.Error(), "too many") && !strings.Contains(err.Error(), "out of bounds") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestOneMemory: a computer whose GPU shares the memory has no host beside it, and is named by the size that it is sold with.
func TestOneMemory(t *testing.T) {
	for _, name := range []string{"m4,host=16GiB", "strix-halo,host=64GiB"} {
		if _, _, err := Parse(name, 0); err == nil || !strings.Contains(err.Error(), "shares one with its GPU") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"m4-16gb", "rtx-4090,host=64GiB"} {
		if _, _, err := Parse(name, 0); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
