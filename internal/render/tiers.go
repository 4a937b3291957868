package render

import (
	"strings"

	"github.com/memwall/memwall/internal/card"
)

// levelWords are the levels of memory as people call them.
var levelWords = map[string]string{
	"register": "registers", "smem": "shared memory", "l1": "L1", "l2": "L2, L3", "device": "device memory", "c2c": "processor's memory", "link": "link", "pcie": "PCIe", "host": "host memory", "nvme": "NVMe",
	"cxl": "CXL, pooled",
}

// beyondWords say what lies behind a host.
var beyondWords = map[string]string{
	"cxl-memory-expansion-module-early": "an early expansion module", "pcie-pooled-memory-gigaio-fabrex": "pooled over PCIe (GigaIO FabreX)", "samsung-pm9a3-pcie-4.0": "Samsung PM9A3, PCIe 4",
}

// Tiers draws the levels of memory that a device sees, nearest first.
func Tiers(t *card.Tiers, st Style) string {
	p := newPage(st)
	p.heading(t.Name, "levels of memory")
	p.para(pad(gap), say("nearest first: each step away is larger and slower; what every token reads must lie near", dim))
	p.blank()
	p.tiers(t.Tiers)
	if len(t.Beyond) > 0 {
		p.blank()
		p.para(pad(gap), say("behind any host", bold))
		p.tiers(t.Beyond)
	}
	p.blank()
	p.para(pad(gap), say("Registers, shared memory and L1 are per multiprocessor, rates are of the whole device. — is a figure without a source.", dim))
	for _, n := range t.Notes {
		p.labelled("read as", n)
	}
	p.tierSources(t)
	return p.String()
}

func (p *page) tiers(list []card.Tier) {
	tb := &table{sides: []side{left, right, right, right, left}, remark: true, most: map[int]int{0: 20}}
	tb.row(nil, say("size", dim), say("latency", dim), say("rate", dim), say("what", dim))
	for i := range list {
		t := &list[i]
		what := t.Note
		if t.Of != "" {
			what = beyondWords[t.Of]
		}
		tb.row(say(levelWords[t.Level]), say(figure(t.Size)), say(latency(t)), say(figure(t.Bandwidth)), say(what, dim))
	}
	p.add(tb)
}

// latency in seconds, or in cycles where their clock is not known.
func latency(t *card.Tier) string {
	if t.Latency == nil && t.Cycles != nil {
		return figure(t.Cycles)
	}
	return figure(t.Latency)
}

func (p *page) tierSources(t *card.Tiers) {
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
	p.blank()
	p.para(pad(gap), say("sources: "+strings.Join(names, "; "), dim))
}
