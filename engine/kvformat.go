package engine

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/plan"
)

// OneFormat gives the formats of cached keys and values their canonical names, values that of the keys
// unless the plan says otherwise. What is no format stays as it is, for Check to refuse.
func OneFormat(p *plan.Plan) {
	if p.KVV == "" {
		p.KVV = p.KV
	}
	for _, f := range []*string{&p.KV, &p.KVV} {
		if known := dtype.FindFormat(*f); known != nil {
			*f = known.Name
		}
	}
}
