package engine

import (
	"github.com/memwall/memwall/hardware"
)

// Share is the part of a model computed by one device or by the host's CPU, as fractions of the whole.
type Share struct {
	// Device is the index in the machine, or Host for the CPU.
	Device  int
	Backend string // "cuda", "rocm", "metal", "vulkan", "sycl", "cann", "musa", "cpu"
	// Dense covers the matrices that every token uses, Experts the experts, Head the output layer, Cache the layers
	// whose caches are held there.
	Dense, Experts, Head, Cache float64
}

// Host is the Device value for the CPU.
const Host = -1

// Sharer is a Sizer that knows which device computes what, and whether attention is fused (flash attention).
type Sharer interface {
	Shares() []Share
	Flash() bool
}

// makers maps device vendors to the names that measurements use for the backends of torch and similar frameworks.
var makers = map[string]string{"NVIDIA": "cuda", "AMD": "rocm", "Apple": "metal", "Intel": "sycl", "Huawei": "cann",
	"Moore Threads": "musa"}

// TorchBackend returns the backend of a device in engines that offer no choice.
func TorchBackend(d *hardware.Device) string {
	if d == nil || d.IsCPU() {
		return "cpu"
	}
	return makers[d.Vendor]
}

// LayersOverDevices defaults the plan to whole layers on successive devices; by names who places them.
func LayersOverDevices(j *Job, by string) {
	p := j.Plan
	if n := j.Devices(); p.TP == 0 && p.PP == 0 && p.DP == 0 && n > 1 {
		p.PP = min(n, int64(len(j.Model.Decoder().Layers)))
		j.Default("pp", p.PP)
		j.Note("naive_pipeline", "info", "pp", "%s puts whole layers on %d devices, which work one after another", by, p.PP)
	}
	for _, x := range []*int64{&p.TP, &p.PP, &p.DP, &p.CP} {
		*x = max(1, *x)
	}
}
