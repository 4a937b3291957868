package detect

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/unit"
)

// amd reads what the kernel driver reports about each card; missing names are looked up with AMD's tools.
func (m Machine) amd(ctx context.Context) (s seen) {
	for _, folder := range m.drm("0x1002") {
		d := m.amdCard(folder)
		if d.memory > 0 || d.shared > 0 {
			d.index = len(s.devices)
			s.devices = append(s.devices, d)
		}
	}
	if len(s.devices) == 0 {
		return s
	}
	m.amdUsers(s.devices)
	m.amdNames(ctx, &s)
	m.leaveGraphics(&s)
	m.visibleAMD(&s)
	return s
}

// drm returns the folders of a vendor's devices that compute or draw.
func (m Machine) drm(vendor string) (out []string) {
	for _, c := range m.list("sys/class/drm", "card") {
		folder := c + "/device"
		if !strings.Contains(path.Base(c), "-") && m.line(folder+"/vendor") == vendor { // card0-HDMI-A-1 is a connector
			out = append(out, folder)
		}
	}
	return out
}

// amdCard reads a card's folder: mem_info_* of the driver amdgpu, in bytes.
func (m Machine) amdCard(folder string) device {
	d := device{
		vendor: "AMD", name: printable(m.line(folder + "/product_name")), chip: m.idOf(folder), bus: slot(m.read(folder + "/uevent")),
		memory: m.size(folder + "/mem_info_vram_total"), used: m.size(folder + "/mem_info_vram_used"),
		shared: m.size(folder + "/mem_info_gtt_total"), sharedUsed: m.size(folder + "/mem_info_gtt_used"), pcie: m.lanes(folder),
		told: m.has(folder + "/mem_info_vram_used"),
	}
	if id := m.line(folder + "/unique_id"); id != "" {
		d.uuid = "GPU-" + id
	}
	return d
}

// idOf returns the number of a chip and its revision, "744c c8".
func (m Machine) idOf(folder string) string {
	return strings.TrimPrefix(m.line(folder+"/device"), "0x") + " " + strings.TrimPrefix(m.line(folder+"/revision"), "0x")
}

// slot returns the bus address in uevent: "0000:03:00.0".
func slot(uevent string) string {
	for line := range strings.Lines(uevent) {
		if at, ok := strings.CutPrefix(line, "PCI_SLOT_NAME="); ok {
			return strings.TrimSpace(at)
		}
	}
	return ""
}

// lanes parses a link as reported by the kernel, "16.0 GT/s PCIe" and "16". Idle cards run slower, and behind a bridge of their own
// they report the bridge's: the maximum that both ends support is used, with the current lanes.
func (m Machine) lanes(folder string) string {
	speed, _, _ := strings.Cut(m.line(folder+"/max_link_speed"), " ")
	gen := map[string]int{"8.0": 3, "16.0": 4, "32.0": 5, "64.0": 6}[speed]
	n, ok := small(m.line(folder + "/current_link_width"))
	if gen == 0 || !ok || n > 16 {
		return ""
	}
	return fmt.Sprintf("%dx%d", gen, n)
}

// amdNames looks up the names of chips that report none: in libdrm's table, then with the tools.
func (m Machine) amdNames(ctx context.Context, s *seen) {
	table := ""
	for i := range s.devices {
		d := &s.devices[i]
		if d.name == "" && table == "" {
			table = m.readUpTo("usr/share/libdrm/amdgpu.ids", 256<<10) + m.readUpTo("opt/amdgpu/share/libdrm/amdgpu.ids", 256<<10)
		}
		if d.name == "" {
			d.name = amdName(table, d.chip)
		}
	}
	if !unnamed(s.devices) {
		return
	}
	names, tool := m.askAMD(ctx)
	for i := range s.devices {
		if d := &s.devices[i]; d.name == "" && len(names) == len(s.devices) {
			d.name = printable(names[i])
		}
	}
	if unnamed(s.devices) {
		s.note("AMD chips are known by their numbers alone: no amdgpu.ids names them, and " + tool + " does not either")
	}
}

