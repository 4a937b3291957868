package llamacpp

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/plan"
)

// Where layers lie: src/llama-model.cpp (load_tensors). The last layers go to the devices, in order of the
// devices, in proportion to -ts or to free memory; what -ngl leaves out stays on the host.

// host is the place of what is not on a device.
const host = -1

// layout is the device of every layer, and of the output layer.
type layout struct {
	layer []int
	head  int
}

// used is how many devices the plan spreads over: one for -sm none.
func used(j *engine.Job) int {
	if j.Machine != nil && j.Machine.CPUOnly {
		return 0
	}
	if j.Plan.SplitMode == "none" {
		return 1
	}
	return int(j.Devices())
}

// deviceIndex is the i-th device that the plan uses: the main one for -sm none, else those of other nodes, then its own.
func deviceIndex(j *engine.Job, i int) int64 {
	if j.Plan.SplitMode == "none" {
		return int64(mainDevice(j))
	}
	away := remoteDevices(j)
	if int64(i) < away {
		return j.PerNode() + int64(i)
	}
	return int64(i) - away
}

// mainDevice is -mg.
func mainDevice(j *engine.Job) int {
	if n := j.Plan.MainGPU; n != nil {
		return int(*n)
	}
	return 0
}

// usedDevice is the hardware of the i-th device that the plan uses.
func usedDevice(j *engine.Job, i int) *hardware.Device { return j.Device(deviceIndex(j, i)) }

// nextN are layers for multi-token prediction that a converted file keeps after the others. They are not
// loaded, but -ngl and the split count them (n_layer_all).
func nextN(j *engine.Job) int {
	if j.Model.Family == "glm4moe" {
		return 1 // convert_hf_to_gguf.py keeps num_nextn_predict_layers, which is 1 in all GLM-4.5
	}
	return 0
}

func layoutOf(j *engine.Job, r *rules) (*layout, error) {
	layers := len(j.Model.Decoder().Layers)
	all := layers + nextN(j)
	devices := used(j)
	l := &layout{layer: make([]int, layers), head: host}
	ngl := all + 1
	if n := j.Plan.GPULayers; n != nil && *n >= 0 {
		ngl = int(min(int64(*n), int64(all+1)))
	}
	splits, err := splits(j, devices)
	if err != nil {
		return nil, err
	}
	start := max(all+1-ngl, 0)
	if r.headLast {
		start = max(all-ngl, 0)
	}
	at := func(i int) int {
		if devices == 0 || i < start || i-start >= ngl {
			return host
		}
		if cutsTensors(j) {
			return 0 // a part of it; the sizer gives each device its own
		}
		if j.Plan.SplitMode == "row" && r.rowMain {
			return min(mainDevice(j), devices-1)
		}
		return device(splits, float32(i-start)/float32(ngl))
	}
	for i := range l.layer {
		l.layer[i] = at(i)
	}
	l.head = at(all)
	return l, nil
}

// device is the first whose cumulative share lies above x; in single precision, as llama.cpp has it.
func device(splits []float32, x float32) int {
	for i, s := range splits {
		if s > x {
			return i
		}
	}
	return len(splits) - 1
}

// splits are cumulative shares of the devices.
func splits(j *engine.Job, devices int) ([]float32, error) {
	out, err := tensorSplit(j.Plan.TensorSplit, devices)
	if err != nil {
		return nil, err
	}
	if out == nil {
		out = freeMemory(j, devices)
	}
	sum := float32(0)
	for i := range out {
		sum += out[i]
		out[i] = sum
	}
	for i := range out {
		out[i] /= sum
	}
	return out, nil
}

// freeMemory of each device, as shares: nothing else runs there but what reserved_bytes keeps.
func freeMemory(j *engine.Job, devices int) []float32 {
	out := make([]float32, devices)
	for i := range out {
		out[i] = 1
		if d := usedDevice(j, i); d != nil && d.Usable.Known {
			out[i] = float32(max(1, int64(d.Usable.Value)-int64(j.Plan.Reserved)))
		}
	}
	return out
}

// tensorSplit reads -ts; nil when it is absent or all zero, which means free memory.
func tensorSplit(text string, devices int) ([]float32, error) {
	if text == "" {
		return nil, nil
	}
	bad := func(why, fix string) error {
		return &plan.Problem{Field: "tensor_split", Value: text, Message: fmt.Sprintf("tensor_split = %s %s", text, why), Fix: fix}
	}
	parts := strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == '/' || c == ' ' })
	if len(parts) > devices { // of fewer the rest is 0 (common/arg.cpp, --tensor-split)
		return nil, bad(fmt.Sprintf("gives %d proportions for %d devices", len(parts), devices), "one number for each device, as in 3,1")
	}
	out, sum := make([]float32, devices), float32(0)
	for i, p := range parts {
		x, err := strconv.ParseFloat(p, 32)
		if err != nil || !(x >= 0 && x <= 1e9) {
			return nil, bad(fmt.Sprintf("has %q, which is not a proportion", p), "numbers from 0, as in 3,1")
		}
		out[i] = float32(x)
		sum += out[i]
	}
	if sum == 0 {
		return nil, nil
	}
	return out, nil
}
