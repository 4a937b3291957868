package ggml

// quirks is how one family's graph departs from the general rules, though its mathematics do not ask for
// it (src/models of llama.cpp v0.5.0).
type quirks struct {
	// gather is where rows without logits are dropped.
	gather gatherPoint
	// keepsStream: the last layer's output is an output of the graph.
	keepsStream bool
	// mixerSum, ffnSum: the stream is the first operand of the sum after the mixer, after the FFN.
	mixerSum, ffnSum bool
	// plainGates: gated units run as an activation and a product.
	plainGates bool
	// quotientGate: the gate of the shared expert is silu(x) / x.
	quotientGate bool
	// normFirst: a layer's norm runs before its recurrent states are read.
	normFirst bool
	// repeatsHeads: keys and queries of a delta net are repeated to the number of value heads.
	repeatsHeads bool
	// straightValues: values are copied out of the projection that holds them.
	straightValues bool
	// unparted: a part of each head is viewed without a reshape to heads.
	unparted bool
	// positions of a token, 0 for one.
	positions int64
	// positionsFirst: learned positions are the first operand of their sum.
	positionsFirst bool
	// deepStack: further embeddings of an image that come beside its own, each for one of the first layers.
	deepStack int64
	// lateScale: a constant that the head's input is multiplied by is multiplied to the logits.
	lateScale bool
	// rootNorms: layer norms run without the mean.
	rootNorms bool
	// scaledQueries: queries are divided by the root of their width in a step of their own.
	scaledQueries bool
	// earlyWeights: what experts read is weighted, not what they give; they are chosen by plain scores.
	earlyWeights bool
	// normsChoice: weights of the chosen experts are normalised.
	normsChoice bool
	// tempered: queries that are not turned are scaled by a number of each position.
	tempered bool
	// clamps: queries, keys and values are limited in the projection of all three.
	clamps bool
	// shapedGate: a number for each head is multiplied to the attention's result in heads.
	shapedGate bool
}

type gatherPoint uint8

const (
	afterMixer gatherPoint = iota // of the last layer
	beforeNorm                    // the final one
	beforeHead                    // after the final norm, whose result is an output too
)

var qwenDelta = quirks{gather: beforeHead, normFirst: true}

// familyQuirks has a row for every family that has any.
var familyQuirks = map[string]quirks{
	"bert":           {positionsFirst: true},
	"dbrx":           {clamps: true},
	"gemma3n":        {gather: beforeNorm, plainGates: true},
	"gemma4":         {gather: beforeHead},
	"gpt-oss":        {gather: beforeNorm, keepsStream: true},
	"grok":           {normsChoice: true},
	"jamba":          {mixerSum: true, ffnSum: true},
	"lfm2":           {mixerSum: true, ffnSum: true},
	"lfm2moe":        {mixerSum: true, ffnSum: true},
	"llama4":         {earlyWeights: true, tempered: true},
	"minicpm":        {lateScale: true},
	"minicpm3":       {straightValues: true, unparted: true},
	"nemotron_h":     {gather: beforeHead},
	"nemotron_h_moe": {gather: beforeHead},
	"phi3":           {ffnSum: true},
	"phimoe":         {ffnSum: true, rootNorms: true, scaledQueries: true, normsChoice: true},
	"qwen2moe":       {quotientGate: true},
	"qwen2vl":        {positions: 4},
	"qwen3next":      qwenDelta.with(func(q *quirks) { q.repeatsHeads = true }),
	"qwen35":         qwenDelta.with(func(q *quirks) { q.positions, q.unparted = 4, true }),
	"qwen35moe":      qwenDelta.with(func(q *quirks) { q.positions, q.unparted = 4, true }),
	"qwen3vl":        {positions: 4, deepStack: 3},
	"qwen3vlmoe":     {positions: 4, deepStack: 3},
	"step35":         {gather: beforeNorm, keepsStream: true, shapedGate: true},
}

func (q quirks) with(change func(*quirks)) quirks {
	change(&q)
	return q
}
