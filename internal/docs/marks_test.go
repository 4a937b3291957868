package docs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/memwall/memwall/figure"
	"github.com/memwall/memwall/unit"
)

// Figures inside sentences and tables are marked, so that they are computed like the output of commands.
// A comment of the page names questions, and a mark computes with their answers:
//
//	<!-- asks
//	four: fit llama-3.1-70b --on 4xh100
//	-->
//	Each card needs <!--= four.needed -->36.1 GiB<!--/-->.
//
// A fence that begins with "```json NAME" is a question too, as memwall batch takes it. An expression is one
// of package figure: ledger.Eval over paths into the answer's JSON, in bytes and seconds. The text of a mark says its unit
// and how many digits it has: -update writes the number and leaves the words. A mark whose value is a word, such
// as a verdict, is never written: the sentence around it wants reading.
//
// A fence that begins with "```json of PATH" shows a part of an answer: what it holds, the answer holds.
//
// <!--said-->95 %<!--/--> marks a figure that is quoted.

var (
	mark     = regexp.MustCompile(`<!--(?:= *(.+?)|said) *-->(.*?)<!--/-->`)
	asksFrom = regexp.MustCompile(`^<!-- asks$`)
	askLine  = regexp.MustCompile(`^([a-z]\w*): (.+)$`)
	askFence = regexp.MustCompile("^```json ([a-z]\\w*)$")
	partOf   = regexp.MustCompile("^```json of (\\S+)$")
	digits   = regexp.MustCompile(`\d[\d,]*(?:\.\d+)?`)
	// measure is a number with a unit that answers are in. Without a blank it is a name: an A100 80GB.
	measure = regexp.MustCompile(`\d[\d,.]*[ \x{a0}](?:[KMGT]i?B\b|tok/s|tokens/s|ms\b|s\b|%|J\b|W\b|\$)|[×$] ?\d|\d ?×`)
)

// scales are the units that a mark's text may end in, in bytes or seconds.
var scales = map[string]float64{
	"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "MB": 1e6, "GB": 1e9, "TB": 1e12, "ms": 1e-3, "µs": 1e-6, "minutes": 60,
	"%": 0.01, "M": 1e6, "tok/s": 1, "J": 1, "W": 1,
}

// answers are those to a page's questions, each asked once.
type answers struct {
	lines  map[string]string
	stdin  map[string]string
	asked  map[string]any
	failed map[string]error
}

// asksOf collects the questions of a page.
func asksOf(p *page) *answers {
	a := &answers{lines: map[string]string{}, stdin: map[string]string{}, asked: map[string]any{}, failed: map[string]error{}}
	for i := 0; i < len(p.lines); i++ {
		switch m := askFence.FindStringSubmatch(p.lines[i]); {
		case m != nil:
			a.stdin[m[1]] = p.fence(i)
		case asksFrom.MatchString(p.lines[i]):
			for i++; i < len(p.lines) && p.lines[i] != "-->"; i++ {
				if m := askLine.FindStringSubmatch(p.lines[i]); m != nil {
					a.lines[m[1]] = m[2]
				}
			}
		}
	}
	return a
}

// fence is the text inside the fence that begins at a line, as one line.
func (p *page) fence(at int) string {
	var b strings.Builder
	for i := at + 1; i < len(p.lines) && fenceOf(p.lines[i]) == ""; i++ {
		b.WriteString(strings.TrimSpace(p.lines[i]))
	}
	return b.String()
}

// of gives the answer to a question by name.
func (a *answers) of(name string) (any, error) {
	if v, ok := a.asked[name]; ok || a.failed[name] != nil {
		return v, a.failed[name]
	}
	v, err := a.ask(name)
	a.asked[name], a.failed[name] = v, err
	return v, err
}

func (a *answers) ask(name string) (any, error) {
	args, stdin := []string{"batch"}, a.stdin[name]
	if stdin == "" {
		line, ok := a.lines[name]
		if !ok {
			return nil, fmt.Errorf("no question called %q", name)
		}
		var err error
		if args, err = words(line + " --json"); err != nil {
			return nil, err
		}
	}
	out, talk, _ := runWith(stdin, args)
	var v map[string]any
	if err := json.NewDecoder(bytes.NewBufferString(strings.Join(out, "\n"))).Decode(&v); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", name, err, strings.Join(talk, " "))
	}
	if v["error"] != nil {
		return nil, fmt.Errorf("%s: %v", name, v["error"])
	}
	return v, nil
}

