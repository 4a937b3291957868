package hardware

import (
	"strconv"
	"strings"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

// Level is one measurement or specification of a level of the memory hierarchy. A level may have several rows: size,
// latency or bandwidth, obtained by different methods.
type Level struct {
	Device string // id, or the name of a link, disk or memory that is not a device
	// Level is "register", "smem", "l1", "l2" (with AMD's Infinity Cache and a CPU's L3), "device",
	// "host", "c2c", "pcie", "nvme" or "cxl". Sizes of the first three are per multiprocessor.
	Level     string
	Size      Fact[unit.Bytes]
	Latency   Fact[unit.Seconds]
	Cycles    Fact[float64] // latency where only cycles are known; the clock may be known
	Bandwidth Fact[unit.ByteRate]
	Note      string
}

// Levels returns what is known of the memory levels of the device with the given id, or of anything else that
// levels.tsv has rows for; nil if nothing is.
func Levels(id string) []Level {
	var all []Level
	for have, r := range levels.lines() {
		if have != id {
			continue
		}
		if l, err := readLevel(r); err == nil {
			all = append(all, l)
		}
	}
	return all
}

func readLevel(row row) (Level, error) {
	r := &reader{row: row}
	l := Level{Device: r.id(), Level: r.second(), Note: r.text("note")}
	var basis ledger.Basis
	if word := r.text("basis"); basis.UnmarshalText([]byte(word)) != nil {
		r.fail("basis", word)
	}
	source := r.text("source")
	l.Size = cited(r.size("size_bytes", 1), basis, source)
	l.Latency = cited(rate[unit.Seconds](r, "latency_ns", 1e-9), basis, source)
	l.Cycles = cited(rate[float64](r, "latency_cycles", 1), basis, source)
	l.Bandwidth = cited(rate[unit.ByteRate](r, "gbs", gbs), basis, source)
	if mhz := r.figure("clock_mhz"); mhz.known && l.Cycles.Known && !l.Latency.Known {
		s := unit.Seconds(l.Cycles.Value / (mhz.value * 1e6))
		l.Latency = fact(s, ledger.Derived, source).weaker(basis)
	}
	return l, r.err
}

func cited[T Quantity](f Fact[T], basis ledger.Basis, source string) Fact[T] {
	if f.Known {
		f.Basis, f.Source = basis, source
	}
	return f
}

// RegistersOf returns the register file of one multiprocessor: 65,536 registers of 32 bits from compute capability 5.0
// on (CUDA C++ programming guide, technical specifications by compute capability). It is unknown for other devices.
func RegistersOf(d *Device) Fact[unit.Bytes] {
	major, _, _ := strings.Cut(d.Capability, ".")
	if n, err := strconv.Atoi(major); err != nil || n < 5 || d.Vendor != "NVIDIA" {
		return Fact[unit.Bytes]{}
	}
	return fact(unit.Bytes(4*65536), ledger.Vendor, "nvidia-cccl")
}
