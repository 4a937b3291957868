// Package tui renders interactive screens: a watched machine, the app navigated by keys, this machine's own models.
package tui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/live"
	"github.com/memwall/memwall/unit"
)

// WatchOptions are what a watch shows beside the picture.
type WatchOptions struct {
	Explain bool // the ledger that was said
	Help    bool // what is seen, in words
	Notes   bool // all notes
	Asking  bool // a prediction is on its way
	// Keys stand at the foot of a live screen; Every is its interval.
	Keys  string
	Every time.Duration
	// Rows is the height of the screen; 0: no end.
	Rows int
	// Zone of the clock; nil is the machine's.
	Zone *time.Location
}

// Watch draws a picture of a running engine.
func Watch(v *live.Picture, o WatchOptions, st term.Style) string {
	if o.Zone == nil {
		o.Zone = time.Local
	}
	s := watchScreen{term.NewPage(st), v, o}
	s.title()
	if o.Help {
		return s.help()
	}
	s.headline()
	s.memory()
	s.engines()
	s.growth()
	s.others()
	s.ledger()
	s.notes()
	return s.foot()
}

type watchScreen struct {
	*term.Page
	v *live.Picture
	o WatchOptions
}

// title: what is watched, and the time at the right.
func (s *watchScreen) title() {
	clock := time.UnixMilli(int64(s.v.At * 1000)).In(s.o.Zone).Format("15:04:05")
	var parts []string
	if name := devicesWords(s.v.Devices); name != "" {
		parts = append(parts, name)
	}
	for i := range s.v.Engines {
		if i < 2 {
			parts = append(parts, engineWords(&s.v.Engines[i])...)
		}
	}
	if n := len(s.v.Engines) - 2; n > 0 {
		parts = append(parts, term.Plural(int64(n), "engine more", "engines more"))
	}
	if len(parts) == 0 {
		parts = []string{"this machine"}
	}
	before := len(s.Lines)
	s.Dotted(term.Join(term.Say("memwall watch", term.Bold), term.Say("   ")), parts)
	last := &s.Lines[before]
	if room := s.Style.Cells() - last.Cells() - term.Cells(clock); room > 0 {
		*last = term.Join(*last, term.Pad(room), term.Say(clock, term.Dim))
	}
}

// devicesWords counts devices by name: "2 × H100 SXM 80GB".
func devicesWords(all []live.DeviceView) string {
	var out []string
	for i := 0; i < len(all); {
		n := 1
		for i+n < len(all) && all[i+n].Name == all[i].Name {
			n++
		}
		name := strings.TrimPrefix(all[i].Name, "NVIDIA ")
		if n > 1 {
			name = strconv.Itoa(n) + " × " + name
		}
		out = append(out, name)
		i += n
	}
	return strings.Join(out, " + ")
}

func engineWords(e *live.EngineView) (out []string) {
	if name := e.Name; name != "" {
		if t := render.EngineTitles[name]; t != "" {
			name = t
		}
		out = append(out, name)
	}
	switch {
	case e.ModelInfo != nil:
		out = append(out, e.ModelInfo.ID)
	case e.Model != "":
		out = append(out, e.Model)
	}
	return out
}

// headline is the finding in a line.
func (s *watchScreen) headline() {
	f := s.v.Finding
	m := map[string]term.Mark{
		live.AsSaid: {Sign: '✓', Word: "", Ink: term.Bold}, live.Leaks: {Sign: '✗', Word: "", Ink: term.InkBad},
		live.KVFull: {Sign: '~', Word: "", Ink: term.InkTight}, live.KVFullSoon: {Sign: '~', Word: "", Ink: term.InkTight},
		live.MoreThanSaid: {Sign: '~', Word: "", Ink: term.InkTight},
		live.GrowsLoaded:  {Sign: '~', Word: "", Ink: term.InkTight}, live.LessThanSaid: {Sign: '~', Word: "", Ink: term.InkTight},
	}[f.Code]
	if m.Sign == 0 {
		m = term.Mark{Sign: '?', Word: "", Ink: term.InkUnknown}
	}
	s.Para(term.Say(string(m.Sign)+" ", m.Ink), term.Say(s.found(f)))
}

