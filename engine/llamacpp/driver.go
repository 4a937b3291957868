package llamacpp

import (
	"fmt"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

// Memory that no buffer counts: the driver's context on a device, with the kernels, handles and pools that
// come with the first batch.

// CUDA's context grows with the multiprocessors: contextBase + contextPerSM × SMs, in MiB, by least squares
// over contexts that hold nothing else; contextGrowth is what a first run adds (TestContextFit has the rows).
const (
	contextBase   = 30.3
	contextPerSM  = 2.84
	contextGrowth = 60.7
)

// Band of CUDA's: nothing added yet, or a workspace of cuBLAS and pools that a long prompt made grow.
const (
	contextLow  = 0.8
	contextHigh = 128 // MiB more
)

// context is a constant in MiB with its 90 % band.
type context struct {
	value, low, high float64
	basis            ledger.Basis
	source           string
}

// contexts of the other backends: one device seen, or none.
var contexts = map[string]context{
	"CUDA":   {450, 100, 700, ledger.Measured, "llama.cpp #15860, #23604, #24608: contexts of 107 to 555 MiB"}, // of a device whose multiprocessors are unknown
	"ROCm":   {300, 100, 700, ledger.Assumed, "as CUDA's, with a wider band"},
	"MUSA":   {400, 100, 800, ledger.Assumed, "as CUDA's, with a wider band"},
	"SYCL":   {300, 50, 800, ledger.Assumed, "as CUDA's, with a wider band"},
	"CANN":   {500, 100, 1000, ledger.Assumed, "as CUDA's, with a wider band"},
	"Vulkan": {32, 10, 256, ledger.Assumed, "17 MiB seen on a Radeon RX 9060 XT (llama.cpp #20858)"},
	"MTL":    {64, 0, 256, ledger.Assumed, "pipelines and command buffers"},
}

func mib(x float64) unit.Bytes { return unit.Bytes(x * float64(unit.MiB)) }

// contextAtLoad is the context before anything ran.
func contextAtLoad(b *backend, d *hardware.Device) unit.Bytes {
	if b.name == "CUDA" && d.SMs.Known {
		return mib(contextBase + contextPerSM*float64(d.SMs.Value))
	}
	return mib(contexts[b.name].value)
}

// driverItem is the context on a device.
func driverItem(k *ledger.Book, b *backend, d *hardware.Device) ledger.Item {
	if b.name == "CUDA" && d != nil && d.SMs.Known {
		sms := float64(d.SMs.Value)
		n := k.Add(k.Size("base", mib(contextBase+contextGrowth), "context, and what a first run adds"),
			k.Mul(k.Size("per_multiprocessor", mib(contextPerSM), "fitted"), k.In("multiprocessors", sms, d.Name)))
		it := ledger.Known("driver", "CUDA context", n, ledger.Measured, ledger.Persistent, ledger.Device, contexts["CUDA"].source)
		return it.Band(mib(contextLow*(contextBase+contextPerSM*sms)), it.Bytes+mib(contextHigh))
	}
	c := contexts[b.name]
	it := ledger.Known("driver", fmt.Sprintf("%s context", b.name), k.Size("context", mib(c.value), c.source), c.basis, ledger.Persistent, ledger.Device, c.source)
	return it.Band(mib(c.low), mib(c.high))
}

// process is what the program itself takes of the host's memory: vocabulary, graphs, code. Dry runs of 1,693
// plans took 18 MiB and more, 48 MiB in the middle.
func processItem(k *ledger.Book, place ledger.Place) ledger.Item {
	const source = "llama.cpp v0.5.0, largest resident size of dry runs"
	it := ledger.Known("other", "the program: vocabulary, graphs, code", k.Size("process", 48*unit.MiB, source), ledger.Measured, ledger.Persistent, place, source)
	return it.Band(18*unit.MiB, 200*unit.MiB)
}
