package speed

import (
	"slices"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// Operator is the time of a model operator within one part of a step, over all layers. The operators of a part add up
// to it.
type Operator struct {
	Part string // name of the step's part
	Kind model.OpKind
	Role dtype.Role
	// Members are the operators of a matmul timed as one, each with the rows of its matrix on a rank. Cols is the number
	// of columns, Batch that of matrices. Rest marks time that belongs to no operator.
	Members     []Member
	Cols, Batch int64
	Rest        bool
	// FLOPs per step; 0 if the operator's work is of several kinds.
	FLOPs   float64
	Seconds float64
}

// Of returns the kernel as an operator of a part, taking the given time. A latent is expanded for all heads by one
// matrix.
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

// same reports whether two operators differ at most in their layers.
func (o *Operator) same(x *Operator) bool {
	return o.Part == x.Part && o.Kind == x.Kind && o.Role == x.Role && o.Cols == x.Cols && o.Batch == x.Batch && o.Rest == x.Rest &&
		slices.Equal(o.Members, x.Members)
}

// PutOperator adds an operator to the list, merging it with the same operator of other layers.
func PutOperator(list []Operator, x Operator) []Operator {
	for i := range list {
		if list[i].same(&x) {
			list[i].Seconds, list[i].FLOPs = list[i].Seconds+x.Seconds, list[i].FLOPs+x.FLOPs
			return list
		}
	}
	return append(list, x)
}
