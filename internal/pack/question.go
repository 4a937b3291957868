package pack

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/desk"
)

// PackingRequest requests a placement over HTTP or by an agent.
type PackingRequest struct {
	Hardware string         `json:"hardware" doc:"the pool: devices of one kind, such as 8xh100"`
	MIG      bool           `json:"mig,omitempty" doc:"in parts of devices, each model in the smallest in which it fits"`
	Models   []PackingModel `json:"models" doc:"what is to lie there"`
}

// PackingModel is a model with its plan, maybe several times.
type PackingModel struct {
	Request memwall.Request `json:"request" doc:"the model with its plan, as for fit and without hardware"`
	Count   int             `json:"count,omitempty" doc:"how many of it: 1"`
}

// example of a question.
const example = `{"hardware":"4xh100","models":[{"request":{"model":"qwen3-8b"}}]}`

// Decode reads a PackingRequest; the error is a *memwall.Error that names the field.
func Decode(text []byte) (*PackingRequest, error) {
	var raw struct {
		Hardware string `json:"hardware"`
		MIG      bool   `json:"mig"`
		Models   []struct {
			Request json.RawMessage `json:"request"`
			Count   int             `json:"count"`
		} `json:"models"`
	}
	if err := desk.Strict(text, &raw, example); err != nil {
		return nil, err
	}
	out := &PackingRequest{Hardware: raw.Hardware, MIG: raw.MIG}
	for i, m := range raw.Models {
		field := fmt.Sprintf("models[%d]", i)
		r, err := memwall.Decode(m.Request)
		switch {
		case err != nil:
			e := *memwall.AsError(err)
			e.Field = strings.TrimSuffix(field+".request."+e.Field, ".")
			return nil, &e
		case r.Hardware != "" || r.Ask != "" && r.Ask != "fit":
			return nil, fault(field, r.Hardware+r.Ask, "it is asked as for fit, and the pool is the hardware of all",
				"leave hardware and ask out")
		case m.Count < 0 || m.Count > mostModels:
			return nil, fault(field+".count", fmt.Sprint(m.Count), fmt.Sprintf("not from 1 to %d", mostModels), "1")
		}
		r.Ask = "fit"
		out.Models = append(out.Models, PackingModel{*r, max(1, m.Count)})
	}
	return out, nil
}

// Answer places what is asked.
func (q *PackingRequest) Answer(ctx context.Context, asker *memwall.Asker) (*Packing, error) {
	if q.Hardware == "" || len(q.Models) == 0 {
		return nil, fault("models", "", "name a pool and the models to place on it", example)
	}
	var plans []Plan
	for i := range q.Models {
		m := &q.Models[i]
		for range m.Count {
			plans = append(plans, Plan{Text: m.Request.Model, Request: &m.Request})
		}
		if len(plans) > mostModels {
			break // which Pack refuses
		}
	}
	return Pack(ctx, asker.AskContext, q.Hardware, q.MIG, plans)
}
