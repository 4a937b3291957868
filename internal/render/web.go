package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/ledger"
)

// Head is the gist of an answer in the terminal's words, for faces with a layout of their own.
type Head struct {
	Sign   string // ✓ ~ ✗ ?
	Word   string // Yes, Tight, No, Unknown
	Answer string // "3.0 GiB short per GPU"
	Under  string // the basis, and a fix
}

var verdictWords = map[memwall.Verdict]string{memwall.Fits: "Yes", memwall.Tight: "Tight", memwall.DoesNotFit: "No",
	memwall.Unknown: "Unknown"}

// HeadOf returns the head of a fit answer.
func HeadOf(a *memwall.Answer) Head {
	h := Head{Sign: string(term.MarkOf(a.Verdict).Sign), Word: verdictWords[a.Verdict]}
	if len(a.Devices) == 0 {
		return h
	}
	d := &a.Devices[0]
	if d.Usable == 0 || a.Verdict == memwall.Unknown {
		h.Answer = term.Capital(unbounded(a, d).String())
		return h
	}
	x, endings := figure1(a, d)
	if a.PerDevice != nil {
		x, endings = PeakText(a), nil
	}
	words := x.String()
	if short, rest, ok := strings.Cut(words, ": "); ok {
		h.Answer, words = short, rest
	} else {
		h.Answer = term.GiB(d.Headroom, term.Needed(d).Decimals()) + " GiB free" + each(a)
	}
	if len(endings) > 0 {
		words += endings[0]
	}
	for i := range a.Siblings {
		words += ". " + sibling(a, &a.Siblings[i]).String()
	}
	h.Under = term.Capital(words)
	return h
}

// LedgerRow is a ledger line as printed.
type LedgerRow struct {
	ID      string
	Class   string // of its colour: f0 to f5, "" for sums
	Name    string
	Figure  string // GiB
	Band    string // "±0.6"
	Basis   string
	Remark  string
	Note    string // a footnote's text
	Pointer string // to its figure in the answer
	Sum     bool
	Short   bool
	Limit   bool // usable memory
	band    term.Banded
}

// LedgerRows returns the lines of one group of ranks: items, need, headroom and usable memory.
func LedgerRows(a *memwall.Answer, device int) (out []LedgerRow) {
	s := &screen{page: term.NewPage(term.Style{Width: term.DefaultWidth}), a: a}
	d := &a.Devices[device]
	at := fmt.Sprintf("/devices/%d", device)
	for _, it := range ByFamily(d.Ledger) {
		if it.ID == "pool_unused" || it.Bytes == 0 && !it.Unknown && it.High == 0 {
			continue
		}
		out = append(out, s.ledgerRow(&it, at+"/ledger", slices.IndexFunc(d.Ledger, func(x memwall.Item) bool { return x.ID == it.ID })))
	}
	n := term.Needed(d)
	out = append(out, LedgerRow{Name: "needed", Figure: least1(d) + term.GiB(n.Mid, n.Decimals()), Band: strings.TrimSpace(n.Band()),
		Pointer: at + "/needed_bytes", Sum: true})
	return append(out, s.roomRows(d, at)...)
}

// GroupOf names a group of ranks and the unit of its figures.
func GroupOf(a *memwall.Answer, device int) string {
	d := &a.Devices[device]
	if d.Count == 1 {
		return d.Name + "; GiB"
	}
	return RankName(d) + ", identical; GiB each"
}

func (s *screen) ledgerRow(it *memwall.Item, at string, i int) LedgerRow {
	r := LedgerRow{ID: it.ID, Class: fmt.Sprintf("f%d", term.FamilyFor(it.ID)), Basis: it.Basis.String(),
		Pointer: fmt.Sprintf("%s/%d/bytes", at, i)}
	if r.Name, r.Remark = nameOf(it); r.Remark == "" {
		r.Remark = s.load(it.ID)
	}
	r.band = ItemBand(it)
	r.Figure, r.Band = term.GiB(it.Bytes, r.band.Decimals()), strings.TrimSpace(r.band.Band())
	if it.Basis == ledger.Assumed {
		r.Note = s.replacement(it, at)
	}
	if it.Unknown {
		r.Figure, r.Basis, r.Note = "unknown", "", ""
	}
	return r
}

// roomRows returns the headroom or shortage, and the usable memory.
func (s *screen) roomRows(d *memwall.Device, at string) (out []LedgerRow) {
	if d.Usable == 0 {
		return nil
	}
	digits := term.Needed(d).Decimals()
	for i := range d.Ledger {
		if d.Ledger[i].ID == "pool_unused" {
			r := s.ledgerRow(&d.Ledger[i], at+"/ledger", i)
			r.Remark = s.poolTokens()
			out = append(out, r)
		}
	}
	switch {
	case d.Headroom < 0:
		out = append(out, LedgerRow{Name: "short", Figure: term.GiB(-d.Headroom, digits), Short: true})
	case len(out) == 0:
		out = append(out, LedgerRow{Name: "free", Figure: term.GiB(d.Headroom, digits)})
	}
	return append(out, LedgerRow{Name: "may use", Figure: term.GiB(d.Usable, digits), Remark: d.Limit, Limit: true,
		Pointer: at + "/usable_bytes"})
}

