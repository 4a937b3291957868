package startup

import (
	"strconv"
	"strings"
)

// makers begin the names that drivers give devices.
var makers = []string{"NVIDIA ", "Tesla ", "AMD ", "Radeon ", "Intel", "Quadro ", "GeForce "}

// Spot looks for a device that other programs print beside a server's log: "GPU 0: NVIDIA A100-SXM4-80GB"
// (vLLM's and SGLang's environment reports, nvidia-smi -L) and the table of nvidia-smi.
func (l *Log) Spot(text string) {
	if rest, ok := After(text, "GPU "); ok {
		if slot := digits(rest); slot != "" && strings.HasPrefix(rest[len(slot):], ": ") {
			l.device(slot, rest[len(slot)+2:])
			return
		}
	}
	if table, ok := strings.CutPrefix(strings.TrimSpace(text), "|"); ok {
		table = strings.TrimLeft(table, " ")
		if slot := digits(table); slot != "" && strings.HasPrefix(table[len(slot):], " ") {
			l.device(slot, table[len(slot):])
		}
	}
}

func (l *Log) device(slot, text string) {
	name := strings.TrimSpace(text)
	for _, end := range []string{" (UUID", "  ", " On ", " Off ", ","} {
		name, _, _ = strings.Cut(name, end)
	}
	name = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(name), "..."), " |")
	for _, m := range makers {
		if strings.HasPrefix(name, m) && len(name) < 80 {
			l.Seen(Device{Name: name, Slot: slot})
			return
		}
	}
}

// Hardware writes the devices as a request does, equal neighbours counted: "2xNVIDIA A10+Tesla T4". most
// bounds how many are taken; 0 takes all. It is "" when a device has no name.
func Hardware(devices []Device, most int) string {
	if most > 0 && len(devices) > most {
		devices = devices[:most]
	}
	var parts []string
	for i := 0; i < len(devices); {
		name := devices[i].Name
		if name == "" {
			return ""
		}
		n := 1
		for i+n < len(devices) && devices[i+n].Name == name {
			n++
		}
		if i += n; n > 1 {
			name = strconv.Itoa(n) + "x" + name
		}
		parts = append(parts, name)
	}
	return strings.Join(parts, "+")
}
