// Package trust feeds malformed input to every parser of memwall: headers, configurations, manifests, command lines,
// requests, metrics, messages, logs. Inputs are generated from valid ones with a single fault, and from lists of what
// has broken other parsers, deterministically. Its tests write the figures of docs/trust.md.
//
// See trust_test.go for acceptable outcomes, corpora_test.go for the parsers, odd_test.go for generating inputs.
package trust
