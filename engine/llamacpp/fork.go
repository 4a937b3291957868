package llamacpp

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// ik_llama.cpp left llama.cpp in August 2024 and has gone its own way since: caches of latents by -mla, products of
// experts that are fused, formats of its own, no cut of sliding windows.

var (
	// forkedFrom is the build of llama.cpp whose allocator it keeps (its merge of 2024-08, examples/llama-bench says 3568).
	forkedFrom = build(3568)
	// latestFork is the newest of its builds whose logs were compared.
	latestFork = build(3818)
)

// fork turns llama.cpp's rules into those of ik_llama.cpp (common/common.cpp and src/llama.cpp at 8337e4c).
func (r *rules) fork(j *engine.Job) {
	r.forked, r.flash, r.gated, r.cacheRAM, r.maxSlots = true, flashAuto, true, 8192, 64
	r.latent = latentOfMLA(j.Plan)
}

// forkRemarks say what of the fork's settings is not sized or timed.
func forkRemarks(j *engine.Job, r *rules) {
	if !r.forked {
		return
	}
	j.Note("fork_rules", "info", "engine", "ik_llama.cpp: weights and caches by its own rules; compute buffers with a band from logs of its issues")
	if j.Plan.ExpertsAtMost != "" {
		j.Note("experts_left_out", "info", "smart_expert_reduction", "-ser %s leaves experts out as the router weighs them: speeds are those of all of them", j.Plan.ExpertsAtMost)
	}
}

// mlaDefault is -mla where nobody says (its parameters.md).
const mlaDefault = 3

// mla is how latent attention is computed: 0 not at all, 1 to 3 from a cache of latents.
func mla(p *plan.Plan) int64 {
	if p.MLA != nil {
		return int64(*p.MLA)
	}
	return mlaDefault
}

// latentOfMLA: without flash attention -mla 1 keeps the transposed values beside the latents (#235).
func latentOfMLA(p *plan.Plan) latentCache {
	switch n := mla(p); {
	case n == 0:
		return latentExpanded
	case n == 1 && p.Attention == "eager":
		return latentAndV
	}
	return latentOnly
}

// forkFormats are types that its -ctk and -ctv take beside llama.cpp's.
var forkFormats = []*dtype.Format{dtype.Q6_0, dtype.Q8_KV}

// Bands of its compute buffers over what llama.cpp's own graph of forkedFrom takes, and over the rule for latents: from
// public logs of its issues (testdata/fork-logs.tsv): of each thread what the others call for holds what it printed.
var (
	forkGraph  = spread{0.60, 1.12}
	forkLatent = spread{0.72, 2.2}
)

// forkArgs are the flags that ik_llama.cpp alone has. Fused experts are its default; that is said all the same, so that the
// line tells whose it is.
func forkArgs(j *engine.Job, r *rules) (args []string) {
	p := j.Plan
	if !r.forked {
		return nil
	}
	if p.MLA != nil && *p.MLA != mlaDefault {
		args = append(args, fmt.Sprintf("-mla %d", *p.MLA))
	}
	if p.AttnMaxBatch > 0 {
		args = append(args, fmt.Sprintf("-amb %d", p.AttnMaxBatch))
	}
	if on(p.FusedMoE) {
		args = append(args, "-fmoe")
	} else {
		args = append(args, "--no-fmoe")
	}
	if isOn(p.Repack) {
		args = append(args, "-rtr")
	}
	if p.ExpertsAtMost != "" {
		args = append(args, "-ser "+p.ExpertsAtMost)
	}
	return args
}

// checkFork refuses modes that ik_llama.cpp does not have.
func checkFork(j *engine.Job, r *rules) error {
	p := j.Plan
	if n := mla(p); r.forked && (n < 0 || n > 3) {
		return impossible("mla", n, "0, 1, 2 or 3", "mla = %d: ik_llama.cpp has the modes 0 to 3", n)
	}
	if p.AttnMaxBatch < 0 {
		return impossible("attn_max_batch", p.AttnMaxBatch, "512, or none", "attn_max_batch = %d is not a size in MiB", p.AttnMaxBatch)
	}
	if s := p.ExpertsAtMost; s != "" {
		if _, err := expertsKept(s); err != nil {
			return impossible("smart_expert_reduction", s, "6,1", "smart_expert_reduction = %s is not a pair of numbers", s)
		}
	}
	return nil
}

// expertsKept reads -ser: how many experts a token keeps at least, and the share of the strongest below which others are
// left out; from 1 on exactly so many are kept (#239).
func expertsKept(s string) (n int64, err error) {
	least, share, _ := strings.Cut(s, ",")
	if n, err = strconv.ParseInt(strings.TrimSpace(least), 10, 16); err != nil || share == "" {
		return n, err
	}
	_, err = strconv.ParseFloat(strings.TrimSpace(share), 64)
	return n, err
}

// latentHeads of a model's attention; nil when it keeps no latents.
func latentHeads(m *model.Model) (a *model.Attn) {
	m.Decoder().Each(func(k *model.Kind, _ int64) {
		for i := range k.Ops {
			if o := &k.Ops[i]; o.Attn != nil && o.Attn.Latent != nil && a == nil {
				a = o.Attn
			}
		}
	})
	return a
}

// fromLatents is the compute buffer of a device when prompts attend to latents: the keys and values of a layer's heads in
// 16 bits for all that is cached, of as many heads at a time as -amb allows in scores, the logits, and the residual
// stream in and out of a layer (src/llama.cpp, build_deepseek2; #237, #260).
func (g *graph) fromLatents(b *ledger.Book, a *model.Attn, sh *shape) ledger.Num {
	n := g.s.sizes(sh, sh.tokens, sh.outputs)
	p := g.s.job.Plan
	heads := a.Heads
	if amb := int64(p.AttnMaxBatch); amb > 0 && n.Cells*n.Tokens > 0 {
		heads = max(1, min(heads, amb*int64(unit.MiB)/(4*n.Cells*n.Tokens)))
	}
	expanded := b.Mul(b.Int("heads", heads, "at a time, by -amb"), b.Int("dimensions", a.Latent.Nope+a.Latent.Rope+a.Latent.V, "of a key and a value"), b.Int("cells", n.Cells, "of the cache"), b.Int("bytes", 2, "f16"))
	logits := b.Mul(b.Int("outputs", n.Tokens, "rows of logits, a batch"), b.Int("logits", logits(g.s.job.Model), "of a row"), b.Lit(4))
	stream := b.Mul(b.Lit(2), b.Int("tokens", n.Tokens, "ubatch"), b.Int("hidden", g.s.job.Model.Hidden, "model"), b.Lit(4))
	return b.Add(expanded, logits, stream)
}

// forkItem is a compute buffer of ik_llama.cpp; false where llama.cpp's graph stands for it.
func (g *graph) forkItem(b *ledger.Book, i int, sh *shape, place ledger.Place) (ledger.Item, bool) {
	a := latentHeads(g.s.job.Model)
	devices := len(g.s.devices)
	if !g.s.rules.forked || a == nil || mla(g.s.job.Plan) == 0 || devices > 0 && i == devices {
		return ledger.Item{}, false
	}
	n := g.fromLatents(b, a, sh)
	low, high := forkLatent.band(n.Bytes())
	return ledger.Known("compute", "compute buffer", n, ledger.Derived, ledger.Ephemeral, place, "src/llama.cpp of ik_llama.cpp, build_deepseek2").Band(low, high), true
}
