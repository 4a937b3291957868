package render

import (
	"strings"

	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/unit"
)

// layers writes the composition of the model, one row per kind of layer.
func (s *screen) layers() {
	if len(s.opt.Layers) == 0 {
		return
	}
	tb := &term.Table{Sides: []term.Side{term.Left, term.Left, term.Right, term.Decimal, term.Decimal, term.Left}, Remark: true,
		Most: map[int]int{0: 16, 1: 30}}
	tb.Row(term.Say("layers", term.Bold), term.Say("whole model", term.Dim), term.Say("params", term.Dim), term.Say("MiB each", term.Dim),
		term.Say("KV KiB", term.Dim), nil)
	for _, g := range s.opt.Layers {
		kv := ""
		if g.KVPerToken > 0 {
			kv = term.Commas(unit.Fixed(float64(g.KVPerToken)/float64(unit.KiB), 2))
		}
		where := ranges(g.Layers)
		if g.Part != "decoder" {
			where = g.Part + " " + where
		}
		tb.Row(term.Say(where), term.Say(kindName(g.Kind, g.Count)), term.Say(term.Brief(g.Parameters)),
			term.Say(term.Commas(unit.Fixed(g.Weights.MiB(), 2))), term.Say(kv),
			term.Say(layerRemark(g.Stored, g.KVSpan, g.State), term.Dim))
	}
	s.page.Blank()
	s.page.Add(tb)
	s.page.Para(term.Pad(term.Gap), term.Say("KV of one token in one layer. Figures are of the whole model, before it is shared among "+
		"devices.", term.Dim))
}

// ranges returns the first ranges of layers; the count covers all.
func ranges(s string) string {
	s = strings.ReplaceAll(s, "-", "–")
	const most = 14
	if term.Cells(s) <= most {
		return s
	}
	head := s[:term.Prefix(s, most)]
	return head[:max(strings.LastIndexByte(head, ','), 1)] + " …"
}

func kindName(kind string, count int64) string {
	if count > 1 {
		return unit.Count(count) + " × " + kind
	}
	return kind
}

func layerRemark(stored []string, span int64, state unit.Bytes) string {
	out := []string{strings.Join(stored, " ")}
	if span > 0 {
		out = append(out, "last "+unit.Length(span)+" tokens")
	}
	if state > 0 {
		out = append(out, "state "+state.String())
	}
	return strings.Join(out, ", ")
}
