package api

import (
	"github.com/memwall/memwall/diagnose"
	"github.com/memwall/memwall/unit"
)

// Diagnosed is the diagnosis of a failure message.
type Diagnosed struct {
	// Kind is what ran out, or none if the text contains no such message.
	Kind diagnose.Kind `json:"kind"`
	// Engine is the program that printed the message, Backend the driver below it, and Device the device as the message
	// names it.
	Engine  string         `json:"engine,omitempty"`
	Backend string         `json:"backend,omitempty"`
	Device  string         `json:"device,omitempty"`
	Place   diagnose.Place `json:"place,omitempty"`
	// Figures quoted by the message; nil if it does not quote them.
	Requested   *unit.Bytes `json:"requested_bytes"`
	Free        *unit.Bytes `json:"free_bytes"`
	Total       *unit.Bytes `json:"capacity_bytes,omitempty"`
	Allocated   *unit.Bytes `json:"allocated_bytes,omitempty"`
	Unallocated *unit.Bytes `json:"unallocated_bytes,omitempty"`
	InUse       *unit.Bytes `json:"process_bytes,omitempty"`
	Others      *unit.Bytes `json:"other_processes_bytes,omitempty"`
	Limit       *unit.Bytes `json:"limit_bytes,omitempty"`
	// Short is the shortfall: requested minus free.
	Short           *unit.Bytes `json:"short_bytes,omitempty"`
	NeededTokens    int64       `json:"needed_tokens,omitempty"`
	AvailableTokens int64       `json:"available_tokens,omitempty"`
	// Step is the training step that failed, if the log counts steps.
	Step *int64 `json:"at_step,omitempty"`
	// Fragmented reports that enough memory was reserved, but not contiguously.
	Fragmented bool   `json:"fragmented,omitempty"`
	Cause      string `json:"cause,omitempty"`
	// Confidence in the cause: high, medium or low.
	Confidence string `json:"confidence,omitempty"`
	// Matches are allocations of the plan that have the requested size.
	Matches []Match `json:"matches,omitempty"`
	// Ledger is the predicted ledger of the device.
	Ledger []Item `json:"ledger,omitempty"`
	Fixes  []Fix  `json:"fixes,omitempty"`
	// Asked is the plan as given by the text and the fields, without defaults. Patches apply to it.
	Asked *Request `json:"asked,omitempty"`
	// Command runs the plan with the first fix applied.
	Command string `json:"command,omitempty"`
	// Found lists all failure messages of the text, including this one.
	Found []Found `json:"found,omitempty"`
	// MoreFound is the number of messages omitted from Found.
	MoreFound int `json:"more_found,omitempty"`
	// Grows are figures of the log that keep rising; Frees says what releases such memory and what does not.
	Grows []Rise `json:"grows,omitempty"`
	Frees []Fix  `json:"frees,omitempty"`
	Lines int    `json:"lines"`
}

// Match is an allocation of the plan that, as memwall computes it, has the requested size.
type Match struct {
	Name    string     `json:"name"`
	Formula string     `json:"formula"`
	Bytes   unit.Bytes `json:"bytes"`
	// Exact reports a match to the last printed digit; Solved, that a token count was chosen to make it match.
	Exact  bool  `json:"exact"`
	Solved bool  `json:"solved,omitempty"`
	Tokens int64 `json:"tokens,omitempty"`
	// Item reports that the match is a ledger item, whose formula is symbolic.
	Item bool `json:"-"`
}

// Fix is a change that helps.
type Fix struct {
	// When is "now" for changes to the arguments of the next start, "later" for anything beyond them.
	When    string         `json:"when"`
	Text    string         `json:"text"`
	Saves   *unit.Bytes    `json:"saves_bytes,omitempty"`
	Patch   map[string]any `json:"patch,omitempty"`
	Verdict Verdict        `json:"verdict,omitempty"`
	Speed   *float64       `json:"speed_ratio,omitempty"`
	Quality *Quality       `json:"quality,omitempty"`
}

// Found is one failure message of the text.
type Found struct {
	Kind      diagnose.Kind  `json:"kind"`
	Engine    string         `json:"engine,omitempty"`
	Device    string         `json:"device,omitempty"`
	Place     diagnose.Place `json:"place,omitempty"`
	Requested *unit.Bytes    `json:"requested_bytes,omitempty"`
	Free      *unit.Bytes    `json:"free_bytes,omitempty"`
	Line      int            `json:"line"`
	Times     int            `json:"times"`
	Ranks     []string       `json:"ranks,omitempty"`
	// Text is the message, truncated, with keys and passwords redacted.
	Text string `json:"text"`
	Cut  bool   `json:"cut,omitempty"`
}

// Rise is a figure that a log prints repeatedly and that keeps rising.
type Rise struct {
	Name    string     `json:"name"`
	Samples int64      `json:"samples"`
	From    unit.Bytes `json:"from_bytes"`
	To      unit.Bytes `json:"to_bytes"`
	Each    unit.Bytes `json:"bytes_per_sample"`
}
