package mcp

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/desk"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/render/cards"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/unit"
)

// Brief is an answer's verdict, its main figures and what to do.
type Brief struct {
	Verdict     memwall.Verdict   `json:"verdict,omitempty"`
	Holds       *bool             `json:"holds,omitempty"`
	Needed      unit.Bytes        `json:"needed_bytes,omitempty"`
	Usable      unit.Bytes        `json:"usable_bytes,omitempty"`
	Headroom    unit.Bytes        `json:"headroom_bytes,omitempty"`
	Users       *int64            `json:"max_sequences,omitempty"`
	Context     *int64            `json:"max_context,omitempty"`
	Decode      *float64          `json:"decode_tokens_per_s,omitempty"`
	First       *float64          `json:"ttft_ms,omitempty"`
	NeededA     unit.Bytes        `json:"needed_bytes_before,omitempty"` // of a diff, whose other figures are those after it
	Peak        unit.Bytes        `json:"peak_bytes,omitempty"`
	PeakPhase   string            `json:"peak_phase,omitempty"`
	SMI         unit.Bytes        `json:"nvidia_smi_bytes,omitempty"`
	StepSeconds float64           `json:"step_seconds,omitempty"`
	Kind        string            `json:"kind,omitempty"` // of a failure
	Cause       string            `json:"cause,omitempty"`
	Fixes       []string          `json:"fixes,omitempty"`
	FirstP99    *float64          `json:"ttft_p99_ms,omitempty"` // of a simulated load
	TokenP99    *float64          `json:"tpot_p99_ms,omitempty"`
	Compared    int               `json:"compared_figures,omitempty"`
	Picks       []picked          `json:"picks,omitempty"`
	Suggestions []suggestion      `json:"suggestions,omitempty"`
	Measured    *memwall.Measured `json:"measured,omitempty"` // from the owner's own measurements
	Commands    map[string]string `json:"commands,omitempty"`
	Detail      string            `json:"detail"`
}

type suggestion struct {
	Change   string           `json:"change"`
	Patch    map[string]any   `json:"patch"`
	Verdict  memwall.Verdict  `json:"verdict"`
	Saves    unit.Bytes       `json:"saves_bytes,omitempty"`
	Headroom unit.Bytes       `json:"headroom_bytes,omitempty"`
	Decode   *float64         `json:"decode_tokens_per_s,omitempty"`
	Speed    *float64         `json:"speed_ratio,omitempty"`
	USD      *float64         `json:"usd_per_hour,omitempty"`
	Quality  *memwall.Quality `json:"quality,omitempty"`
}

// Limits on lists in a brief answer; the full answer has all.
const (
	mostSuggestions = 3
	mostCandidates  = 5 // of plans and models that were searched for
)

func briefOf(a *memwall.Answer, link string) *Brief {
	b := &Brief{Verdict: a.Verdict, Measured: a.Measured, Commands: commands(a), Detail: link}
	if len(a.Devices) > 0 {
		d := &a.Devices[0]
		b.Needed, b.Usable, b.Headroom = d.Needed, d.Usable, d.Headroom
	}
	if a.KV != nil {
		b.Users, b.Context = a.KV.MaxSequences, a.KV.MaxContext
	}
	if a.Speed != nil {
		b.Decode, b.First = a.Speed.Decode, a.Speed.TTFT
	}
	if a.Simulated != nil {
		b.Holds = &a.Simulated.Holds
		b.FirstP99, b.TokenP99 = p99(a.Simulated.TTFT), p99(a.Simulated.TPOT)
	}
	for _, s := range a.Suggestions[:min(mostSuggestions, len(a.Suggestions))] {
		b.Suggestions = append(b.Suggestions, suggestion{Change: s.Change, Patch: s.Patch, Verdict: s.Verdict, Saves: s.Saves,
			Decode: s.Decode, Speed: s.Speed, Quality: s.Quality})
	}
	b.searched(a)
	b.trained(a)
	b.addTexts(a)
	return b
}