// memory is a bar for each device, with what is held now, what was said, and the difference.
func (s *watchScreen) memory() {
	s.Blank()
	if s.Style.Cells() >= term.Narrow && (len(s.v.Devices) > 0 || s.v.Host != nil) {
		s.Line(term.Pad(barLabel+s.barRoom()-2), term.Say(fmt.Sprintf("GiB"+barFigures, "now", "said", "off"), term.Dim))
	}
	const most = 8
	for i := range s.v.Devices {
		if i == most {
			s.Line(term.Pad(term.Gap), term.Say(fmt.Sprintf("%d more devices: --json", len(s.v.Devices)-most), term.Dim))
			break
		}
		d := &s.v.Devices[i]
		now := d.Engines
		if now == nil && d.Said == nil {
			now = d.Used
		}
		s.bar("GPU "+strconv.Itoa(d.Index), d.Bar, now, d.Said, d.Off)
	}
	if h := s.v.Host; h != nil {
		now := h.Engines
		if now == nil {
			now = hostUsed(h)
		}
		s.bar("host", h.Bar, now, h.Said, h.Off)
	}
	s.legend()
}

// hostUsed is what all hold of the host: its bar has it.
func hostUsed(h *live.HostView) *unit.Bytes {
	for i := range h.Bar {
		if h.Bar[i].ID == live.Others {
			return &h.Bar[i].Bytes
		}
	}
	return nil
}

func (s *watchScreen) bar(name string, bar []live.Stretch, now *unit.Bytes, said *live.Said, off *live.Off) {
	was, diff, look := "—", "—", term.Plain
	if said != nil {
		was = term.GiB(said.Bytes, 2)
	}
	if off != nil {
		diff = signedGiB(off.Bytes)
		if !off.Within {
			look = term.InkTight
		}
	}
	held := "—"
	if now != nil {
		held = term.GiB(*now, 2)
	}
	// The barFigures without the last, and the last in its colour.
	row := fmt.Sprintf(barFigures, held, was, diff)
	at := len(row) - len(diff)
	tail := term.Join(term.Say(row[:at]), term.Say(row[at:], look))
	lead := term.Say(fmt.Sprintf("%-*s", barLabel, name), term.Dim)
	if s.Style.Cells() < term.Narrow {
		s.Line(lead, tail)
		return
	}
	x := drawStretches(bar, s.barRoom())
	if x.Cells() == 0 {
		x = term.Say("?", term.InkUnknown)
	}
	s.Line(lead, x, term.Pad(s.barRoom()-x.Cells()+1), tail)
}

// barFigures of a line, right on their decimal points; barLabel is the width of the name before the bar.
const (
	barFigures = "%8s%8s%8s"
	barLabel   = 7
)

func (s *watchScreen) barRoom() int { return s.Style.Cells() - barLabel - 1 - 3*8 - 1 }

// signedGiB is a difference of sizes: "+0.10".
func signedGiB(b unit.Bytes) string {
	switch s := term.GiB(b, 2); {
	case b > 0:
		return "+" + strings.TrimPrefix(s, "<")
	case b < 0:
		return strings.Replace(s, "<", "", 1)
	}
	return "0.00"
}

// stretchLooks are those that are not lines of a ledger.
var stretchLooks = map[string]struct {
	glyph rune
	ink   term.Ink
}{
	live.Unsaid: {'■', term.Plain}, live.Over: {'╳', term.InkOver}, live.Missing: {'·', term.InkFree}, live.Others: {'□', term.Dim},
	live.Free: {'─', term.InkFree},
}

// drawStretches fills n cells.
func drawStretches(bar []live.Stretch, n int) (x term.Text) {
	amounts := make([]unit.Bytes, len(bar))
	for i := range bar {
		amounts[i] = bar[i].Bytes
	}
	counts := term.Apportion(n, amounts)
	draw := func(wanted func(id string) (rune, term.Ink, bool)) {
		for i := range bar {
			if g, k, ok := wanted(bar[i].ID); ok {
				x = append(x, term.Span{Text: strings.Repeat(string(g), counts[i]), Ink: k})
			}
		}
	}
	for f := range term.Families {
		draw(func(id string) (rune, term.Ink, bool) {
			_, special := stretchLooks[id]
			return term.Looks[f].Glyph, term.Looks[f].Ink, !special && term.FamilyFor(id) == f
		})
	}
	draw(func(id string) (rune, term.Ink, bool) {
		l, special := stretchLooks[id]
		return l.glyph, l.ink, special
	})
	return x
}

