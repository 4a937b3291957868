package compare

import (
	"cmp"
	"slices"
	"strings"

	"github.com/memwall/memwall/engine/startup"
)

// sendings maps the parts of a step to the purpose of their communication.
var sendings = map[string]string{
	"tp": "tensor parallel", "ep": "tokens to experts", "cp": "keys and values around", "pp": "between stages",
	"sharding": "weights and their gradients", "reduce": "gradients of replicas",
	"all_reduce": "tensor parallel", "all_to_all": "tokens to experts", "hand_over": "between stages", "tensor_parallel": "tensor parallel",
	"expert_parallel": "tokens to experts",
}

// sentFor returns the part of a step that a collective belongs to; "" if ambiguous. Among parts with the same collective, the group
// size decides.
func (o *operators) sentFor(m *startup.Message) string {
	var fits, sized []string
	for i := range o.own {
		x := &o.own[i]
		if x.class != "collectives" || slices.Contains(fits, x.Part) || !carries(x.Part, m.Collective) {
			continue
		}
		fits = append(fits, x.Part)
		if m.Group > 0 && o.groupOf(x.Part) == m.Group {
			sized = append(sized, x.Part)
		}
	}
	if len(fits) > 1 {
		fits = sized
	}
	if len(fits) == 1 {
		return fits[0]
	}
	return ""
}

// groupOf returns the number of ranks that communicate in a part; 0 if the plan does not state it.
func (o *operators) groupOf(part string) int64 {
	p := &o.plan.Request.Plan
	switch part {
	case "tp", "all_reduce", "tensor_parallel":
		return p.TP
	case "ep", "all_to_all", "expert_parallel":
		return p.EP
	case "cp":
		return p.CP
	case "sharding", "reduce":
		return max(1, p.DP) * max(1, p.CP)
	}
	return 0
}

// carries reports whether a part of a step uses a collective, named as in c10d or NCCL.
func carries(part, collective string) bool {
	words := map[string]string{
		"tp": "allreduce allgather reducescatter", "all_reduce": "allreduce allgather reducescatter", "ep": "alltoall",
		"all_to_all": "alltoall", "cp": "send recv allgather alltoall", "pp": "send recv",
		"hand_over": "send recv", "sharding": "allgather reducescatter", "reduce": "allreduce reducescatter allgather",
	}[part]
	name := strings.NewReplacer("_", "", "base", "", "coalesced", "").Replace(strings.ToLower(collective))
	return slices.ContainsFunc(strings.Fields(words), func(w string) bool { return strings.Contains(name, w) })
}

// sending returns the row of a collective; an engine's own collective has no message and is identified by its operator name.
func (o *operators) sending(x *startup.Operator) *operated {
	m := cmp.Or(x.Message, &startup.Message{Collective: x.Name})
	if part := o.sentFor(m); part != "" {
		return o.row(x.Class, "part "+part, sendings[part], "")
	}
	if x.Message != nil {
		return o.row(x.Class, x.Name+messageShape(m), x.Name, messageShape(m))
	}
	return o.unknown(x.Class, x.Name)
}
