package stream

import "github.com/memwall/memwall/hardware"

// usual are the words on how builds for a backend and family are made that people run today, where earlier ones were
// slower by far: on gfx1151 (rdna3.5) prompts reached a third of what the chip does before ROCm 7 (lhl/strix-halo-testing,
// 2025; kyuz0/amd-strix-halo-toolboxes, 2026). On Linux, Vulkan is Mesa's RADV.
var usual = map[string][]string{"rocm/rdna3.5": {"rocm=7.2.3"}, "vulkan/rdna3.5": {"radv"}, "vulkan/rdna4": {"radv"}}

// Usual returns the usual build of llama.cpp for a device, if people do not run the plain one; nil for the plain one.
func Usual(engine, backend string, d *hardware.Device) []string {
	if engine != "llama.cpp" {
		return nil
	}
	return usual[backend+"/"+Family(d)]
}
