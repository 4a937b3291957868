package api

// Roof is what a device's memory rate and arithmetic allow a model at most. Each figure is a bound and no
// prediction: it counts what has to be read and multiplied, at the datasheet's rates. A nil figure is unknown.
type Roof struct {
	Device  string `json:"device"`
	Model   string `json:"model"`
	Weights string `json:"weights"`
	KV      string `json:"kv"`
	Context int64  `json:"context"`
	// Arithmetic is the format whose peak bounds the operations; "" when the device has no known peak.
	Arithmetic string `json:"arithmetic,omitempty"`

	// Of one token of one sequence, in bytes and operations.
	WeightsRead *Explain `json:"weights_read"`
	Cache       *Explain `json:"cache"`
	Bytes       *Explain `json:"bytes_per_token"`
	FLOPs       *Explain `json:"flops_per_token"`
	// PromptFLOPs is the mean over the tokens of a prompt of the whole context.
	PromptFLOPs *Explain `json:"flops_per_prompt_token"`
	// Decode and Prompt are tokens a second: of one user, and of a prompt.
	Decode *Explain `json:"decode"`
	Prompt *Explain `json:"prompt"`
	// Batch is the fewest sequences of the context at which arithmetic takes as long as memory; nil when none
	// does (CacheBound) or the rates are unknown. BatchShort is the same where the cache is still empty.
	Batch      *Explain `json:"compute_bound_sequences"`
	BatchShort *Explain `json:"compute_bound_sequences_without_cache"`
	CacheBound bool     `json:"cache_bound"`
	Notes      []Note   `json:"notes,omitempty"`
}

// Roofline is one device of a plan under its roofs, and where the plan's work lies (Williams, Waterman and Patterson,
// 2009): work that does few operations on each byte is bound by memory, all other by arithmetic.
type Roofline struct {
	Device string `json:"device"`
	// Arithmetic is the format that the peak is of.
	Arithmetic string `json:"arithmetic"`
	// Peak is in FLOP/s, Bandwidth in bytes/s, both of the datasheet; the ridge is their ratio.
	Peak      float64     `json:"peak_flops"`
	Bandwidth float64     `json:"bandwidth"`
	Ridge     float64     `json:"ridge_flop_per_byte"`
	Points    []RoofPoint `json:"points"`
}

// RoofPoint is a kind of step: the operations that it does on each byte it reads, and the rate of one device, in FLOP/s.
type RoofPoint struct {
	Name      string  `json:"name"`
	Bound     string  `json:"bound"` // bandwidth or arithmetic: the side of the ridge that it lies on
	Sequences int64   `json:"sequences"`
	Intensity float64 `json:"flop_per_byte"`
	Rate      float64 `json:"flops"`
	Low       float64 `json:"flops_low"`
	High      float64 `json:"flops_high"`
}
