package bench

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/plan"
)

// Report is the measurement, level by level, with the prediction for the plan that the server reports.
type Report struct {
	Schema   string `json:"schema"`
	Address  string `json:"address"`
	Engine   string `json:"engine,omitempty"`
	Model    string `json:"model"`
	Hardware string `json:"hardware,omitempty"`
	Load     Load   `json:"load"`
	Rows     []Row  `json:"rows"`
	// Unpredicted is why there are no predictions; "" where there are.
	Unpredicted string `json:"unpredicted,omitempty"`
	// Written is the file of the levels for memwall calibrate.
	Written string `json:"written,omitempty"`
}

// Row is a level beside its prediction, null where the plan is not known.
type Row struct {
	*Level
	Predicted *memwall.Speed `json:"predicted,omitempty"`
}

// NewReport returns a report on a server that reported what it runs.
func NewReport(address string, l Load, said *memwall.Answer) *Report {
	r := &Report{Schema: memwall.Schema, Address: address, Load: l}
	if p := said.Plan; p != nil {
		r.Engine, _, _ = strings.Cut(p.Engine, "@")
		r.Model, r.Hardware = p.Model, p.Hardware
	}
	return r
}

// Predict sets predictions beside the levels: the plan that the server said it runs, with so many users and the lengths that were
// measured. A plan that could not be sized has none.
func (r *Report) Predict(said *memwall.Answer, ask func(*memwall.Request) (*memwall.Answer, error)) {
	if r.Unpredicted = unsized(said); r.Unpredicted != "" {
		return
	}
	for i := range r.Rows {
		row := &r.Rows[i]
		at := *said.Plan
		at.Ask = "fit"
		prompt, output := row.lengths(r.Load)
		at.Sequences, at.PromptTokens, at.OutputTokens = plan.Int(row.Users), plan.Int(prompt), plan.Int(output)
		at.Context = plan.Int(prompt + output)
		answer, err := ask(&at)
		if err != nil {
			r.Unpredicted = memwall.AsError(err).Message
			continue
		}
		row.Predicted = answer.Speed
	}
}

// PlanOfFlags returns the plan of an unrecognized server from flags alone; it is unknown without a model.
func PlanOfFlags(r *memwall.Request, ask func(*memwall.Request) (*memwall.Answer, error)) (*memwall.Answer, error) {
	if r.Model == "" || r.Hardware == "" {
		return &memwall.Answer{Verdict: memwall.Unknown, Notes: []memwall.Note{{Code: "not_sized",
			Text: "the server is none that memwall knows: --model, --on and --engine say what it runs"}}}, nil
	}
	r.Ask = "fit"
	answer, err := ask(r)
	if err == nil {
		answer.Plan = r
	}
	return answer, err
}

// unsized is why the plan of a server was not sized, "" where it was.
func unsized(said *memwall.Answer) string {
	for i := range said.Notes {
		if said.Notes[i].Code == "not_sized" {
			return said.Notes[i].Text
		}
	}
	if said.Plan != nil && said.Plan.Model != "" { // memory that is not known does not hide a speed
		return ""
	}
	return "the server does not say enough of its plan"
}

// Write keeps the levels in a file.
func (r *Report) Write(name string, write func(name string, data []byte) error) error {
	lines, err := r.Lines()
	if err != nil {
		return err
	}
	return write(name, lines)
}

// lengths of a request, tokens: as the server counted, else as they were asked for.
func (l *Level) lengths(asked Load) (prompt, output int64) {
	prompt, output = l.Prompt/l.Completed, l.Answer/l.Completed
	if prompt == 0 {
		prompt = asked.Prompt
	}
	return prompt, max(1, output)
}

// served is a level in the names of vllm bench serve (vllm/benchmarks/serve.py), which memwall calibrate reads.
type served struct {
	Backend     string   `json:"backend"`
	Model       string   `json:"model_id"`
	Hardware    string   `json:"hardware,omitempty"`
	Concurrency int64    `json:"max_concurrency"`
	Completed   int64    `json:"completed"`
	Failed      int64    `json:"failed"`
	Prompt      int64    `json:"total_input_tokens"`
	Answer      int64    `json:"total_output_tokens"`
	TTFT        float64  `json:"mean_ttft_ms"`
	MedianTTFT  float64  `json:"median_ttft_ms"`
	P99TTFT     float64  `json:"p99_ttft_ms"`
	TPOT        *float64 `json:"mean_tpot_ms,omitempty"`
	MedianTPOT  *float64 `json:"median_tpot_ms,omitempty"`
	P99TPOT     *float64 `json:"p99_tpot_ms,omitempty"`
	Output      float64  `json:"output_throughput"`
}

// Lines are the levels for memwall calibrate, a JSON object each.
func (r *Report) Lines() ([]byte, error) {
	var out bytes.Buffer
	for i := range r.Rows {
		l := r.Rows[i].Level
		prompt, _ := l.lengths(r.Load)
		s := served{Backend: r.Engine, Model: r.Model, Hardware: r.Hardware, Concurrency: l.Users,
			Completed: l.Completed, Failed: l.Failed, Prompt: prompt * l.Completed, Answer: l.Answer,
			TTFT: l.TTFT.Mean, MedianTTFT: l.TTFT.P50, P99TTFT: l.TTFT.P99, Output: l.Output}
		if t := l.TPOT; t != nil {
			s.TPOT, s.MedianTPOT, s.P99TPOT = &t.Mean, &t.P50, &t.P99
		}
		line, err := json.Marshal(s)
		if err != nil {
			return nil, err
		}
		out.Write(append(line, '\n'))
	}
	return out.Bytes(), nil
}
