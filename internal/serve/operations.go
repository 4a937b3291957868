package serve

import (
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/memwall/memwall/internal/aside"
	"github.com/memwall/memwall/internal/autoscale"
	"github.com/memwall/memwall/internal/desk"
	"github.com/memwall/memwall/internal/pack"
)

// posted is an endpoint with a request type of its own.
type posted struct {
	name, doc string
	in, out   reflect.Type
	// task takes the request's text and returns the JSON response.
	task desk.Task[[]byte, []byte]
}

// operations returns the endpoints besides the contract's questions.
func operations() []posted {
	return []posted{
		{"autoscale", "what autoscalers make of a day's load on replicas of a plan: the goal kept, dollars, and how far from an oracle that knows the load",
			reflect.TypeFor[autoscale.ScalingRequest](), reflect.TypeFor[autoscale.ScalingReport](),
			desk.Steps("v1/autoscale", autoscale.Decode, (*autoscale.ScalingRequest).Answer, encoded)},
		{"pack", "which models go on which device of a pool: beside each other, in parts (MIG), or on several",
			reflect.TypeFor[pack.PackingRequest](), reflect.TypeFor[pack.Packing](),
			desk.Steps("v1/pack", pack.Decode, (*pack.PackingRequest).Answer, encoded)},
	}
}

// Tasks returns the tasks, besides questions, that a server runs in other processes.
func Tasks() aside.Tasks {
	page := drawn(nil)
	tasks := aside.Tasks{page.Name: page.JSON}
	for _, p := range operations() {
		tasks[p.task.Name] = p.task.JSON
	}
	return tasks
}

func (p *posted) operation() *huma.Operation {
	return &huma.Operation{Method: http.MethodPost, Path: "/v1/" + p.name, OperationID: p.name, Summary: p.doc,
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{jsonType: {Schema: refOf(p.in)}}},
		Responses:   replies(jsonType, refOf(p.out), "400", "412", "413", "415", "422", "429")}
}
