package cards

import (
	"strings"

	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/term"
)

// levelWords are the levels of memory as people call them.
var levelWords = map[string]string{
	"register": "registers", "smem": "shared memory", "l1": "L1", "l2": "L2, L3", "device": "device memory", "c2c": "processor's memory",
	"link": "link", "pcie": "PCIe", "host": "host memory", "nvme": "NVMe",
	"cxl": "CXL, pooled",
}

// beyondWords say what lies behind a host.
var beyondWords = map[string]string{
	"cxl-memory-expansion-module-early": "an early expansion module",
	"pcie-pooled-memory-gigaio-fabrex":  "pooled over PCIe (GigaIO FabreX)", "samsung-pm9a3-pcie-4.0": "Samsung PM9A3, PCIe 4",
}

// Tiers draws the levels of memory that a device sees, nearest first.
func Tiers(t *card.Tiers, st term.Style) string {
	p := term.NewPage(st)
	p.Heading(t.Name, "levels of memory")
	p.Para(term.Pad(term.Gap), term.Say("nearest first: each step away is larger and slower; what every token reads must lie near",
		term.Dim))
	p.Blank()
	writeTiers(p, t.Tiers)
	if len(t.Beyond) > 0 {
		p.Blank()
		p.Para(term.Pad(term.Gap), term.Say("behind any host", term.Bold))
		writeTiers(p, t.Beyond)
	}
	p.Blank()
	p.Para(term.Pad(term.Gap), term.Say("Registers, shared memory and L1 are per multiprocessor, rates are of the whole device. — is a "+
		"figure without a source.", term.Dim))
	for _, n := range t.Notes {
		p.Labelled("read as", n)
	}
	writeTierSources(p, t)
	return p.String()
}

func writeTiers(p *term.Page, list []card.Tier) {
	tb := &term.Table{Sides: []term.Side{term.Left, term.Right, term.Right, term.Right, term.Left}, Remark: true, Most: map[int]int{0: 20}}
	tb.Row(nil, term.Say("size", term.Dim), term.Say("latency", term.Dim), term.Say("rate", term.Dim), term.Say("what", term.Dim))
	for i := range list {
		t := &list[i]
		what := t.Note
		if t.Of != "" {
			what = beyondWords[t.Of]
		}
		tb.Row(term.Say(levelWords[t.Level]), term.Say(render.Figure(t.Size)), term.Say(latency(t)), term.Say(render.Figure(t.Bandwidth)),
			term.Say(what, term.Dim))
	}
	p.Add(tb)
}

// latency in seconds, or in cycles where their clock is not known.
func latency(t *card.Tier) string {
	if t.Latency == nil && t.Cycles != nil {
		return render.Figure(t.Cycles)
	}
	return render.Figure(t.Latency)
}

func writeTierSources(p *term.Page, t *card.Tiers) {
	var names []string
	seen := map[string]bool{}
	for _, list := range [][]card.Tier{t.Tiers, t.Beyond} {
		for i := range list {
			for _, f := range []*card.Fact{list[i].Size, list[i].Latency, list[i].Cycles, list[i].Bandwidth} {
				if f != nil && f.Source != "" && !seen[f.Source] {
					seen[f.Source] = true
					names = append(names, f.Source)
				}
			}
		}
	}
	p.Blank()
	p.Para(term.Pad(term.Gap), term.Say("sources: "+strings.Join(names, "; "), term.Dim))
}
