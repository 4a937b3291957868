package card

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall/hardware"
)

// Tier is a level of memory as one device sees it. Rows of one level that say different things of it (its
// size, its latency, its rate by one method) are one Tier; what they say twice differently are several.
type Tier struct {
	Level     string `json:"level"`
	Of        string `json:"of,omitempty"` // what it is a level of, when that is not the device
	Size      *Fact  `json:"size"`
	Latency   *Fact  `json:"latency"`
	Cycles    *Fact  `json:"cycles"`
	Bandwidth *Fact  `json:"bandwidth"`
	Note      string `json:"note,omitempty"`
}

// Tiers is a device's memory hierarchy, from registers to the memory of other machines.
type Tiers struct {
	ID     string   `json:"id"`
	Name   string   `json:"name"`
	Tiers  []Tier   `json:"tiers"`
	Beyond []Tier   `json:"beyond"` // memory that any machine may have beside it
	Notes  []string `json:"notes,omitempty"`
}

// order of levels, nearest first.
var levelOrder = []string{"register", "smem", "l1", "l2", "device", "c2c", "link", "pcie", "host", "nvme", "cxl"}

// beyond are examples of what lies behind a host's memory, by their names in levels.tsv.
var beyond = []string{"cxl-memory-expansion-module-early", "pcie-pooled-memory-gigaio-fabrex", "samsung-pm9a3-pcie-4.0"}

// TiersOf returns the memory levels of a named device.
func TiersOf(name string) (*Tiers, error) {
	d, notes, err := hardware.One(name)
	if err != nil {
		return nil, err
	}
	out := &Tiers{ID: d.ID, Name: d.Name}
	for _, n := range notes {
		out.Notes = append(out.Notes, n.Text)
	}
	rows := append(datasheet(d), levelsOf(d.ID, "")...)
	rows = append(append(rows, latenciesOfKin(d, rows)...), given(name)...)
	for i := range rows {
		if r := &rows[i]; r.Level == "device" && r.Size != nil && r.Size.Value != float64(d.Memory.Value) {
			r.Size = nil // measurements repeat it, in round GB
		}
	}
	for _, level := range levelOrder {
		for _, r := range rows {
			if r.Level == level {
				out.Tiers = merged(out.Tiers, r)
			}
		}
	}
	for _, id := range beyond {
		if d.Unified != nil && levelOf(id) == "cxl" {
			continue // there is no bus that it could be plugged into
		}
		for _, r := range levelsOf(id, id) {
			out.Beyond = merged(out.Beyond, r)
		}
	}
	return out, nil
}

// latenciesOfKin are latencies that were measured on another device with the same multiprocessors, in cycles, where nobody has published
// the device's own: of L1 by the compute capability, of what lies behind it where the second level is as large, too: the
// same chip.
func latenciesOfKin(d *hardware.Device, own []Tier) (out []Tier) {
	measured := func(t Tier) bool { return t.Level == "l1" && (t.Latency != nil || t.Cycles != nil) }
	if d.Capability == "" || slices.ContainsFunc(own, measured) {
		return nil
	}
	for _, of := range hardware.All() {
		if of.Capability != d.Capability || of.Vendor != d.Vendor || of.ID == d.ID {
			continue
		}
		for _, t := range levelsOf(of.ID, "") {
			same := t.Level == "l1" || (t.Level == "l2" || t.Level == "device") && of.L2.Known && of.L2.Value == d.L2.Value
			if t.Cycles == nil || !same {
				continue
			}
			note := kinWord + of.Name
			if t.Level == "device" {
				note = d.Kind + "; " + note + ", " + of.Kind
			}
			out = append(out, Tier{Level: t.Level, Cycles: t.Cycles, Note: note})
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// kinWord begins what is said of a latency that is another device's.
const kinWord = "latency of "

// given are the levels beside a device of one's own: its host's memory, a disk, a pool.
func given(text string) (out []Tier) {
	m, _, err := hardware.Parse(text, 0)
	if err != nil || !strings.Contains(text, "=") {
		return nil
	}
	for _, t := range []Tier{
		{Level: "host", Size: factOf(m.Host.Memory, "B"), Bandwidth: factOf(m.Host.Bandwidth, "B/s")},
		{Level: "nvme", Size: factOf(m.NVMe.Capacity, "B"), Bandwidth: factOf(m.NVMe.Bandwidth, "B/s")},
		{Level: "cxl", Size: factOf(m.Pool.Capacity, "B"), Bandwidth: factOf(m.Pool.Bandwidth, "B/s")},
	} {
		if t.Size != nil || t.Bandwidth != nil {
			out = append(out, t)
		}
	}
	return out
}

// levelOf is the level of a thing that is not a device.
func levelOf(id string) string {
	for _, l := range hardware.Levels(id) {
		return l.Level
	}
	return ""
}

// datasheet is what the device's own row says of its memory and links.
func datasheet(d *hardware.Device) (out []Tier) {
	for _, t := range []Tier{
		{Level: "register", Size: factOf(hardware.RegistersOf(d), "B")},
		{Level: "smem", Size: factOf(d.SharedPerSM, "B")},
		{Level: "l2", Size: factOf(d.L2, "B")},
		{Level: "device", Size: factOf(d.Memory, "B"), Bandwidth: factOf(d.Bandwidth, "B/s"), Note: d.Kind},
		{Level: "link", Bandwidth: factOf(d.Link.EachWay, "B/s"), Note: d.Link.Name},
		{Level: "pcie", Bandwidth: factOf(d.PCIe.EachWay, "B/s")},
	} {
		if t.Size != nil || t.Bandwidth != nil {
			out = append(out, t)
		}
	}
	if d.Attached != nil {
		out = append(out, Tier{Level: "c2c", Size: factOf(d.Attached.Memory, "B"), Bandwidth: factOf(d.Attached.EachWay, "B/s"),
			Note: "memory of the processor beside it"})
	}
	return out
}

func levelsOf(id, of string) (out []Tier) {
	for _, l := range hardware.Levels(id) {
		out = append(out, Tier{Level: l.Level, Of: of, Size: factOf(l.Size, "B"), Latency: factOf(l.Latency, "s"),
			Cycles: factOf(l.Cycles, "cycles"), Bandwidth: factOf(l.Bandwidth, "B/s"), Note: l.Note})
	}
	return out
}

// merged adds a row, into the last of its level when the two do not contradict each other.
func merged(tiers []Tier, r Tier) []Tier {
	for i := range tiers {
		t := &tiers[i]
		if t.Level != r.Level || t.Of != r.Of || !agree(t.Size, r.Size) || !agree(t.Latency, r.Latency) || !agree(t.Cycles, r.Cycles) ||
			!agree(t.Bandwidth, r.Bandwidth) {
			continue
		}
		if r.Bandwidth != nil && t.Bandwidth == nil || t.Note == "" || strings.Contains(r.Note, kinWord) {
			t.Note = r.Note
		}
		t.Size, t.Latency, t.Cycles, t.Bandwidth = cmp.Or(t.Size, r.Size), cmp.Or(t.Latency, r.Latency), cmp.Or(t.Cycles, r.Cycles),
			cmp.Or(t.Bandwidth, r.Bandwidth)
		return tiers
	}
	return append(tiers, r)
}

// agree: two figures of one thing, up to the digits that were published.
func agree(a, b *Fact) bool {
	return a == nil || b == nil || math.Abs(a.Value-b.Value) <= published*math.Abs(a.Value)
}

// published is what rounding to three digits may change.
const published = 0.005
