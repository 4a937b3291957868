package engine

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/plan"
)

// OneFormat normalizes the names of the cache formats, defaulting that of values to that of keys. Unknown names are
// left for Check to reject.
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