// text is what a mark should show, given what it shows now.
func (a *answers) text(expr, now string) (string, error) {
	v, err := figure.Names(a.of).Eval(expr)
	if err != nil || v.Words != "" {
		return v.Words, err
	}
	return inWords(v.Number, now)
}

// inWords puts a value into a text in place of its number: in the unit behind it, with as many digits.
func inWords(v float64, now string) (string, error) {
	at := digits.FindStringIndex(now)
	if at == nil {
		return "", fmt.Errorf("%q has no number for %v", now, v)
	}
	number, behind := now[at[0]:at[1]], strings.Fields(now[at[1]:])
	counted := true
	if len(behind) > 0 && scales[behind[0]] > 0 {
		v, counted = v/scales[behind[0]], false
	}
	if counted && v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return now[:at[0]] + unit.Count(int64(v)) + now[at[1]:], nil
	}
	return now[:at[0]] + thousands(unit.Significant(v, significant(number))) + now[at[1]:], nil
}

// significant counts the digits that a number is given to, two at least: 1,300 has two.
func significant(number string) int {
	s := strings.ReplaceAll(number, ",", "")
	if !strings.Contains(s, ".") {
		s = strings.TrimRight(s, "0")
	}
	return max(2, len(strings.TrimLeft(strings.Replace(s, ".", "", 1), "0")))
}

func thousands(s string) string {
	whole, fraction, point := strings.Cut(s, ".")
	if n, err := strconv.ParseInt(whole, 10, 64); err == nil && n >= 1000 {
		whole = unit.Count(n)
	}
	if point {
		return whole + "." + fraction
	}
	return whole
}

// remarked gives the page with its marked figures as they are today, and where they differ.
func remarked(p *page) (*page, []string, error) {
	a := asksOf(p)
	var stale []string
	var failed error
	lines := append([]string(nil), p.lines...)
	for i, l := range lines {
		if m := partOf.FindStringSubmatch(l); m != nil && failed == nil {
			failed = a.contains(m[1], p.fence(i))
		}
		if p.code[i] {
			continue
		}
		lines[i] = mark.ReplaceAllStringFunc(l, func(m string) string {
			now, want, err := a.check(m)
			if err != nil && failed == nil {
				failed = fmt.Errorf("%s:%d: %w", p.name, i+1, err)
			}
			if want == now {
				return m
			}
			stale = append(stale, fmt.Sprintf("%s:%d: says %q, want %q", p.name, i+1, now, want))
			return strings.Replace(m, "-->"+now+"<!--/", "-->"+want+"<!--/", 1)
		})
	}
	return newPage(p.name, strings.Join(lines, "\n")), stale, failed
}

// contains reports a key of a shown object that the answer does not have, or has otherwise.
func (a *answers) contains(at, shown string) error {
	v, err := figure.Names(a.of).Look(at)
	if err != nil {
		return err
	}
	var part map[string]any
	if err := json.Unmarshal([]byte(shown), &part); err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	for key, want := range part {
		if got := figure.Step(v, key); !reflect.DeepEqual(got, want) {
			return fmt.Errorf("%s.%s is %v, and the page shows %v", at, key, got, want)
		}
	}
	return nil
}

// check gives what a mark shows and what it should show. A word that changed is an error.
func (a *answers) check(m string) (now, want string, err error) {
	part := mark.FindStringSubmatch(m)
	expr, now := part[1], part[2]
	if expr == "" {
		return now, now, nil
	}
	want, err = a.text(expr, now)
	switch {
	case err != nil:
		return now, now, err
	case want != now && !digits.MatchString(now):
		return now, now, fmt.Errorf("%q is %q now (%s): the sentence wants to be written anew", now, want, expr)
	}
	return now, want, nil
}

