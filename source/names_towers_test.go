package source

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model/catalog/catalogtest"
)

// TestTowerNames: names of published indices end in the slot of the part that they mean. Each is of the repository
// that the catalog's row names.
func TestTowerNames(t *testing.T) {
	filings := map[string]*filing{}
	for _, c := range table(t, "tower-names.tsv") {
		id, name := c[0], c[1]
		want := where4{c[2], wholeOf(t, c[3]), dtype.Role(c[4]), c[5] == "true"}
		if filings[id] == nil {
			filings[id] = newFiling(catalogtest.Model(t, id))
		}
		f, x := filings[id], fileTensor{name: name}
		n, ok := readName(name)
		if !ok || !f.place(&x, &n) {
			t.Errorf("%s: %s has no place", id, name)
			continue
		}
		if got := f.placed(name); !slices.Contains(got, want) {
			t.Errorf("%s: %s is %+v, want %+v", id, name, got, want)
		}
	}
}

// table gives the rows of a table of testdata.
func table(t *testing.T, name string) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	columns := strings.Count(lines[0], "\t")
	for _, l := range lines[1:] {
		if strings.Count(l, "\t") != columns {
			t.Fatalf("%s: %q has other columns than %q", name, l, lines[0])
		}
		rows = append(rows, strings.Split(l, "\t"))
	}
	return rows
}

func wholeOf(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// where4 is a slot of a part.
type where4 struct {
	part  string
	layer int
	role  dtype.Role
	bias  bool
}

// placed lists the slots that hold a tensor.
func (f *filing) placed(name string) (out []where4) {
	for part, p := range f.parts {
		for at, h := range p.held {
			if h.name == name {
				out = append(out, where4{part, at.layer, at.slot.role, at.slot.bias})
			}
		}
	}
	return out
}
