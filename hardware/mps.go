package hardware

import (
	"fmt"
	"strconv"
)

// mostClients is the maximum number of clients per device of the Multi-Process Service (docs.nvidia.com/deploy/mps,
// since Volta).
const mostClients = 48

// setMPS reduces each device to the share of one of n clients of CUDA's Multi-Process Service, as set up by the
// Kubernetes device plugin and GKE: an equal part of the memory (CUDA_MPS_PINNED_DEVICE_MEM_LIMIT) and of the threads
// (CUDA_MPS_ACTIVE_THREAD_PERCENTAGE). Bandwidth is not limited, so speeds assume idle neighbours.
func (m *Machine) setMPS(o option) ([]Note, error) {
	n, err := strconv.Atoi(o.value)
	switch {
	case err != nil || n < 2 || n > mostClients:
		return nil, bad(o.key, o.value, "is not a number of clients that share a card", fmt.Sprintf("2 to %d", mostClients))
	case len(m.Groups) != 1 || m.Groups[0].Device.Vendor != "NVIDIA":
		return nil, bad(o.key, o.value, "is of one kind of NVIDIA device, and "+quote(m.Name)+" is not", "leave it out")
	}
	each := 1 / float64(n)
	d := &m.Groups[0].Device
	d.scale(portion{memory: each, bandwidth: 1, compute: each, source: "nvidia-mps"})
	d.Name = fmt.Sprintf("1/%d of %s (MPS)", n, d.Name)
	return []Note{note("mps_shared", "one of %d clients of CUDA MPS: 1/%d of the memory and of the threads, and all of the bandwidth "+
		"while the others are idle; torch sees the whole card (NVIDIA/k8s-device-plugin#764): a share of 0.9 is %.2g there",
		n, n, 0.9/float64(n))}, nil
}
