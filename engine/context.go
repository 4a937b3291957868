package engine

import (
	"strings"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/unit"
)

// Taken is a figure in GiB with its 90 % band.
type Taken struct{ Value, Low, High float64 }

// BeforeLoading is what CUDA's context and NCCL hold of each of so many devices before an engine on PyTorch loads a weight. Measured as
// the total less SGLang's "Load weight begin", public logs of 0.2 to 0.5: one rank 0.36 to 0.52, two 0.6 to 0.7, eight over PCIe 0.4, eight
// and sixteen over NVLink 2.1 to 2.5, 3 on B200; RCCL on eight MI355X 4.4, MI308X 6.6, MI300X 7.7. A card of a desktop shows its windows too, or gives
// WSL less: 0.9 on an RTX 3090, 0.7 on an RTX 3070 of a laptop.
func BeforeLoading(ranks int64, d *hardware.Device) (Taken, string) {
	switch {
	case ranks <= 1 && d != nil && d.Consumer():
		return Taken{0.45, 0.2, 1}, "CUDA context"
	case ranks <= 1:
		return Taken{0.45, 0.2, 0.6}, "CUDA context"
	case ranks < 4:
		return Taken{0.65, 0.4, 0.9}, "CUDA context, NCCL on 2 or 3 devices"
	case nvlink(d) && d.Vendor == "AMD":
		return Taken{6, 4, 8}, "HIP context, RCCL over Infinity Fabric"
	case nvlink(d):
		return Taken{2.2, 0.6, 3.2}, "CUDA context, NCCL over NVLink"
	}
	return Taken{0.4, 0.35, 0.9}, "CUDA context, NCCL over PCIe"
}

// nvlink reports whether a device has links beyond PCIe: boards and racks do; cards, bridged in pairs at most, do not
// count.
func nvlink(d *hardware.Device) bool {
	return d != nil && d.Link.Name != "" && !strings.Contains(d.Link.Name, "bridge")
}

// Outside returns the device memory that an engine process holds beyond what its ledger shows, and that is therefore
// missing to other users of the device; 0 if the ledger is complete. Engines that leave something out implement a
// method of that name.
func Outside(e Engine, j *Job) unit.Bytes {
	if own, has := e.(interface{ Outside(*Job) unit.Bytes }); has {
		return own.Outside(j)
	}
	return 0
}
