// Package hardware describes the machines that a model can run on: devices, the links between them, nodes, clusters,
// and the memory around them. Find looks up a device, Parse reads the description of a machine, and Prices returns what
// either costs to rent or buy.
//
// All figures come from small tables in catalog/, which are embedded in the binary; catalog/README.md says how to add a
// device. Each figure is a Fact: a value with its band, basis and source, or unknown. Rows are read on demand.
//
// See parse.go for the syntax of machine descriptions, find.go for how names resolve to devices, usable.go for how much
// of a device's memory a program sees, and machine.go for what connects devices.
package hardware

import (
	"github.com/memwall/memwall/unit"
)

// Device is one accelerator or CPU socket, as a program sees it. Rates and memory are of the whole device; peaks are
// dense. A figure without a source is not Known.
type Device struct {
	ID           string // "h100-sxm-80gb"; Find returns this device for it
	Name         string
	Vendor       string
	Architecture string // "hopper", "rdna3", "m3": devices of one architecture behave alike
	Form         string // "SXM", "PCIe", "SoC", "laptop", "CPU" ...
	Capability   string // CUDA compute capability "9.0", or "gfx942"
	Year         int

	Memory   Fact[unit.Bytes] // nominal
	Reported Fact[unit.Bytes] // as printed by the driver's tool: memory.total of nvidia-smi or rocm-smi
	Usable   Fact[unit.Bytes] // as seen by torch or cudaMemGetInfo; of shared memory, what may be used
	Options  []unit.Bytes     // the sizes sold, if several
	Kind     string           // "HBM3"
	// MaxMemory is the most that a CPU socket supports; what is installed is in the machine's Host.
	MaxMemory Fact[unit.Bytes]
	Bandwidth Fact[unit.ByteRate]
	Peaks     Peaks

	L2          Fact[unit.Bytes]
	SMs         Fact[int] // multiprocessors, compute units, GPU cores or CPU cores
	SharedPerSM Fact[unit.Bytes]
	TDP         Fact[unit.Watts]

	Link Link // to its peers
	PCIe PCIe
	// PerNode is the usual number of devices on the link: 8 on a board, 72 in a rack, 1 in a computer.
	PerNode Fact[int]
	// Dies is how many devices one board appears as to a program, if more than one. The figures are the board's.
	Dies     int
	Unified  *Unified
	Attached *Attached
	Note     string
}

// Peaks are dense arithmetic rates, by operand format.
type Peaks struct {
	FP32, TF32, FP16, BF16, FP8, FP4, INT8 Fact[unit.FLOPRate]
}

// Link joins a device to its peers.
type Link struct {
	Name    string
	EachWay Fact[unit.ByteRate] // per device, one direction
}

// PCIe is a device's connection to its host.
type PCIe struct {
	Gen, Lanes int
	EachWay    Fact[unit.ByteRate]
}

// Unified is memory shared by device and system, of which the device may use a part.
type Unified struct {
	Rule  string           // "metal", "gtt" or "shared"
	Raise string           // how to raise the part
	Limit Fact[unit.Bytes] // the most it has been raised to
	Seen  Fact[unit.Bytes] // the total from cudaMemGetInfo, including the system's part
}

// Attached is host memory that comes with a device, on a link of its own (Grace).
type Attached struct {
	Memory    Fact[unit.Bytes]
	Bandwidth Fact[unit.ByteRate]
	EachWay   Fact[unit.ByteRate]
}

// IsCPU reports whether the device is a CPU rather than an accelerator.
func (d *Device) IsCPU() bool { return d.Form == "CPU" }

// At returns the dense peak for operands of a format: "fp32", "tf32", "fp16", "bf16", "fp8", "fp4" or "int8". For any
// other name it is unknown.
func (p *Peaks) At(format string) Fact[unit.FLOPRate] {
	if f := p.field(format); f != nil {
		return *f
	}
	return Fact[unit.FLOPRate]{}
}

func (p *Peaks) field(format string) *Fact[unit.FLOPRate] {
	switch format {
	case "fp32":
		return &p.FP32
	case "tf32":
		return &p.TF32
	case "fp16":
		return &p.FP16
	case "bf16":
		return &p.BF16
	case "fp8":
		return &p.FP8
	case "fp4":
		return &p.FP4
	case "int8":
		return &p.INT8
	}
	return nil
}

// All returns every device of the catalog, in catalog order.
func All() []Device {
	var all []Device
	for r := range devices.rows() {
		if d, err := readDevice(r); err == nil {
			all = append(all, d)
		}
	}
	return all
}

// IDs returns the id of every device of the catalog, in catalog order.
func IDs() []string { return devices.ids() }
