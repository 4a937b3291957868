package detect

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/unit"
)

// processor reads what the kernel reports about the first logical processor, and counts them.
func (m Machine) processor() *card.Processor {
	c := cpuinfo(m.readUpTo("proc/cpuinfo", 8<<10))
	if c.Name == "" {
		c.Name, _ = m.env("PROCESSOR_IDENTIFIER") // of Windows
		c.Name = printable(c.Name)
	}
	if c.Name == "" {
		return nil
	}
	perSocket := c.Threads
	c.Threads = countList(m.line("sys/devices/system/cpu/online"))
	if perSocket > 0 && c.Threads > 0 {
		c.Sockets = max(1, c.Threads/perSocket)
		c.Cores *= c.Sockets
	}
	c.Channels = m.channels()
	c.Cache = m.lastCache(c.Threads)
	c.ID = chipOf(c)
	return c
}

// cpuinfo reads the first block of /proc/cpuinfo: Cores and Threads are those of one socket.
func cpuinfo(text string) *card.Processor {
	block, _, _ := strings.Cut(text, "\n\n")
	c := &card.Processor{Name: printable(keyed(block, "model name"))}
	c.Threads, _ = small(keyed(block, "siblings"))
	c.Cores, _ = small(keyed(block, "cpu cores"))
	flags := strings.Fields(keyed(block, "flags"))
	if len(flags) == 0 {
		flags = strings.Fields(keyed(block, "Features"))
	}
	if c.Name == "" {
		c.Name = armPart[keyed(block, "CPU implementer")+" "+keyed(block, "CPU part")]
	}
	for _, v := range vectorSets {
		if slices.Contains(flags, v) {
			c.Vectors = append(c.Vectors, v)
		}
	}
	return c
}

// vectorSets are the instruction sets used for CPU inference, best first, as named in /proc/cpuinfo.
var vectorSets = []string{"amx_int8", "amx_bf16", "avx512_bf16", "avx512_vnni", "avx512f", "avx_vnni", "avx2", "fma", "f16c", "sve2", "sve",
	"i8mm", "bf16", "asimddp", "asimd"}

// armPart are server cores by implementer and part number, as in Linux arch/arm64/include/asm/cputype.h.
var armPart = map[string]string{
	"0x41 0xd0c": "Neoverse N1", "0x41 0xd40": "Neoverse V1", "0x41 0xd49": "Neoverse N2", "0x41 0xd4f": "Neoverse V2",
	"0x41 0xd84": "Neoverse V3",
	"0x41 0xd0b": "Cortex-A76", "0x41 0xd42": "Cortex-A78AE", "0xc0 0xac3": "Ampere-1", "0xc0 0xac4": "Ampere-1A",
}

// small parses a number of processors.
func small(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n > 0 && n < 1<<16
}

// countList counts the items of a kernel list such as "0-63,128"; 0 if it is invalid.
func countList(s string) (n int) {
	for part := range strings.SplitSeq(s, ",") {
		from, to, isRange := strings.Cut(part, "-")
		a, err := strconv.Atoi(from)
		b := a
		if isRange && err == nil {
			b, err = strconv.Atoi(to)
		}
		if err != nil || a < 0 || b < a || b > 1<<20 {
			return 0
		}
		n += b - a + 1
	}
	return n
}

// wordsAround matches what vendors write around a processor's name.
var wordsAround = regexp.MustCompile(`(?i)^\d+th gen |\((r|tm)\)| cpu\b| processor\b| \d+-core\b| @ .*$| w/ .*$| with radeon .*$`)

// chipOf returns the catalog id of a processor used as a whole; for a virtual machine with part of one, the memory bandwidth is
// unknown.
func chipOf(c *card.Processor) string {
	name := strings.Join(strings.Fields(wordsAround.ReplaceAllString(c.Name, "")), " ")
	d, _, err := hardware.Find(name)
	if err != nil || !d.IsCPU() || !d.SMs.Known || c.Sockets == 0 || d.SMs.Value*c.Sockets != c.Cores {
		return ""
	}
	return d.ID
}

// lastCache returns the total last-level cache: the first one's, times the number of groups sharing one.
func (m Machine) lastCache(threads int) unit.Bytes {
	levels := m.list("sys/devices/system/cpu/cpu0/cache", "index")
	if len(levels) == 0 || threads == 0 {
		return 0
	}
	last := levels[len(levels)-1]
	n, ok := believedSize(strings.TrimSuffix(m.line(last+"/size"), "K"))
	sharing := countList(m.line(last + "/shared_cpu_list"))
	if !ok || sharing == 0 || n > maxSize>>20 {
		return 0
	}
	return unit.Bytes(n) * unit.KiB * unit.Bytes(max(1, threads/sharing))
}

// channels counts the populated memory channels, by the kernel's error detection; 0 if it is not loaded.
func (m Machine) channels() int {
	found := map[string]bool{}
	for _, mc := range m.list("sys/devices/system/edac/mc", "mc") {
		for _, d := range append(m.list(mc, "dimm"), m.list(mc, "rank")...) {
			place := strings.Fields(m.line(d + "/dimm_location"))
			if n, ok := m.number(d + "/size"); ok && n > 0 && len(place) >= 2 {
				found[mc+" "+place[0]+" "+place[1]] = true
			}
		}
	}
	return len(found)
}
