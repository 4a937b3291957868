package speed

import (
	"slices"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// Operator is what an operator of the model takes of one part of a step, in all layers. Those of a part add up to it.
type Operator struct {
	Part string // of the step's parts
	Kind model.OpKind
	Role dtype.Role
	// Members of a product: the operators that are one for its time, each with the rows of its matrix on a rank. Cols are its
	// columns, Batch how many such matrices there are. Rest is what belongs to no operator.
	Members     []Member
	Cols, Batch int64
	Rest        bool
	// FLOPs of a step; 0 where the operator's work is not of one kind.
	FLOPs   float64
	Seconds float64
}

// Of is a kernel as an operator of a part, taking so long. A latent is expanded for all heads by one matrix.
func (k *Kernel) Of(part string, seconds float64) Operator {
	o := Operator{Part: part, Kind: k.Op.Kind, Role: k.Op.Role, Cols: k.Cols, Batch: max(1, k.Batch), Seconds: seconds}
	switch {
	case k.Attn != nil && k.Attn.Latent != nil:
		l := k.Attn.Latent
		o.Members, o.Cols, o.Batch = []Member{{dtype.AttnKVB, k.Attn.Heads * (l.Nope + l.V)}}, l.Rank, 1
	case k.Attn == nil && k.Rows > 0:
		o.Members = slices.Clone(k.Members())
	}
	return o
}

// same reports whether two are alike but for the layers that they are of.
func (o *Operator) same(x *Operator) bool {
	return o.Part == x.Part && o.Kind == x.Kind && o.Role == x.Role && o.Cols == x.Cols && o.Batch == x.Batch && o.Rest == x.Rest &&
		slices.Equal(o.Members, x.Members)
}

// PutOperator adds an operator to one like it of other layers.
func PutOperator(list []Operator, x Operator) []Operator {
	for i := range list {
		if list[i].same(&x) {
			list[i].Seconds, list[i].FLOPs = list[i].Seconds+x.Seconds, list[i].FLOPs+x.FLOPs
			return list
		}
	}
	return append(list, x)
}
