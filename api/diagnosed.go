package api

import (
	"github.com/memwall/memwall/diagnose"
	"github.com/memwall/memwall/unit"
)

// Diagnosed is the answer to a message of failure.
type Diagnosed struct {
	// Kind is what ran out; none when the text holds no such message.
	Kind diagnose.Kind `json:"kind"`
	// Engine is the program that printed it, Backend the driver below it, Device as the message calls it.
	Engine  string         `json:"engine,omitempty"`
	Backend string         `json:"backend,omitempty"`
	Device  string         `json:"device,omitempty"`
	Place   diagnose.Place `json:"place,omitempty"`
	// Figures of the message; null when it does not have them.
	Requested   *unit.Bytes `json:"requested_bytes"`
	Free        *unit.Bytes `json:"free_bytes"`
	Total       *unit.Bytes `json:"capacity_bytes,omitempty"`
	Allocated   *unit.Bytes `json:"allocated_bytes,omitempty"`
	Unallocated *unit.Bytes `json:"unallocated_bytes,omitempty"`
	InUse       *unit.Bytes `json:"process_bytes,omitempty"`
	Others      *unit.Bytes `json:"other_processes_bytes,omitempty"`
	Limit       *unit.Bytes `json:"limit_bytes,omitempty"`
	// Short is what was missing: requested less free.
	Short           *unit.Bytes `json:"short_bytes,omitempty"`
	NeededTokens    int64       `json:"needed_tokens,omitempty"`
	AvailableTokens int64       `json:"available_tokens,omitempty"`
	// Step of training at which it failed, where the log counts them.
	Step *int64 `json:"at_step,omitempty"`
	// Fragmented: enough was reserved, but in pieces.
	Fragmented bool   `json:"fragmented,omitempty"`
	Cause      string `json:"cause,omitempty"`
	// Confidence in the cause: high, medium or low.
	Confidence string `json:"confidence,omitempty"`
	// Matches are allocations of the plan that have the requested size.
	Matches []Match `json:"matches,omitempty"`
	// Ledger is what the plan holds on the device, by memwall.
	Ledger []Item `json:"ledger,omitempty"`
	Fixes  []Fix  `json:"fixes,omitempty"`
	// Asked is the plan as the text and the fields give it, without defaults: patches are for it.
	Asked *Request `json:"asked,omitempty"`
	// Command runs the plan with the first fix.
	Command string `json:"command,omitempty"`
	// Found are all messages of the text, this one among them.
	Found []Found `json:"found,omitempty"`
	// MoreFound were left out of found.
	MoreFound int `json:"more_found,omitempty"`
	// Grows are figures of the log that keep rising, Frees what gives such memory back and what does not.
	Grows []Rise `json:"grows,omitempty"`
	Frees []Fix  `json:"frees,omitempty"`
	Lines int    `json:"lines"`
}

// Match is an allocation of the plan that has the requested size, by memwall's own count.
type Match struct {
	Name    string     `json:"name"`
	Formula string     `json:"formula"`
	Bytes   unit.Bytes `json:"bytes"`
	// Exact: it has the size to the last printed digit. Solved: a number of tokens was chosen to make it so.
	Exact  bool  `json:"exact"`
	Solved bool  `json:"solved,omitempty"`
	Tokens int64 `json:"tokens,omitempty"`
	// Item: it is one of the ledger, whose formula is in letters.
	Item bool `json:"-"`
}

// Fix is a change that helps.
type Fix struct {
	// When is now for what the next start can do, later for what changes more than its arguments.
	When    string         `json:"when"`
	Text    string         `json:"text"`
	Saves   *unit.Bytes    `json:"saves_bytes,omitempty"`
	Patch   map[string]any `json:"patch,omitempty"`
	Verdict Verdict        `json:"verdict,omitempty"`
	Speed   *float64       `json:"speed_ratio,omitempty"`
	Quality *Quality       `json:"quality,omitempty"`
}

// Found is one message of the text.
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
	// Text is the message, cut, with keys and passwords redacted.
	Text string `json:"text"`
	Cut  bool   `json:"cut,omitempty"`
}

// Rise is a figure that a log prints again and again, and that rises.
type Rise struct {
	Name    string     `json:"name"`
	Samples int64      `json:"samples"`
	From    unit.Bytes `json:"from_bytes"`
	To      unit.Bytes `json:"to_bytes"`
	Each    unit.Bytes `json:"bytes_per_sample"`
}
