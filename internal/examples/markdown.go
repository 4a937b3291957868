package examples

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

// formula is how a value was made.
type formula ledger.Formula

// Markdown renders the whole document.
func Markdown() (string, error) {
	var b strings.Builder
	judged, err := Judged()
	if err != nil {
		return "", err
	}
	all, quoted := judged[:len(judged)-1], judged[len(judged)-1]
	b.WriteString(opening)
	summary(&b, all)
	if err := remember(&b, judged); err != nil {
		return "", err
	}
	for i := range all {
		if err := all[i].write(&b); err != nil {
			return "", err
		}
	}
	c := newCalc()
	writeRecipes(&b, c)
	if c.err != nil {
		return "", c.err
	}
	for i := range quoted.Sections {
		if err := quoted.Sections[i].write(&b); err != nil {
			return "", err
		}
	}
	b.WriteString(closing)
	return b.String(), nil
}

func summary(b *strings.Builder, all []Document) {
	t := table{right: map[int]bool{}}
	head := []string{"document"}
	for i, v := range Verdicts {
		head = append(head, string(v))
		t.right[i+1] = true
	}
	t.right[len(Verdicts)+1] = true
	t.add(append(head, "figures")...)
	sum := map[Verdict]int{}
	for i := range all {
		t.add(countRow(fmt.Sprintf("%d. %s", all[i].Number, all[i].Title), all[i].counts(), sum)...)
	}
	t.add(countRow("**all**", sum, nil)...)
	b.WriteString("\n## In numbers\n\n")
	t.write(b)
}

// counts of each verdict.
func (d *Document) counts() map[Verdict]int {
	n := map[Verdict]int{}
	for _, r := range d.Rows() {
		n[r.Verdict]++
	}
	return n
}

func countRow(name string, n, into map[Verdict]int) []string {
	cells, total := []string{name}, 0
	for _, v := range Verdicts {
		cells = append(cells, strconv.Itoa(n[v]))
		total += n[v]
		if into != nil {
			into[v] += n[v]
		}
	}
	return append(cells, strconv.Itoa(total))
}

func remember(b *strings.Builder, all []Document) error {
	b.WriteString("\n## Worth remembering\n\n")
	for i := range all {
		for _, r := range all[i].Rows() {
			if r.Best == "" {
				continue
			}
			found, err := r.Findings()
			if err != nil {
				return fmt.Errorf("%s: %w", r.ID, err)
			}
			fmt.Fprintf(b, "- %s\n", wrap(fill(r.Best, found)+" ("+r.ID+")", textWidth-2, "  "))
		}
	}
	return nil
}

func (d *Document) write(b *strings.Builder) error {
	fmt.Fprintf(b, "\n## %d. %s\n\n%s\n", d.Number, d.Title, d.About)
	for _, s := range d.Sections {
		if err := s.write(b); err != nil {
			return err
		}
	}
	return nil
}

func (s *Section) write(b *strings.Builder) error {
	fmt.Fprintf(b, "\n### %s\n\n", s.Title)
	var t table
	var below strings.Builder
	t.add("#", "claim", "said", "ours", "verdict")
	for i := range s.Rows {
		r := &s.Rows[i]
		found, err := r.Findings()
		if err != nil {
			return fmt.Errorf("%s: %w", r.ID, err)
		}
		t.add(r.ID, r.Claim, saidText(found), oursText(found), string(r.Verdict))
		r.explain(&below, found)
	}
	t.write(b)
	b.WriteString("\n" + below.String())
	return nil
}

// saidText joins the figures of a row, each once.
func saidText(found []Finding) string {
	var parts []string
	for _, f := range found {
		if f.Role == Aside || f.Said.Text == "" || len(parts) > 0 && parts[len(parts)-1] == f.Said.Text {
			continue
		}
		parts = append(parts, f.Said.Text)
	}
	return strings.Join(factor(parts), ", ")
}

func oursText(found []Finding) string {
	var parts []string
	for _, f := range found {
		text := f.show()
		switch f.Role {
		case Aside:
			continue
		case Waiting:
			text = "—"
		case Ceiling:
			text = "at most " + text
		case Floor:
			text = "at least " + text
		}
		if f.When != "" {
			text += " (" + f.When + ")"
		}
		if len(parts) == 0 || parts[len(parts)-1] != text {
			parts = append(parts, text)
		}
	}
	return strings.Join(factor(parts), ", ")
}

// factor drops the unit of all but the last of several figures that share it.
func factor(parts []string) []string {
	if len(parts) < 2 {
		return parts
	}
	_, last, ok := strings.Cut(parts[len(parts)-1], " ")
	if !ok || strings.Contains(last, " ") {
		return parts
	}
	for _, p := range parts {
		if _, u, _ := strings.Cut(p, " "); u != last {
			return parts
		}
	}
	out := append([]string(nil), parts...)
	for i := range out[:len(out)-1] {
		out[i], _, _ = strings.Cut(out[i], " ")
	}
	return out
}

// show prints a value in the claim's unit, with one digit more than the claim has, three at least.
func (f *Finding) show() string {
	u := f.Said.Unit
	text := decimal(f.Value/u.Worth, max(3, digits(f.Said.Text)))
	if u.Name == "" || u.Name == "×" {
		text += u.Name
	} else {
		text += " " + u.Name
	}
	if u.Binary > 0 && f.Said.HoldsBinary(f.Value) && !f.Said.Holds(f.Value) {
		text += fmt.Sprintf(" = %s %siB", decimal(f.Value/u.Binary, 3), u.Name[:1])
	}
	return text
}

