package llamacpp

import (
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/plan"
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

// builds are the back ends that a plan may name, and whose devices each runs (llama.cpp, build.md).
var builds = map[string]struct {
	backend *backend
	vendors []string
}{
	"cuda": {&cuda, []string{"NVIDIA"}}, "hip": {&rocm, []string{"AMD"}}, "rocm": {&rocm, []string{"AMD"}}, "vulkan": {&vulkan, []string{"NVIDIA", "AMD", "Intel", "Moore Threads"}},
	"metal": {&metal, []string{"Apple"}}, "sycl": {&sycl, []string{"Intel"}},
}

// processorOnly is the back end of a build without any accelerator's.
const processorOnly = "cpu"

// built is the back end of a device by the plan: the one that it names, else the usual one; nil when the device has none.
func built(p *plan.Plan, d *hardware.Device) *backend {
	b, named := builds[p.Backend]
	switch {
	case !named:
		return backendOf(d)
	case d != nil && !slices.Contains(b.vendors, d.Vendor):
		return nil
	}
	return b.backend
}

// checkBackend refuses a back end that runs no device of the plan.
func checkBackend(j *engine.Job, _ *rules) error {
	if j.Machine == nil || j.Machine.CPUOnly {
		return nil
	}
	for i := range j.Machine.Groups {
		d := &j.Machine.Groups[i].Device
		if usual := backendOf(d); usual != nil && built(j.Plan, d) == nil {
			return impossible("backend", j.Plan.Backend, "leave backend out, or --backend vulkan on NVIDIA, AMD and Intel", "backend = %s runs on devices of %s, and %s is one of %s",
				j.Plan.Backend, strings.Join(builds[j.Plan.Backend].vendors, " and "), d.Name, d.Vendor)
		}
	}
	return nil
}

// withoutDevices: a build for processors alone sees no accelerator; what shares its memory with one is the host's.
func withoutDevices(j *engine.Job) {
	if j.Plan.Backend != processorOnly || j.Machine == nil || j.Machine.CPUOnly {
		return
	}
	m := *j.Machine
	if d := j.Device(0); d != nil && d.Unified != nil && !m.Host.Memory.Known {
		m.Host.Memory = d.Memory
	}
	m.CPUOnly = true
	j.Machine = &m
	j.Note("processor_only", "info", "backend", "backend = cpu: a build that sees no accelerator; everything is in host memory")
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
