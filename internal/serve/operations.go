package serve

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/autoscale"
	"github.com/memwall/memwall/internal/pack"
)

// posted are the paths that take a request of their own and answer with what it comes to.
type posted struct {
	name, doc string
	in, out   reflect.Type
	answer    func(ctx context.Context, asker *memwall.Asker, text []byte) (any, error)
}

// operations beside the questions of the contract.
func operations() []posted {
	return []posted{
		{"autoscale", "what autoscalers make of a day's load on replicas of a plan: the goal kept, dollars, and how far from an oracle that knows the load",
			reflect.TypeFor[autoscale.ScalingRequest](), reflect.TypeFor[autoscale.ScalingReport](),
			func(ctx context.Context, asker *memwall.Asker, text []byte) (any, error) {
				q, err := autoscale.Decode(text)
				if err != nil {
					return nil, err
				}
				return q.Answer(ctx, asker)
			}},
		{"pack", "which models go on which device of a pool: beside each other, in parts (MIG), or on several",
			reflect.TypeFor[pack.PackingRequest](), reflect.TypeFor[pack.Packing](),
			func(ctx context.Context, asker *memwall.Asker, text []byte) (any, error) {
				q, err := pack.Decode(text)
				if err != nil {
					return nil, err
				}
				return q.Answer(ctx, asker)
			}},
	}
}

func (p *posted) operation() *huma.Operation {
	return &huma.Operation{Method: http.MethodPost, Path: "/v1/" + p.name, OperationID: p.name, Summary: p.doc,
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{jsonType: {Schema: refOf(p.in)}}},
		Responses:   replies(jsonType, refOf(p.out), "400", "412", "413", "415", "422", "429")}
}
