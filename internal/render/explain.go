package render

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/unit"
)

// place is a number of an answer: its JSON pointer, and the ledger id it is known by.
type place struct{ pointer, id, name string }

// places returns the numbers with a name of their own: ledger items and sums.
func places(a *memwall.Answer) (out []place) {
	for i := range a.Devices {
		at := fmt.Sprintf("/devices/%d", i)
		out = append(out, itemPlaces(a.Devices[i].Ledger, at+"/ledger")...)
		out = append(out, itemPlaces(a.Devices[i].Beside, at+"/beside")...)
		out = append(out, place{at + "/needed_bytes", "needed", "needed"}, place{at + "/usable_bytes", "usable", "may use"},
			place{at + "/capacity_bytes", "capacity", "capacity"})
	}
	if a.Host != nil {
		out = append(out, itemPlaces(a.Host.Ledger, "/host/ledger")...)
	}
	if a.Disk != nil {
		out = append(out, itemPlaces(a.Disk.Ledger, "/disk/ledger")...)
	}
	if a.Speed != nil {
		out = append(out, speedPlaces...)
	}
	return out
}

// speedPlaces are the lines of the speed block, by the labels shown there.
var speedPlaces = []place{
	{"/speed/decode_tokens_per_s", "decode", "decode"}, {"/speed/total_tokens_per_s", "together", "together"},
	{"/speed/tpot_ms", "tpot", "TPOT"},
	{"/speed/prefill_tokens_per_s", "prefill", "prefill"}, {"/speed/ttft_ms", "ttft", "TTFT"},
	{"/speed/joules_per_token", "energy", "energy"},
	{"/speed/usd_per_million_tokens", "cost", "cost"},
}

func itemPlaces(items []memwall.Item, at string) (out []place) {
	for i := range items {
		p := fmt.Sprintf("%s/%d", at, i)
		out = append(out, place{p + "/bytes", items[i].ID, items[i].Name})
		out = append(out, itemPlaces(items[i].Items, p+"/items")...)
	}
	return out
}

// Explainable returns the names that --explain accepts for an answer, without duplicates.
func Explainable(a *memwall.Answer) (names []string) {
	for _, p := range places(a) {
		if _, ok := a.Explain[p.pointer]; ok && !slices.Contains(names, p.id) {
			names = append(names, p.id)
		}
	}
	return names
}

// Find returns the JSON pointers of an answer's numbers that a name refers to: a pointer, a ledger id, or the last component of a
// pointer ("max_context").
func Find(a *memwall.Answer, name string) (pointers []string) {
	if _, ok := a.Explain["/"+strings.TrimPrefix(name, "/")]; ok {
		return []string{"/" + strings.TrimPrefix(name, "/")}
	}
	for _, p := range places(a) {
		if _, ok := a.Explain[p.pointer]; ok && (p.id == name || strings.TrimSuffix(p.pointer, "/bytes") == name) {
			pointers = append(pointers, p.pointer)
		}
	}
	if len(pointers) > 0 {
		return pointers
	}
	for pointer := range a.Explain {
		if strings.HasSuffix(pointer, "/"+name) {
			pointers = append(pointers, pointer)
		}
	}
	sort.Strings(pointers)
	return pointers
}

func (s *screen) explainOne(name string) {
	for _, at := range Find(s.a, name) {
		s.page.Blank()
		s.explain(at, name)
	}
}

// explainAll writes every ledger item and sum, then the other numbers in a table.
func (s *screen) explainAll() {
	seen := map[string]bool{}
	for _, p := range places(s.a) {
		if _, ok := s.a.Explain[p.pointer]; !ok {
			continue
		}
		seen[p.pointer] = true
		s.page.Blank()
		s.explain(p.pointer, p.id)
	}
	s.otherNumbers(seen)
}

// otherNumbers writes numbers without a name, by their source. Edges of bands are already shown with their number.
func (s *screen) otherNumbers(seen map[string]bool) {
	by := map[string][]string{}
	for at, e := range s.a.Explain {
		edge := strings.HasSuffix(at, "/low_bytes") || strings.HasSuffix(at, "/high_bytes") || strings.HasSuffix(at, "_low") ||
			strings.HasSuffix(at, "_high")
		if !seen[at] && !edge {
			by[e.Source] = append(by[e.Source], at)
		}
	}
	for _, source := range slices.Sorted(maps.Keys(by)) {
		tb := &term.Table{Sides: []term.Side{term.Left, term.Right, term.Left}, Most: map[int]int{0: s.page.Style.Cells() / 2}}
		slices.Sort(by[source])
		for _, at := range by[source] {
			e := s.a.Explain[at]
			tb.Row(term.Say(strings.TrimPrefix(at, "/")), term.Say(number(e.Value)), term.Say(e.Basis.String(), term.Dim))
		}
		s.page.Blank()
		s.page.Para(term.Pad(term.Gap), term.Say(source, term.Bold))
		s.page.Add(tb)
	}
}

// explain writes one number: value, formula above its values, inputs with their sources, rule.
func (s *screen) explain(at, id string) {
	e := s.a.Explain[at]
	s.explainHead(at, id, &e)
	s.formula(&e)
	tb := &term.Table{Sides: []term.Side{term.Left, term.Right, term.Left}, Remark: true}
	for _, in := range e.Inputs {
		tb.Row(term.Say(in.Name), term.Say(number(in.Value)), term.Say(in.Origin, term.Dim))
	}
	if len(tb.Rows) > 0 {
		s.page.Add(tb)
	}
	if e.Low != e.Value || e.High != e.Value {
		s.page.Para(term.Join(term.Pad(term.Gap), term.Say("band", term.Dim), term.Pad(7)),
			term.Say(sized(e.Low, e.Unit)+" to "+sized(e.High, e.Unit)+", 90 %"))
	}
	if e.Source != "" {
		s.page.Para(term.Join(term.Pad(term.Gap), term.Say("rule", term.Dim), term.Pad(7)), term.Say(e.Source, term.Dim))
	}
}

