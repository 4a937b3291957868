package hardware

import (
	"math"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

// NVIDIA's driver reserves part of the memory that nvidia-smi prints; torch and cudaMemGetInfo see the rest on Linux
// (all of it on Windows). The reserve is reserveFactor × size^reservePower in GiB, fitted by least squares of the
// logarithms to the catalog devices with both figures; reserveLow and reserveHigh are the extreme residuals.
// TestReserveFit repeats the fit.
const (
	reserveFactor   = 0.1221
	reservePower    = 0.368
	reserveLow      = 0.78
	reserveHigh     = 1.31
	nominalLow      = 0.96  // nvidia-smi over nominal, below the smallest seen without ECC (GB300)
	nominalMiddle   = 0.996 // the median
	amdReserveMost  = 0.55  // GiB; largest difference seen between torch and rocm-smi
	otherNominalLow = 0.94  // of nominal, below the smallest share seen on a TPU
	apuShare        = 0.488 // share of RAM that Linux gives a GPU by default: 62.47 of 128 GiB seen
	apuCarveOut     = 0.75  // share of RAM in the largest BIOS carve-out: 96 of 128 GiB
)

// usable returns what a program sees of a device's memory: a measured figure, else what the driver reports less its
// reserve, else a share of the nominal size. Of memory shared with the system, it is what the device may use.
func usable(d *Device, seen Fact[unit.Bytes], rule string) Fact[unit.Bytes] {
	switch {
	case d.IsCPU() || !d.Memory.Known:
		return Fact[unit.Bytes]{}
	case rule == "metal":
		return metalShare(d.Memory)
	case rule == "gtt":
		return gttShare(d.Memory)
	case rule == "shared":
		return sharedPart(seen.or(d.Reported).or(d.Memory))
	case seen.Known:
		return seen
	case d.Vendor == "NVIDIA":
		return lessReserve(d.Reported.or(printed(d.Memory)))
	case d.Vendor == "AMD" && d.Reported.Known:
		f := fact(d.Reported.Value, ledger.Measured, "usable-amd").weaker(d.Reported.Basis)
		return f.band(f.Value-bytesOf(amdReserveMost, unit.GiB), f.Value)
	}
	f := fact(d.Memory.Value, ledger.Assumed, "nominal")
	return f.band(share(f.Value, otherNominalLow), f.Value)
}

// printed estimates what nvidia-smi prints for a nominal size.
func printed(memory Fact[unit.Bytes]) Fact[unit.Bytes] {
	f := fact(share(memory.Value, nominalMiddle), ledger.Assumed, "nominal-nvidia")
	return f.band(share(memory.Value, nominalLow), memory.Value)
}

// lessReserve returns what torch sees of what nvidia-smi prints.
func lessReserve(smi Fact[unit.Bytes]) Fact[unit.Bytes] {
	f := fact(smi.Value-reserve(smi.Value, 1), ledger.Measured, "usable-nvidia").weaker(smi.Basis)
	return f.band(smi.Low-reserve(smi.Low, reserveHigh), smi.High-reserve(smi.High, reserveLow))
}

func reserve(smi unit.Bytes, times float64) unit.Bytes {
	return bytesOf(times*reserveFactor*math.Pow(smi.GiB(), reservePower), unit.GiB)
}

func share(b unit.Bytes, of float64) unit.Bytes { return bytesOf(of, b) }