// decimal prints a number with some significant digits, thousands apart, and fewer when fewer are exact.
func decimal(x float64, sig int) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e6 {
		return unit.Count(int64(x))
	}
	whole := int(math.Floor(math.Log10(math.Abs(x)))) + 1
	s := unit.Significant(x, max(sig, min(whole, 6)))
	if short := strconv.FormatFloat(x, 'f', -1, 64); len(short) < len(s) {
		s = short
	}
	head, tail, point := strings.Cut(s, ".")
	if n, err := strconv.ParseInt(head, 10, 64); err == nil && n >= 1000 {
		head = unit.Count(n)
	}
	if point {
		return head + "." + tail
	}
	return head
}

// fill puts values into a text: {0} is the row's first.
func fill(text string, found []Finding) string {
	for i := range found {
		text = strings.ReplaceAll(text, "{"+strconv.Itoa(i)+"}", found[i].show())
	}
	return text
}

// textWidth is where prose breaks.
const textWidth = 112

// explain writes a row's reason and its formulas as an item of a list.
func (r *Row) explain(b *strings.Builder, found []Finding) {
	text := "**" + r.ID + "** " + fill(r.Why, found)
	if r.Waits != "" {
		text += " (later: " + string(r.Waits) + ")"
	}
	b.WriteString("- " + wrap(text, textWidth-2, "  ") + "\n")
	seen := map[string]bool{}
	for i := range found {
		if text := found[i].how(); found[i].Role != Waiting && !seen[text] {
			seen[text] = true
			b.WriteString("  - " + text + "\n")
		}
	}
}

// glue keeps signs with their numbers; strings.Fields would break at a no-break space, so wrap undoes it.
var glue = strings.NewReplacer(" %", "\u00a0%", " ×", "\u00a0×")

// wrap breaks a text into lines of at most width, each but the first after an indent.
func wrap(text string, width int, indent string) string {
	var b strings.Builder
	at := 0
	for i, w := range strings.Fields(glue.Replace(text)) {
		w = strings.ReplaceAll(w, "\u00a0", " ")
		n := utf8.RuneCountInString(w)
		switch {
		case i == 0:
		case at+1+n > width:
			b.WriteString("\n" + indent)
			at = len(indent)
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(w)
		at += n
	}
	return b.String()
}

// how is a formula, with its values, its result and where its inputs are from.
func (f *Finding) how() string {
	var names, values strings.Builder
	for _, t := range f.How.Tokens {
		names.WriteString(t.Name)
		values.WriteString(engineering(t.Value))
	}
	result := f.show()
	n, v := names.String(), values.String()
	text := n
	if v != n && len(f.How.Tokens) > 1 {
		text += " = " + v
	}
	text = "`" + text + " = " + result + "`"
	if f.When != "" {
		text = f.When + ": " + text
	}
	if o := origins(f.How.Inputs); o != "" {
		text += " (" + o + ")"
	}
	return text
}

// origins lists where inputs come from, each once; commands are set as code.
func origins(in []ledger.Input) string {
	var out []string
	seen := map[string]bool{}
	for _, i := range in {
		o := i.Origin
		if o == "" || seen[o] {
			continue
		}
		seen[o] = true
		if strings.HasPrefix(o, "memwall ") {
			o = "`" + o + "`"
		}
		out = append(out, o)
	}
	return strings.Join(out, "; ")
}

// engineering shortens a formula's number: whole ones under a million get commas, large and small ones an
// exponent that is a multiple of three.
func engineering(text string) string {
	x, err := strconv.ParseFloat(text, 64)
	switch a := math.Abs(x); {
	case err != nil, x == 0:
		return text
	case x == math.Trunc(x) && a < 1e6:
		return unit.Count(int64(x))
	case a >= 1e6, a < 1e-2:
		e := int(math.Floor(math.Log10(a)/3)) * 3
		return strconv.FormatFloat(x/math.Pow10(e), 'g', 6, 64) + "e" + strconv.Itoa(e)
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}

// table is a Markdown table whose columns are padded to one width.
type table struct {
	rows  [][]string
	right map[int]bool // columns of numbers
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) write(b *strings.Builder) {
	wide := make([]int, len(t.rows[0]))
	for _, r := range t.rows {
		for i, c := range r {
			wide[i] = max(wide[i], utf8.RuneCountInString(c), 3)
		}
	}
	for n, r := range t.rows {
		for i, c := range r {
			pad := strings.Repeat(" ", wide[i]-utf8.RuneCountInString(c))
			if t.right[i] {
				b.WriteString("| " + pad + c + " ")
			} else {
				b.WriteString("| " + c + pad + " ")
			}
		}
		b.WriteString("|\n")
		if n == 0 {
			t.rule(b, wide)
		}
	}
}

func (t *table) rule(b *strings.Builder, wide []int) {
	for i, w := range wide {
		dashes := strings.Repeat("-", w+2)
		if t.right[i] {
			dashes = dashes[1:] + ":"
		}
		b.WriteString("|" + dashes)
	}
	b.WriteString("|\n")
}
