// Package hardware knows where a model can run: devices, the links between them, nodes, clusters, and
// the memory around them. It answers what a device is (Find), what a machine described in words is
// (Parse), and what either costs to rent or to buy (Prices).
//
// All figures come from small tables under catalog/, which are part of the binary; catalog/README.md
// says how to add a device. Each figure is a Fact: a value with its band, its basis and the source of
// it, or unknown. Only the rows that are asked for are read.
//
// Open parse.go for the words that describe a machine, find.go for how a name finds its device,
// usable.go for what a program sees of a device's memory, machine.go for what lies between devices.
package hardware

import (
	"github.com/memwall/memwall/unit"
)

// Device is one accelerator or one CPU socket, as a program sees it. Rates and memory are of the whole
// device; peaks are dense. A figure that no source gives is not Known.
type Device struct {
	ID           string // "h100-sxm-80gb"; finds this device again
	Name         string
	Vendor       string
	Architecture string // "hopper", "rdna3", "m3": devices of one architecture behave alike
	Form         string // "SXM", "PCIe", "SoC", "laptop", "CPU" ...
	Capability   string // CUDA compute capability "9.0", or "gfx942"
	Year         int

	Memory   Fact[unit.Bytes] // nominal
	Reported Fact[unit.Bytes] // what the driver's tool prints: memory.total of nvidia-smi or rocm-smi
	Usable   Fact[unit.Bytes] // what torch or cudaMemGetInfo sees, or of a shared memory may use
	Options  []unit.Bytes     // the sizes sold, for a device that comes with several
	Kind     string           // "HBM3"
	// MaxMemory is the most a CPU socket takes; what is fitted is the machine's Host.
	MaxMemory Fact[unit.Bytes]
	Bandwidth Fact[unit.ByteRate]
	Peaks     Peaks

	L2          Fact[unit.Bytes]
	SMs         Fact[int] // multiprocessors, compute units, GPU cores or CPU cores
	SharedPerSM Fact[unit.Bytes]
	TDP         Fact[unit.Watts]

	Link Link // to its peers
	PCIe PCIe
	// PerNode is how many devices usually share the link: 8 on a board, 72 in a rack, 1 in a computer.
	PerNode Fact[int]
	// Dies is how many devices one board shows to a program, when more than one. The figures are the board's.
	Dies     int
	Unified  *Unified
	Attached *Attached
	Note     string
}

// Peaks are dense rates of arithmetic, by format of the operands.
type Peaks struct {
	FP32, TF32, FP16, BF16, FP8, FP4, INT8 Fact[unit.FLOPRate]
}

// Link joins a device to its peers.
type Link struct {
	Name    string
	EachWay Fact[unit.ByteRate] // of one device, in one direction
}

// PCIe is a device's connection to its host.
type PCIe struct {
	Gen, Lanes int
	EachWay    Fact[unit.ByteRate]
}

// Unified is a memory that device and system share: the device may use a part of it.
type Unified struct {
	Rule  string           // "metal", "gtt" or "shared"
	Raise string           // what raises the part
	Limit Fact[unit.Bytes] // the most it was seen raised to
	Seen  Fact[unit.Bytes] // what cudaMemGetInfo gives as the total, the system's part with it
}

// Attached is host memory that comes with a device, behind a link of its own (Grace).
type Attached struct {
	Memory    Fact[unit.Bytes]
	Bandwidth Fact[unit.ByteRate]
	EachWay   Fact[unit.ByteRate]
}

// IsCPU tells a processor from an accelerator.
func (d *Device) IsCPU() bool { return d.Form == "CPU" }

// At gives the dense peak for operands of a format: "fp32", "tf32", "fp16", "bf16", "fp8", "fp4" or
// "int8". It is unknown for other names.
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

// All gives every device of the catalog, in its order.
func All() []Device {
	var all []Device
	for r := range devices.rows() {
		if d, err := readDevice(r); err == nil {
			all = append(all, d)
		}
	}
	return all
}

// IDs gives the name of every device of the catalog, in its order.
func IDs() []string { return devices.ids() }
