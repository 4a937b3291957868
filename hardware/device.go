package hardware

import (
	"strconv"
	"strings"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

const (
	gbs    = 1e9  // bytes per second
	tflops = 1e12 // FLOP per second
)

// readDevice parses a row of devices.tsv.
func readDevice(row row) (Device, error) {
	r := &reader{row: row}
	d := Device{
		ID:           r.id(),
		Name:         r.text("name"),
		Vendor:       r.text("vendor"),
		Architecture: r.text("architecture"),
		Form:         r.text("form"),
		Capability:   r.text("capability"),
		Year:         r.count("year"),
		Reported:     r.size("smi_mib", unit.MiB),
		Kind:         r.text("memory_kind"),
		Bandwidth:    rate[unit.ByteRate](r, "bandwidth_gbs", gbs),
		Peaks:        readPeaks(r),
		L2:           r.size("l2_mib", unit.MiB),
		SMs:          r.countFact("sm"),
		SharedPerSM:  r.size("shared_kib", unit.KiB),
		TDP:          rate[unit.Watts](r, "tdp_w", 1),
		Link:         Link{Name: r.text("link"), EachWay: halved(rate[unit.ByteRate](r, "link_gbs_both_ways", gbs))},
		PCIe:         readPCIe(r),
		PerNode:      fact(r.count("per_node"), ledger.Assumed, "per-node"),
		Dies:         r.count("dies"),
		Attached:     readAttached(r),
		Note:         r.text("note"),
	}
	readMemory(r, &d)
	d.Usable = usable(&d, r.size("torch_gib", unit.GiB), r.text("unified"))
	if d.Unified = unified(&d, r.text("unified")); d.Unified != nil {
		d.Unified.Seen = r.size("torch_gib", unit.GiB)
	}
	return d, r.err
}

func readPeaks(r *reader) Peaks {
	return Peaks{
		FP32: rate[unit.FLOPRate](r, "fp32_tflops", tflops),
		TF32: rate[unit.FLOPRate](r, "tf32_tflops", tflops),
		FP16: rate[unit.FLOPRate](r, "fp16_tflops", tflops),
		BF16: rate[unit.FLOPRate](r, "bf16_tflops", tflops),
		FP8:  rate[unit.FLOPRate](r, "fp8_tflops", tflops),
		FP4:  rate[unit.FLOPRate](r, "fp4_tflops", tflops),
		INT8: rate[unit.FLOPRate](r, "int8_tops", tflops),
	}
}

// readMemory parses the column memory_gib: "24"; "8,16,24" for the sizes sold, of which the largest is used; "<=4096"
// for the largest that can be fitted; "230MB" if the figure is decimal.
func readMemory(r *reader, d *Device) {
	cell := r.text("memory_gib")
	switch {
	case strings.HasPrefix(cell, "<="):
		d.MaxMemory = memoryFact(r, cell[2:])
	case strings.Contains(cell, ","):
		for part := range strings.SplitSeq(cell, ",") {
			d.Memory = memoryFact(r, part)
			d.Options = append(d.Options, d.Memory.Value)
		}
	case cell != "":
		d.Memory = memoryFact(r, cell)
	}
}

func memoryFact(r *reader, cell string) Fact[unit.Bytes] {
	number, basis, source := r.marked(cell)
	if x, err := strconv.ParseFloat(number, 64); err == nil {
		return fact(bytesOf(x, unit.GiB), basis, source)
	}
	b, err := unit.ParseBytes(number)
	if err != nil {
		r.fail("memory_gib", cell)
	}
	return fact(b, basis, source)
}

// halved converts a bidirectional rate to that of one direction.
func halved(f Fact[unit.ByteRate]) Fact[unit.ByteRate] {
	if !f.Known {
		return f
	}
	return f.times(0.5)
}

// readPCIe parses "4x16", generation and lanes, with its mark.
func readPCIe(r *reader) PCIe {
	cell := r.text("pcie")
	if cell == "" {
		return PCIe{}
	}
	basis := ledger.Derived
	if strings.HasSuffix(cell, "?") {
		basis, cell = ledger.Assumed, cell[:len(cell)-1]
	}
	p, ok := parsePCIe(cell)
	if !ok {
		r.fail("pcie", cell)
	}
	p.EachWay = p.EachWay.weaker(basis)
	return p
}

// gigatransfers is the rate of a PCI Express lane in GT/s, by generation. Generations 3 to 5 send 130 bits for every
// 128.
var gigatransfers = map[int]float64{3: 8, 4: 16, 5: 32}

// parsePCIe parses a generation and a number of lanes, "4x16". The rate in one direction is GT/s × lanes × 128/130 / 8:
// 15.75, 31.5 and 63.0 GB/s at 16 lanes of generations 3, 4 and 5. For generation 6 it is the published 121 GB/s, in
// proportion to the lanes.
func parsePCIe(s string) (PCIe, bool) {
	g, l, _ := strings.Cut(strings.ToLower(s), "x")
	gen, err1 := strconv.Atoi(strings.TrimSpace(g))
	lanes, err2 := strconv.Atoi(strings.TrimSpace(l))
	if err1 != nil || err2 != nil || lanes < 1 || lanes > 32 {
		return PCIe{}, false
	}
	var perLane float64
	switch gt, ok := gigatransfers[gen]; {
	case ok:
		perLane = gt * 128 / 130 / 8
	case gen == 6:
		perLane = 121.0 / 16
	default:
		return PCIe{}, false
	}
	return PCIe{Gen: gen, Lanes: lanes, EachWay: fact(unit.ByteRate(perLane*float64(lanes)*gbs), ledger.Derived, "pcie")}, true
}

func readAttached(r *reader) *Attached {
	a := Attached{
		Memory:    r.size("host_gb", unit.GB),
		Bandwidth: rate[unit.ByteRate](r, "host_gbs", gbs),
		EachWay:   rate[unit.ByteRate](r, "host_link_gbs_each_way", gbs),
	}
	if !a.Memory.Known {
		return nil
	}
	return &a
}
