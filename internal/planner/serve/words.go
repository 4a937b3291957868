package serve

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/internal/planner"
	"github.com/memwall/memwall/internal/planner/change"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// serverWords describes a server: its devices, engine and version, groups, formats, and settings other than the engine's defaults.
func serverWords(q *question.Question, m *machineChoice) string {
	r, given := &q.Request, &q.Original
	words := []string{change.HardwareName(int(m.devices), m.kind), q.Engine.Name() + " " + engine.VersionName(q.Engine, q.Job.Version)}
	if m.whole {
		words[0] = m.kind
	}
	if l := (planner.Layout{TP: max(1, r.TP), PP: max(1, r.PP), DP: max(1, r.DP), EP: r.EP}); !engine.ReadsGGUF(q.Engine) &&
		(l.TP > 1 || l.PP > 1 || l.DP > 1) {
		words = append(words, l.Words())
	}
	if d := r.Disaggregated; d != nil {
		words = append(words, fmt.Sprintf("%d for prompts and %d for answers", d.Prefill, d.Decode))
	}
	words = append(words, r.Weights)
	if f := dtype.FindFormat(r.KV); f != nil && f.Bits() < 16 {
		words = append(words, "KV "+r.KV)
	}
	for _, x := range []struct {
		given bool
		words string
	}{
		{given.MaxBatchedTokens > 0, fmt.Sprintf("steps of %d tokens", r.MaxBatchedTokens)},
		{given.Context > 0 && given.Context < question.DefaultContext, "context " + unit.Length(int64(r.Context))},
		{given.MaxSeqs > 0, fmt.Sprintf("%d sequences", r.MaxSeqs)},
		{r.All2All == plan.DeepEP, "DeepEP"},
		{r.RedundantExperts > 0, fmt.Sprintf("%d redundant experts", r.RedundantExperts)},
		{r.DraftTokens == 1, "1 token drafted"},
		{r.DraftTokens > 1, fmt.Sprintf("%d tokens drafted", r.DraftTokens)},
		{r.CPUOffload > 0, unit.Bytes(r.CPUOffload).String() + " of weights on the host"},
		{given.GPULayers != nil || given.CPUMoE != nil || given.OverrideTensor != "", "some on the host"},
		{given.CacheRAM != nil && *given.CacheRAM == 0, "no prompts kept on the host"},
		{q.Engine.Name() == "llama-server", fmt.Sprintf("%d slots", r.Sequences)},
	} {
		if x.given {
			words = append(words, x.words)
		}
	}
	return strings.Join(words, ", ")
}
