// Package mcp is the interface for agents: the contract's questions as tools of the Model Context Protocol, with short
// answers and a link to each full answer.
//
// See mcp.go for the tools, brief.go for what they return.
package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/desk"
)

// Server answers agents.
type Server struct {
	desk   *desk.Desk
	models memwall.ModelSource
	sdk    *sdk.Server
}

// instructions tell an agent what the server is for.
const instructions = "memwall computes the memory and the speed of large language models: whether a model fits on hardware, what to " +
	"change when it does not, how many users it serves, what training takes. " +
	"Bytes are bytes and lengths are tokens. Models and hardware are named as people write them; tools models, hardware and formats list " +
	"what is known. " +
	"An argument means the same in every tool and is described where it stands first; memwall://schema/request describes all that a " +
	"question may have. " +
	"Each answer links to a resource with every number, its formula, source and band."

// New returns a Server whose questions are answered by a desk; models resolves the models whose cards may be requested.
func New(d *desk.Desk, models memwall.ModelSource) (*Server, error) {
	s := &Server{desk: d, models: models}
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: "memwall", Title: "memwall", Version: memwall.Version}, &sdk.ServerOptions{
		Instructions: instructions, Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{},
			Resources: &sdk.ResourceCapabilities{}, Prompts: &sdk.PromptCapabilities{}},
	})
	said := map[string]bool{}
	for _, q := range questions {
		if err := s.question(q, said); err != nil {
			return nil, err
		}
	}
	s.lookUp("models", "Models of the catalog: with a name the card of that one, with words those that have them in their names.",
		locally(s.modelCards))
	s.lookUp("hardware", "Devices and nodes of the catalog: with a name the card of that one, with words those that have them in "+
		"their names.", locally(s.hardwareCards))
	s.lookUp("formats", "Number formats and quantisations: with a name the bits, sizes and published losses of that one.",
		locally(formatCards))
	s.lookUp("learn", "Lessons on the memory and speed of models, with formulas and numbers computed now: with a name that one.", s.lessons)
	for _, o := range operations() {
		s.operation(o)
	}
	s.prompts()
	s.cards()
	s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{Name: "answer", URITemplate: answerAt + "{request}", MIMEType: "application/json",
		Description: "a whole answer, every number with its formula, source and band; request is a request's JSON in base64url " +
			"without padding"}, s.read)
	return s, nil
}

// Run serves one agent until its input or the context ends.
func (s *Server) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	w := &turns{out: out}
	return s.sdk.Run(ctx, &sdk.IOTransport{Reader: io.NopCloser(&lines{in: bufio.NewReaderSize(in, 1<<16), out: w}), Writer: kept{w}})
}

// kept is a writer that is not closed with its user.
type kept struct{ io.Writer }

func (kept) Close() error { return nil }

// Handler returns a handler for agents over HTTP, each request by itself: in JSON, or as a stream if progress is
// requested. It relies on a server's guards.
func (s *Server) Handler() http.Handler {
	handler := func(json bool) http.Handler {
		return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.sdk }, &sdk.StreamableHTTPOptions{
			Stateless: true, JSONResponse: json, MaxRequestBodyBytes: mostBytes, PropagateRequestCancellation: true,
			DisableLocalhostProtection: true, // the guards check host names
		})
	}
	plain, streams := handler(true), handler(false)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostBytes))
		r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), broken{err}))
		if bytes.Contains(body, []byte(`"progressToken"`)) {
			streams.ServeHTTP(w, r)
			return
		}
		plain.ServeHTTP(w, r)
	})
}

// mostBytes is the maximum size of a message.
const mostBytes = 2 << 20

// broken is the remainder of a body that ended with an error.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	return 0, io.EOF
}

// question is a tool that asks one question.
type question struct {
	tool, ask, doc   string
	fields, required []string
}

// common lists plan fields that most questions have.
var common = []string{"model", "hardware", "devices", "engine", "weights", "kv", "context", "sequences", "prompt_tokens", "output_tokens",
	"tp", "pp", "ep", "dp"}

func with(more ...string) []string { return append(append([]string(nil), common...), more...) }

var questions = []question{
	{"fit", "fit", "Does a model fit on hardware? Bytes needed and allowed per device, users and context it holds, speed, cures when it " +
		"does not fit, the command to run. Without hardware: which hardware would do.",
		with("offload", "gpu_layers", "cpu_moe", "gpu_memory_utilization", "override"), []string{"model"}},
	{"plan", "plan", "What to change so that a model fits; without hardware, the smallest of each kind that holds it, with rents; with " +
		"workload and goal, the fleets that hold a load at least cost. A field given is kept, one left out is searched; for: train " +
		"searches plans of training.",
		with("for", "workload", "goal", "max_devices"), []string{"model"}},
	{"pick", "pick", "Which models of the catalog run on hardware for a use, best published scores first.",
		[]string{"hardware", "use", "devices", "context", "sequences", "engine", "weights"}, []string{"hardware"}},
	{"train", "train", "What training takes: memory per device and phase, time of a step, cost of a run, cures.",
		[]string{"model", "hardware", "devices", "framework", "objective", "method", "optimizer", "precision", "sharding", "tp", "pp",
			"sequence_length", "micro_batch", "accumulation", "recompute", "lora_rank", "tokens"}, []string{"model"}},
	{"simulate", "sim", "Does a server hold a load? Plays requests one by one: TTFT and TPOT in percentiles, throughput, what runs out.",
		with("workload", "goal", "replicas"), []string{"model", "hardware", "workload"}},
	{"diff", "diff", "What a change of a plan buys: memory, users, speed and cost before and after.", with("change"),
		[]string{"model", "change"}},
	{"compare", "compare", "Sets the figures that an engine's start-up log prints beside those of its plan.",
		[]string{"text", "model", "hardware", "engine"}, []string{"text"}},
	{"diagnose", "diagnose", "Why did it run out of memory? Reads what a program printed: cause, smallest fix, what prevents it.",
		[]string{"text", "model", "hardware", "devices", "engine", "context", "sequences"}, []string{"text"}},
}

