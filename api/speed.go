package api

import "github.com/memwall/memwall/speed"

// Speed is how fast a plan runs with its sequences, each of prompt_tokens and output_tokens. Figures are null
// where nobody knows; low and high hold 90 %.
type Speed struct {
	// Prefill is of one prompt, tokens a second; Decode of one user while all are served; Total of all users.
	Prefill     *float64 `json:"prefill_tokens_per_s"`
	PrefillLow  *float64 `json:"prefill_tokens_per_s_low"`
	PrefillHigh *float64 `json:"prefill_tokens_per_s_high"`
	Decode      *float64 `json:"decode_tokens_per_s"`
	DecodeLow   *float64 `json:"decode_tokens_per_s_low"`
	DecodeHigh  *float64 `json:"decode_tokens_per_s_high"`
	Total       *float64 `json:"total_tokens_per_s"`
	TotalLow    *float64 `json:"total_tokens_per_s_low"`
	TotalHigh   *float64 `json:"total_tokens_per_s_high"`
	// TTFT is the time to the first token when all users come at once and go on coming (closed loop); Unloaded
	// of a user alone. TPOT is the time of an output token behind the first.
	TTFT         *float64 `json:"ttft_ms"`
	TTFTLow      *float64 `json:"ttft_ms_low"`
	TTFTHigh     *float64 `json:"ttft_ms_high"`
	Unloaded     *float64 `json:"ttft_unloaded_ms"`
	UnloadedLow  *float64 `json:"ttft_unloaded_ms_low"`
	UnloadedHigh *float64 `json:"ttft_unloaded_ms_high"`
	TPOT         *float64 `json:"tpot_ms"`
	TPOTLow      *float64 `json:"tpot_ms_low"`
	TPOTHigh     *float64 `json:"tpot_ms_high"`
	// Bound is what decoding waits for, and the fractions how much of the datasheet's rates it reaches.
	Bound             speed.Bound `json:"bound,omitempty"`
	BandwidthFraction *float64    `json:"bandwidth_fraction"`
	FLOPsFraction     *float64    `json:"flops_fraction"`
	// PrefillFLOPsFraction is the share of the peak that a prompt reaches.
	PrefillFLOPsFraction *float64 `json:"prefill_flops_fraction"`
	// Energy and money are of output tokens, of all devices together.
	JoulesPerToken     *float64 `json:"joules_per_token"`
	JoulesPerTokenLow  *float64 `json:"joules_per_token_low"`
	JoulesPerTokenHigh *float64 `json:"joules_per_token_high"`
	USDPerMillion      *float64 `json:"usd_per_million_tokens"`
	USDPerMillionLow   *float64 `json:"usd_per_million_tokens_low"`
	USDPerMillionHigh  *float64 `json:"usd_per_million_tokens_high"`
	// USDPerHour is the rent that this is taken from, of all devices.
	USDPerHour *float64 `json:"usd_per_hour,omitempty"`
	// RentedDevices is how many are rented for it, where that is more than the plan uses: instances are whole.
	RentedDevices int64 `json:"rented_devices,omitempty"`
	// Price says what the money is of: whose price, of which day.
	Price string `json:"price,omitempty"`
	// Parts are of one decode step.
	Parts []SpeedPart `json:"parts,omitempty"`
	// RestsOn says how near the measurements are that the prediction rests on.
	RestsOn string `json:"rests_on,omitempty"`
}

// SpeedPart is a share of a decode step.
type SpeedPart struct {
	Name  string      `json:"name"`
	MS    float64     `json:"ms"`
	Bound speed.Bound `json:"bound"`
}