// unnamed reports whether a card has no name, other than an integrated GPU.
func unnamed(all []device) bool {
	for i := range all {
		if all[i].name == "" && all[i].memory >= smallCard {
			return true
		}
	}
	return false
}

// askAMD queries amd-smi, then rocm-smi, for the names of the cards in order.
func (m Machine) askAMD(ctx context.Context) (names []string, tool string) {
	out, err := m.ask(ctx, "amd-smi", "static", "--asic", "--json")
	if names = amdSMI(out); err == nil && len(names) > 0 {
		return names, "amd-smi"
	}
	out, _ = m.ask(ctx, "rocm-smi", "--showproductname", "--json")
	return rocmSMI(out), "rocm-smi"
}

// amdName looks up a chip in libdrm's amdgpu.ids: lines of "744C, C8, AMD Radeon RX 7900 XTX".
func amdName(table, chip string) string {
	id, revision, _ := strings.Cut(chip, " ")
	for line := range strings.Lines(table) {
		parts := strings.SplitN(line, ",", 3)
		if len(parts) == 3 && strings.EqualFold(strings.TrimSpace(parts[0]), id) &&
			strings.EqualFold(strings.TrimSpace(parts[1]), revision) {
			return printable(parts[2])
		}
	}
	return ""
}

// leaveGraphics drops integrated GPUs next to discrete ones, and those of processors not in the catalog.
func (m Machine) leaveGraphics(s *seen) {
	cpu := cpuinfo(m.readUpTo("proc/cpuinfo", 8<<10))
	kept := s.devices[:0:0]
	for _, d := range s.devices {
		if d.memory >= smallCard {
			kept = append(kept, d)
		}
	}
	for _, d := range s.devices {
		if d.memory >= smallCard {
			continue
		}
		d.name = cmp.Or(apuOf(cpu.Name), d.name)
		if len(kept) == 0 && catalogued(d.name) {
			kept = append(kept, d)
			continue
		}
		s.graphics = append(s.graphics, cmp.Or(d.name, "AMD"))
	}
	for i := range kept {
		if id := apuOf(cpu.Name); id != "" && len(kept) == 1 && !catalogued(kept[i].name) {
			kept[i].name = id
		}
	}
	s.devices = kept
}

// smallCard is more than an integrated GPU reserves by default, and less than any card used for models has.
const smallCard = 3 * unit.GiB

// amdUsers reads the memory of compute processes from the kernel: /sys/class/kfd/kfd/proc/PID/vram_GPUID, in bytes. GPU ids are
// those of the topology's nodes, which give the bus address.
func (m Machine) amdUsers(devices []device) {
	at := m.kfdNodes()
	for _, folder := range m.list("sys/class/kfd/kfd/proc", "") {
		pid, ok := small32(path.Base(folder))
		if !ok {
			continue
		}
		for _, file := range m.list(folder, "vram_") {
			id := strings.TrimPrefix(path.Base(file), "vram_")
			for i := range devices {
				if b := m.size(file); b > 0 && devices[i].bus != "" && at[id] == devices[i].bus {
					devices[i].users = append(devices[i].users,
						card.User{PID: pid, Name: printable(m.line(fmt.Sprintf("proc/%d/comm", pid))), Bytes: b})
				}
			}
		}
	}
}

// kfdNodes returns the bus address by GPU id: location_id encodes bus, device and function.
func (m Machine) kfdNodes() map[string]string {
	at := map[string]string{}
	for _, node := range m.list("sys/class/kfd/kfd/topology/nodes", "") {
		id := m.line(node + "/gpu_id")
		text := m.read(node + "/properties")
		place, err := strconv.ParseUint(spaced(text, "location_id"), 10, 32)
		domain, _ := strconv.ParseUint(spaced(text, "domain"), 10, 32)
		if id != "" && id != "0" && err == nil {
			at[id] = fmt.Sprintf("%04x:%02x:%02x.%d", domain, place>>8&0xff, place>>3&0x1f, place&7)
		}
	}
	return at
}

func small32(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n > 0 && n < 1<<31-1
}
