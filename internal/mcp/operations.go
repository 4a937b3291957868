package mcp

import (
	"context"
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/memwall/memwall/internal/aside"
	"github.com/memwall/memwall/internal/autoscale"
	"github.com/memwall/memwall/internal/desk"
	"github.com/memwall/memwall/internal/pack"
	"github.com/memwall/memwall/internal/render/cards"
)

// operation is a tool besides the questions.
type operation struct {
	doc, in string
	task    desk.Task[[]byte, string]
}

// operations returns the tools for a day of autoscaling, and models on a pool.
func operations() []operation {
	return []operation{
		{"What autoscalers (HPA, KEDA, Dynamo, llm-d, an expression) make of a day's load: goal kept, dollars, regret.",
			`{"type":"object","properties":{"request":{"type":"object","description":"as for simulate: model, hardware, workload with prompt ` +
				`and output, goal"},"requests_per_s":{"type":"array","items":{"type":"number"},"description":"in equal parts of a day"},"policies":{"type":"array",` +
				`"items":{"type":"string"}}},"required":["request","requests_per_s"]}`,
			desk.Steps("autoscale", autoscale.Decode, (*autoscale.ScalingRequest).Answer,
				func(r *autoscale.ScalingReport) (string, error) { return cards.Autoscale(r, plain), nil })},
		{"Which of several models go on which devices of a pool, by their ledgers.",
			`{"type":"object","properties":{"hardware":{"type":"string"},"mig":{"type":"boolean"},"models":{"type":"array","items":{"type":"object",` +
				`"properties":{"request":{"type":"object","description":"as for fit, without hardware"},"count":{"type":"integer"}}}}},` +
				`"required":["hardware","models"]}`,
			desk.Steps("pack", pack.Decode, (*pack.PackingRequest).Answer,
				func(p *pack.Packing) (string, error) { return cards.Pack(p, plain), nil })},
	}
}

// Tasks returns the tasks, besides questions, that an agents' server runs in other processes.
func Tasks() aside.Tasks {
	told := lesson()
	tasks := aside.Tasks{told.Name: told.JSON}
	for _, o := range operations() {
		tasks[o.task.Name] = o.task.JSON
	}
	return tasks
}

// operation adds such a tool, which runs in the turn of a long question.
func (s *Server) operation(o operation) {
	s.sdk.AddTool(&sdk.Tool{Name: o.task.Name, Description: o.doc, InputSchema: json.RawMessage(o.in), Annotations: readOnly()},
		func(ctx context.Context, r *sdk.CallToolRequest) (result *sdk.CallToolResult, _ error) {
			defer faulty(&result)
			text, err := desk.Run(ctx, s.desk, client(r.Extra), desk.Long, o.task, arguments(r))
			if err != nil {
				return failed(err), nil
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
		})
}
