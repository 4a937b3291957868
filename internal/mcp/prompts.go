package mcp

import (
	"context"
	"encoding/json"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/desk"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/render/cards"
	"github.com/memwall/memwall/internal/schema"
	"github.com/memwall/memwall/learn"
)

// prompt is a common question, worded for an agent; {name} stands for an argument.
type prompt struct{ name, title, asks, words string }

var prompts = []prompt{
	{"runs-on", "Will it run on my card?", "model hardware",
		"Does {model} run on {hardware}? Use memwall's fit; say what it needs of what it may use with the band, how fast it is, and the " +
			"command. If it does not fit, say the first cure and what that costs."},
	{"which-hardware", "Which GPU do I need?", "model",
		"Which hardware do I need for {model}? Use memwall's plan without hardware; name the smallest that holds it and the cheapest, " +
			"each with its format, what stays free, its speed and its rent."},
	{"how-many-users", "How many users?", "model hardware",
		"How many users does {model} hold on {hardware}? Use memwall's fit for the room, then simulate with the load I describe; say " +
			"TTFT and TPOT at p99 and what runs out first."},
	{"training", "What does training take?", "model hardware method",
		"What does it take to train {model} on {hardware} by {method}? Use memwall's train; say the peak and its phase, what nvidia-smi " +
			"will show, the time of a step and what to change if it does not fit."},
	{"out-of-memory", "Why did it run out?", "text",
		"Why did this run out of memory? Use memwall's diagnose on the text and say the cause, the smallest fix and what prevents " +
			"it.\n\n{text}"},
}

// prompts registers them.
func (s *Server) prompts() {
	for _, p := range prompts {
		var arguments []*sdk.PromptArgument
		for _, name := range strings.Fields(p.asks) {
			arguments = append(arguments, &sdk.PromptArgument{Name: name, Required: true})
		}
		s.sdk.AddPrompt(&sdk.Prompt{Name: p.name, Title: p.title, Arguments: arguments},
			func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
				words := p.words
				for _, name := range strings.Fields(p.asks) {
					words = strings.ReplaceAll(words, "{"+name+"}", r.Params.Arguments[name])
				}
				return &sdk.GetPromptResult{Description: p.title,
					Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: words}}}}, nil
			})
	}
}

// Prefixes of resources besides answers.
const (
	cardAt   = "memwall://"
	schemaAt = "memwall://schema/request"
)

// cards registers the schema of requests, and the cards of models, hardware and formats.
func (s *Server) cards() {
	s.sdk.AddResource(&sdk.Resource{Name: "request", URI: schemaAt, MIMEType: "application/schema+json",
		Description: "all that a question may have"}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		text, err := schema.Of("request")
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: schemaAt, MIMEType: "application/schema+json",
			Text: string(text)}}}, err
	})
	for kind, find := range map[string]func(name string) (any, error){
		"models":   func(name string) (any, error) { return card.ModelOf(s.models, name) },
		"hardware": func(name string) (any, error) { return card.HardwareOf(s.models, name) },
		"formats": func(name string) (any, error) {
			c, missing := card.FormatCard(name)
			if missing != nil {
				return nil, missing
			}
			return c, nil
		},
	} {
		at := cardAt + kind + "/"
		s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{Name: kind, URITemplate: at + "{name}", MIMEType: "application/json",
			Description: "the card of one of the " + kind},
			func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
				of, err := find(strings.TrimPrefix(r.Params.URI, at))
				if err != nil {
					return nil, sdk.ResourceNotFoundError(r.Params.URI)
				}
				text, err := json.Marshal(of)
				return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, MIMEType: "application/json",
					Text: string(text)}}}, err
			})
	}
}

// formatCards lists formats, or shows one.
func formatCards(words string) (string, error) {
	if words != "" {
		c, missing := card.FormatCard(words)
		switch x := c.(type) {
		case *card.Format:
			return cards.Format(x, plain), nil
		case *card.Recipe:
			return cards.Recipe(x, plain), nil
		case *card.Published:
			return cards.Published(x, plain), nil
		}
		if l := card.ListFormats(words); l.Empty() {
			return "", missing
		}
	}
	l := card.ListFormats(words)
	return cards.Formats(l.Formats, l.Blocks, l.Recipes, l.Measured, words, plain), nil
}

// lessons lists lessons, or tells one, computing its numbers in a turn of the desk.
func (s *Server) lessons(ctx context.Context, client, topic string) (text string, err error) {
	if topic == "" {
		return render.Lessons(learn.Topics(), plain), nil
	}
	return desk.Run(ctx, s.desk, client, desk.Medium, lesson(), topic)
}

// lesson returns the task that tells one.
func lesson() desk.Task[string, string] {
	return desk.Task[string, string]{Name: "lesson", Do: func(_ context.Context, asker *memwall.Asker, topic string) (string, error) {
		l, err := learn.Tell(asker, topic, learn.Example{})
		if err != nil {
			return "", err
		}
		return render.Lesson(l, plain), nil
	}}
}
