package workload

import (
	"slices"
	"strings"

	"github.com/memwall/memwall/plan"
)

// ReadOptions control how a trace is read.
type ReadOptions struct {
	Format    string   `json:"format,omitempty" enum:"memwall,azure,mooncake,burstgpt,engine,sharegpt" doc:"format of the file; told from its beginning where it is not given"`
	Speed     float64  `json:"speed,omitempty" doc:"how much faster than recorded requests arrive: 2 halves the gaps"`
	MaxPrompt plan.Int `json:"max_prompt_tokens,omitempty" doc:"longer prompts are cut to that"`
	// Block applies to formats that identify prompts block by block.
	Block plan.Int `json:"block_tokens,omitempty" doc:"tokens of a block of hash_ids; 512 where nothing is said"`
	// PerToken applies to texts without token counts.
	PerToken float64 `json:"bytes_per_token,omitempty" doc:"how many bytes of a text count as a token (sharegpt)"`
	SkipBad  bool    `json:"skip_bad,omitempty" doc:"requests with faults are counted and left out"`
}

// check validates the options of a trace.
func (o *ReadOptions) check() error {
	switch {
	case o.Format != "" && !slices.Contains(strings.Fields(formatNames), o.Format):
		return bad("reading.format", o.Format, "is not known", "one of "+strings.ReplaceAll(formatNames, " ", ", "))
	case o.Speed != 0 && !within(o.Speed, 1e-6, 1e6):
		return bad("reading.speed", o.Speed, "is not from 0.000001 to 1000000", "2 for twice as many a second")
	case !within(float64(o.MaxPrompt), 0, MaxTokens):
		return bad("reading.max_prompt_tokens", o.MaxPrompt, notFrom(0, MaxTokens), "give tokens, such as 32768")
	case !within(float64(o.Block), 0, MaxTokens):
		return bad("reading.block_tokens", o.Block, notFrom(0, MaxTokens), "give tokens, such as 512")
	case o.PerToken != 0 && !within(o.PerToken, 0.5, 20):
		return bad("reading.bytes_per_token", o.PerToken, "is not from 0.5 to 20", "4 is near for English")
	}
	return nil
}

const formatNames = "memwall azure mooncake burstgpt engine sharegpt"
