package api

import "github.com/memwall/memwall/unit"

// LayerGroup is the layers of a model that are alike in structure and storage, or what comes before or
// after them. Figures are of one layer of the whole model, before it is shared among devices.
type LayerGroup struct {
	Part       string     `json:"part"`
	Layers     string     `json:"layers"` // "0-79", "before", "after"
	Kind       string     `json:"kind"`
	Count      int64      `json:"count"`
	Parameters int64      `json:"parameters"`
	Weights    unit.Bytes `json:"weights_bytes"`
	Stored     []string   `json:"stored"` // formats, most bytes first
	KVPerToken unit.Bytes `json:"kv_bytes_per_token,omitempty"`
	// KVSpan is how many tokens back the layer remembers; 0 for all of them.
	KVSpan int64      `json:"kv_span,omitempty"`
	State  unit.Bytes `json:"state_bytes,omitempty"` // of one sequence
}
