package mcp

import (
	"context"
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/autoscale"
	"github.com/memwall/memwall/internal/desk"
	"github.com/memwall/memwall/internal/pack"
	"github.com/memwall/memwall/internal/render/cards"
)

// operations are the tools beside the questions: a day on autoscalers, and models on a pool.
func (s *Server) operations() {
	s.operation("autoscale", "What autoscalers (HPA, KEDA, Dynamo, llm-d, an expression) make of a day's load: goal kept, dollars, regret.",
		`{"type":"object","properties":{"request":{"type":"object","description":"as for simulate: model, hardware, workload with prompt `+
			`and output, goal"},"requests_per_s":{"type":"array","items":{"type":"number"},"description":"in equal parts of a day"},"policies":{"type":"array",`+
			`"items":{"type":"string"}}},"required":["request","requests_per_s"]}`,
		func(ctx context.Context, asker *memwall.Asker, text []byte) (string, error) {
			q, err := autoscale.Decode(text)
			if err != nil {
				return "", err
			}
			r, err := q.Answer(ctx, asker)
			if err != nil {
				return "", err
			}
			return cards.Autoscale(r, plain), nil
		})
	s.operation("pack", "Which of several models go on which devices of a pool, by their ledgers.",
		`{"type":"object","properties":{"hardware":{"type":"string"},"mig":{"type":"boolean"},"models":{"type":"array","items":{"type":"object",`+
			`"properties":{"request":{"type":"object","description":"as for fit, without hardware"},"count":{"type":"integer"}}}}},`+
			`"required":["hardware","models"]}`,
		func(ctx context.Context, asker *memwall.Asker, text []byte) (string, error) {
			q, err := pack.Decode(text)
			if err != nil {
				return "", err
			}
			p, err := q.Answer(ctx, asker)
			if err != nil {
				return "", err
			}
			return cards.Pack(p, plain), nil
		})
}

// operation adds such a tool, which answers in the turn of a long question.
func (s *Server) operation(name, doc, in string, answer func(context.Context, *memwall.Asker, []byte) (string, error)) {
	s.sdk.AddTool(&sdk.Tool{Name: name, Description: doc, InputSchema: json.RawMessage(in), Annotations: readOnly()},
		func(ctx context.Context, r *sdk.CallToolRequest) (result *sdk.CallToolResult, _ error) {
			defer faulty(&result)
			text := ""
			err := s.desk.Do(ctx, client(r.Extra), desk.Long, func(ctx context.Context, asker *memwall.Asker) (err error) {
				text, err = answer(ctx, asker, arguments(r))
				return err
			})
			if err != nil {
				return failed(err), nil
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
		})
}
