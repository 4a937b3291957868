// Package score says how good models are at what people use them for: published scores of public benchmarks, and, for a
// benchmark that nobody ran a model on, an estimate from those that somebody did.
package score
