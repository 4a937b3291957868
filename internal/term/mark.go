package term

import (
	"strings"

	"github.com/memwall/memwall"
)

// Mark is the symbol before a verdict's word.
type Mark struct {
	Sign rune
	Word string
	Ink  Ink
}

var marks = map[memwall.Verdict]Mark{
	memwall.Fits:       {'✓', "fits", Bold},
	memwall.Tight:      {'~', "tight", InkTight},
	memwall.DoesNotFit: {'✗', "does not fit", InkBad},
	memwall.Unknown:    {'?', "unknown", InkUnknown},
}

// MarkOf returns the mark of a verdict.
func MarkOf(v memwall.Verdict) Mark {
	if m, ok := marks[v]; ok {
		return m
	}
	return Mark{'?', string(v), InkUnknown}
}

// Sign returns the mark alone, in its color.
func Sign(v memwall.Verdict) Text {
	m := MarkOf(v)
	return Say(string(m.Sign), m.Ink)
}

// Title adds line 1: mark, word, what was asked. Parts that do not fit continue on a second line.
func (p *Page) Title(v memwall.Verdict, asked []string) {
	m := MarkOf(v)
	lead := Join(Say(string(m.Sign)+" "+m.Word, m.Ink), Say("   "))
	p.Dotted(lead, asked)
}

// Dotted adds parts separated by middle dots, breaking lines only there.
func (p *Page) Dotted(lead Text, asked []string) {
	if p.Put(Block{Kind: Title, Lead: lead.Runs(), Words: Say(strings.Join(asked, " · ")).Runs()}) {
		return
	}
	lead = lead.Clean(p.Style.ASCII)
	sep := Clean(" · ", p.Style.ASCII)
	indent := min(lead.Cells(), p.Style.Cells()/3)
	line, has := lead, false
	for _, s := range asked {
		s = Clean(s, p.Style.ASCII)
		if room := p.Style.Cells() - indent - 2; Cells(s) > room {
			s = Shorten(s, room, p.Ellipsis())
		}
		if has && line.Cells()+Cells(sep)+Cells(s) > p.Style.Cells() {
			p.Lines = append(p.Lines, Join(line, Say(strings.TrimRight(sep, " "), Bold)).cut(p.Style.Cells(), ""))
			line, has = Pad(indent), false
		}
		if has {
			s = sep + s
		}
		line, has = Join(line, Say(s, Bold)), true
	}
	p.Lines = append(p.Lines, line)
}
