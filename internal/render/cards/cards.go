// Package cards renders what memwall knows and has: lists and cards of models, hardware, formats and their losses, the
// results of a calibration, quantization or validation, the cache, and the first screen.
package cards

import (
	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/term"
)

// writeGoesOn is a command that goes on from a card.
func writeGoesOn(p *term.Page, command string) {
	p.Code(term.Join(term.Pad(term.Gap), term.Say("try", term.Dim), term.Pad(term.LabelCells-len("try"))), command)
}

// onPages is a cell that terminals have no room for.
func onPages(p *term.Page, words string) term.Text {
	if p.Style.Endless {
		return term.Say(words)
	}
	return nil
}

// formatName leads to the card of a format.
func formatName(name string) term.Text {
	return term.Say(name).LinkTo(&term.Place{Page: "formats/" + name})
}

// CardParts are the blocks of a card, or of a list that a filter left; none of what is neither.
func CardParts(c any, filter string) []term.Block {
	p := term.NewPage(term.Style{Width: term.MaxWidth})
	p.Style.Endless = true
	switch x := c.(type) {
	case []card.ModelRow:
		writeModels(p, x, filter)
	case *card.Model:
		writeModel(p, x)
	case *card.HardwareList:
		writeDevices(p, x.Devices, x.Nodes, filter)
	case *card.Hardware:
		writeDevice(p, x)
	case *card.Node:
		writeNode(p, x)
	case *card.FormatList:
		writeFormats(p, x, filter)
	case *card.Format:
		writeFormat(p, x)
	case *card.Recipe:
		writeRecipe(p, x)
	case *card.Published:
		writePublished(p, x)
	}
	return p.Blocks
}

// in prints a figure of a datasheet in a unit of a column, with up to four digits; unknown is a dash.
func in(f *card.Fact, worth float64) string {
	if f == nil {
		return "—"
	}
	return term.Compact(f.Value / worth)
}
