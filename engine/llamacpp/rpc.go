package llamacpp

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/engine"
)

// Devices of other nodes, over RPC (ggml/src/ggml-rpc): an rpc-server on each allocates as its own backend does, but
// without a host buffer, without working ahead, and without saying which operators it lacks. llama.cpp lists such
// devices before its own (src/llama.cpp, llama_prepare_model_devices).

// remotes are the backends as seen over RPC.
var remotes = remoteBackends(&cuda, &rocm, &musa, &sycl, &vulkan, &cann, &metal)

func remoteBackends(list ...*backend) map[*backend]*backend {
	out := map[*backend]*backend{}
	for _, b := range list {
		r := *b
		r.remote, r.unchecked = true, true
		r.host, r.mapped, r.rowSplit, r.narrowFA, r.async, r.compared = "", false, false, false, false, false
		out[b] = &r
	}
	return out
}

// remoteDevices are how many of the plan's devices are of other nodes than the first.
func remoteDevices(j *engine.Job) int64 {
	if j.Machine == nil || j.Machine.CPUOnly {
		return 0
	}
	return max(0, j.Devices()-j.PerNode())
}

// backendAt is the backend of the i-th device that the plan uses.
func backendAt(j *engine.Job, i int) *backend {
	b := built(j.Plan, usedDevice(j, i))
	if b != nil && deviceIndex(j, i) >= j.PerNode() && remoteDevices(j) > 0 {
		return remotes[b]
	}
	return b
}

// checkRemote: rows are not cut over nodes.
func checkRemote(j *engine.Job, _ *rules) error {
	if remoteDevices(j) > 0 && j.Plan.SplitMode == "row" {
		return impossible("split_mode", "row", "split_mode layer", "split_mode = row: matrices are not cut over devices of several nodes")
	}
	return nil
}

// rpcArgs name the servers of the other nodes.
func rpcArgs(j *engine.Job) []string {
	if remoteDevices(j) == 0 {
		return nil
	}
	var servers []string
	for n := 2; n <= j.Machine.Nodes; n++ {
		servers = append(servers, fmt.Sprintf("node%d:50052", n))
	}
	return []string{"--rpc " + strings.Join(servers, ",")}
}
