package train

import (
	"fmt"
	"slices"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
)

// Ways in which the ranks of a context parallel group attend to the whole sequence: keys and values are passed around,
// each rank holding the current and the next block (Ring Attention, arXiv:2310.01889); each rank gathers them all; or
// each takes some heads of whole sequences (Ulysses, arXiv:2309.14509).
const goesAround, gathers, exchanges = "p2p", "allgather", "a2a"

// contextBy returns a framework's default: megatron/core/transformer/attention.py uses Transformer Engine's p2p;
// torchtitan gathers (config/job_config.py: context_parallel_rotate_method). "" if unknown, which is sized as a ring.
func contextBy(j *Job) string {
	switch {
	case j.megatron():
		return goesAround
	case j.Framework.Name == "torchtitan":
		return gathers
	}
	return ""
}

// checkContext requires heads to be divisible (transformer_engine/pytorch/attention: AttnFuncWithCPAndQKVOA2A).
func checkContext(j *Job) error {
	p, t, m := j.Plan, j.Training, &j.Model.Traits
	switch {
	case t.CPComm == "" || p.CP <= 1:
		return nil
	case !slices.Contains([]string{goesAround, gathers, exchanges}, t.CPComm):
		return unknown("cp_comm_type", t.CPComm, goesAround, gathers, exchanges)
	case t.CPComm == exchanges && (m.Heads%(p.TP*p.CP) != 0 || m.KVHeads%(p.TP*p.CP) != 0):
		return impossible("cp_comm_type", t.CPComm, "--cp-comm-type p2p", "cp_comm_type = a2a: %s",
			fmt.Sprintf("%d heads and %d of keys and values do not divide among tp %d × cp %d", m.Heads, m.KVHeads, p.TP, p.CP))
	}
	return nil
}

// keysAndValues returns the elements of a token's keys and values in a layer as passed on, expanded if latent.
func keysAndValues(k *model.Kind) (n float64) {
	for i := range k.Ops {
		a := k.Ops[i].Attn
		switch {
		case a == nil:
		case a.Latent != nil:
			n += float64(a.Heads * (a.Latent.Nope + a.Latent.Rope + a.Latent.V))
		default:
			n += float64(a.KVHeads * (a.DimK + a.DimV))
		}
	}
	return n
}

// passedOn books other ranks' keys and values and their gradients beyond the current block. They exist during
// attention, which is not where most memory is live (measured: Megatron runs with context parallelism show nothing of a
// ring's).
func passedOn(f *filler) ledger.Item {
	j, most, n := f.s.j, 0.0, f.b.Lit(0)
	held := 2 * map[string]float64{goesAround: 2, gathers: float64(j.Plan.CP)}[j.Training.CPComm]
	for i := range f.h.blocks {
		most = max(most, held*f.h.blocks[i].passed-f.h.blocks[i].work)
	}
	if j.Plan.CP > 1 && most > 0 {
		n = f.b.Mul(f.tokens(), f.b.In("beyond_per_token", most, "keys, values and gradients of the context group, less the block"))
	}
	return ledger.Known("workspace", "keys and values of other ranks", n, ledger.Derived, ledger.Ephemeral, ledger.Device, phasesPage)
}
