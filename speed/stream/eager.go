package stream

import "fmt"

// eager reports whether the engine's host launches each kernel of a step anew, from Python.
func (m *Model) eager() bool { return m.in.Engine == "transformers" }

// awaited is for how long a step that takes the device so many seconds waits for an eager engine's host.
func (m *Model) awaited(device float64, c []float64) float64 {
	if !m.eager() {
		return 0
	}
	return overlapped(device, c[m.uses.host]*m.eagerKernels()) - device
}

// awaited is the formula of that, which follows what the device takes.
func (w *writer) awaited() string {
	device := w.in("device_s", 0, w.p.deviceStep(w.n, w.touched, w.kv), "seconds that the device takes for a step")
	return fmt.Sprintf("overlap(%s, %s × %s) - %s", device, w.in("launched", 0, w.p.eagerKernels(), "kernels that the host launches, one by one"),
		w.coefficient("eager", 0, w.p.uses.host, "seconds of a launch"), device)
}

// eagerKernels are what it launches for a token, those of experts once for each that it goes through one after another.
func (m *Model) eagerKernels() float64 {
	w := m.work
	return w.kernels + w.expertKernels*(m.expertLoops()-1)
}

// expertLoops is how often transformers goes through the kernels of an expert in a layer: for all of them in turn, until 4.54
// (July 2025) for those alone that a token goes to, and since 5.0 (2026) for all in one grouped product
// (modeling_qwen3_moe.py; integrations/moe.py).
func (m *Model) expertLoops() float64 {
	e := m.work.moe
	switch built := m.in.Built; {
	case e == nil || built == 0 || built >= 2026:
		return 1
	case built < 2025.5:
		return float64(e.N)
	}
	return float64(e.Used)
}
