package stream

import "github.com/memwall/memwall/hardware"

// usual are the words on how builds for a backend and family are made that people run today, where the plain build
// lacks kernels that the family needs: on gfx1151 (rdna3.5) rocBLAS without hipBLASLt and attention without rocWMMA
// reach a third of what the chip does (lhl/strix-halo-testing; kyuz0's toolboxes turn both on).
var usual = map[string][]string{"rocm/rdna3.5": {"rocwmma", "hipblaslt"}}

// Usual is how llama.cpp is built for a device, where its plain build is not what people run; nil for the plain one.
func Usual(engine, backend string, d *hardware.Device) []string {
	if engine != "llama.cpp" {
		return nil
	}
	return usual[backend+"/"+Family(d)]
}
