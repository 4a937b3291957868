package render

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/unit"
)

// Devices draws the list of devices, and of nodes when a filter found some.
func Devices(rows []card.HardwareRow, nodes []card.Node, filter string, st Style) string {
	p := newPage(st)
	p.devices(rows, nodes, filter)
	return p.String()
}

func (p *page) devices(rows []card.HardwareRow, nodes []card.Node, filter string) {
	p.heading(plural(int64(len(rows)), "device", "devices"), matching(filter))
	p.elsewhere("memwall hardware NAME shows one; names as people and nvidia-smi write them will do")
	tb := &table{sides: []side{left, decimal, right, right, right, left}, most: map[int]int{0: 27, 5: max(10, p.st.width()-55)}}
	tb.row(say("device", dim), say("GiB", dim), say("GB/s", dim), say("TFLOP/s", dim), say("year", dim), nil)
	for _, r := range rows {
		memory := "—"
		if r.Memory != nil {
			memory = compact(r.Memory.Bytes().GiB())
		}
		year := ""
		if r.Year > 0 {
			year = strconv.Itoa(r.Year)
		}
		tb.row(say(r.ID).leads(&Place{Page: "hardware/" + r.ID}), say(memory), say(in(r.Bandwidth, 1e9)), say(in(r.BF16, 1e12)), say(year), say(r.Name, dim))
	}
	p.blank()
	p.add(tb)
	p.blank()
	p.para(pad(gap), say("TFLOP/s: dense, 16 bits. — is a figure without a source.", dim))
	p.nodes(nodes)
}

func (p *page) nodes(nodes []card.Node) {
	if len(nodes) == 0 {
		return
	}
	tb := &table{sides: []side{left, left, left}, most: map[int]int{0: 27, 2: max(10, p.st.width()-64)}}
	tb.row(say("node", dim), say("devices", dim), nil)
	for _, n := range nodes {
		name := n.Name
		if strings.EqualFold(name, n.ID) {
			name = n.Provider
		}
		tb.row(say(n.ID).leads(&Place{Page: "hardware/" + n.ID}), say(unit.Count(int64(n.Devices))+" × "+n.Device), say(name, dim))
	}
	p.blank()
	p.add(tb)
}

// Hardware draws the card of a device.
func Hardware(h *card.Hardware, st Style) string {
	p := newPage(st)
	p.device(h)
	return p.String()
}

func (p *page) device(h *card.Hardware) {
	maker := h.Vendor
	if h.Year > 0 {
		maker += ", " + strconv.Itoa(h.Year)
	}
	memory := h.Reported
	if memory == nil {
		memory = h.Memory
	}
	p.heading(h.Name, maker, factText(memory, ""), factText(h.Bandwidth, ""), factText(h.BF16, " bf16 dense"))
	if x := sweep(h); x != "" {
		p.para(pad(gap), say(x))
	}
	p.blank()
	p.labelled("dense TFLOP/s", peaks(h.Peaks))
	p.labelled("memory", memoryText(h))
	p.labelled("links", links(h))
	p.labelled("chip", chip(h))
	p.field("holds at 8k", holds(h.Holds))
	for i, r := range h.Rents {
		label := ""
		if i == 0 {
			label = "rent"
		}
		p.labelled(label, rent(&r))
	}
	p.labelled("architecture", strings.TrimSpace(h.Architecture+" "+h.Capability))
	p.conflicts(h.Conflicts)
	p.labelled("note", h.Note)
	for _, n := range h.Notes {
		p.labelled("read as", n)
	}
	p.sources(h)
}

// conflicts puts the figures of all sources beside each other.
func (p *page) conflicts(list []card.Conflict) {
	label := "sources differ"
	for len(list) > 0 {
		first := list[0]
		text := fmt.Sprintf("%s %s [%s]", first.Figure, figure(first.Ours), cmp.Or(first.Ours.Source, "no source"))
		for len(list) > 0 && list[0].Figure == first.Figure {
			text += fmt.Sprintf("; %s [%s]", figure(list[0].Theirs), list[0].Theirs.Source)
			if list[0].Why != "" {
				text += ": " + list[0].Why
			}
			list = list[1:]
		}
		p.labelled(label, text)
		label = ""
	}
}

func factText(f *card.Fact, after string) string {
	if f == nil {
		return ""
	}
	return figure(f) + after
}

func sweep(h *card.Hardware) string {
	var out []string
	if h.Sweep != nil {
		out = append(out, "reads all its memory in "+figure(h.Sweep))
	}
	if h.Ridge != nil {
		out = append(out, "compute-bound above "+unit.Rate(h.Ridge.Value)+" FLOP per byte (bf16)")
	}
	return strings.Join(out, "; ")
}

