package render

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/memwall/memwall"
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
func Watch(v *live.Picture, o WatchOptions, st Style) string {
	if o.Zone == nil {
		o.Zone = time.Local
	}
	s := watchScreen{newPage(st), v, o}
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
	*page
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
		parts = append(parts, plural(int64(n), "engine more", "engines more"))
	}
	if len(parts) == 0 {
		parts = []string{"this machine"}
	}
	before := len(s.lines)
	s.dotted(join(say("memwall watch", bold), say("   ")), parts)
	last := &s.lines[before]
	if room := s.st.width() - last.cells() - cells(clock); room > 0 {
		*last = join(*last, pad(room), say(clock, dim))
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
		if t := engineTitles[name]; t != "" {
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
	m := map[string]mark{
		live.AsSaid: {'✓', "", bold}, live.Leaks: {'✗', "", inkBad}, live.KVFull: {'~', "", inkTight}, live.KVFullSoon: {'~', "", inkTight}, live.MoreThanSaid: {'~', "", inkTight},
		live.GrowsLoaded: {'~', "", inkTight}, live.LessThanSaid: {'~', "", inkTight},
	}[f.Code]
	if m.sign == 0 {
		m = mark{'?', "", inkUnknown}
	}
	s.para(say(string(m.sign)+" ", m.ink), say(s.found(f)))
}

// memory is a bar for each device, with what is held now, what was said, and the difference.
func (s *watchScreen) memory() {
	s.blank()
	if s.st.width() >= narrow && (len(s.v.Devices) > 0 || s.v.Host != nil) {
		s.line(pad(barLabel+s.barRoom()-2), say(fmt.Sprintf("GiB"+barFigures, "now", "said", "off"), dim))
	}
	const most = 8
	for i := range s.v.Devices {
		if i == most {
			s.line(pad(gap), say(fmt.Sprintf("%d more devices: --json", len(s.v.Devices)-most), dim))
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
	was, diff, look := "—", "—", plain
	if said != nil {
		was = gib(said.Bytes, 2)
	}
	if off != nil {
		diff = signedGiB(off.Bytes)
		if !off.Within {
			look = inkTight
		}
	}
	held := "—"
	if now != nil {
		held = gib(*now, 2)
	}
	// The barFigures without the last, and the last in its colour.
	row := fmt.Sprintf(barFigures, held, was, diff)
	at := len(row) - len(diff)
	tail := join(say(row[:at]), say(row[at:], look))
	lead := say(fmt.Sprintf("%-*s", barLabel, name), dim)
	if s.st.width() < narrow {
		s.line(lead, tail)
		return
	}
	x := drawStretches(bar, s.barRoom())
	if x.cells() == 0 {
		x = say("?", inkUnknown)
	}
	s.line(lead, x, pad(s.barRoom()-x.cells()+1), tail)
}

// barFigures of a line, right on their decimal points; barLabel is the width of the name before the bar.
const (
	barFigures = "%8s%8s%8s"
	barLabel   = 7
)

func (s *watchScreen) barRoom() int { return s.st.width() - barLabel - 1 - 3*8 - 1 }

// signedGiB is a difference of sizes: "+0.10".
func signedGiB(b unit.Bytes) string {
	switch s := gib(b, 2); {
	case b > 0:
		return "+" + strings.TrimPrefix(s, "<")
	case b < 0:
		return strings.Replace(s, "<", "", 1)
	}
	return "0.00"
}

// stretchLooks are those that are no lines of a ledger.
var stretchLooks = map[string]struct {
	glyph rune
	ink   ink
}{
	live.Unsaid: {'■', plain}, live.Over: {'╳', inkOver}, live.Missing: {'·', inkFree}, live.Others: {'□', dim}, live.Free: {'─', inkFree},
}

// drawStretches fills n cells.
func drawStretches(bar []live.Stretch, n int) (x text) {
	amounts := make([]unit.Bytes, len(bar))
	for i := range bar {
		amounts[i] = bar[i].Bytes
	}
	counts := share(n, amounts)
	draw := func(wanted func(id string) (rune, ink, bool)) {
		for i := range bar {
			if g, k, ok := wanted(bar[i].ID); ok {
				x = append(x, span{s: strings.Repeat(string(g), counts[i]), ink: k})
			}
		}
	}
	for f := range families {
		draw(func(id string) (rune, ink, bool) {
			_, special := stretchLooks[id]
			return looks[f].glyph, looks[f].ink, !special && familyFor(id) == f
		})
	}
	draw(func(id string) (rune, ink, bool) {
		l, special := stretchLooks[id]
		return l.glyph, l.ink, special
	})
	return x
}

// legend names the glyphs that are seen, where there is room.
func (s *watchScreen) legend() {
	seen := map[family]bool{}
	special := map[string]bool{}
	for _, bars := range s.bars() {
		for _, b := range bars {
			if _, ok := stretchLooks[b.ID]; ok {
				special[b.ID] = true
			} else {
				seen[familyFor(b.ID)] = true
			}
		}
	}
	var x text
	add := func(g rune, k ink, name string) {
		x = join(x, say(string(g), k), say(hard+strings.ReplaceAll(name, " ", hard)+"  ", dim))
	}
	for f := range families {
		if seen[f] {
			add(looks[f].glyph, looks[f].ink, familyNames[f])
		}
	}
	for _, w := range []struct{ id, name string }{{live.Unsaid, "engines"}, {live.Over, "more than said"}, {live.Missing, "said, not held"}, {live.Others, "others"}} {
		if special[w.id] {
			add(stretchLooks[w.id].glyph, stretchLooks[w.id].ink, w.name)
		}
	}
	if len(x) > 0 && s.st.width() >= narrow {
		s.para(pad(7), x)
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

func (s *watchScreen) fact(label string, x text) {
	if x.cells() > 0 {
		s.para(say(fmt.Sprintf("%-6s ", label), dim), x)
	}
}

// engines are cache and load of each, and who it is where there are several.
func (s *watchScreen) engines() {
	for i := range s.v.Engines {
		e := &s.v.Engines[i]
		s.blank()
		if len(s.v.Engines) > 1 {
			s.dotted(say(fmt.Sprintf("%-6s ", "engine"), dim), append(engineWords(e), pidWords(e.PID)...))
		}
		if e.Reading != nil {
			s.fact("KV", s.cache(e))
			s.fact("load", say(load(e.Reading)))
		}
		if len(s.v.Engines) > 1 && e.Unsaid != "" {
			s.fact("said", say("nothing: "+e.Unsaid))
		}
	}
}

func pidWords(pid int) []string {
	if pid == 0 {
		return nil
	}
	return []string{"pid " + strconv.Itoa(pid)}
}

func (s *watchScreen) cache(e *live.EngineView) text {
	var parts []string
	if e.KVUsage != nil {
		parts = append(parts, percent(*e.KVUsage))
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
	x := say(strings.Join(parts, " "))
	if e.HitRate != nil {
		x = join(x, say(" · prefix hits "+percent(*e.HitRate)))
	}
	if len(parts) == 0 {
		return nil
	}
	if len(e.KV) > 1 && s.st.width() >= narrow {
		x = join(say(sparkline(e.KV), inkCache), say(hard+hard), x)
	}
	return x
}

// sparkline draws shares of 1 in at most 20 cells.
func sparkline(all []float64) string {
	glyphs := []rune(sparkGlyphs)
	var b strings.Builder
	for _, x := range sampled(all, 20) {
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
		done = append(done, significant(*r.Preemptions, 2)+" preempted a second")
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
	s.blank()
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
		s.fact("drift", join(say(name+": ", dim), say(words)))
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
	s.fact("other", say(strings.Join(parts, " · ")))
}

// ledger is what was said, line by line, of the first device that differs.
func (s *watchScreen) ledger() {
	if !s.o.Explain {
		return
	}
	for i := range s.v.Engines {
		if e := &s.v.Engines[i]; e.Command != "" {
			s.blank()
			s.fact("runs", say(e.Command))
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
	s.blank()
	tb := &table{sides: []side{left, decimal, decimal, left}, most: map[int]int{0: 44}}
	tb.row(say("said of "+name, dim), say("GiB", dim), say("±", dim), nil)
	for j := range said.Ledger {
		it := &said.Ledger[j]
		f := looks[familyFor(it.ID)]
		b := banded{it.Bytes, it.Low, it.High}
		half := ""
		if !b.exact() {
			half = b.half()
		}
		tb.row(join(say(string(f.glyph)+" ", f.ink), say(it.Name)), say(gib(it.Bytes, b.decimals())), say(half), say(it.Basis.String(), dim))
	}
	s.add(tb)
}

// notes: three, or all.
func (s *watchScreen) notes() {
	const most = 3
	if len(s.v.Notes) > 0 {
		s.blank()
	}
	for i, n := range s.v.Notes {
		if i == most && !s.o.Notes {
			s.fact("note", say(fmt.Sprintf("%d more: --notes", len(s.v.Notes)-most), dim))
			return
		}
		s.fact("note", noteText(n))
	}
}

func noteText(n memwall.Note) text {
	if n.Severity == "warn" {
		return say(n.Text)
	}
	return say(n.Text, dim)
}

// help says what is seen.
func (s *watchScreen) help() string {
	s.blank()
	for _, l := range [][2]string{
		{"now", "what the engines' processes hold, as the driver says it; where no driver tells processes apart, all that is held less what others do"},
		{"said", "what memwall says of the same command line: memwall fit --from with it"},
		{"off", "now less said; yellow where it lies beyond the band"},
		{"KV", "how much of the cache is taken, as the engine says it"},
		{"drift", "the end of the time over its beginning, and whether it grows as a leak does"},
		{"e", "the ledger that was said, line by line, and the command line"},
		{"r", "begin a recording here, or end it; memwall watch --report FILE sums it up"},
		{"q", "quit"},
	} {
		s.fact(l[0], say(l[1]))
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
		right = "● " + shorten(s.v.Recording, 24, s.ellipsis()) + "   " + right
	}
	if s.o.Keys == "" {
		return s.String()
	}
	if s.o.Rows > 2 && len(s.lines) > s.o.Rows-2 {
		s.lines = s.lines[:s.o.Rows-2]
	}
	s.blank()
	room := max(1, s.st.width()-cells(s.o.Keys)-cells(right))
	s.line(say(s.o.Keys, dim), pad(room), say(right, dim))
	return s.String()
}

// WatchLine is a picture in one line, for pipes: time, what each device holds and how far that is from what was said, the
// cache, the load, and the finding.
func WatchLine(v *live.Picture, o WatchOptions, st Style) string {
	if o.Zone == nil {
		o.Zone = time.Local
	}
	s := watchScreen{newPage(st), v, o}
	parts := []string{time.UnixMilli(int64(v.At * 1000)).In(o.Zone).Format("2006-01-02 15:04:05")}
	for i := range v.Devices {
		parts = append(parts, "GPU "+strconv.Itoa(v.Devices[i].Index)+" "+heldWords(v.Devices[i].Engines, v.Devices[i].Used, v.Devices[i].Off))
	}
	if h := v.Host; h != nil && (len(v.Devices) == 0 || h.Said != nil) {
		parts = append(parts, "host "+heldWords(h.Engines, hostUsed(h), h.Off))
	}
	for i := range v.Engines {
		r := v.Engines[i].Reading
		if r != nil && r.KVUsage != nil {
			parts = append(parts, "KV "+percent(*r.KVUsage))
		}
		if r != nil {
			parts = append(parts, load(r))
		}
	}
	return clean(strings.Join(append(parts, s.found(v.Finding)), " · "), st.ASCII) + "\n"
}

func heldWords(engines, used *unit.Bytes, off *live.Off) string {
	held := engines
	if held == nil {
		held = used
	}
	if held == nil {
		return "unknown"
	}
	text := gib(*held, 2) + " GiB"
	if off != nil {
		text += " (" + signedGiB(off.Bytes) + ")"
	}
	return text
}
