package memwall

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/unit"
)

// serverWords name a server: its devices, engine and version, groups, formats, and what is unlike the engine's own.
func serverWords(q *question, m *machineChoice) string {
	r, given := &q.request, &q.original
	words := []string{manyOf(int(m.devices), m.kind), q.engine.Name() + " " + engine.VersionName(q.engine, q.job.Version)}
	if m.whole {
		words[0] = m.kind
	}
	if l := (layout{max(1, r.TP), max(1, r.PP), max(1, r.DP), r.EP}); !engine.ReadsGGUF(q.engine) && (l.tp > 1 || l.pp > 1 || l.dp > 1) {
		words = append(words, l.words())
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
		{given.Context > 0 && given.Context < defaultContext, "context " + unit.Length(int64(r.Context))},
		{given.MaxSeqs > 0, fmt.Sprintf("%d sequences", r.MaxSeqs)},
		{r.DraftTokens == 1, "1 token drafted"},
		{r.DraftTokens > 1, fmt.Sprintf("%d tokens drafted", r.DraftTokens)},
		{r.CPUOffload > 0, unit.Bytes(r.CPUOffload).String() + " of weights on the host"},
		{given.GPULayers != nil || given.CPUMoE != nil || given.OverrideTensor != "", "some on the host"},
		{q.engine.Name() == "llama-server", fmt.Sprintf("%d slots", r.Sequences)},
	} {
		if x.given {
			words = append(words, x.words)
		}
	}
	return strings.Join(words, ", ")
}