// legend names the glyphs that are seen, where there is room.
func (s *watchScreen) legend() {
	seen := map[term.Family]bool{}
	special := map[string]bool{}
	for _, bars := range s.bars() {
		for _, b := range bars {
			if _, ok := stretchLooks[b.ID]; ok {
				special[b.ID] = true
			} else {
				seen[term.FamilyFor(b.ID)] = true
			}
		}
	}
	var x term.Text
	add := func(g rune, k term.Ink, name string) {
		x = term.Join(x, term.Say(string(g), k), term.Say(term.NoBreak+strings.ReplaceAll(name, " ", term.NoBreak)+"  ", term.Dim))
	}
	for f := range term.Families {
		if seen[f] {
			add(term.Looks[f].Glyph, term.Looks[f].Ink, term.FamilyNames[f])
		}
	}
	for _, w := range []struct{ id, name string }{{live.Unsaid, "engines"}, {live.Over, "more than said"}, {live.Missing, "said, not held"},
		{live.Others, "others"}} {
		if special[w.id] {
			add(stretchLooks[w.id].glyph, stretchLooks[w.id].ink, w.name)
		}
	}
	if len(x) > 0 && s.Style.Cells() >= term.Narrow {
		s.Para(term.Pad(7), x)
	}
}

func (s *watchScreen) bars() (out [][]live.Stretch) {
	for i := range s.v.Devices {
		out = append(out, s.v.Devices[i].Bar)
	}
	if s.v.Host != nil {
		out = append(out, s.v.Host.Bar)
	}
	return out
}

func (s *watchScreen) fact(label string, x term.Text) {
	if x.Cells() > 0 {
		s.Para(term.Say(fmt.Sprintf("%-6s ", label), term.Dim), x)
	}
}

// engines are cache and load of each, and who it is where there are several.
func (s *watchScreen) engines() {
	for i := range s.v.Engines {
		e := &s.v.Engines[i]
		s.Blank()
		if len(s.v.Engines) > 1 {
			s.Dotted(term.Say(fmt.Sprintf("%-6s ", "engine"), term.Dim), append(engineWords(e), pidWords(e.PID)...))
		}
		if e.Reading != nil {
			s.fact("KV", s.cache(e))
			s.fact("load", term.Say(load(e.Reading)))
		}
		if len(s.v.Engines) > 1 && e.Unsaid != "" {
			s.fact("said", term.Say("nothing: "+e.Unsaid))
		}
	}
}

func pidWords(pid int) []string {
	if pid == 0 {
		return nil
	}
	return []string{"pid " + strconv.Itoa(pid)}
}

func (s *watchScreen) cache(e *live.EngineView) term.Text {
	var parts []string
	if e.KVUsage != nil {
		parts = append(parts, term.Percent(*e.KVUsage))
	}
	if e.KVTokens != nil {
		tokens := "of " + unit.Count(int64(*e.KVTokens)) + " tokens"
		if e.SaidTokens != nil {
			tokens += " (said " + unit.Count(*e.SaidTokens) + ")"
		}
		parts = append(parts, tokens)
	} else if e.SaidTokens != nil && e.KVUsage != nil {
		parts = append(parts, "of a cache said to hold "+unit.Count(*e.SaidTokens)+" tokens")
	}
	x := term.Say(strings.Join(parts, " "))
	if e.HitRate != nil {
		x = term.Join(x, term.Say(" · prefix hits "+term.Percent(*e.HitRate)))
	}
	if len(parts) == 0 {
		return nil
	}
	if len(e.KV) > 1 && s.Style.Cells() >= term.Narrow {
		x = term.Join(term.Say(sparkline(e.KV), term.InkCache), term.Say(term.NoBreak+term.NoBreak), x)
	}
	return x
}

