package diagnose

import (
	"slices"
	"strings"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/internal/stable"
)

// Limits on what is retained of a text.
const (
	maxFindings = 16
	maxRanks    = 32
	maxMessage  = 2 << 10 // bytes of a message searched for figures
	maxText     = 400     // bytes of it retained
	messageRows = 8       // lines that a message may be wrapped into
	following   = 120     // lines within which a consequence is merged
)

// scanner processes a text line by line.
type scanner struct {
	found []Finding
	more  int
	open  bool // the last of found may continue
	rows  int  // lines for which it may continue
	at    int  // line
	heard int
	// again is the last merged message before its figures were read, and into what it was merged with: a program that
	// fails for hours prints the same lines.
	again Finding
	into  int
	places
	settings
	growth
	limits
}

func newScanner() *scanner { return &scanner{places: places{step: -1}} }

// line processes a line; JSON or quoted values with \n are processed as several lines.
func (s *scanner) line(l *startup.Line) {
	quote, escaped := strings.IndexByte(l.Text, '"'), strings.Index(l.Text, `\n`)
	if quote < 0 || escaped < quote {
		s.one(l)
		return
	}
	for part := range strings.SplitSeq(l.Text, `\n`) {
		x := *l
		x.Text = part
		s.one(&x)
	}
}

func (s *scanner) one(l *startup.Line) {
	s.at = l.Number
	text := l.Text
	s.watch(text)
	s.limits.see(text)
	in := scan(text)
	s.places.see(text, &in, l.Number)
	if !in.any(&words().worth) {
		s.goOn(text)
		return
	}
	s.read(text, &in)
	s.sample(text, &in)
	r, at := find(text, &in)
	if r == nil {
		s.goOn(text)
		return
	}
	s.hit(r, l, at, &in)
}

// goOn adds a line to a wrapped message.
func (s *scanner) goOn(text string) {
	if !s.open {
		return
	}
	f := &s.found[len(s.found)-1]
	if s.rows--; s.rows < 0 || len(f.Text)+len(text) > maxMessage {
		s.close()
		return
	}
	f.Text += " " + strings.TrimSpace(text)
}

// close ends the open message.
func (s *scanner) close() {
	if !s.open {
		return
	}
	s.open = false
	f := &s.found[len(s.found)-1]
	if s.repeated(f) {
		s.mergeInto(s.into)
		return
	}
	before := *f
	f.rule.take(f, f.Text, false)
	in := scan(f.Text)
	s.made(f, f.Text, &in)
	if f.Place == Nowhere && in.has(words().loading) && strings.Contains(f.Text, loadingBar) {
		f.Place = Loading
	}
	f.settle()
	if !s.merged(&before) {
		f.Text = shown(f.Text)
	}
}

// repeated reports whether the message equals the last merged one.
func (s *scanner) repeated(f *Finding) bool {
	a := &s.again
	return a.rule == f.rule && a.Place == f.Place && a.Engine == f.Engine && a.Device == f.Device && a.Text == f.Text
}

// shown returns a message as it may be retained.
func shown(text string) string {
	text = argv.BlottedLine(strings.Join(strings.Fields(text), " "))
	if len(text) <= maxText {
		return text
	}
	cut := maxText
	for cut > 0 && text[cut]&0xC0 == 0x80 {
		cut--
	}
	return text[:cut] + "…"
}

// hit starts a finding, or adds to the one that this line is a consequence of.
func (s *scanner) hit(r *rule, l *startup.Line, at int, in *hits) {
	if s.consequence(r, l) {
		return
	}
	s.close()
	if len(s.found) == maxFindings {
		s.more++
		return
	}
	message := l.Text[at-min(at, 200):]
	f := Finding{Kind: r.kind, Engine: r.engine, Backend: r.backend, Device: r.device, Place: r.place, Line: l.Number, Times: 1,
		Text: message[:min(len(message), maxMessage)], Cut: l.Cut, Step: s.places.step, Fix: r.fix, rule: r}
	if l.Rank != "" {
		f.Ranks = []string{l.Rank}
	}
	s.placed(&f, l.Text, in)
	s.found = append(s.found, f)
	s.open, s.rows = true, messageRows
}

