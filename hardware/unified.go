package hardware

import (
	"fmt"
	"strconv"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

// unified describes the rule under which device and system share a memory; nil for other devices.
func unified(d *Device, rule string) *Unified {
	switch rule {
	case "metal":
		return &Unified{Rule: rule, Raise: "sudo sysctl iogpu.wired_limit_mb=N, until the next start"}
	case "gtt":
		// 120 of 128 GiB were reached with ttm.pages_limit.
		limit := fact(share(d.Memory.Value, 120.0/128), ledger.Assumed, "gtt-reports")
		if d.Memory.Value == 128*unit.GiB {
			limit.Basis = ledger.Measured
		}
		return &Unified{Rule: rule, Raise: "ttm.pages_limit = GiB × 262144 on the kernel's command line, or a larger carve-out in the BIOS",
			Limit: limit}
	case "shared":
		return &Unified{Rule: rule, Raise: "stop the desktop and other programs", Limit: d.Reported.or(d.Memory)}
	}
	return nil
}

// Grantable is as much of a memory that device and system share as the system can do without, in whole GiB, and what to enter for it;
// 0 where the device has all that it can have. macOS is left an eighth, of 3 to 8 GiB: an assumption.
func (d *Device) Grantable() (unit.Bytes, string) {
	if d.Unified == nil || !d.Memory.Known {
		return 0, ""
	}
	switch ram := d.Memory.Value; d.Unified.Rule {
	case "metal":
		n := (ram - min(8*unit.GiB, max(3*unit.GiB, ram/8))) / unit.GiB
		return n * unit.GiB, fmt.Sprintf("sudo sysctl iogpu.wired_limit_mb=%d", n*1024)
	case "gtt":
		n := d.Unified.Limit.Value / unit.GiB
		return n * unit.GiB, fmt.Sprintf("ttm.pages_limit=%d", n*(unit.GiB/4096))
	}
	return 0, ""
}

// metalShare is the part of RAM that macOS lets the GPU wire, recommendedMaxWorkingSetSize. Earlier
// systems give 2/3 below 36 GiB and 3/4 from there on; later ones give more: metal.tsv has what logs
// show of both. The value is the earlier share, which every system grants; the band reaches to the
// later one. A log line of one's own machine replaces it.
func metalShare(ram Fact[unit.Bytes]) Fact[unit.Bytes] {
	const border = 36 * unit.GiB
	v := share(ram.Value, 3.0/4)
	if ram.Value < border {
		v = share(ram.Value, 2.0/3)
	}
	f := fact(v, ledger.Assumed, "metal-logs")
	high := v
	for r := range metal.rows() {
		m := &reader{row: r}
		gib, _ := strconv.ParseFloat(r.id(), 64)
		later, earlier := m.size("later_mb", unit.MB), m.size("earlier_mb", unit.MB)
		size := bytesOf(gib, unit.GiB)
		if size > ram.Value {
			break
		}
		// The share does not fall with the size, so a smaller machine's bounds it from below.
		high = share(ram.Value, float64(later.Value)/float64(size))
		if size == ram.Value && earlier.Known {
			f = fact(earlier.Value, ledger.Measured, "metal-logs")
		}
	}
	return f.band(f.Value, high)
}

// gttShare is the part of RAM that Linux maps for the GPU of an AMD or Intel chip by default: half of
// what the kernel has. The band reaches to the largest BIOS carve-out.
func gttShare(ram Fact[unit.Bytes]) Fact[unit.Bytes] {
	f := fact(share(ram.Value, apuShare), ledger.Assumed, "gtt-reports")
	if ram.Value == 128*unit.GiB {
		f.Basis = ledger.Measured
	}
	return f.band(f.Value, share(ram.Value, apuCarveOut))
}

// sharedPart is what remains of a shared memory beside an idle system: 1 to 4 GiB less, 2 assumed.
func sharedPart(all Fact[unit.Bytes]) Fact[unit.Bytes] {
	f := fact(all.Low-2*unit.GiB, ledger.Assumed, "os-share")
	return f.band(all.Low-4*unit.GiB, all.High-unit.GiB)
}
