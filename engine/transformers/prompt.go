package transformers

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// Activations. A prompt goes through the model whole; what is alive at once is the larger of
//
//	the feed-forward half of the widest layer,
//	its attention: queries, keys, values, and what the kernel wants of them,
//	the logits,
//	and, in later steps, one layer's cache while it grows.
//
// The largest of these phases is booked, so that the parts shown stand at the same moment. The cache beside
// them is counted at its full length: a prompt may be as long as the plan allows.

// widths are what the prompt's activations depend on.
type widths struct {
	forward             engine.Forward
	heads, kvHeads      int64
	dimK, dimV          int64
	latent              bool
	window              int64 // shortest window or chunk; 0 without any
	kinds               []engine.KindCount
	hidden, vocab       int64
	unpacked            int64 // elements of the largest matrix that is unpacked for a product
	format              *dtype.Format
	post                bool
	cacheBoth, cacheOne int64
}

func (s *sizer) widthsOf(pl *engine.Placed, c *caches) widths {
	m := s.job.Model
	w := widths{forward: engine.ForwardOf(pl.Kinds, m.Hidden, s.choices()), hidden: m.Hidden, vocab: m.Vocab,
		format: engine.ActivationFormat(m), post: pl.Post, kinds: pl.Kinds}
	for i := range pl.Kinds {
		for o := range pl.Kinds[i].Kind.Ops {
			if a := pl.Kinds[i].Kind.Ops[o].Attn; a != nil && pl.Kinds[i].Kind.Ops[o].Kind == model.Attention {
				w.attention(a)
			}
		}
	}
	w.cacheBoth, w.cacheOne = c.widest()
	w.unpacked = unpacked(pl)
	return w
}

// choices is the part of the routed experts' work that is done at a time.
func (s *sizer) choices() float64 {
	if n := s.job.Model.Traits.Experts; n > 0 && s.job.Version.Before(groupedExperts) {
		return 1 / float64(n)
	}
	return 1
}

func (w *widths) attention(a *model.Attn) {
	if span := max(a.Window, a.Chunk); span > 0 && (w.window == 0 || span < w.window) {
		w.window = span
	}
	if a.Heads < w.heads {
		return
	}
	w.heads, w.kvHeads, w.dimK, w.dimV = a.Heads, a.KVHeads, a.DimK, a.DimV
	if l := a.Latent; l != nil {
		w.latent, w.kvHeads, w.dimK, w.dimV = true, a.Heads, l.Nope+l.Rope, l.V
	}
}

// windowed reports whether a prompt is longer than a window, so that its mask is more than causal.
func (w *widths) windowed(prompt int64) bool { return w.window > 0 && prompt >= w.window }

// unpacked is the largest matrix that bitsandbytes turns back to 16 bits before it multiplies.
func unpacked(pl *engine.Placed) (most int64) {
	for _, g := range pl.WeightGroups() {
		for _, t := range g.Tensors {
			if s := t.Scheme; s != nil && (s == dtype.NF4Single || s == dtype.NF4Double) {
				most = max(most, t.Rows()*t.Cols)
			}
		}
	}
	return most
}

// phase is items that are alive together.
type phase []ledger.Item

func (p phase) bytes() (n unit.Bytes) {
	for i := range p {
		n += p[i].Bytes
	}
	return n
}

// parts is the most items that a phase has.
const parts = 6

// largest phase of a load.
func (s *sizer) largest(b *ledger.Book, w *widths, l engine.Load) phase {
	prompt := engine.Prompt(s.job, l)
	most := s.feedForward(b, w, l, prompt)
	for _, p := range []phase{s.attention(b, w, l, prompt), s.logits(b, w, l, prompt), s.growth(b, w, l)} {
		if p.bytes() > most.bytes() {
			most = p
		}
	}
	return most
}

func tokensOf(b *ledger.Book, l engine.Load, prompt int64) ledger.Num {
	return b.Mul(b.Int("sequences", l.Sequences, "plan"), b.Int("prompt", prompt, "tokens of a prompt"))
}

// wide is the band of what PyTorch allocates beside the rule: norms and softmax in fp32, kernels' workspaces.
func wide(it ledger.Item) ledger.Item { return it.Band(it.Bytes*7/10, it.Bytes*3/2+unit.GiB/8) }

func (s *sizer) feedForward(b *ledger.Book, w *widths, l engine.Load, prompt int64) phase {
	n := w.forward.Peak(b, tokensOf(b, l, prompt), w.format.BlockBytes)
	it := ledger.Known("activations", "activations of the prompt", n, ledger.Derived, ledger.Ephemeral, ledger.Device,
		"docs/formulas.md#forward-peak")
	return s.withMask(append(make(phase, 0, parts), wide(it)), b, w, l, prompt)
}

// withMask adds what stands through all layers of the prompt: its mask, and a matrix unpacked.
func (s *sizer) withMask(out phase, b *ledger.Book, w *widths, l engine.Load, prompt int64) phase {
	if bytes, why := s.mask(w, l, prompt); bytes > 0 {
		n := b.Mul(b.Int("sequences", l.Sequences, "plan"), b.Int("queries", prompt, "prompt"), b.Int("keys", prompt, "prompt"),
			b.Int("mask_bytes", bytes, why))
		it := ledger.Known("workspace", "attention mask", n, ledger.Derived, ledger.Ephemeral, ledger.Device, "masking_utils.py")
		if l.Sequences > 1 && !w.windowed(prompt) && s.job.Plan.Attention != "eager" {
			it = it.Band(0, it.High) // prompts of equal length need none
		}
		out = append(out, it)
	}
	if w.unpacked > 0 {
		n := b.Mul(b.Int("elements", w.unpacked, "largest quantised matrix"), b.Int("bytes", w.format.BlockBytes, w.format.Name))
		out = append(out, ledger.Known("workspace", "matrix unpacked for a product", n, ledger.Derived, ledger.Ephemeral, ledger.Device,
			"bitsandbytes: matmul_4bit"))
	}
	return out
}