// sparkline draws shares of 1 in at most 20 cells.
func sparkline(all []float64) string {
	glyphs := []rune(term.SparkGlyphs)
	var b strings.Builder
	for _, x := range term.Sampled(all, 20) {
		b.WriteRune(glyphs[min(max(int(x*float64(len(glyphs))), 0), len(glyphs)-1)])
	}
	return b.String()
}

// load is what an engine does now.
func load(r *live.Reading) string {
	var now, done []string
	if r.Running != nil {
		now = append(now, unit.Count(int64(*r.Running))+" running")
	}
	if r.Waiting != nil {
		now = append(now, unit.Count(int64(*r.Waiting))+" waiting")
	}
	if len(now) > 0 {
		done = append(done, strings.Join(now, ", "))
	}
	if r.OutputRate != nil {
		done = append(done, rate(*r.OutputRate)+" tok/s out")
	}
	if r.PromptRate != nil {
		done = append(done, rate(*r.PromptRate)+" in")
	}
	if r.TTFT != nil {
		done = append(done, "first token "+unit.Seconds(*r.TTFT).String())
	}
	if r.Preemptions != nil && *r.Preemptions > 0 {
		done = append(done, term.Significant(*r.Preemptions, 2)+" preempted a second")
	}
	return strings.Join(done, " · ")
}

func rate(x float64) string {
	if x == 0 {
		return "0"
	}
	return unit.Rate(x)
}

// growth is the drift of each device, alike ones together.
func (s *watchScreen) growth() {
	s.Blank()
	said := map[string]bool{}
	show := func(name string, g *live.Growth) {
		if g == nil || s.v.Moments < 2 {
			return
		}
		words := driftWords(g)
		if said[words] {
			return
		}
		said[words] = true
		s.fact("drift", term.Join(term.Say(name+": ", term.Dim), term.Say(words)))
	}
	for i := range s.v.Devices {
		show("GPU "+strconv.Itoa(s.v.Devices[i].Index), s.v.Devices[i].Growth)
	}
	for i := range s.v.Engines {
		show("host, "+engineName(&s.v.Engines[i]), s.v.Engines[i].Growth)
	}
}

// others are the programs that hold most and are no engine's.
func (s *watchScreen) others() {
	const most = 3
	var parts []string
	for i := range s.v.Others {
		p := &s.v.Others[i]
		if len(parts) == most {
			parts = append(parts, fmt.Sprintf("%d more", len(s.v.Others)-most))
			break
		}
		text := fmt.Sprintf("pid %d %s", p.PID, p.Name)
		for _, h := range p.Held {
			if h.Bytes != nil {
				text += fmt.Sprintf(" %s on GPU %d", h.Bytes, h.Device)
			}
		}
		parts = append(parts, text)
	}
	s.fact("other", term.Say(strings.Join(parts, " · ")))
}

// ledger is what was said, line by line, of the first device that differs.
func (s *watchScreen) ledger() {
	if !s.o.Explain {
		return
	}
	for i := range s.v.Engines {
		if e := &s.v.Engines[i]; e.Command != "" {
			s.Blank()
			s.fact("runs", term.Say(e.Command))
		}
	}
	name, said := "host", (*live.Said)(nil)
	if s.v.Host != nil {
		said = s.v.Host.Said
	}
	for i := range s.v.Devices {
		if d := &s.v.Devices[i]; d.Said != nil {
			name, said = "GPU "+strconv.Itoa(d.Index), d.Said
			break
		}
	}
	if said == nil {
		return
	}
	s.Blank()
	tb := &term.Table{Sides: []term.Side{term.Left, term.Decimal, term.Decimal, term.Left}, Most: map[int]int{0: 44}}
	tb.Row(term.Say("said of "+name, term.Dim), term.Say("GiB", term.Dim), term.Say("±", term.Dim), nil)
	for j := range said.Ledger {
		it := &said.Ledger[j]
		f := term.Looks[term.FamilyFor(it.ID)]
		b := term.Banded{Mid: it.Bytes, Low: it.Low, High: it.High}
		half := ""
		if !b.Exact() {
			half = b.Half()
		}
		tb.Row(term.Join(term.Say(string(f.Glyph)+" ", f.Ink), term.Say(it.Name)), term.Say(term.GiB(it.Bytes, b.Decimals())),
			term.Say(half), term.Say(it.Basis.String(), term.Dim))
	}
	s.Add(tb)
}

