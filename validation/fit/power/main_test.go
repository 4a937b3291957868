package main

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/memwall/memwall/validation/fit/internal/fittest"
)

// TestTableIsFitted: the embedded table is what the program writes from the rows.
func TestTableIsFitted(t *testing.T) {
	want, err := fit()
	if err != nil {
		t.Fatal(err)
	}
	fittest.Fresh(t, "power", "cost/power.tsv", want)
}

// TestLeftOut: what the table says of rows that a fit had not seen stays within bounds that only tighten.
func TestLeftOut(t *testing.T) {
	table, err := fit()
	if err != nil {
		t.Fatal(err)
	}
	bounds := map[string]struct{ median, p90, width float64 }{"hardware": {0.17, 0.30, 0.71}, "models": {0.115, 0.31, 0.60}}
	for name, most := range bounds {
		_, line, ok := bytes.Cut(table, []byte("# left out "+name+"\t"))
		var rows int
		var median, p90, cover, width float64
		if _, err := fmt.Sscanf(string(line), "rows %d\tmedian %f\tp90 %f\tcover %f\twidth %f", &rows, &median, &p90, &cover,
			&width); !ok || err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if rows < 490 || median > most.median || p90 > most.p90 || width > most.width || cover < 0.87 || cover > 0.935 {
			t.Errorf("%s left out: %d rows, median %.3f, p90 %.3f, coverage %.3f, width %.3f", name, rows, median, p90, cover, width)
		}
	}
}
