package render

import (
	"fmt"
	"sort"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

// ledgerTable has a row for each item: glyph and name, GiB, band (one column, or two when a band is lopsided), basis,
// remark.
type ledgerTable struct {
	table
	two  bool
	bare bool // names and numbers only: the screen has no room for more
}

// leastBanded is the width from which a ledger shows bands and bases.
const leastBanded = 56

func (s *screen) newLedgerTable(head string, items []memwall.Item, sum banded) *ledgerTable {
	lt := &ledgerTable{two: sum.lopsided(), bare: s.page.st.width() < leastBanded}
	lt.most = map[int]int{0: max(20, s.page.st.width()-44)}
	if lt.bare {
		lt.sides, lt.remark = []side{left, decimal, left}, true
		lt.row(say(head, bold), say("GiB", dim), nil)
		return lt
	}
	for i := range items {
		lt.two = lt.two || itemBand(&items[i]).lopsided()
	}
	lt.sides, lt.remark, lt.early = []side{left, decimal, decimal, left, left}, true, true
	h := []text{say(head, bold), say("GiB", dim), say("±", dim), say("basis", dim), nil}
	if lt.two {
		lt.sides = []side{left, decimal, decimal, decimal, left, left}
		h = []text{say(head, bold), say("GiB", dim), say("+", dim), say("−", dim), say("basis", dim), nil}
	}
	lt.rows = append(lt.rows, h)
	return lt
}

func itemBand(it *memwall.Item) banded { return banded{it.Bytes, it.Low, it.High} }

// put adds a row; number and band share their digits.
func (lt *ledgerTable) put(name text, number string, b banded, basis text, remark string, i ink) {
	row := []text{name, say(number, i)}
	if lt.bare {
		lt.row(append(row, say(remark, dim))...)
		return
	}
	switch {
	case b.exact() && lt.two:
		row = append(row, nil, nil)
	case b.exact():
		row = append(row, nil)
	case lt.two && b.lopsided():
		row = append(row, say(b.up(), dim), say(b.down(), dim))
	case lt.two:
		row = append(row, say(b.half(), dim), say(b.half(), dim))
	default:
		row = append(row, say(b.half(), dim))
	}
	lt.row(append(row, basis, say(remark, dim))...)
}

// footnotes collects what stands under a screen.
type footnotes struct{ texts []string }

func (f *footnotes) add(s string) string {
	for i, have := range f.texts {
		if have == s {
			return footnote(i + 1)
		}
	}
	f.texts = append(f.texts, s)
	return footnote(len(f.texts))
}

// byFamily sorts items into the order of bars.
func byFamily(items []memwall.Item) []memwall.Item {
	out := append([]memwall.Item(nil), items...)
	sort.SliceStable(out, func(i, j int) bool { return familyFor(out[i].ID) < familyFor(out[j].ID) })
	return out
}

// ledger writes the table of a device.
func (s *screen) ledger(i int) {
	d := &s.a.Devices[i]
	head := s.tableHead(d)
	lt := s.newLedgerTable(head, d.Ledger, needed(d))
	for _, it := range byFamily(d.Ledger) {
		if it.ID != "pool_unused" {
			s.item(lt, &it, fmt.Sprintf("/devices/%d/ledger", i), 0)
		}
	}
	n := needed(d)
	lt.put(say("needed", bold), least1(d)+gib(n.v, n.decimals()), n, nil, "", bold)
	s.room(lt, d)
	s.page.blank()
	s.page.add(&lt.table)
}

// tableHead names the ranks that a table is about; of a single device the name says more than a number.
func (s *screen) tableHead(d *memwall.Device) string {
	switch {
	case d.Usable == 0:
		return "one device"
	case len(s.a.Devices) == 1 && d.Count == 1:
		return d.Name
	case d.Count == 1 && mixed(s.a):
		return rankName(d) + ", " + d.Name
	case d.Count == 1:
		return rankName(d)
	}
	return rankName(d) + ", each"
}

func (s *screen) item(lt *ledgerTable, it *memwall.Item, at string, depth int) {
	if it.Bytes == 0 && !it.Unknown && it.High == 0 {
		return
	}
	r := s.ledgerRow(it, at, 0)
	look := looks[familyFor(it.ID)]
	label := join(say(string(look.glyph), look.ink), say(" "+strings.Repeat("  ", depth)+r.Name))
	if depth > 0 {
		label = say("  " + strings.Repeat("  ", depth) + r.Name)
	}
	if r.Note != "" {
		r.Basis += " " + s.foot.add(r.Note)
	}
	lt.put(label, r.Figure, r.band, say(r.Basis), r.Remark, plain)
	if s.opt.Layers == nil {
		return
	}
	for i := range it.Items {
		s.item(lt, &it.Items[i], at, depth+1)
	}
}

// longName is the width from which what stands behind a comma becomes a remark.
const longName = 26

// nameOf parts a name from the remark that engines put behind a colon.
func nameOf(it *memwall.Item) (name, remark string) {
	if name, remark, ok := strings.Cut(it.Name, ": "); ok {
		return name, remark
	}
	if i := strings.LastIndex(it.Name, ", "); i > 0 && cells(it.Name) > longName {
		return it.Name[:i], it.Name[i+2:]
	}
	return it.Name, ""
}

// load says what a cache holds.
func (s *screen) load(id string) string {
	p := s.a.Plan
	if p == nil || id != "kv_cache" || p.Sequences == 0 {
		return ""
	}
	if p.Context == 0 {
		return unit.Count(int64(p.ContextTotal)) + " tokens in all"
	}
	out := people(int64(p.Sequences)) + " × " + unit.Count(int64(p.Context)) + " tokens"
	if p.DP > 1 && p.Sequences > 1 {
		out += fmt.Sprintf(", over %d replicas", p.DP)
	}
	return out
}

// replacement is what a footnote says of an assumption: where its one input comes from, else its source.
func (s *screen) replacement(it *memwall.Item, at string) string {
	for pointer, e := range s.a.Explain {
		if strings.HasPrefix(pointer, at) && strings.HasSuffix(pointer, "/bytes") && e.Source == it.Source && e.Formula == it.Formula && len(e.Inputs) == 1 {
			if o := e.Inputs[0].Origin; o != "" {
				return capital(o)
			}
		}
	}
	return it.Source
}

// capital begins a sentence; names with digits or capitals of their own stay as they are.
func capital(s string) string {
	word, _, _ := strings.Cut(s, " ")
	if word == "" || word != strings.ToLower(word) || strings.ContainsAny(word, "0123456789") {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// room writes what is left and what the plan may use.
func (s *screen) room(lt *ledgerTable, d *memwall.Device) {
	for _, r := range s.roomRows(d, "") {
		label, look := join(say("·", inkFree), say(" "+r.Name)), plain
		switch {
		case r.Short:
			label, look = say("╳ short", inkOver), inkOver
		case r.Limit:
			label = say(r.Name)
		}
		var basis text
		if r.Basis != "" {
			basis = say(r.Basis)
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
	ledger.Persistent: "persistent, as long as the model is loaded", ledger.SemiPersistent: "semi-persistent, from request to request", ledger.Ephemeral: "ephemeral, within one step",
}

// byLife writes the table of a device in groups of equal life, each with its sum.
func (s *screen) byLife(i int) {
	d := &s.a.Devices[i]
	head := s.tableHead(d)
	lt := s.newLedgerTable(head, d.Ledger, needed(d))
	for _, life := range []ledger.Life{ledger.Persistent, ledger.SemiPersistent, ledger.Ephemeral} {
		var group []memwall.Item
		var sums []ledger.Item
		for _, it := range byFamily(d.Ledger) {
			if it.Life == life && it.ID != "pool_unused" {
				group = append(group, it)
				sums = append(sums, ledger.Item{Bytes: it.Bytes, Low: it.Low, High: it.High, Basis: it.Basis, Unknown: it.Unknown})
			}
		}
		if len(group) == 0 {
			continue
		}
		sum := ledger.Sum(sums)
		b := banded{sum.Bytes, sum.Low, sum.High}
		word, remark, _ := strings.Cut(lifeNames[life], ", ")
		lt.put(say(word, bold), gib(b.v, b.decimals()), b, nil, remark, bold)
		for j := range group {
			s.item(lt, &group[j], fmt.Sprintf("/devices/%d/ledger", i), 0)
		}
	}
	n := needed(d)
	lt.put(say("needed", bold), least1(d)+gib(n.v, n.decimals()), n, nil, "", bold)
	s.room(lt, d)
	s.page.blank()
	s.page.add(&lt.table)
}

// host writes what lies in host memory.
func (s *screen) host(m *memwall.Memory, head, at string) {
	if m == nil || len(m.Ledger) == 0 {
		return
	}
	sum, exact := banded{m.Needed, m.NeededLow, m.NeededHigh}, banded{}
	lt := s.newLedgerTable(head, m.Ledger, sum)
	for _, it := range byFamily(m.Ledger) {
		name, remark := nameOf(&it)
		it.Name = name + ": " + joined([]string{remark, placeNames[it.Place]}, ", ")
		s.item(lt, &it, at, 0)
	}
	digits := sum.decimals()
	lt.put(say("needed", bold), gib(m.Needed, digits), sum, nil, "", bold)
	if m.Headroom < 0 {
		lt.put(say("╳ short", inkBad), gib(-m.Headroom, digits), exact, nil, "", inkBad)
	}
	if m.Capacity > 0 {
		lt.put(say("there is"), gib(m.Capacity, digits), exact, nil, "", plain)
	}
	s.page.blank()
	s.page.add(&lt.table)
}

var placeNames = map[ledger.Place]string{
	ledger.Pinned: "page-locked", ledger.Host: "", ledger.Mapped: "mapped file", ledger.Disk: "disk", ledger.Pool: "pool", ledger.Device: "",
}
