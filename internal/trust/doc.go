// Package trust throws what nobody should send at every reader of memwall: headers, configurations, manifests, command lines,
// requests, pages of metrics, messages, logs. All of it is made here, from right inputs with one thing wrong and from lists of what has
// broken other readers, so that every run tries the same. Its tests write the figures of docs/trust.md.
//
// Open trust_test.go for what an input must end in, corpora_test.go for what is read, odd_test.go for how inputs are made.
package trust
