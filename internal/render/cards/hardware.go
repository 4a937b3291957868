package cards

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/unit"
)

// Devices draws the list of devices, and of nodes when a filter found some.
func Devices(rows []card.HardwareRow, nodes []card.Node, filter string, st term.Style) string {
	p := term.NewPage(st)
	writeDevices(p, rows, nodes, filter)
	return p.String()
}

func writeDevices(p *term.Page, rows []card.HardwareRow, nodes []card.Node, filter string) {
	p.Heading(term.Plural(int64(len(rows)), "device", "devices"), matching(filter))
	p.TerminalOnly("memwall hardware NAME shows one; names as people and nvidia-smi write them will do")
	tb := &term.Table{Sides: []term.Side{term.Left, term.Decimal, term.Right, term.Right, term.Right, term.Left},
		Most: map[int]int{0: 27, 5: max(10, p.Style.Cells()-61)}, Give: []int{4}}
	tb.Row(term.Say("device", term.Dim), term.Say("GiB", term.Dim), term.Say("GB/s", term.Dim), term.Say("TFLOP/s", term.Dim),
		term.Say("year", term.Dim), nil)
	for _, r := range rows {
		memory := "—"
		if r.Memory != nil {
			memory = memoryOf(r.Memory.Bytes().GiB())
		}
		year := ""
		if r.Year > 0 {
			year = strconv.Itoa(r.Year)
		}
		tb.Row(term.Say(r.ID).LinkTo(&term.Place{Page: "hardware/" + r.ID}), term.Say(memory), term.Say(in(r.Bandwidth, 1e9)),
			term.Say(in(r.BF16, 1e12)), term.Say(year), term.Say(r.Name, term.Dim))
	}
	p.Blank()
	p.Add(tb)
	p.Blank()
	p.Para(term.Pad(term.Gap), term.Say("TFLOP/s: dense, 16 bits. — is a figure without a source.", term.Dim))
	writeNodes(p, nodes)
}

// memoryOf a device in GiB: four digits, of less than one two.
func memoryOf(gib float64) string {
	if gib < 1 {
		return term.Significant(gib, 2)
	}
	return term.Compact(gib)
}

func writeNodes(p *term.Page, nodes []card.Node) {
	if len(nodes) == 0 {
		return
	}
	tb := &term.Table{Sides: []term.Side{term.Left, term.Left, term.Left}, Most: map[int]int{0: 27, 2: max(10, p.Style.Cells()-64)}}
	tb.Row(term.Say("node", term.Dim), term.Say("devices", term.Dim), nil)
	for _, n := range nodes {
		name := n.Name
		if strings.EqualFold(name, n.ID) {
			name = n.Provider
		}
		tb.Row(term.Say(n.ID).LinkTo(&term.Place{Page: "hardware/" + n.ID}), term.Say(unit.Count(int64(n.Devices))+" × "+n.Device),
			term.Say(name, term.Dim))
	}
	p.Blank()
	p.Add(tb)
}

// Hardware draws the card of a device.
func Hardware(h *card.Hardware, st term.Style) string {
	p := term.NewPage(st)
	writeDevice(p, h)
	return p.String()
}

func writeDevice(p *term.Page, h *card.Hardware) {
	maker := h.Vendor
	if h.Year > 0 {
		maker += ", " + strconv.Itoa(h.Year)
	}
	memory := h.Reported
	if memory == nil {
		memory = h.Memory
	}
	p.Heading(h.Name, maker, factText(memory, ""), factText(h.Bandwidth, ""), factText(h.BF16, " bf16 dense"))
	if x := sweep(h); x != "" {
		p.Para(term.Pad(term.Gap), term.Say(x))
	}
	p.Blank()
	p.Labelled("dense TFLOP/s", peaks(h.Peaks))
	p.Labelled("memory", memoryText(h))
	p.Labelled("links", links(h))
	p.Labelled("chip", chip(h))
	p.Field("holds at 8k", holds(h.Holds))
	for i, r := range h.Rents {
		label := ""
		if i == 0 {
			label = "rent"
		}
		p.Labelled(label, rent(&r))
	}
	p.Labelled("architecture", strings.TrimSpace(h.Architecture+" "+h.Capability))
	writeConflicts(p, h.Conflicts)
	p.Labelled("note", h.Note)
	for _, n := range h.Notes {
		p.Labelled("read as", n)
	}
	writeSources(p, h)
}

