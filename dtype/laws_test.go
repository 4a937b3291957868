package dtype

import (
	"strings"
	"testing"
)

// TestEveryNameFindsItsRecipe: names, titles and aliases find the recipe they stand with, or one before it
// that has the name too; upper case, spaces and marks do not count.
func TestEveryNameFindsItsRecipe(t *testing.T) {
	before := map[string]bool{}
	for _, r := range Recipes() {
		for _, name := range append([]string{r.Name, r.Title}, r.Aliases...) {
			if name == "" {
				continue
			}
			for _, spelt := range []string{name, strings.ToUpper(name), strings.ReplaceAll(name, "_", " "),
				strings.ReplaceAll(name, "_", "-")} {
				if got := FindRecipe(spelt); got != r && (got == nil || !before[got.Name]) {
					t.Errorf("%q of %s finds %+v", spelt, r.Name, got)
				}
			}
		}
		before[r.Name] = true
	}
}

// TestSchemesGrow: more rows or columns never take fewer bytes, and no element takes more than 8 bytes with
// its scales.
func TestSchemesGrow(t *testing.T) {
	seen := map[*Scheme]bool{}
	for _, r := range Recipes() {
		s := r.Pick(&Site{Role: FFNUp, Dims: 2, Batch: 1, Rows: 4096, Cols: 4096, Model: &Facts{Arch: "llama", Layers: 32, GQA: 4}})
		if s == nil || seen[s] {
			continue
		}
		seen[s] = true
		last := s.Bytes(1, 256, 256)
		for n := int64(512); n <= 8192; n *= 2 {
			now := s.Bytes(1, n, n)
			if now < last || float64(now) > 8*float64(n)*float64(n) || s.Bytes(3, n, n) < 3*now {
				t.Errorf("%s: %d bytes for %d × %d, %d before", s.Name, now, n, n, last)
			}
			last = now
		}
	}
	if len(seen) < 25 {
		t.Errorf("only %d schemes are seen", len(seen))
	}
}

// FuzzNames: any text finds nothing, or a recipe and a format that their own names find.
func FuzzNames(f *testing.F) {
	for _, s := range []string{"Q4_K_M", "Q4_K - Medium", "bf16", "awq-int4", "", "fp8 e4m3", "İ", "q4\x00k"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if r := FindRecipe(name); r != nil && FindRecipe(r.Name) != r {
			t.Errorf("%q finds %s, which finds %v", name, r.Name, FindRecipe(r.Name))
		}
		if x := FindFormat(name); x != nil && FindFormat(x.Name) != x {
			t.Errorf("%q finds %s, which finds %v", name, x.Name, FindFormat(x.Name))
		}
	})
}
