package detect

import (
	"fmt"
	"strconv"
	"strings"
)

// visibleNVIDIA keeps the devices in CUDA_VISIBLE_DEVICES.
func (m Machine) visibleNVIDIA(s *seen) {
	m.keepVisible(s, "CUDA_VISIBLE_DEVICES")
	if order, _ := m.env("CUDA_DEVICE_ORDER"); order == "PCI_BUS_ID" {
		return
	}
	if list, set := m.env("CUDA_VISIBLE_DEVICES"); set && strings.ContainsAny(list, "0123456789") && !strings.Contains(list, "-") &&
		!alike(s.devices) {
		s.note("CUDA numbers unlike devices by their speed unless CUDA_DEVICE_ORDER is PCI_BUS_ID: the numbers of CUDA_VISIBLE_DEVICES " +
			"are read as nvidia-smi's")
	}
}

// visibleAMD keeps the devices in ROCR_VISIBLE_DEVICES and, of these, those in HIP_VISIBLE_DEVICES.
func (m Machine) visibleAMD(s *seen) {
	for _, name := range []string{"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"} {
		m.keepVisible(s, name)
	}
}

// keepVisible keeps the devices that a variable names, in its order.
func (m Machine) keepVisible(s *seen, name string) {
	list, set := m.env(name)
	if !set || len(s.devices) == 0 {
		return
	}
	kept, ok := chosen(s.devices, list)
	if !ok {
		s.note(fmt.Sprintf("%s = %q names a device that is not seen: it is left aside", name, printable(list)))
		return
	}
	if len(kept) < len(s.devices) {
		s.note(fmt.Sprintf("%s = %q leaves %d of %d devices", name, printable(list), len(kept), len(s.devices)))
	}
	s.devices = kept
}

// chosen returns the devices of a list of indices and UUIDs, which may be abbreviated. As in CUDA, the first invalid word ends the
// list; ok is false if the first word already names a device that does not exist.
func chosen(all []device, list string) (out []device, ok bool) {
	for word := range strings.SplitSeq(list, ",") {
		d := named(all, strings.TrimSpace(word))
		if d == nil {
			none := word == "" || strings.HasPrefix(word, "-") || strings.EqualFold(word, "NoDevFiles") ||
				strings.EqualFold(word, "none") || strings.EqualFold(word, "void")
			return out, len(out) > 0 || none
		}
		out = append(out, *d)
		if len(out) == len(all) {
			break
		}
	}
	return out, true
}

func named(all []device, word string) *device {
	if n, err := strconv.Atoi(word); err == nil {
		if n < 0 || n >= len(all) {
			return nil
		}
		return &all[n]
	}
	if !strings.HasPrefix(word, "GPU-") || len(word) < 8 {
		return nil
	}
	for i := range all {
		if strings.HasPrefix(strings.ToLower(all[i].uuid), strings.ToLower(word)) {
			return &all[i]
		}
	}
	return nil
}

func alike(all []device) bool {
	for i := range all {
		if all[i].name != all[0].name {
			return false
		}
	}
	return true
}
