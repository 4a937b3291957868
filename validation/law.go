package validation

import (
	"fmt"
	"math"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/sim"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/validation/packed"
)

// The laws of steps that validation/fit/steps fits to logs.
const lawText packed.File = "rows/loads/laws.txt"

// Law is the time of a step of a log's server:
//
//	Step + Sequence × sequences + Token × tokens of prompts + Cached × tokens cached by those who decode
//	+ Pair × pairs of tokens of prompts + Experts × (1 - (1 - share)^tokens)
//
// in seconds, where Share is the share of its experts that a token takes (0 of a dense model), so that the last term is
// in proportion to the experts that a step reaches. Blocks are those of the KV cache, of 16 tokens.
type Law struct {
	Step, Sequence, Token, Cached, Pair, Experts float64
	Share                                        float64
	Blocks                                       int64
}

// Seconds of a batch.
func (l *Law) Seconds(b speed.Batch) float64 {
	tokens := float64(b.Decodes + b.Prefill)
	t := l.Step + l.Sequence*float64(b.Decodes) + l.Token*float64(b.Prefill) + l.Cached*float64(b.Decodes*b.Context)
	t += l.Pair * float64(b.Prefill) * (float64(b.Cached) + float64(b.Prefill)/2)
	return t + l.Experts*(1-math.Pow(1-l.Share, tokens))
}

// Fleet of vLLM as a log's row asks for it: its engines of data parallelism, which step together where they share experts.
func (l *Law) Fleet(r *memwall.Request) *sim.Fleet {
	one := sim.Replica{
		Timer: l.Seconds, Policy: sim.Inflight, Paging: sim.Paging{Blocks: l.Blocks, BlockTokens: 16, Full: 1, PrefixCache: true},
		MaxSequences: int64(r.MaxSeqs), Budget: int64(r.MaxBatchedTokens), MaxLength: int64(r.Context), Ahead: true,
	}
	if r.EP > max(1, r.TP) {
		one.Group, one.Ahead = 1, false
	}
	f := &sim.Fleet{Router: sim.LeastLoaded()}
	for range max(1, r.DP) {
		f.Replicas = append(f.Replicas, one)
	}
	return f
}

// Laws returns the laws by log name.
func Laws() (map[string]Law, error) {
	lines, err := lawText.Lines()
	if err != nil {
		return nil, err
	}
	out := map[string]Law{}
	for n, line := range lines {
		if strings.HasPrefix(line, "#") || line == "" {
			continue
		}
		var name string
		var l Law
		if _, err := fmt.Sscan(line, &name, &l.Blocks, &l.Share, &l.Step, &l.Sequence, &l.Token, &l.Cached, &l.Pair,
			&l.Experts); err != nil {
			return nil, fmt.Errorf("laws.txt, line %d: %w", n+1, err)
		}
		out[name] = l
	}
	return out, nil
}

// ExpertShare returns the share of its experts that a token uses in a layer of a model; 0 for a dense one.
func ExpertShare(id string) (share float64, err error) {
	got, err := (memwall.Catalog{}).Model(id)
	if err != nil {
		return 0, err
	}
	got.Spec.Model(id).Decoder().Each(func(k *model.Kind, _ int64) {
		for i := range k.Ops {
			if m := k.Ops[i].Moe; m != nil && m.N > 0 {
				share = float64(m.Used) / float64(m.N)
			}
		}
	})
	return share, nil
}
