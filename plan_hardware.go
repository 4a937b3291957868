package memwall

import "github.com/memwall/memwall/hardware"

// anyHardware stands for devices that are offered, in usual numbers.
const anyHardware = "any"

// hardwareChoices are the machines that a field of hardware names: one, or a list with commas.
func hardwareChoices(text string) []string { return hardware.List(text) }