// writeConflicts puts the figures of all sources beside each other.
func writeConflicts(p *term.Page, list []card.Conflict) {
	label := "sources differ"
	for len(list) > 0 {
		first := list[0]
		text := fmt.Sprintf("%s %s [%s]", first.Figure, render.Figure(first.Ours), cmp.Or(first.Ours.Source, "no source"))
		for len(list) > 0 && list[0].Figure == first.Figure {
			text += fmt.Sprintf("; %s [%s]", render.Figure(list[0].Theirs), list[0].Theirs.Source)
			if list[0].Why != "" {
				text += ": " + list[0].Why
			}
			list = list[1:]
		}
		p.Labelled(label, text)
		label = ""
	}
}

func factText(f *card.Fact, after string) string {
	if f == nil {
		return ""
	}
	return render.Figure(f) + after
}

func sweep(h *card.Hardware) string {
	var out []string
	if h.Sweep != nil {
		out = append(out, "reads all its memory in "+render.Figure(h.Sweep))
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
		out = append(out, x.Format+term.NoBreak+in(x.Rate, 1e12))
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
		out = append(out, "a program sees "+render.Figure(h.Usable)+" ("+h.Usable.Basis.String()+")")
	}
	if h.Unified != "" {
		out = append(out, "shared with the system; "+h.Unified)
	}
	if h.Attached != nil {
		out = append(out, render.Figure(h.Attached)+" of host memory attached")
	}
	return term.Joined(out, " · ")
}

func links(h *card.Hardware) string {
	var out []string
	if h.Link != "" {
		out = append(out, strings.TrimSpace(h.Link+" "+eachWay(h.LinkEachWay)))
	}
	if h.PCIe != "" {
		out = append(out, strings.TrimSpace(h.PCIe+", "+eachWay(h.PCIeEachWay)))
	}
	return term.Joined(out, " · ")
}

func eachWay(f *card.Fact) string {
	if f == nil {
		return ""
	}
	return render.Figure(f) + " each way"
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
		out = append(out, render.Figure(h.SharedPerSM)+" shared per SM")
	}
	if h.TDP != nil {
		out = append(out, render.Figure(h.TDP))
	}
	return term.Joined(out, " · ")
}

func holds(list []card.Hold) (out term.Text) {
	for i, h := range list {
		if i > 0 {
			out = term.Join(out, term.Say(" · "))
		}
		out = term.Join(out, term.Say(strings.ReplaceAll(h.Words, " ", term.NoBreak)+term.NoBreak), term.Sign(h.Verdict))
	}
	return out
}

func rent(r *card.Rent) string {
	s := fmt.Sprintf("$%.2f/h %s, %s", r.USD, r.Kind, r.Provider)
	return term.Joined([]string{s, r.Node, cmp.Or(r.Date, "day not recorded")}, ", ")
}

// writeSources names where the figures of a card come from, once each.
func writeSources(p *term.Page, h *card.Hardware) {
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
		p.Blank()
		p.Para(term.Pad(term.Gap), term.Say("sources: "+strings.Join(names, "; "), term.Dim))
	}
}

// Node draws the card of a node.
func Node(n *card.Node, st term.Style) string {
	p := term.NewPage(st)
	writeNode(p, n)
	return p.String()
}

func writeNode(p *term.Page, n *card.Node) {
	p.Heading(n.Name, n.Provider, unit.Count(int64(n.Devices))+" × "+n.Device)
	p.Para(term.Pad(term.Gap), term.Say("memwall fit MODEL --on "+n.ID))
	p.Blank()
	p.Labelled("inside", term.Joined([]string{n.Intra, eachWay(n.IntraEachWay)}, ", "))
	p.Labelled("to others", perDevice(n))
	p.Labelled("host", term.Joined([]string{factText(n.Host, ""), factText(n.Cores, " cores")}, ", "))
	p.Labelled("NVMe", factText(n.NVMe, ""))
	for _, r := range n.Rents {
		p.Labelled("rent", rent(&r)+", for one of its devices")
	}
	p.Labelled("note", n.Note)
}

func perDevice(n *card.Node) string {
	if n.InterEachWay == nil {
		return n.Inter
	}
	return term.Joined([]string{n.Inter, eachWay(n.InterEachWay) + " for each device"}, ", ")
}