// mask: bytes of one pair of query and key; 0 when no mask is made. Eager attention adds one to its
// scores; sdpa needs one for padded prompts and for windows.
func (s *sizer) mask(w *widths, l engine.Load, prompt int64) (bytes int64, why string) {
	switch a := s.job.Plan.Attention; {
	case w.heads == 0 || a == "flash":
		return 0, ""
	case a == "eager":
		return w.format.BlockBytes, "added to the scores"
	case l.Sequences == 1 && !w.windowed(prompt):
		return 0, ""
	case s.job.Version.AtLeast(boolMask):
		return 1, "bool, for padded prompts or windows"
	}
	return w.format.BlockBytes, "for padded prompts or windows"
}

// repeats reports whether keys and values are written out for every query head.
func (s *sizer) repeats(w *widths, masked bool) bool {
	switch {
	case w.heads == 0 || w.latent || w.heads == w.kvHeads || s.job.Plan.Attention == "flash":
		return false
	case s.job.Plan.Attention == "eager":
		return true
	}
	return s.job.Version.Before(groupedQueries) || masked
}

// attention of one layer for the prompt.
func (s *sizer) attention(b *ledger.Book, w *widths, l engine.Load, prompt int64) phase {
	if w.heads == 0 {
		return nil
	}
	elems := float64(w.heads*w.dimK+w.kvHeads*(w.dimK+w.dimV)) + (1+engine.Streams)*float64(w.hidden)
	n := b.Mul(tokensOf(b, l, prompt), b.In("elements", elems, "queries, keys, values and the streams beside them"),
		b.Int("bytes", w.format.BlockBytes, w.format.Name))
	it := ledger.Known("activations", "queries, keys and values of the prompt", n, ledger.Derived, ledger.Ephemeral, ledger.Device,
		"docs/formulas.md#forward-peak")
	out := s.withMask(append(make(phase, 0, parts), wide(it)), b, w, l, prompt)
	bytes, _ := s.mask(w, l, prompt)
	if s.repeats(w, bytes > 0) {
		out = append(out, s.repeated(b, w, l.Sequences, prompt))
	}
	if s.job.Plan.Attention == "eager" {
		if it, ok := engine.EagerScores(b, w.kinds, w.format, l.Sequences, prompt, prompt); ok {
			out = append(out, it)
		}
	}
	return out
}

func (s *sizer) repeated(b *ledger.Book, w *widths, sequences, tokens int64) ledger.Item {
	n := b.Mul(b.Int("sequences", sequences, "plan"), b.Int("tokens", tokens, "keys of one layer"), b.Int("heads", w.heads, "this device"),
		b.Int("dimensions", w.dimK+w.dimV, "of a key and a value"), b.Int("bytes", w.format.BlockBytes, w.format.Name))
	return ledger.Known("workspace", "keys and values repeated for every head", n, ledger.Derived, ledger.Ephemeral, ledger.Device,
		"integrations/sdpa_attention.py (repeat_kv)")
}

// logits of the prompt, or of its last token.
func (s *sizer) logits(b *ledger.Book, w *widths, l engine.Load, prompt int64) phase {
	if !w.post {
		return nil
	}
	r := engine.At(logitRules, s.job.Version)
	rows := b.Int("sequences", l.Sequences, "plan")
	if r.Value.wholePrompt {
		rows = tokensOf(b, l, prompt)
	}
	n := b.Mul(rows, b.Int("vocabulary", w.vocab, "model"), b.Int("bytes_per_logit", r.Value.bytes, r.Value.why))
	it := ledger.Known("logits", "logits", n, ledger.Derived, ledger.Ephemeral, ledger.Device, r.Source)
	stream := b.Mul(tokensOf(b, l, prompt), b.Int("hidden", w.hidden, "model"), b.Int("bytes", w.format.BlockBytes, w.format.Name))
	return phase{it, ledger.Known("activations", "last hidden states", stream, ledger.Derived, ledger.Ephemeral, ledger.Device,
		"docs/formulas.md#forward-peak")}
}

// growth is what a step at full length takes: a layer's keys are copied to append one, a quantised cache
// is unpacked for the layer that reads it, latents are expanded.
func (s *sizer) growth(b *ledger.Book, w *widths, l engine.Load) (out phase) {
	if w.heads == 0 || w.cacheBoth == 0 {
		return nil
	}
	book := func(name string, elems int64, origin string) {
		n := b.Mul(b.Int("sequences", l.Sequences, "plan"), b.Int("tokens", l.Context, "context"), b.Int("elements", elems, origin),
			b.Int("bytes", w.format.BlockBytes, w.format.Name))
		out = append(out, ledger.Known("workspace", name, n, ledger.Derived, ledger.Ephemeral, ledger.Device, "cache_utils.py"))
	}
	quantised := quantBits[dtype.FindFormat(s.job.Plan.KV)] > 0
	switch {
	case quantised:
		book("one layer's cache unpacked", 2*w.cacheBoth, "keys and values of a layer, unpacked and joined with the recent ones")
	case !static(s.job.Plan):
		book("one layer's keys copied while they grow", w.cacheOne, "larger of keys and values of one layer")
	}
	if w.latent && s.job.Version.AtLeast(latentCache) {
		book("latents expanded to keys and values", w.heads*(w.dimK+w.dimV), "all heads of one layer")
	}
	if s.repeats(w, false) {
		out = append(out, s.repeated(b, w, l.Sequences, l.Context))
	}
	return out
}
