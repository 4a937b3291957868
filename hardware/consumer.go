package hardware

import (
	"fmt"
	"strings"
)

// consumer lists id prefixes of devices in desktops and laptops, where people run a model for themselves.
var consumer = []string{"rtx-2", "rtx-3", "rtx-4", "rtx-5", "gtx-", "titan-", "rx-", "arc-a", "arc-b", "arc-1", "ryzen-", "vega-", "gb10",
	"jetson-"}

// workstation lists the exceptions that are sold for professional use.
var workstation = []string{"rtx-2000-ada", "rtx-4000", "rtx-4500-ada", "rtx-5000-ada"}

// Consumer reports whether the device belongs in a desktop, a laptop or a small computer.
func (d *Device) Consumer() bool {
	for _, id := range workstation {
		if strings.HasPrefix(d.ID, id) {
			return false
		}
	}
	for _, id := range consumer {
		if strings.HasPrefix(d.ID, id) {
			return true
		}
	}
	return d.Vendor == "Apple" || d.Form == "laptop" || d.Form == "custom" && strings.HasSuffix(d.ID, "GB card")
}

// smallest returns the id of the device with the least memory that it is sold with.
func (d *Device) smallest() string {
	const gib = 1 << 30
	whole := strings.TrimSuffix(d.ID, fmt.Sprintf("-%dgb", int64(d.Memory.Value)/gib))
	return fmt.Sprintf("%s-%dgb", whole, int64(d.Options[0])/gib)
}
