// Package score rates how good models are at what people use them for: by published scores of public benchmarks, or,
// where a model has none in a benchmark, by an estimate from its scores in others.
package score