func peaks(list []card.Peak) string {
	var out []string
	known := false
	for _, x := range list {
		out = append(out, x.Format+hard+in(x.Rate, 1e12))
		known = known || x.Rate != nil
	}
	if !known {
		return ""
	}
	return strings.Join(out, " · ")
}

func memoryText(h *card.Hardware) string {
	out := []string{strings.TrimSpace(h.Kind)}
	if h.Usable != nil {
		out = append(out, "a program sees "+figure(h.Usable)+" ("+h.Usable.Basis.String()+")")
	}
	if h.Unified != "" {
		out = append(out, "shared with the system; "+h.Unified)
	}
	if h.Attached != nil {
		out = append(out, figure(h.Attached)+" of host memory attached")
	}
	return joined(out, " · ")
}

func links(h *card.Hardware) string {
	var out []string
	if h.Link != "" {
		out = append(out, strings.TrimSpace(h.Link+" "+eachWay(h.LinkEachWay)))
	}
	if h.PCIe != "" {
		out = append(out, strings.TrimSpace(h.PCIe+", "+eachWay(h.PCIeEachWay)))
	}
	return joined(out, " · ")
}

func eachWay(f *card.Fact) string {
	if f == nil {
		return ""
	}
	return figure(f) + " each way"
}

func chip(h *card.Hardware) string {
	var out []string
	if h.SMs != nil {
		word := "SM"
		if h.Vendor != "NVIDIA" {
			word = "units"
		}
		out = append(out, fmt.Sprintf("%.0f %s", h.SMs.Value, word))
	}
	if h.L2 != nil {
		out = append(out, fmt.Sprintf("L2 %s MiB", unit.Rate(h.L2.Value/float64(unit.MiB))))
	}
	if h.SharedPerSM != nil {
		out = append(out, figure(h.SharedPerSM)+" shared per SM")
	}
	if h.TDP != nil {
		out = append(out, figure(h.TDP))
	}
	return joined(out, " · ")
}

func joined(parts []string, sep string) string {
	var kept []string
	for _, s := range parts {
		if s != "" {
			kept = append(kept, s)
		}
	}
	return strings.Join(kept, sep)
}

func holds(list []card.Hold) (out text) {
	for i, h := range list {
		if i > 0 {
			out = join(out, say(" · "))
		}
		out = join(out, say(strings.ReplaceAll(h.Words, " ", hard)+hard), sign(h.Verdict))
	}
	return out
}

func rent(r *card.Rent) string {
	s := fmt.Sprintf("$%.2f/h %s, %s", r.USD, r.Kind, r.Provider)
	return joined([]string{s, r.Node, cmp.Or(r.Date, "day not recorded")}, ", ")
}

// sources names where the figures of a card come from, once each.
func (p *page) sources(h *card.Hardware) {
	var names []string
	seen := map[string]bool{}
	facts := []*card.Fact{h.Memory, h.Bandwidth, h.Usable, h.LinkEachWay, h.SMs}
	for _, x := range h.Peaks {
		facts = append(facts, x.Rate)
	}
	for _, f := range facts {
		if f != nil && f.Source != "" && !seen[f.Source] {
			seen[f.Source] = true
			names = append(names, f.Source)
		}
	}
	if len(names) > 0 {
		p.blank()
		p.para(pad(gap), say("sources: "+strings.Join(names, "; "), dim))
	}
}

// Node draws the card of a node.
func Node(n *card.Node, st Style) string {
	p := newPage(st)
	p.node(n)
	return p.String()
}

func (p *page) node(n *card.Node) {
	p.heading(n.Name, n.Provider, unit.Count(int64(n.Devices))+" × "+n.Device)
	p.para(pad(gap), say("memwall fit MODEL --on "+n.ID))
	p.blank()
	p.labelled("inside", joined([]string{n.Intra, eachWay(n.IntraEachWay)}, ", "))
	p.labelled("to others", perDevice(n))
	p.labelled("host", joined([]string{factText(n.Host, ""), factText(n.Cores, " cores")}, ", "))
	p.labelled("NVMe", factText(n.NVMe, ""))
	for _, r := range n.Rents {
		p.labelled("rent", rent(&r)+", for one of its devices")
	}
	p.labelled("note", n.Note)
}

func perDevice(n *card.Node) string {
	if n.InterEachWay == nil {
		return n.Inter
	}
	return joined([]string{n.Inter, eachWay(n.InterEachWay) + " for each device"}, ", ")
}
