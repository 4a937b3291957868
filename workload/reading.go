package workload

import "github.com/memwall/memwall/plan"

// ReadOptions say what is made of a trace.
type ReadOptions struct {
	Format    string   `json:"format,omitempty" enum:"memwall,azure,mooncake,burstgpt,sharegpt,engine" doc:"format of the file; told from its first line where it is not given"`
	Speed     float64  `json:"speed,omitempty" doc:"how much faster than recorded requests arrive: 2 halves the gaps"`
	Requests  plan.Int `json:"requests,omitempty" doc:"at most so many requests"`
	MaxPrompt plan.Int `json:"max_prompt_tokens,omitempty" doc:"longer prompts are cut to that"`
	SkipBad   bool     `json:"skip_bad,omitempty" doc:"lines with faults are counted and left out"`
}
