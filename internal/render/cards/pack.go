package cards

import (
	"fmt"

	"github.com/memwall/memwall/internal/pack"
	"github.com/memwall/memwall/internal/term"
)

// Pack draws where models lie.
func Pack(r *pack.Packing, st term.Style) string {
	p := term.NewPage(st)
	writePack(p, r)
	return p.String()
}

// PackParts are the blocks of Pack, its heading first.
func PackParts(r *pack.Packing) []term.Block {
	return blocks(func(p *term.Page) { writePack(p, r) })
}

func writePack(p *term.Page, r *pack.Packing) {
	lead, words := term.Say("✓ fits      ", term.Bold), term.Plural(int64(placed(r)), "model", "models")
	if len(r.Unplaced) > 0 {
		lead, words = term.Say("✗ no room   ", term.InkBad), fmt.Sprintf("%d of %d models placed", placed(r), placed(r)+len(r.Unplaced))
	}
	how := "beside each other"
	if r.MIG {
		how = "in parts (MIG)"
	}
	p.Dotted(lead, []string{words, fmt.Sprintf("%d × %s", r.Devices, r.Device), how})
	p.Para(term.Pad(term.Gap), term.Say(fmt.Sprintf("%d of %d devices; by total size at least %d", r.Used,
		r.Devices, r.Least)))
	p.Blank()
	if len(r.Bins) > 0 {
		p.Add(binTable(r))
		p.Blank()
	}
	for _, u := range r.Unplaced {
		p.Labelled("no room", u.Plan+": "+u.Why)
	}
}

func placed(r *pack.Packing) (n int) {
	for i := range r.Bins {
		n += len(r.Bins[i].Lies)
	}
	return n
}

func binTable(r *pack.Packing) *term.Table {
	tb := &term.Table{Sides: []term.Side{term.Left, term.Left, term.Left, term.Right, term.Right}}
	var head []term.Text
	for _, h := range []string{"device", "part", "model", "needs", "left"} {
		head = append(head, term.Say(h, term.Dim))
	}
	tb.Row(head...)
	for i := range r.Bins {
		b := &r.Bins[i]
		for j := range b.Lies {
			l, device, left := &b.Lies[j], "", term.Text(nil)
			if j == 0 {
				device = devicesOf(b)
				left = leftOn(b)
			}
			tb.Row(term.Say(device), term.Say(partOf(l)), term.Say(term.Shorten(l.Plan, 32, "…")), term.Say(l.Needed.String()), left)
		}
	}
	return tb
}

func devicesOf(b *pack.Bin) string {
	if b.Count == 1 {
		return fmt.Sprint(b.First)
	}
	return fmt.Sprintf("%d–%d", b.First, b.First+b.Count-1)
}

func partOf(l *pack.Place) string {
	if l.Part == "" {
		return "whole"
	}
	return fmt.Sprintf("%s at %d", l.Part, l.Slot)
}

func leftOn(b *pack.Bin) term.Text {
	left := term.Say(b.Left.String())
	if b.Tight {
		return term.Join(left, term.Say(" ~", term.InkTight))
	}
	return left
}