// RungRow is a change as printed.
type RungRow struct {
	Change, Saves, Speed, Then string
	Verdict                    memwall.Verdict
	Flags                      string
	Patch                      map[string]any
}

// RungRows returns the suggestions of an answer.
func RungRows(a *memwall.Answer) (out []RungRow) {
	for i := range a.Suggestions {
		c := &a.Suggestions[i]
		out = append(out, RungRow{c.Change, term.GiB(c.Saves, 2), rungSpeed(a, c), VerdictWords(c.Verdict), c.Verdict, patchFlags(c),
			c.Patch})
	}
	return out
}

// VerdictWords returns "✓ fits" and the like.
func VerdictWords(v memwall.Verdict) string {
	m := term.MarkOf(v)
	return string(m.Sign) + " " + m.Word
}

// Origin is the derivation of a number, as printed.
type Origin struct {
	Pointer, Name, Value, Basis, Band, Rule string
	Formula                                 [][2]string // pieces, and the same with values
	Inputs                                  [][3]string // name, value, origin
}

// OriginOf returns the derivation of a number in an explained answer; nil if there is none.
func OriginOf(a *memwall.Answer, name string) *Origin {
	found := Find(a, name)
	if len(found) == 0 {
		return nil
	}
	e := a.Explain[found[0]]
	o := OriginFrom(name, &e)
	o.Pointer = found[0]
	return o
}

// OriginFrom returns the derivation of a single number.
func OriginFrom(name string, e *memwall.Explain) *Origin {
	o := &Origin{Name: name, Value: sized(e.Value, e.Unit), Basis: e.Basis.String(), Rule: e.Source}
	switch {
	case e.Unit == "B":
		o.Value = number(e.Value) + " B = " + o.Value
	case e.Unit != "":
		o.Value += " " + e.Unit
	}
	for _, t := range Tokenise(e.Formula, e.Inputs) {
		o.Formula = append(o.Formula, [2]string{t.Name, t.Value})
	}
	for _, in := range e.Inputs {
		o.Inputs = append(o.Inputs, [3]string{in.Name, number(in.Value), in.Origin})
	}
	if e.Low != e.Value || e.High != e.Value {
		o.Band = sized(e.Low, e.Unit) + " to " + sized(e.High, e.Unit) + ", 90 %"
	}
	return o
}

// SpeedRow is a figure of speed with its band.
type SpeedRow struct{ Name, Value, Unit, Band, Pointer string }

// SpeedRows returns the speeds of an answer, and what bounds them.
func SpeedRows(a *memwall.Answer) (out []SpeedRow, bound string) {
	v := a.Speed
	if v == nil || a.Plan == nil || runsNowhere(a) {
		return nil, ""
	}
	for _, l := range speedLines(v, max(1, int64(a.Plan.Sequences))) {
		if l.mid == nil {
			continue
		}
		d := l.digits()
		out = append(out, SpeedRow{l.name, term.Significant(*l.mid, d), l.unit,
			term.Significant(*l.low, d) + "–" + term.Significant(*l.high, d), speedPointer(l.name)})
	}
	if v.Bound != "" {
		bound = boundBy(v)
	}
	return out, bound
}

func speedPointer(name string) string {
	for _, p := range speedPlaces {
		if p.name == name || name == "each" && p.id == "decode" {
			return p.pointer
		}
	}
	return ""
}

// NotesOf returns the notes of an answer, most severe first, without plain defaults.
func NotesOf(a *memwall.Answer) []memwall.Note { return (&screen{a: a}).sorted() }

// CommandOf breaks a command line as a shell accepts it.
func CommandOf(command string, width int) string {
	return strings.Join(commandLines(command, width), "\n")
}

// Names returns the display names of what a question is about.
func Names(a *memwall.Answer) (model, hardware, engine string) {
	if a.Model != nil {
		model = a.Model.Name
		if model == "" {
			model = a.Model.ID
		}
	}
	if a.Plan != nil {
		hardware, engine = machine(a), engineText(a)
	}
	return model, hardware, engine
}

// Palette returns the CSS of embedded pictures in one of two themes.
func Palette(dark bool) string {
	var b strings.Builder
	for f := range term.Families {
		if look := term.Looks[f]; look.Light != "none" {
			colour := look.Light
			if dark {
				colour = look.Dark
			}
			fmt.Fprintf(&b, "--f%d:%s;", f, colour)
		}
	}
	return b.String()
}
