package detect

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/memwall/memwall/unit"
)

// intel reads the chip numbers; integrated GPUs are not in the table and are not devices here. xpu-smi is queried if there is an
// unknown chip with memory of its own.
func (m Machine) intel(ctx context.Context) (s seen) {
	asked := false
	for _, folder := range m.drm("0x8086") {
		id := strings.TrimPrefix(m.line(folder+"/device"), "0x")
		d := device{vendor: "Intel", name: intelName[strings.ToLower(id)], index: len(s.devices), pcie: m.lanes(folder),
			memory: m.intelMemory(folder)}
		if d.name == "" && (d.memory > 0 || !strings.HasPrefix(slot(m.read(folder+"/uevent")), "0000:00:02.")) && !asked {
			asked = true
			m.askIntel(ctx, &s)
		}
		if d.name != "" && !asked {
			s.devices = append(s.devices, d)
		}
	}
	if len(s.devices) > 0 {
		s.note("Intel's drivers do not say here what others hold of a card: --reserve 1GiB keeps it free")
	}
	return s
}

// intelMemory returns a card's own memory if the driver reports it: xe per tile, i915 of some kernels as a whole.
func (m Machine) intelMemory(folder string) (all unit.Bytes) {
	if b := m.size(folder + "/lmem_total_bytes"); b > 0 {
		return b
	}
	for _, tile := range m.list(folder, "tile") {
		all += m.size(tile + "/physical_vram_size_bytes")
	}
	return all
}

// intelName maps chip numbers to cards, from Mesa's include/pci_ids/iris_pci_ids.h. Two A770 variants with different memory share a
// number.
var intelName = map[string]string{
	"56a0": "Intel Arc A770", "56a1": "Intel Arc A750", "56a2": "Intel Arc A580", "56a5": "Intel Arc A380", "56a6": "Intel Arc A310",
	"e20b": "Intel Arc B580", "e20c": "Intel Arc B570", "e212": "Intel Arc Pro B50", "e211": "Intel Arc Pro B60",
	"e223": "Intel Arc Pro B70",
	"0bd5": "Intel Data Center GPU Max 1550", "0bda": "Intel Data Center GPU Max 1100",
}

// askIntel queries xpu-smi for the cards.
func (m Machine) askIntel(ctx context.Context, s *seen) {
	out, err := m.ask(ctx, "xpu-smi", "discovery", "-j")
	list := xpuSMI(out)
	if len(list) == 0 {
		s.note("xpu-smi " + why(err, nil) + ": an Intel device is there that is not known")
		return
	}
	s.devices = list
}

// xpuSMI parses the devices of xpu-smi discovery -j; only newer versions include memory.
func xpuSMI(out []byte) (devices []device) {
	var all struct {
		List []struct {
			Name   string `json:"device_name"`
			Kind   string `json:"device_function_type"`
			Memory any    `json:"memory_physical_size_byte"`
		} `json:"device_list"`
	}
	if i := bytes.IndexByte(out, '{'); i >= 0 {
		out = out[i:]
	}
	if json.Unmarshal(out, &all) != nil {
		return nil
	}
	for _, x := range all.List[:min(len(all.List), maxGPUs)] {
		if name := printable(x.Name); name != "" && x.Kind != "virtual" {
			devices = append(devices, device{vendor: "Intel", name: name, index: len(devices), memory: anyBytes(x.Memory)})
		}
	}
	return devices
}

// anyBytes returns a size that JSON has as a number or as text.
func anyBytes(v any) unit.Bytes {
	switch x := v.(type) {
	case float64:
		if x >= 1 && x < maxSize {
			return unit.Bytes(x)
		}
	case string:
		if n, ok := believedSize(x); ok {
			return unit.Bytes(n)
		}
	}
	return 0
}
