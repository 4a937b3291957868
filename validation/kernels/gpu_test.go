package kernels

import (
	"os/exec"
	"strings"
	"testing"
)

// The rows of kernels that the script of validation/gpu would write can be read, under the columns of rows.tsv.
func TestGPURows(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("the plan is Python's, and there is no python3")
	}
	out, err := exec.Command(python, "../gpu/measure.py", "--plan").Output()
	if err != nil {
		t.Fatal(err)
	}
	kinds, columns := map[string]int{}, ""
	for l := range strings.Lines(string(out)) {
		what, rest, _ := strings.Cut(strings.TrimSuffix(l, "\n"), "\t")
		table, cells, _ := strings.Cut(rest, "\t")
		switch {
		case table != "kernels":
		case what == "header":
			columns = cells
		default:
			r, err := parse(strings.Split(strings.Replace(cells, "?", "1.5", 1), "\t"))
			if err != nil {
				t.Errorf("%q: %v", l, err)
			}
			kinds[r.Kind]++
		}
	}
	if lines, err := table.Lines(); err != nil || columns != lines[0] {
		t.Errorf("columns %q, want %q (%v)", columns, lines[0], err)
	}
	for _, k := range []string{"gemm", "prefill", "decode"} {
		if kinds[k] == 0 {
			t.Errorf("no rows of %s", k)
		}
	}
}
