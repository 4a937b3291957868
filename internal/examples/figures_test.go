package examples

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// documentFigures are the figures of one document, as texts/figures.txt lists them independently of the rows: the beginning of
// its file's name and how many rows its figures make; then which row judges a figure and where it stands, as line:text, a
// figure that is repeated with several places; and, behind a dash, lines with digits and without a figure to judge, and why.
type documentFigures struct {
	File       string
	Count      int
	At         []place
	PassedOver []passed
}

// passed are lines, by number, and why no row judges them.
type passed struct{ Why, Lines string }

// place is where the figures of a row stand: "line:text" pairs.
type place struct{ ID, Lines string }

func readFigures(t *testing.T) (all []documentFigures) {
	text, err := texts.ReadFile("texts/figures.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range strings.Split(strings.TrimSpace(string(text)), "\n\n") {
		var d documentFigures
		for i, l := range strings.Split(block, "\n") {
			if i == 0 {
				if _, err := fmt.Sscanf(l, "%s %d", &d.File, &d.Count); err != nil {
					t.Fatal(err)
				}
				continue
			}
			switch f := strings.Split(l, "\t"); {
			case len(f) == 2:
				d.At = append(d.At, place{f[0], f[1]})
			case len(f) == 3 && f[0] == "-":
				d.PassedOver = append(d.PassedOver, passed{f[2], f[1]})
			default:
				t.Fatalf("no figure: %q", l)
			}
		}
		all = append(all, d)
	}
	return all
}

// judgedTexts gives the documents and what is quoted beside them.
func judgedTexts(t *testing.T) []Document {
	all, err := Judged()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Every figure of the list has its row, every row its figure, and both are numbered without a gap.
func TestEveryFigureHasARow(t *testing.T) {
	all, figures := judgedTexts(t), readFigures(t)
	all = all[:len(all)-1]
	if len(all) != len(figures) {
		t.Fatalf("%d documents, %d lists", len(all), len(figures))
	}
	for i := range all {
		rows := map[string]bool{}
		for n, r := range all[i].Rows() {
			if want := fmt.Sprintf("%d.%d", all[i].Number, n+1); r.ID != want {
				t.Errorf("row %s stands where %s belongs", r.ID, want)
			}
			rows[r.ID] = true
		}
		list := figures[i]
		if len(list.At) != list.Count || len(rows) != list.Count {
			t.Errorf("document %d: %d figures listed, %d rows, want %d of both", i+1, len(list.At), len(rows), list.Count)
		}
		for _, p := range list.At {
			if !rows[p.ID] {
				t.Errorf("figure %s has no row", p.ID)
			}
			if len(p.parts(t)) == 0 {
				t.Errorf("figure %s stands nowhere", p.ID)
			}
		}
	}
}

type part struct {
	line int
	text string
}

func (p *place) parts(t *testing.T) (out []part) {
	for _, f := range strings.Fields(p.Lines) {
		n, text, ok := strings.Cut(f, ":")
		line, err := strconv.Atoi(n)
		if !ok || err != nil || text == "" {
			t.Fatalf("%s: place %q is not line:text", p.ID, f)
		}
		out = append(out, part{line, text})
	}
	return out
}

func (d *documentFigures) passedOver(t *testing.T) map[int]bool {
	lines := map[int]bool{}
	for _, p := range d.PassedOver {
		for _, f := range strings.Fields(p.Lines) {
			n, err := strconv.Atoi(f)
			if err != nil || p.Why == "" || lines[n] {
				t.Errorf("%s: line %q passed over for %q", d.File, f, p.Why)
			}
			lines[n] = true
		}
	}
	return lines
}

// No line is both judged and passed over. Where the documents are at hand, each figure stands where the
// list says, and no line with a digit is forgotten.
func TestListAgainstDocuments(t *testing.T) {
	figures := readFigures(t)
	for i := range figures {
		d := &figures[i]
		passed, judged := d.passedOver(t), map[int]bool{}
		for _, p := range d.At {
			for _, x := range p.parts(t) {
				judged[x.line] = true
				if passed[x.line] {
					t.Errorf("%s: line %d is judged by %s and passed over", d.File, x.line, p.ID)
				}
			}
		}
		if lines := d.read(t); lines != nil {
			d.compare(t, lines, passed, judged)
		}
	}
}

// read gives the lines of the document, nil where it is not at hand.
func (d *documentFigures) read(t *testing.T) []string {
	shared := os.Getenv("MEMWALL_SHARED")
	if shared == "" {
		return nil
	}
	found, err := filepath.Glob(filepath.Join(shared, "seeds", d.File+"*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %d files (%v)", d.File, len(found), err)
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(text), "\n")
}

func (d *documentFigures) compare(t *testing.T, lines []string, passed, judged map[int]bool) {
	for _, p := range d.At {
		for _, x := range p.parts(t) {
			if x.line > len(lines) || !strings.Contains(lines[x.line-1], x.text) {
				t.Errorf("%s: %s is not on line %d of %s", p.ID, x.text, x.line, d.File)
			}
		}
	}
	for n, line := range lines {
		if strings.ContainsAny(line, "0123456789") && !judged[n+1] && !passed[n+1] {
			t.Errorf("%s, line %d has digits and no row: %.80s", d.File, n+1, line)
		}
	}
}
