package engine

import (
	"github.com/memwall/memwall/hardware"
)

// Share is what one device, or the host's processor, computes of a model: fractions of the whole.
type Share struct {
	// Device is its index in the machine, Host for the processor.
	Device  int
	Backend string // "cuda", "rocm", "metal", "vulkan", "sycl", "cann", "musa", "cpu"
	// Dense are the matrices that every token goes through, Experts those of experts, Head the output, Cache the
	// layers whose caches lie there.
	Dense, Experts, Head, Cache float64
}

// Host is the Device of what the processor computes.
const Host = -1

// Sharer is a Sizer that knows who computes what, and whether attention is fused (flash attention).
type Sharer interface {
	Shares() []Share
	Flash() bool
}

// makers are what measurements call the back ends of torch and its kin, by who makes the device.
var makers = map[string]string{"NVIDIA": "cuda", "AMD": "rocm", "Apple": "metal", "Intel": "sycl", "Huawei": "cann",
	"Moore Threads": "musa"}

// TorchBackend is the back end of a device in engines that leave no choice of it.
func TorchBackend(d *hardware.Device) string {
	if d == nil || d.IsCPU() {
		return "cpu"
	}
	return makers[d.Vendor]
}

// LayersOverDevices: devices hold whole layers, one after another, by whom; what the plan says is kept.
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