// searched adds the plans and models found by a search.
func (b *Brief) searched(a *memwall.Answer) {
	for i := range a.Candidates[:min(mostCandidates, len(a.Candidates))] {
		c := &a.Candidates[i]
		b.Suggestions = append(b.Suggestions, suggestion{Change: c.Change, Patch: c.Patch, Verdict: c.Verdict, Saves: c.Saves,
			Headroom: c.Headroom, Decode: decodeOf(c.Speed), Speed: c.SpeedRatio, USD: c.USDPerHour, Quality: c.Quality})
	}
	for i := range a.Picks[:min(mostCandidates, len(a.Picks))] {
		k := &a.Picks[i]
		b.Picks = append(b.Picks, picked{Model: k.Model, Weights: k.Weights, Score: scoreOf(k), Context: k.MaxContext,
			Decode: decodeOf(k.Speed)})
	}
}

func (b *Brief) trained(a *memwall.Answer) {
	if d := a.PerDevice; d != nil {
		b.Peak, b.PeakPhase, b.SMI = d.Peak, d.PeakPhase, d.SMI
	}
	if a.Step != nil {
		b.StepSeconds = a.Step.Seconds
	}
}

// addTexts adds what is said about texts, and about a change.
func (b *Brief) addTexts(a *memwall.Answer) {
	b.Compared = len(a.Compare)
	if d := a.Diagnosed; d != nil {
		b.Kind, b.Cause = string(d.Kind), d.Cause
		for i := range d.Fixes[:min(mostSuggestions, len(d.Fixes))] {
			b.Fixes = append(b.Fixes, d.Fixes[i].Text)
		}
	}
	if d := a.Diff; d != nil && d.B != nil {
		b.NeededA = d.Needed.A
		b.Verdict = d.B.Verdict
		if len(d.B.Devices) > 0 {
			x := &d.B.Devices[0]
			b.Needed, b.Usable, b.Headroom = x.Needed, x.Usable, x.Headroom
		}
		b.Decode = decodeOf(d.B.Speed)
	}
}

func p99(x *memwall.Percentiles) *float64 {
	if x == nil {
		return nil
	}
	return &x.P99
}

func decodeOf(v *memwall.Speed) *float64 {
	if v == nil {
		return nil
	}
	return v.Decode
}

func scoreOf(k *memwall.Pick) *float64 {
	if k.Score == nil {
		return nil
	}
	return &k.Score.Value
}

// picked is a model that hardware can run.
type picked struct {
	Model   string   `json:"model"`
	Weights string   `json:"weights"`
	Score   *float64 `json:"score"`
	Context *int64   `json:"max_context"`
	Decode  *float64 `json:"decode_tokens_per_s"`
}

// commands returns the commands that run the plan, with the change it needs, or the best plan found.
func commands(a *memwall.Answer) map[string]string {
	flags, _ := render.WorkingFlags(a)
	if len(flags) == 0 && a.Best != nil {
		return a.Best.Flags
	}
	return flags
}

// screens renders answers; the first blocks of each are a summary.
var screens = map[string]struct {
	draw   func(*memwall.Answer, term.Style) string
	blocks int
}{
	"fit":      {func(a *memwall.Answer, st term.Style) string { return render.Fit(a, render.FitOptions{}, st) }, 1},
	"plan":     {func(a *memwall.Answer, st term.Style) string { return render.Plan(a, render.PlanOptions{}, st) }, 2},
	"pick":     {render.Pick, 2},
	"train":    {func(a *memwall.Answer, st term.Style) string { return render.Train(a, render.FitOptions{}, st) }, 1},
	"sim":      {func(a *memwall.Answer, st term.Style) string { return render.Sim(a, render.SimOptions{}, st) }, 2},
	"diff":     {render.Diff, 3},
	"compare":  {func(a *memwall.Answer, st term.Style) string { return render.Compare(a, false, st) }, 2},
	"diagnose": {func(a *memwall.Answer, st term.Style) string { return render.Diagnose(a, false, st) }, 1},
}

