package llamacpp

import (
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
)

// A model with an operator whose nodes nobody read has no graph to replay. What then stands for its compute
// buffer is the widest point of a layer or the logits, in fp32, with the mask: what an allocator that reuses
// memory cannot do without. noGraph is from 5 % to 95 % of the replays of known graphs over it, as the test of
// it prints (TestEstimateAgainstReplays).
var noGraph = spread{0.51, 1.20}

// estimate is the i-th compute buffer without a graph.
func (g *graph) estimate(b *ledger.Book, i int, sh *shape) ledger.Num {
	n := g.s.sizes(sh, sh.tokens, sh.outputs)
	tokens, four := b.Int("tokens", n.Tokens, "ubatch"), b.Int("bytes", 4, "f32")
	hidden := b.Int("hidden", g.s.job.Model.Hidden, "model")
	mask := b.Mul(tokens, b.Int("cells", n.Cells, "of the cache"), b.Int("mask_bytes", 2, "f16"))
	inputs := b.Add(b.Mul(tokens, hidden, four), mask)
	if len(g.s.devices) > 0 && i == len(g.s.devices) {
		return inputs
	}
	widest := b.Mul(tokens, b.In("widest", widest(g.s.job.Model.Decoder(), g.s.job.Model.Hidden), "numbers of one token alive at once"), four)
	logits := b.Mul(b.Int("outputs", n.Outputs, "rows of logits"), b.Int("logits", logits(g.s.job.Model), "of a row"), four)
	return b.Floor(b.Add(b.Max(widest, logits), inputs))
}

// logits of a token: encoders have none.
func logits(m *model.Model) (n int64) {
	for i := range m.Decoder().Post.Ops {
		if o := &m.Decoder().Post.Ops[i]; o.Kind == model.Head {
			n = o.Out
		}
	}
	return n
}

// widest is the most numbers of one token that are alive at once in any layer of a part.
func widest(p *model.Part, stream int64) (most float64) {
	p.Each(func(k *model.Kind, _ int64) { most = max(most, engine.Widest(k, stream, 1)) })
	return most
}
