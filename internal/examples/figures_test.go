package examples

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Every figure of the list has its row, every row its figure, and both are numbered without a gap.
func TestEveryFigureHasARow(t *testing.T) {
	all := All()
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
