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

// backend is a ggml backend: how it names and rounds its allocations.
type backend struct {
	name      string // device name, before its index
	host      string // name of its page-locked host buffer; "" if none
	align     int64  // alignment of tensors in a buffer
	rowPad    int64  // rows of quantized tensors are padded to a multiple of this many elements
	rowSplit  bool   // supports buffers that -sm row splits matrices into
	mapped    bool   // weights stay in the mapped file
	narrowFA  bool   // flash attention only for the head sizes of flashHeads
	async     bool   // supports pipelining over devices
	unchecked bool   // rounding read from source, not verified by measurements
	remote    bool   // accessed over RPC
	compared  bool   // compute buffers verified against the scheduler's own figures
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

// backendOf returns the accelerator's backend; nil if ggml has none.
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

// builds are the backends that a plan may name, with the vendors whose devices each runs (llama.cpp, build.md).
var builds = map[string]struct {
	backend *backend
	vendors []string
}{
	"cuda": {&cuda, []string{"NVIDIA"}}, "hip": {&rocm, []string{"AMD"}}, "rocm": {&rocm, []string{"AMD"}}, "vulkan": {&vulkan, []string{"NVIDIA", "AMD", "Intel", "Moore Threads"}},
	"metal": {&metal, []string{"Apple"}}, "sycl": {&sycl, []string{"Intel"}},
}

// processorOnly is the backend of a CPU-only build.
const processorOnly = "cpu"

// built returns a device's backend under the plan: the one named, else the usual one; nil if there is none.
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

// checkBackend rejects a backend that runs no device of the plan.
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

// withoutDevices drops accelerators, which a CPU-only build does not see; memory shared with one belongs to the host.
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

// device returns the name of the i-th device: "CUDA0".
func (b *backend) device(i int, r *rules) string {
	switch {
	case b.remote:
		return "RPC" + strconv.Itoa(i)
	case b.name == "MTL":
		return r.metal
	}
	return b.name + strconv.Itoa(i)
}

// alloc returns the allocated size of a tensor: rows of quantized tensors are padded, then the whole is aligned.
func (b *backend) alloc(t *stored) unit.Bytes {
	n := t.bytes
	if t.quantised && b.rowPad > 1 && t.cols%b.rowPad != 0 {
		n += t.format.Row(b.rowPad - t.cols%b.rowPad)
	}
	return unit.Bytes(unit.PadUp(int64(n), b.align))
}

// flashHeads reports whether CUDA's flash attention kernels support a pair of key and value widths
// (ggml/src/ggml-cuda/fattn.cu); group is the number of query heads per KV head, which some kernels require.
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