// consequence merges a line that says more about the last finding.
func (s *scanner) consequence(r *rule, l *startup.Line) bool {
	n := len(s.found)
	if n == 0 {
		return false
	}
	f := &s.found[n-1]
	if l.Number-f.Line > following {
		return false
	}
	switch {
	case f.Kind == Killed && (r.kind == ContainerLimit || r.kind == HostKilled):
		f.Kind, f.Engine, f.rule, f.Fix = r.kind, r.engine, r, r.fix
	case f.Kind == DeviceMemory && r.kind == AllocationLimit && r.engine == f.Engine && l.Number-f.Line <= messageRows:
		f.Kind = AllocationLimit // same allocation: the backend gives the reason after the size
	case !r.follows || f.Kind.Weight() != r.kind.Weight():
		return false
	case r.engine != "" && f.Engine != r.engine && f.Engine != within[r.engine] && r.kind != Killed && f.Engine != "pytorch" &&
		f.Engine != "ollama":
		return false
	case r.kind == Killed && f.Kind != Killed && f.Kind != ContainerLimit && f.Kind != HostKilled && f.Kind != SharedMemory &&
		f.Kind != HostMemory:
		return f.Kind.Weight() == Failure // a launcher reports the end of the failed process
	case s.repeats(r, f):
		return false
	}
	s.addTo(f, r, l)
	return true
}

// repeats reports whether the line is a new finding, of another size or device, rather than a repetition.
func (s *scanner) repeats(r *rule, f *Finding) bool {
	return f.rule == r && (r.kind != Killed && r.kind != ContainerLimit)
}

func (s *scanner) addTo(f *Finding, r *rule, l *startup.Line) {
	if s.open {
		f.rule.take(f, f.Text, false)
	}
	r.take(f, l.Text, true)
	if r.place != Nowhere {
		f.Place = r.place
	}
	if f.Engine == within[r.engine] {
		f.Engine = r.engine
	}
	if d := deviceIn(l.Text); d != "" && f.Device != "host" {
		f.Device = d
	}
	if s.open && len(f.Text) < maxMessage {
		f.Text += " " + strings.TrimSpace(l.Text[:min(len(l.Text), maxMessage-len(f.Text))])
	}
}

// merged merges the last finding with an earlier one of another rank or time; before is the finding before its figures
// were read. It returns false if there is none.
func (s *scanner) merged(before *Finding) bool {
	n := len(s.found) - 1
	f := &s.found[n]
	for i := range s.found[:n] {
		g := &s.found[i]
		if g.rule != f.rule || g.Place != f.Place || g.Requested.Bytes != f.Requested.Bytes || g.Needed != f.Needed {
			continue
		}
		s.again, s.into = *before, i
		s.mergeInto(i)
		return true
	}
	return false
}

// mergeInto merges the last finding into an earlier one.
func (s *scanner) mergeInto(i int) {
	n := len(s.found) - 1
	f, g := &s.found[n], &s.found[i]
	g.Times++
	for _, r := range f.Ranks {
		if len(g.Ranks) < maxRanks && !slices.Contains(g.Ranks, r) {
			g.Ranks = append(g.Ranks, r)
		}
	}
	s.found = s.found[:n]
}

func (s *scanner) report() *Report {
	s.close()
	s.limits.give(s.found)
	stable.Sort(s.found, func(a, b Finding) int { return a.rank() - b.rank() })
	r := &Report{Findings: s.found, More: s.more, Lines: s.at, Settings: s.settings.list, Commands: s.settings.commands,
		Engine: s.places.engine, Series: s.growth.list(), FixedSegments: s.places.fixed}
	if f := s.growth.finding(); f != nil && !slices.ContainsFunc(s.found, func(f Finding) bool { return f.Kind.Weight() == Failure }) {
		r.Findings = append([]Finding{*f}, r.Findings...)
	}
	return r
}
