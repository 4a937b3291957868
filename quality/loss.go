package quality

// Loss is a rank as a number: percent of perplexity on wikitext-2, in the place of a guess where Guess says so.
// A search adds losses of weights and of caches and compares the sums; it is not a figure to show.
func (r Rank) Loss() float64 { return r.key }