// plain is the style of text for agents.
var plain = term.Style{Width: term.MaxWidth}

// toolResult returns an answer as a tool result.
func toolResult(r *memwall.Request, a *memwall.Answer) (*sdk.CallToolResult, error) {
	link, err := linkOf(r)
	if err != nil {
		return nil, err
	}
	b := briefOf(a, link)
	return &sdk.CallToolResult{StructuredContent: b, Content: []sdk.Content{
		&sdk.TextContent{Text: textOf(a, b)},
		&sdk.ResourceLink{URI: link, Name: "answer", MIMEType: "application/json", Description: "every number of this answer"},
	}}, nil
}

// textOf returns an answer's text: its first lines as on the terminal, reasons, what would help, what to run, what to
// know.
func textOf(a *memwall.Answer, b *Brief) string {
	screen := screens[a.Ask]
	blocks := strings.Split(strings.TrimRight(screen.draw(a, plain), "\n"), "\n\n")
	out := blocks[:min(screen.blocks, len(blocks))]
	if x := a.Reasons; x != nil {
		scales := ""
		if x.Scales != "" {
			scales = "\nscales: " + x.Scales
		}
		out = append(out, "limits: "+x.Limits+scales+"\nbreaks: "+x.Breaks)
	}
	if a.Measured != nil {
		badge, words := term.MeasuredText(a.Measured)
		out = append(out, badge+" "+words)
	}
	var lines []string
	for _, s := range b.Suggestions {
		lines = append(lines, fmt.Sprintf("%s with %s", strings.ReplaceAll(string(s.Verdict), "_", " "), s.Change))
	}
	changed := ""
	if _, with := render.WorkingFlags(a); with != "" {
		changed = " with " + with
	}
	for _, name := range slices.Sorted(maps.Keys(b.Commands)) {
		lines = append(lines, name+changed+": "+b.Commands[name])
	}
	for _, n := range a.Notes {
		if n.Severity != "info" {
			lines = append(lines, n.Severity+": "+inTools(n.Text))
		}
	}
	if len(lines) > 0 {
		out = append(out, strings.Join(lines, "\n"))
	}
	return strings.Join(out, "\n\n")
}

// failed returns an error as a tool result that an agent can act on.
func failed(err error) *sdk.CallToolResult {
	var b *desk.Busy
	e := &memwall.Error{Code: memwall.Limit, Message: "the question had no turn in time", Hint: "ask again"}
	if errors.As(err, &b) {
		e.Message, e.Hint = b.What, fmt.Sprintf("ask again in %s", b.After)
	}
	var told *memwall.Error
	if errors.As(err, &told) {
		inWords := *told
		inWords.Message, inWords.Hint = inTools(told.Message), inTools(told.Hint)
		e = &inWords
	}
	return &sdk.CallToolResult{IsError: true, StructuredContent: e,
		Content: []sdk.Content{&sdk.TextContent{Text: strings.TrimSpace(render.Error(e, plain))}}}
}

func modelCard(m *card.Model) string       { return cards.Model(m, plain) }
func hardwareCard(h *card.Hardware) string { return cards.Hardware(h, plain) }
func nodeCard(n *card.Node) string         { return cards.Node(n, plain) }

// Lists are short: ids, and for models their parameters.
func modelList(words string) string {
	var b strings.Builder
	for _, m := range card.Models(words) {
		fmt.Fprintf(&b, "%s %s\n", m.ID, unit.Count(m.Parameters))
	}
	return b.String()
}

func hardwareList(words string) string {
	var ids []string
	for _, d := range card.Devices(words) {
		ids = append(ids, d.ID)
	}
	for _, n := range card.Nodes(words) {
		ids = append(ids, n.ID)
	}
	return strings.Join(ids, " ")
}
