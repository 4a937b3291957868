package hardware

import (
	"fmt"
	"strconv"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

// unified returns the rule by which device and system share memory; nil for devices with memory of their own.
func unified(d *Device, rule string) *Unified {
	switch rule {
	case "metal":
		return &Unified{Rule: rule, Raise: "sudo sysctl iogpu.wired_limit_mb=N, until the next start"}
	case "gtt":
		// 120 of 128 GiB have been reached with ttm.pages_limit.
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

// Grantable returns how much shared memory the device could be given at most, in whole GiB, leaving the system what it
// needs, and the setting that does so; 0 if it has all already. macOS keeps an eighth, but at least 3 and at most 8
// GiB: assumed.
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

// metalShare returns the part of RAM that macOS lets the GPU wire, recommendedMaxWorkingSetSize. Earlier versions allow
// 2/3 below 36 GiB and 3/4 from there on; later ones allow more, as the logs in metal.tsv show. The value is the
// earlier share, which every version allows; the band extends to the later one. A log line from the user's machine
// overrides it.
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
		// The share does not decrease with size, so that of a smaller machine is a lower bound.
		high = share(ram.Value, float64(later.Value)/float64(size))
		if size == ram.Value && earlier.Known {
			f = fact(earlier.Value, ledger.Measured, "metal-logs")
		}
	}
	return f.band(f.Value, high)
}

// gttShare returns the part of RAM that Linux maps by default for the GPU of an AMD or Intel chip: half of what the
// kernel has. The band extends to the largest BIOS carve-out.
func gttShare(ram Fact[unit.Bytes]) Fact[unit.Bytes] {
	f := fact(share(ram.Value, apuShare), ledger.Assumed, "gtt-reports")
	if ram.Value == 128*unit.GiB {
		f.Basis = ledger.Measured
	}
	return f.band(f.Value, share(ram.Value, apuCarveOut))
}

// sharedPart returns what an idle system leaves of shared memory: all but 1 to 4 GiB, 2 assumed.
func sharedPart(all Fact[unit.Bytes]) Fact[unit.Bytes] {
	f := fact(all.Low-2*unit.GiB, ledger.Assumed, "os-share")
	return f.band(all.Low-4*unit.GiB, all.High-unit.GiB)
}
