package render

import (
	"fmt"
	"sort"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

// ledgerTable has a row per item: glyph and name, GiB, band (one column, or two if any band is asymmetric), basis, remark.
type ledgerTable struct {
	term.Table
	two  bool
	bare bool // names and numbers only: the screen has no room for more
}

// leastBanded is the minimum width at which a ledger shows bands and bases.
const leastBanded = 56

func (s *screen) newLedgerTable(head string, items []memwall.Item, sum term.Banded) *ledgerTable {
	lt := &ledgerTable{two: sum.Lopsided(), bare: s.page.Style.Cells() < leastBanded}
	lt.Most = map[int]int{0: max(24, s.page.Style.Cells()-44)}
	if lt.bare {
		lt.Sides, lt.Remark = []term.Side{term.Left, term.Decimal, term.Left}, true
		lt.Row(term.Say(head, term.Bold), term.Say("GiB", term.Dim), nil)
		return lt
	}
	for i := range items {
		lt.two = lt.two || ItemBand(&items[i]).Lopsided()
	}
	lt.Sides, lt.Remark, lt.Early = []term.Side{term.Left, term.Decimal, term.Decimal, term.Left, term.Left}, true, true
	h := []term.Text{term.Say(head, term.Bold), term.Say("GiB", term.Dim), term.Say("±", term.Dim), term.Say("basis", term.Dim), nil}
	if lt.two {
		lt.Sides = []term.Side{term.Left, term.Decimal, term.Decimal, term.Decimal, term.Left, term.Left}
		h = []term.Text{term.Say(head, term.Bold), term.Say("GiB", term.Dim), term.Say("+", term.Dim), term.Say("−", term.Dim),
			term.Say("basis", term.Dim), nil}
	}
	lt.Rows = append(lt.Rows, h)
	return lt
}

// ItemBand returns an item's size with its band; an item without edges is exact.
func ItemBand(it *memwall.Item) term.Banded {
	return term.Banded{Mid: it.Bytes, Low: it.Low, High: it.High}
}

// put adds a row; number and band have the same digits.
func (lt *ledgerTable) put(name term.Text, number string, b term.Banded, basis term.Text, remark string, i term.Ink) {
	row := []term.Text{name, term.Say(number, i)}
	if lt.bare {
		lt.Row(append(row, term.Say(remark, term.Dim))...)
		return
	}
	switch {
	case b.Exact() && lt.two:
		row = append(row, nil, nil)
	case b.Exact():
		row = append(row, nil)
	case lt.two && b.Lopsided():
		row = append(row, term.Say(b.Up(), term.Dim), term.Say(b.Down(), term.Dim))
	case lt.two:
		row = append(row, term.Say(b.Half(), term.Dim), term.Say(b.Half(), term.Dim))
	default:
		row = append(row, term.Say(b.Half(), term.Dim))
	}
	lt.Row(append(row, basis, term.Say(remark, term.Dim))...)
}

// footnotes collects what stands under a screen.
type footnotes struct{ texts []string }

func (f *footnotes) add(s string) string {
	for i, have := range f.texts {
		if have == s {
			return term.Footnote(i + 1)
		}
	}
	f.texts = append(f.texts, s)
	return term.Footnote(len(f.texts))
}

// ByFamily sorts items into the order of bars.
func ByFamily(items []memwall.Item) []memwall.Item {
	out := append([]memwall.Item(nil), items...)
	sort.SliceStable(out, func(i, j int) bool { return term.FamilyFor(out[i].ID) < term.FamilyFor(out[j].ID) })
	return out
}

// ledger writes the table of a device.
func (s *screen) ledger(i int) {
	d := &s.a.Devices[i]
	head := s.tableHead(d)
	lt := s.newLedgerTable(head, d.Ledger, term.Needed(d))
	for _, it := range ByFamily(d.Ledger) {
		if it.ID != "pool_unused" {
			s.item(lt, &it, fmt.Sprintf("/devices/%d/ledger", i), 0)
		}
	}
	n := term.Needed(d)
	lt.put(term.Say("needed", term.Bold), least1(d)+term.GiB(n.Mid, n.Decimals()), n, nil, "", term.Bold)
	s.room(lt, d)
	s.page.Blank()
	s.page.Add(&lt.Table)
}

// tableHead names the ranks of a table; for a single device, its name.
func (s *screen) tableHead(d *memwall.Device) string {
	switch {
	case d.Usable == 0:
		return "one device"
	case len(s.a.Devices) == 1 && d.Count == 1:
		return d.Name
	case d.Count == 1 && mixed(s.a):
		return RankName(d) + ", " + d.Name
	case d.Count == 1:
		return RankName(d)
	}
	return RankName(d) + ", each"
}

func (s *screen) item(lt *ledgerTable, it *memwall.Item, at string, depth int) {
	if it.Bytes == 0 && !it.Unknown && it.High == 0 {
		return
	}
	r := s.ledgerRow(it, at, 0)
	look := term.Looks[term.FamilyFor(it.ID)]
	label := term.Join(term.Say(string(look.Glyph), look.Ink), term.Say(" "+strings.Repeat("  ", depth)+r.Name))
	if depth > 0 {
		label = term.Say("  " + strings.Repeat("  ", depth) + r.Name)
	}
	if r.Note != "" {
		r.Basis += " " + s.foot.add(r.Note)
	}
	lt.put(label, r.Figure, r.band, term.Say(r.Basis), r.Remark, term.Plain)
	if s.opt.Layers == nil {
		return
	}
	for i := range it.Items {
		s.item(lt, &it.Items[i], at, depth+1)
	}
}

// longName is the width from which the part of a name after a comma becomes a remark.
const longName = 26

// nameOf separates a name from the remark that engines put after a colon.
func nameOf(it *memwall.Item) (name, remark string) {
	if name, remark, ok := strings.Cut(it.Name, ": "); ok {
		return name, remark
	}
	if i := strings.LastIndex(it.Name, ", "); i > 0 && term.Cells(it.Name) > longName {
		return it.Name[:i], it.Name[i+2:]
	}
	return it.Name, ""
}

// load describes what a cache holds.
func (s *screen) load(id string) string {
	p := s.a.Plan
	if p == nil || id != "kv_cache" || p.Sequences == 0 {
		return ""
	}
	if p.Context == 0 {
		return unit.Count(int64(p.ContextTotal)) + " tokens in all"
	}
	out := term.Users(int64(p.Sequences)) + " × " + unit.Count(int64(p.Context)) + " tokens"
	if p.Samples > 1 {
		out = fmt.Sprintf("%s × %d answers × %s tokens", term.Users(int64(p.Sequences)), p.Samples, unit.Count(int64(p.Context)))
	}
	if p.DP > 1 && p.Sequences > 1 {
		out += fmt.Sprintf(", over %d replicas", p.DP)
	}
	return out
}

// replacement returns the footnote of an assumption: the source of its only input, else its own.
func (s *screen) replacement(it *memwall.Item, at string) string {
	for pointer, e := range s.a.Explain {
		if strings.HasPrefix(pointer, at) && strings.HasSuffix(pointer, "/bytes") && e.Source == it.Source && e.Formula == it.Formula &&
			len(e.Inputs) == 1 {
			if o := e.Inputs[0].Origin; o != "" {
				return term.Capital(o)
			}
		}
	}
	return it.Source
}

// room writes the headroom and the usable memory.
func (s *screen) room(lt *ledgerTable, d *memwall.Device) {
	for _, r := range s.roomRows(d, "") {
		label, look := term.Join(term.Say("·", term.InkFree), term.Say(" "+r.Name)), term.Plain
		switch {
		case r.Short:
			label, look = term.Say("╳ short", term.InkOver), term.InkOver
		case r.Limit:
			label = term.Say(r.Name)
		}
		var basis term.Text
		if r.Basis != "" {
			basis = term.Say(r.Basis)
		}
		lt.put(label, r.Figure, r.band, basis, r.Remark, look)
	}
}

func (s *screen) poolTokens() string {
	if s.a.KV == nil || s.a.KV.CapacityTokens == nil {
		return ""
	}
	return "pool holds " + unit.Count(*s.a.KV.CapacityTokens) + " tokens"
}

var lifeNames = map[ledger.Life]string{
	ledger.Persistent: "persistent, as long as the model is loaded", ledger.SemiPersistent: "semi-persistent, from request to request",
	ledger.Ephemeral: "ephemeral, within one step",
}

// byLife writes the table of a device grouped by lifetime, each group with its sum.
func (s *screen) byLife(i int) {
	d := &s.a.Devices[i]
	head := s.tableHead(d)
	lt := s.newLedgerTable(head, d.Ledger, term.Needed(d))
	for _, life := range []ledger.Life{ledger.Persistent, ledger.SemiPersistent, ledger.Ephemeral} {
		var group []memwall.Item
		var sums []ledger.Item
		for _, it := range ByFamily(d.Ledger) {
			if it.Life == life && it.ID != "pool_unused" {
				group = append(group, it)
				sums = append(sums, ledger.Item{Bytes: it.Bytes, Low: it.Low, High: it.High, Basis: it.Basis, Unknown: it.Unknown})
			}
		}
		if len(group) == 0 {
			continue
		}
		sum := ledger.Sum(sums)
		b := term.Banded{Mid: sum.Bytes, Low: sum.Low, High: sum.High}
		word, remark, _ := strings.Cut(lifeNames[life], ", ")
		lt.put(term.Say(word, term.Bold), term.GiB(b.Mid, b.Decimals()), b, nil, remark, term.Bold)
		for j := range group {
			s.item(lt, &group[j], fmt.Sprintf("/devices/%d/ledger", i), 0)
		}
	}
	n := term.Needed(d)
	lt.put(term.Say("needed", term.Bold), least1(d)+term.GiB(n.Mid, n.Decimals()), n, nil, "", term.Bold)
	s.room(lt, d)
	s.page.Blank()
	s.page.Add(&lt.Table)
}

// host writes what is in host memory.
func (s *screen) host(m *memwall.Memory, head, at string) {
	if m == nil || len(m.Ledger) == 0 {
		return
	}
	sum, exact := term.Banded{Mid: m.Needed, Low: m.NeededLow, High: m.NeededHigh}, term.Banded{}
	lt := s.newLedgerTable(head, m.Ledger, sum)
	for _, it := range ByFamily(m.Ledger) {
		name, remark := nameOf(&it)
		it.Name = name + ": " + term.Joined([]string{remark, placeNames[it.Place]}, ", ")
		s.item(lt, &it, at, 0)
	}
	digits := sum.Decimals()
	lt.put(term.Say("needed", term.Bold), term.GiB(m.Needed, digits), sum, nil, "", term.Bold)
	if m.Headroom < 0 {
		lt.put(term.Say("╳ short", term.InkBad), term.GiB(-m.Headroom, digits), exact, nil, "", term.InkBad)
	}
	if m.Capacity > 0 {
		lt.put(term.Say("there is"), term.GiB(m.Capacity, digits), exact, nil, "", term.Plain)
	}
	s.page.Blank()
	s.page.Add(&lt.Table)
}

var placeNames = map[ledger.Place]string{
	ledger.Pinned: "page-locked", ledger.Host: "", ledger.Mapped: "mapped file", ledger.Disk: "disk", ledger.Pool: "pool",
	ledger.Device: "",
}
