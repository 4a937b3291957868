package api

// Roof is the best that a device's memory bandwidth and arithmetic allow a model. Figures are upper bounds, not
// predictions: they count the bytes that must be read and the operations that must be done, at datasheet rates. A nil
// figure is unknown.
type Roof struct {
	Device  string `json:"device"`
	Model   string `json:"model"`
	Weights string `json:"weights"`
	KV      string `json:"kv"`
	Context int64  `json:"context"`
	// Arithmetic is the format whose peak bounds the operations; "" if the device has no known peak.
	Arithmetic string `json:"arithmetic,omitempty"`

	// Per token of one sequence, in bytes and operations.
	WeightsRead *Explain `json:"weights_read"`
	Cache       *Explain `json:"cache"`
	Bytes       *Explain `json:"bytes_per_token"`
	FLOPs       *Explain `json:"flops_per_token"`
	// PromptFLOPs is the mean over the tokens of a prompt that fills the context.
	PromptFLOPs *Explain `json:"flops_per_prompt_token"`
	// Decode and Prompt are in tokens a second: of one user, and of a prompt.
	Decode *Explain `json:"decode"`
	Prompt *Explain `json:"prompt"`
	// Batch is the smallest number of sequences, at the full context, for which arithmetic takes as long as memory; nil
	// if there is none (CacheBound) or the rates are unknown. BatchShort is the same with empty caches.
	Batch      *Explain `json:"compute_bound_sequences"`
	BatchShort *Explain `json:"compute_bound_sequences_without_cache"`
	CacheBound bool     `json:"cache_bound"`
	Notes      []Note   `json:"notes,omitempty"`
}

// Roofline is the roofline of one device of a plan, with the plan's work placed under it (Williams, Waterman and
// Patterson, 2009): work of low arithmetic intensity is bound by memory bandwidth, all other by compute.
type Roofline struct {
	Device string `json:"device"`
	// Arithmetic is the format of the peak.
	Arithmetic string `json:"arithmetic"`
	// Peak is in FLOP/s and Bandwidth in bytes/s, both from the datasheet; the ridge is their ratio.
	Peak      float64     `json:"peak_flops"`
	Bandwidth float64     `json:"bandwidth"`
	Ridge     float64     `json:"ridge_flop_per_byte"`
	Points    []RoofPoint `json:"points"`
}

// RoofPoint is a kind of step: its arithmetic intensity in FLOPs per byte read, and the FLOP/s of one device.
type RoofPoint struct {
	Name      string  `json:"name"`
	Bound     string  `json:"bound"` // bandwidth or arithmetic: its side of the ridge
	Sequences int64   `json:"sequences"`
	Intensity float64 `json:"flop_per_byte"`
	Rate      float64 `json:"flops"`
	Low       float64 `json:"flops_low"`
	High      float64 `json:"flops_high"`
}
