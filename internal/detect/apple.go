package detect

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/unit"
)

// apple queries sysctl for the chip, its memory and the limit on GPU memory, and the registry for the number of GPU cores. sysctl
// prints the keys it knows before it fails on one that this macOS lacks.
func (m Machine) apple(ctx context.Context) (s seen) {
	out, err := m.ask(ctx, "sysctl", "machdep.cpu.brand_string", "hw.memsize", "hw.physicalcpu", "iogpu.wired_limit_mb")
	chip, total, cores := printable(keyed(string(out), "machdep.cpu.brand_string")), appleMemory(string(out)), 0
	if total == 0 {
		s.note("sysctl " + why(err, nil) + ": neither chip nor memory is known")
		return s
	}
	cores, _ = small(keyed(string(out), "hw.physicalcpu"))
	s.cpu = &card.Processor{Name: chip, Sockets: 1, Cores: cores}
	s.host = &card.LocalHost{Total: total, Free: total}
	if !strings.HasPrefix(chip, "Apple") {
		s.note("what others hold of the memory is not known")
		return s
	}
	d := device{vendor: "Apple", name: chip, memory: total, usable: wiredLimit(string(out))}
	if out, _ = m.ask(ctx, "ioreg", "-r", "-d", "1", "-c", "AGXAccelerator"); gpuCores(string(out)) > 0 {
		d.cores = gpuCores(string(out))
	} else {
		s.note("ioreg does not say how many cores the GPU has: the chip with most is taken")
	}
	if d.usable == 0 {
		s.note("macOS decides how much the GPU may hold (iogpu.wired_limit_mb is 0)")
	}
	s.devices = []device{d}
	return s
}

func appleMemory(sysctl string) unit.Bytes {
	n, ok := believedSize(keyed(sysctl, "hw.memsize"))
	if !ok {
		return 0
	}
	return unit.Bytes(n)
}

// wiredLimit returns the owner's limit for the GPU, in MiB in sysctl; 0 means the system's default.
func wiredLimit(sysctl string) unit.Bytes {
	n, ok := believedSize(keyed(sysctl, "iogpu.wired_limit_mb"))
	if !ok || n > maxSize>>20 {
		return 0
	}
	return unit.Bytes(n) * unit.MiB
}

var coreCount = regexp.MustCompile(`"gpu-core-count"\s*=\s*(\d{1,4})\b`)

// gpuCores parses the registry's entry of the GPU.
func gpuCores(ioreg string) int {
	found := coreCount.FindStringSubmatch(ioreg)
	if found == nil {
		return 0
	}
	n, _ := small(found[1])
	return n
}

// appleWords returns the chip's name with cores and memory, as the catalog parses it.
func appleWords(d *device) string {
	size := fmt.Sprintf(" %dGB", d.memory/unit.GiB)
	if d.cores > 0 {
		if with := fmt.Sprintf("%s %d-core GPU", d.name, d.cores); catalogued(with + size) {
			return with + size
		}
	}
	return d.name + size
}
