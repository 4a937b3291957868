package quality

// Loss returns the rank as a number: percent of perplexity on wikitext-2, or an estimate if Guess is set. A search adds
// the losses of weights and caches and compares the sums; it is not meant to be displayed.
func (r Rank) Loss() float64 { return r.key }
