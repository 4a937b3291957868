package api

import "github.com/memwall/memwall/speed"

// Speed is the predicted speed of a plan with its sequences, each of prompt_tokens and output_tokens. Unknown figures
// are nil; low and high are a 90 % band.
type Speed struct {
	// Prefill is the speed of one prompt, Decode that of one user while all are served, and Total that of all users; in
	// tokens a second.
	Prefill     *float64 `json:"prefill_tokens_per_s"`
	PrefillLow  *float64 `json:"prefill_tokens_per_s_low"`
	PrefillHigh *float64 `json:"prefill_tokens_per_s_high"`
	Decode      *float64 `json:"decode_tokens_per_s"`
	DecodeLow   *float64 `json:"decode_tokens_per_s_low"`
	DecodeHigh  *float64 `json:"decode_tokens_per_s_high"`
	Total       *float64 `json:"total_tokens_per_s"`
	TotalLow    *float64 `json:"total_tokens_per_s_low"`
	TotalHigh   *float64 `json:"total_tokens_per_s_high"`
	// TTFT is the time to first token in a closed loop with all users arriving at once; Unloaded is that of a single
	// user. TPOT is the time per output token after the first.
	TTFT         *float64 `json:"ttft_ms"`
	TTFTLow      *float64 `json:"ttft_ms_low"`
	TTFTHigh     *float64 `json:"ttft_ms_high"`
	Unloaded     *float64 `json:"ttft_unloaded_ms"`
	UnloadedLow  *float64 `json:"ttft_unloaded_ms_low"`
	UnloadedHigh *float64 `json:"ttft_unloaded_ms_high"`
	TPOT         *float64 `json:"tpot_ms"`
	TPOTLow      *float64 `json:"tpot_ms_low"`
	TPOTHigh     *float64 `json:"tpot_ms_high"`
	// Bound is what limits decoding; the fractions are the shares of datasheet rates achieved.
	Bound             speed.Bound `json:"bound,omitempty"`
	BandwidthFraction *float64    `json:"bandwidth_fraction"`
	FLOPsFraction     *float64    `json:"flops_fraction"`
	// PrefillFLOPsFraction is the share of peak FLOP/s that prefill achieves.
	PrefillFLOPsFraction *float64 `json:"prefill_flops_fraction"`
	// Energy and cost per output token, over all devices.
	JoulesPerToken     *float64 `json:"joules_per_token"`
	JoulesPerTokenLow  *float64 `json:"joules_per_token_low"`
	JoulesPerTokenHigh *float64 `json:"joules_per_token_high"`
	USDPerMillion      *float64 `json:"usd_per_million_tokens"`
	USDPerMillionLow   *float64 `json:"usd_per_million_tokens_low"`
	USDPerMillionHigh  *float64 `json:"usd_per_million_tokens_high"`
	// USDPerHour is the rent of all devices that the cost is based on.
	USDPerHour *float64 `json:"usd_per_hour,omitempty"`
	// RentedDevices is the number of devices rented, if more than the plan uses because only whole instances are rented.
	RentedDevices int64 `json:"rented_devices,omitempty"`
	// Price names the provider and date of the price.
	Price string `json:"price,omitempty"`
	// Parts break down one decode step.
	Parts []SpeedPart `json:"parts,omitempty"`
	// RestsOn says how close the measurements behind the prediction are.
	RestsOn string `json:"rests_on,omitempty"`
}

// SpeedPart is a share of a decode step.
type SpeedPart struct {
	Name  string      `json:"name"`
	MS    float64     `json:"ms"`
	Bound speed.Bound `json:"bound"`
}
