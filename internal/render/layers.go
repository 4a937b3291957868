package render

import (
	"strings"

	"github.com/memwall/memwall/unit"
)

// layers writes what the whole model is made of, one row for each kind of layer.
func (s *screen) layers() {
	if len(s.opt.Layers) == 0 {
		return
	}
	tb := &table{sides: []side{left, left, right, decimal, decimal, left}, remark: true, most: map[int]int{0: 16, 1: 30}}
	tb.row(say("layers", bold), say("whole model", dim), say("params", dim), say("MiB each", dim), say("KV KiB", dim), nil)
	for _, g := range s.opt.Layers {
		kv := ""
		if g.KVPerToken > 0 {
			kv = commas(unit.Fixed(float64(g.KVPerToken)/float64(unit.KiB), 2))
		}
		where := ranges(g.Layers)
		if g.Part != "decoder" {
			where = g.Part + " " + where
		}
		tb.row(say(where), say(kindName(g.Kind, g.Count)), say(brief(g.Parameters)), say(commas(unit.Fixed(g.Weights.MiB(), 2))), say(kv), say(layerRemark(g.Stored, g.KVSpan, g.State), dim))
	}
	s.page.blank()
	s.page.add(tb)
	s.page.para(pad(gap), say("KV of one token in one layer. Figures are of the whole model, before it is shared among devices.", dim))
}

// ranges shows the first runs of layers; the count tells how many there are in all.
func ranges(s string) string {
	s = strings.ReplaceAll(s, "-", "–")
	const most = 14
	if cells(s) <= most {
		return s
	}
	head := s[:prefix(s, most)]
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