// question adds a tool. Arguments are fields of a request, including rare ones, which the schema leaves to the
// contract; descriptions given by the first tool are not repeated. There is no output schema: a Brief is short and
// states its units.
func (s *Server) question(q question, said map[string]bool) error {
	in, err := briefly(q.fields, q.required, said)
	if err != nil {
		return err
	}
	s.sdk.AddTool(&sdk.Tool{Name: q.tool, Description: q.doc, InputSchema: in, Annotations: readOnly()},
		func(ctx context.Context, r *sdk.CallToolRequest) (result *sdk.CallToolResult, _ error) {
			defer faulty(&result)
			request, err := desk.Decode(q.ask, arguments(r))
			if err != nil {
				return failed(err), nil
			}
			answer, err := s.desk.Ask(ctx, client(r.Extra), request, report(ctx, r))
			if err != nil {
				return failed(err), nil
			}
			return toolResult(request, answer)
		})
	return nil
}

// faulty turns a panic into the failure of one call.
func faulty(result **sdk.CallToolResult) {
	if recover() != nil {
		*result = failed(&memwall.Error{Code: memwall.Internal, Message: "memwall itself failed",
			Hint: "this is a bug; report it with the request"})
	}
}

func readOnly() *sdk.ToolAnnotations {
	return &sdk.ToolAnnotations{ReadOnlyHint: true}
}

func arguments(r *sdk.CallToolRequest) []byte {
	if given := string(r.Params.Arguments); given == "" || given == "null" {
		return []byte("{}")
	}
	return r.Params.Arguments
}

// client identifies the client, as determined by a server's guards; over a pipe there is one.
func client(x *sdk.RequestExtra) string {
	if x == nil {
		return ""
	}
	return x.Header.Get(desk.ClientHeader)
}

// report returns a function that sends an agent, if it asked for it, the progress of a search or simulation: in
// seconds, since the unit of work changes between phases, and in words.
func report(ctx context.Context, r *sdk.CallToolRequest) desk.Report {
	token := r.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	const every = 500 * time.Millisecond
	start := time.Now()
	last := start
	return func(p memwall.Progress) {
		if now := time.Now(); now.Sub(last) >= every {
			last = now
			_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: now.Sub(start).Seconds(),
				Message: p.String()}) // the client may have disconnected
		}
	}
}

// answerAt is the prefix of answers' URIs, which contain their requests.
const answerAt = "memwall://answer/"

// linkOf returns the URI of a request's answer.
func linkOf(r *memwall.Request) (string, error) {
	text, err := json.Marshal(r)
	return answerAt + base64.RawURLEncoding.EncodeToString(text), err
}

// read returns the full answer of a link.
func (s *Server) read(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := r.Params.URI
	text, err := base64.RawURLEncoding.DecodeString(uri[min(len(answerAt), len(uri)):])
	if err != nil {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	request, err := memwall.Decode(text)
	if err != nil {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	answer, err := s.desk.Ask(ctx, client(r.Extra), request, nil)
	if err != nil {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	all, err := json.Marshal(answer)
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: "application/json", Text: string(all)}}}, err
}

// lookUp adds a tool that lists things, or shows a card.
func (s *Server) lookUp(name, doc string, find func(ctx context.Context, client, words string) (text string, err error)) {
	in := json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)
	s.sdk.AddTool(&sdk.Tool{Name: name, Description: doc, InputSchema: in, Annotations: readOnly()},
		func(ctx context.Context, r *sdk.CallToolRequest) (result *sdk.CallToolResult, _ error) {
			defer faulty(&result)
			var given struct {
				Name string `json:"name"`
			}
			if err := desk.Strict(arguments(r), &given, `{"name":"h100"}`); err != nil {
				return failed(err), nil
			}
			text, err := find(ctx, client(r.Extra), given.Name)
			if err != nil {
				return failed(memwall.AsError(err)), nil
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
		})
}

// locally adapts a look-up that needs no desk.
func locally(find func(words string) (string, error)) func(context.Context, string, string) (string, error) {
	return func(_ context.Context, _, words string) (string, error) { return find(words) }
}

func (s *Server) modelCards(words string) (string, error) {
	if words != "" {
		m, several, err := card.Look(s.models, words)
		if err != nil {
			return "", err
		}
		if !several {
			return modelCard(m), nil
		}
	}
	return modelList(words), nil
}

func (s *Server) hardwareCards(words string) (string, error) {
	if words == "" {
		return hardwareList(""), nil
	}
	if n := card.NodeOf(words); n != nil {
		return nodeCard(n), nil
	}
	h, err := card.HardwareOf(s.models, words)
	switch {
	case err == nil:
		return hardwareCard(h), nil
	case len(card.Devices(words))+len(card.Nodes(words)) > 0:
		return hardwareList(words), nil
	}
	return "", err
}
