// Package source turns a reference to a model into a model.Model with its weights and where they come
// from: a catalog id, a GGUF file, a safetensors file or folder, a config.json. It is the only package
// that opens model files.
//
// Open resolve.go for what a reference may be; gguf.go, safetensors.go and config.go for how each source
// is read.
package source

import "github.com/memwall/memwall"

// Resolved is what a reference leads to.
type Resolved = memwall.Resolved