// unmarked lists figures with a unit that stand outside of marks, code, headings and links.
func unmarked(p *page) (out []string) {
	hidden := false
	for i, l := range p.lines {
		hidden = hidden || asksFrom.MatchString(l)
		if !hidden && !p.code[i] && !strings.HasPrefix(l, "#") {
			bare := inlineLink.ReplaceAllString(inlineCode.ReplaceAllString(mark.ReplaceAllString(l, ""), ""), "")
			for _, f := range measure.FindAllString(bare, -1) {
				out = append(out, fmt.Sprintf("%s:%d: %q is not marked", p.name, i+1, f))
			}
		}
		hidden = hidden && l != "-->"
	}
	return out
}

// TestFiguresAreMarked: pages of answers hold no figure that nothing checks.
func TestFiguresAreMarked(t *testing.T) {
	seen := 0
	for name, p := range pages(t) {
		if strings.HasPrefix(name, "docs/case-studies/") || name == "docs/guides/parallelism.md" || name == "docs/guides/make-it-fit.md" {
			seen++
			for _, s := range unmarked(p) {
				t.Error(s)
			}
		}
	}
	if seen == 0 {
		t.Error("no such page")
	}
}

// TestStaleFigureIsSeen: marks are checked, written anew in the same unit and digits, and words are not.
func TestStaleFigureIsSeen(t *testing.T) {
	const asks = "<!-- asks\none: fit llama-3.1-8b --on h100 --engine generic\n-->\n```json two\n{\"ask\":\"fit\",\n\"model\":\"llama-3.1-8b\",\"hardware\":\"l4\",\"engine\":\"generic\"}\n```\n"
	for text, want := range map[string]string{
		"<!--= one.ledger.kv_cache.bytes -->9.00 GiB<!--/--> of it":      "<!--= one.ledger.kv_cache.bytes -->1.00 GiB<!--/--> of it",
		"<!--= one.devices.0.ledger.kv_cache.bytes -->1,073 MB<!--/-->":  "<!--= one.devices.0.ledger.kv_cache.bytes -->1,074 MB<!--/-->",
		"<!--= one.plan.context -->8,000<!--/-->":                        "<!--= one.plan.context -->8,192<!--/-->",
		"× <!--= (one.usable - one.room) / two.needed -->1.3<!--/--> it": "× <!--= (one.usable - one.room) / two.needed -->1<!--/--> it",
		"<!--= 1 - one.ledger.kv_cache.bytes / one.needed -->90 %<!--/-->": "<!--= 1 - one.ledger.kv_cache.bytes / one.needed -->94 " +
			"%<!--/-->",
		"<!--said-->7 GB<!--/-->, <!--= one.verdict -->fits<!--/-->": "<!--said-->7 GB<!--/-->, <!--= one.verdict -->fits<!--/-->",
	} {
		now, _, err := remarked(newPage("x.md", asks+text))
		if err != nil || now.text() != asks+want {
			t.Errorf("%s became\n%s (%v), want\n%s", text, strings.TrimPrefix(now.text(), asks), err, want)
		}
	}
	if _, _, err := remarked(newPage("x.md", asks+"```json of one.plan\n{\"context\":8192,\n\"weights\":\"bf16\"}\n```")); err != nil {
		t.Error(err)
	}
	for _, text := range []string{"<!--= one.verdict -->does not fit<!--/-->", "```json of one.plan\n{\"context\":4096}\n```", "<!--= three.needed -->1<!--/-->", "<!--= one.nothing -->1<!--/-->", "<!--= one.needed -->much<!--/-->", "<!--= one.devices -->1<!--/-->"} {
		if _, _, err := remarked(newPage("x.md", asks+text)); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}

// TestUnmarkedFigureIsSeen: the check above can fail.
func TestUnmarkedFigureIsSeen(t *testing.T) {
	p := newPage("x.md", "# 24 GB\n<!-- asks\na: 3 GiB\n-->\nIt takes 1.5 GiB and 7 tok/s, × 3 or 95 %, but <!--said-->7 GB<!--/-->, `8 GB`, 80 layers, tp 8.\n```\n9 GiB\n```")
	if got := unmarked(p); len(got) != 4 {
		t.Errorf("%d found: %q, want 4", len(got), got)
	}
}
