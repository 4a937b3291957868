package detect

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/unit"
)

// maxLines bounds what is read of a tool's answer.
const maxLines = 64

// devices reads "name, MiB" lines and counts like devices that follow each other.
func devices(csv string) string {
	var names []string
	var counts []int
	for _, line := range strings.SplitN(csv, "\n", maxLines) {
		name, mib, ok := strings.Cut(line, ",")
		if !ok {
			continue
		}
		name = word(strings.TrimSpace(name), strings.TrimSpace(mib))
		if n := len(names); n > 0 && names[n-1] == name {
			counts[n-1]++
			continue
		}
		names, counts = append(names, name), append(counts, 1)
	}
	return joined(names, counts)
}

func joined(names []string, counts []int) string {
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = name
		if counts[i] > 1 {
			parts[i] = fmt.Sprintf("%dx%s", counts[i], name)
		}
	}
	return strings.Join(parts, "+")
}

// word is the device's id in the catalog; one that the catalog does not know is described by its memory.
func word(name, mib string) string {
	if m, _, err := hardware.Parse(name, 0); err == nil && len(m.Groups) == 1 {
		return m.Groups[0].Device.ID
	}
	clean := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune(" .-_", r) {
			return r
		}
		return -1
	}, name)
	return fmt.Sprintf("name=%s,memory=%sMiB", clean, mib)
}

// memTotal reads the line "MemTotal:  65768308 kB", in whole GiB.
func memTotal(meminfo string) (size string, ok bool) {
	for _, line := range strings.SplitN(meminfo, "\n", maxLines) {
		rest, ok := strings.CutPrefix(line, "MemTotal:")
		if !ok {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
		if err != nil || kib <= 0 {
			return "", false
		}
		return fmt.Sprintf("%dGiB", unit.Bytes(kib)*unit.KiB/unit.GiB), true
	}
	return "", false
}

// appleChip reads the two lines of sysctl: "Apple M3 Max" and bytes. Sizes that a chip is sold with are
// whole GB to the catalog.
func appleChip(sysctl string) (words string, ok bool) {
	chip, size, _ := strings.Cut(strings.TrimSpace(sysctl), "\n")
	bytes, err := strconv.ParseInt(strings.TrimSpace(size), 10, 64)
	if err != nil || bytes <= 0 || !strings.HasPrefix(chip, "Apple") {
		return "", false
	}
	return fmt.Sprintf("%s %dGB", strings.TrimSpace(chip), bytes/int64(unit.GiB)), true
}
