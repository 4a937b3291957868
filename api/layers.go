package api

import "github.com/memwall/memwall/unit"

// LayerGroup is a run of layers with the same structure and storage, or the tensors before or after them. Figures are
// for one unsharded layer.
type LayerGroup struct {
	Part       string     `json:"part"`
	Layers     string     `json:"layers"` // "0-79", "before" or "after"
	Kind       string     `json:"kind"`
	Count      int64      `json:"count"`
	Parameters int64      `json:"parameters"`
	Weights    unit.Bytes `json:"weights_bytes"`
	Stored     []string   `json:"stored"` // formats, most bytes first
	KVPerToken unit.Bytes `json:"kv_bytes_per_token,omitempty"`
	// KVSpan is the attention window in tokens; 0 if unlimited.
	KVSpan int64      `json:"kv_span,omitempty"`
	State  unit.Bytes `json:"state_bytes,omitempty"` // of one sequence
}