func (s *screen) explainHead(at, id string, e *memwall.Explain) {
	head := strings.TrimPrefix(at, "/")
	if parent, ok := strings.CutSuffix(head, "/bytes"); ok {
		head = parent[:strings.LastIndexByte(parent, '/')+1] + id
	}
	value := number(e.Value)
	switch {
	case e.Unit == "B" && math.Abs(e.Value) >= float64(unit.KiB):
		value = sized(e.Value, e.Unit) + " = " + value + " B"
	case e.Unit != "":
		value += " " + e.Unit
	}
	head = term.Shorten(head, max(20, s.page.Style.Cells()-term.Cells(value)-16), s.page.Ellipsis())
	writeDropTo(s.page, term.Join(term.Pad(term.Gap), term.Say(head, term.Bold)),
		term.Join(term.Say(value, term.Bold), term.Pad(term.Gap), term.Say(e.Basis.String(), term.Dim)))
}

// writeDropTo writes two texts on one line, or the second below if there is no room.
func writeDropTo(p *term.Page, a, b term.Text) {
	a, b = a.Clean(p.Style.ASCII), b.Clean(p.Style.ASCII)
	if a.Cells()+term.Gap+b.Cells() <= p.Style.Cells() {
		p.Line(a, term.Pad(term.Gap), b)
		return
	}
	p.Line(a)
	p.Para(term.Pad(2*term.Gap), b)
}

func sized(v float64, unitName string) string {
	if unitName != "B" || v != math.Trunc(v) {
		return number(v)
	}
	return commasSize(unit.Bytes(v))
}

func commasSize(b unit.Bytes) string {
	s := b.String()
	n, name, _ := strings.Cut(s, " ")
	return term.Commas(n) + " " + name
}

// number formats an input: integers with commas, others in the shortest exact form.
func number(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return unit.Count(int64(v))
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// token is a piece of a formula, aligned with the same piece as a value.
type token struct{ Name, Value string }

// Tokenise splits a formula into names with their values, and what is between them; closing brackets and commas are separate
// pieces.
func Tokenise(formula string, inputs []memwall.ExplainInput) (out []token) {
	values := map[string]string{}
	for _, in := range inputs {
		values[in.Name] = number(in.Value)
	}
	for rest := formula; rest != ""; {
		next := piece(rest)
		rest = rest[len(next):]
		value, ok := values[next]
		if !ok {
			value = next
		}
		out = append(out, token{next, value})
	}
	return out
}

// piece returns the longest prefix of characters of one kind.
func piece(s string) string {
	first, _ := utf8.DecodeRuneInString(s)
	kind := pieceKind(first)
	if n := strings.IndexFunc(s, func(r rune) bool { return pieceKind(r) != kind }); n > 0 {
		return s[:n]
	}
	return s
}

const (
	aWord = iota
	aClosing
	anOperator
)

func pieceKind(r rune) int {
	switch {
	case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '.':
		return aWord
	case r == ')' || r == ',':
		return aClosing
	}
	return anOperator
}

// formula writes the formula and, below it, its values, in as many pairs of lines as needed. Lines break before an operator.
func (s *screen) formula(e *memwall.Explain) {
	if len(e.Inputs) == 0 || len(e.Inputs) == 1 && e.Inputs[0].Name == e.Formula {
		return
	}
	room := s.page.Style.Cells() - 2*term.Gap
	lead := "= "
	var names, values string
	flush := func() {
		s.page.Line(term.Say("  "+lead), term.Say(names))
		s.page.Line(term.Say("  "+lead), term.Say(values, term.Dim))
		names, values, lead = "", "", "    "
		room = s.page.Style.Cells() - 3*term.Gap
	}
	for _, c := range Chunks(Tokenise(term.Clean(e.Formula, s.page.Style.ASCII), e.Inputs)) {
		if names != "" && term.Cells(names)+term.Cells(c.Name) > room {
			flush()
			c = c.trimmed()
		}
		names, values = names+c.Name, values+c.Value
	}
	flush()
}

// Chunks joins each name to preceding operators and following closing brackets, padded to one width. A function stays with its
// first argument.
func Chunks(tokens []token) (out []token) {
	var c token
	for i, k := range tokens {
		first, _ := utf8.DecodeRuneInString(k.Name)
		if pieceKind(first) == aClosing && c.Name == "" && len(out) > 0 {
			out[len(out)-1].Name += k.Name
			out[len(out)-1].Value += k.Value
			continue
		}
		w := max(term.Cells(k.Name), term.Cells(k.Value))
		c.Name += strings.Repeat(" ", w-term.Cells(k.Name)) + k.Name
		c.Value += strings.Repeat(" ", w-term.Cells(k.Value)) + k.Value
		call := i+1 < len(tokens) && strings.HasPrefix(tokens[i+1].Name, "(")
		if pieceKind(first) == aWord && !call {
			out, c = append(out, c), token{}
		}
	}
	if c.Name != "" {
		out = append(out, c)
	}
	return out
}

// trimmed removes the common prefix of both lines.
func (k token) trimmed() token {
	for strings.HasPrefix(k.Name, " ") && strings.HasPrefix(k.Value, " ") {
		k.Name, k.Value = k.Name[1:], k.Value[1:]
	}
	return k
}
