package render

import (
	"strings"

	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/unit"
)

// heading is line 1 of a card or a list: the name in bold, then facts between dots.
func (p *page) heading(name string, facts ...string) {
	var kept []string
	for _, f := range facts {
		if f != "" {
			kept = append(kept, f)
		}
	}
	lead := join(say(name, bold), say("   "))
	p.plainDots(lead, kept)
}

// plainDots is dotted without bold.
func (p *page) plainDots(lead text, parts []string) {
	at := len(p.lines)
	p.dotted(lead, parts)
	for i := at; i < len(p.lines); i++ {
		for j := range p.lines[i] {
			if i > at || j >= len(lead) {
				p.lines[i][j].ink = plain
			}
		}
	}
}

// labelled writes a fact behind its label; empty facts are left out.
func (p *page) labelled(label, fact string) { p.field(label, say(fact)) }

const labelCells = 15

// goesOn is a command that goes on from a card.
func (p *page) goesOn(command string) {
	p.code(join(pad(gap), say("try", dim), pad(labelCells-len("try"))), command)
}

// onPages is a cell that terminals have no room for.
func (p *page) onPages(words string) text {
	if p.st.endless {
		return say(words)
	}
	return nil
}

// formatName leads to the card of a format.
func formatName(name string) text { return say(name).leads(&Place{Page: "formats/" + name}) }

// CardParts are the blocks of a card, or of a list that a filter left; none of what is neither.
func CardParts(c any, filter string) []Block {
	p := newPage(Style{Width: MaxWidth})
	p.st.endless = true
	switch x := c.(type) {
	case []card.ModelRow:
		p.models(x, filter)
	case *card.Model:
		p.model(x)
	case *card.HardwareList:
		p.devices(x.Devices, x.Nodes, filter)
	case *card.Hardware:
		p.device(x)
	case *card.Node:
		p.node(x)
	case *card.FormatList:
		p.formats(x, filter)
	case *card.Format:
		p.format(x)
	case *card.Recipe:
		p.recipe(x)
	case *card.Published:
		p.published(x)
	}
	return p.blocks
}

func (p *page) field(label string, x text) {
	if strings.TrimSpace(x.string()) == "" {
		return
	}
	p.para(join(pad(gap), say(label, dim), pad(max(1, labelCells-cells(label)))), x)
}

// figure prints a fact in the unit that suits it; unknown is a dash.
func figure(f *card.Fact) string {
	if f == nil {
		return "—"
	}
	switch f.Unit {
	case "B":
		return size(unit.Bytes(f.Value))
	case "B/s":
		return unit.ByteRate(f.Value).String()
	case "FLOP/s":
		return unit.FLOPRate(f.Value).String()
	case "s":
		return unit.Seconds(f.Value).String()
	case "W":
		return unit.Rate(f.Value) + " W"
	}
	return strings.TrimSpace(unit.Rate(f.Value) + " " + f.Unit)
}

// size prints bytes; whole ones of their unit without decimals.
func size(b unit.Bytes) string {
	n, name, _ := strings.Cut(b.String(), " ")
	if whole, zeros, found := strings.Cut(n, "."); found && strings.Trim(zeros, "0") == "" {
		n = whole
	}
	return commas(n) + " " + name
}

// in prints a figure of a datasheet in a unit of a column, with up to four digits; unknown is a dash.
func in(f *card.Fact, worth float64) string {
	if f == nil {
		return "—"
	}
	return compact(f.Value / worth)
}

// compact prints up to four significant digits, without zeros at the end.
func compact(x float64) string {
	s := unit.Significant(x, 4)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return commas(s)
}
