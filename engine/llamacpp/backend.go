package llamacpp

import (
	"strconv"
	"strings"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/unit"
)

// backend is one of ggml's: how it names and rounds what it allocates.
type backend struct {
	name      string // of a device, before its number
	host      string // of its page-locked host buffer; "" when it has none
	align     int64  // of tensors in a buffer
	rowPad    int64  // rows of quantised tensors are padded to a multiple of so many elements
	rowSplit  bool   // has buffers that -sm row cuts matrices into
	mapped    bool   // weights stay in the mapped file
	narrowFA  bool   // flash attention only for the head sizes of flashHeads
	async     bool   // devices can work one behind the other
	unchecked bool   // the rounding was read, not seen in rows
	remote    bool   // reached over RPC
	compared  bool   // its compute buffers were compared with the scheduler's own
}

// Rounding: get_alignment and get_alloc_size of each backend's buffer type, ggml/src at v0.5.0.
var (
	cuda   = backend{name: "CUDA", host: "CUDA_Host", align: 128, rowPad: 512, rowSplit: true, narrowFA: true, async: true, compared: true}
	rocm   = backend{name: "ROCm", host: "ROCm_Host", align: 128, rowPad: 512, rowSplit: true, narrowFA: true, async: true}
	musa   = backend{name: "MUSA", host: "MUSA_Host", align: 128, rowPad: 512, rowSplit: true, narrowFA: true, async: true, unchecked: true}
	sycl   = backend{name: "SYCL", host: "SYCL_Host", align: 128, rowPad: 512, rowSplit: true, unchecked: true}
	vulkan = backend{name: "Vulkan", host: "Vulkan_Host", align: 16, rowPad: 1, unchecked: true}
	cann   = backend{name: "CANN", host: "CANN_Host", align: 128, rowPad: 512, unchecked: true}
	metal  = backend{name: "MTL", align: 32, rowPad: 1, mapped: true, unchecked: true}
	cpu    = backend{name: "CPU", align: 32, rowPad: 1}
)

// backendOf the accelerator; nil when ggml has none for it.
func backendOf(d *hardware.Device) *backend {
	if d == nil {
		return &cuda
	}
	switch d.Vendor {
	case "NVIDIA":
		return &cuda
	case "AMD":
		if d.Architecture == "gcn4" {
			return &vulkan
		}
		return &rocm
	case "Apple":
		return &metal
	case "Intel":
		if strings.HasPrefix(d.ID, "gaudi") {
			return nil
		}
		return &sycl
	case "Huawei":
		return &cann
	case "Moore Threads":
		return &musa
	}
	return nil
}

// device names the i-th device: "CUDA0".
func (b *backend) device(i int, r *rules) string {
	switch {
	case b.remote:
		return "RPC" + strconv.Itoa(i)
	case b.name == "MTL":
		return r.metal
	}
	return b.name + strconv.Itoa(i)
}

// alloc is what a tensor takes: rows of quantised tensors are padded, then the whole is aligned.
func (b *backend) alloc(t *stored) unit.Bytes {
	n := t.bytes
	if t.quantised && b.rowPad > 1 && t.cols%b.rowPad != 0 {
		n += t.format.Row(b.rowPad - t.cols%b.rowPad)
	}
	return unit.Bytes(unit.PadUp(int64(n), b.align))
}

// flashHeads are the pairs of key and value widths that CUDA's flash attention kernels take
// (ggml/src/ggml-cuda/fattn.cu); group is the number of query heads per KV head that some ask for.
func flashHeads(k, v, group int64) bool {
	switch k {
	case 40, 64, 72, 80, 96, 112, 128, 256, 512:
		return k == v
	case 192:
		return v == 128 && group%8 == 0
	case 320:
		return v == 256 && group%32 == 0
	case 576:
		return v == 512
	}
	return false
}