// notes: three, or all.
func (s *watchScreen) notes() {
	const most = 3
	if len(s.v.Notes) > 0 {
		s.Blank()
	}
	for i, n := range s.v.Notes {
		if i == most && !s.o.Notes {
			s.fact("note", term.Say(fmt.Sprintf("%d more: --notes", len(s.v.Notes)-most), term.Dim))
			return
		}
		s.fact("note", noteText(n))
	}
}

func noteText(n memwall.Note) term.Text {
	if n.Severity == "warn" {
		return term.Say(n.Text)
	}
	return term.Say(n.Text, term.Dim)
}

// help says what is seen.
func (s *watchScreen) help() string {
	s.Blank()
	for _, l := range [][2]string{
		{"now", "what the engines' processes hold, as the driver says it; where no driver tells processes apart, all that is held less " +
			"what others do"},
		{"said", "what memwall says of the same command line: memwall fit --from with it"},
		{"off", "now less said; yellow where it lies beyond the band"},
		{"KV", "how much of the cache is in use, as the engine reports it"},
		{"drift", "the end of the time over its beginning, and whether it grows as a leak does"},
		{"e", "the ledger that was said, line by line, and the command line"},
		{"r", "begin a recording here, or end it; memwall watch --report FILE sums it up"},
		{"q", "quit"},
	} {
		s.fact(l[0], term.Say(l[1]))
	}
	return s.foot()
}

// foot puts keys and cost on the last line, and cuts what a screen has no rows for.
func (s *watchScreen) foot() string {
	right := ""
	if s.o.Every > 0 {
		right = "every " + unit.Seconds(s.o.Every.Seconds()).String()
		if s.v.Cost != nil {
			right += ", " + unit.Fixed(100**s.v.Cost, 1) + " % of a processor"
		}
	}
	if s.v.Recording != "" {
		right = "● " + term.Shorten(s.v.Recording, 24, s.Ellipsis()) + "   " + right
	}
	if s.o.Keys == "" {
		return s.String()
	}
	if s.o.Rows > 2 && len(s.Lines) > s.o.Rows-2 {
		s.Lines = s.Lines[:s.o.Rows-2]
	}
	s.Blank()
	room := max(1, s.Style.Cells()-term.Cells(s.o.Keys)-term.Cells(right))
	s.Line(term.Say(s.o.Keys, term.Dim), term.Pad(room), term.Say(right, term.Dim))
	return s.String()
}

// WatchLine is a picture in one line, for pipes: time, what each device holds and how far that is from what was said, the
// cache, the load, and the finding.
func WatchLine(v *live.Picture, o WatchOptions, st term.Style) string {
	if o.Zone == nil {
		o.Zone = time.Local
	}
	s := watchScreen{term.NewPage(st), v, o}
	parts := []string{time.UnixMilli(int64(v.At * 1000)).In(o.Zone).Format("2006-01-02 15:04:05")}
	for i := range v.Devices {
		parts = append(parts, "GPU "+strconv.Itoa(v.Devices[i].Index)+" "+
			heldWords(v.Devices[i].Engines, v.Devices[i].Used, v.Devices[i].Off))
	}
	if h := v.Host; h != nil && (len(v.Devices) == 0 || h.Said != nil) {
		parts = append(parts, "host "+heldWords(h.Engines, hostUsed(h), h.Off))
	}
	for i := range v.Engines {
		r := v.Engines[i].Reading
		if r != nil && r.KVUsage != nil {
			parts = append(parts, "KV "+term.Percent(*r.KVUsage))
		}
		if r != nil {
			parts = append(parts, load(r))
		}
	}
	return term.Clean(strings.Join(append(parts, s.found(v.Finding)), " · "), st.ASCII) + "\n"
}

func heldWords(engines, used *unit.Bytes, off *live.Off) string {
	held := engines
	if held == nil {
		held = used
	}
	if held == nil {
		return "unknown"
	}
	text := term.GiB(*held, 2) + " GiB"
	if off != nil {
		text += " (" + signedGiB(off.Bytes) + ")"
	}
	return text
}
