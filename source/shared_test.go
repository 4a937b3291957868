package source

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"testing"
)

// sharedDir is a folder with published configurations and totals, "" when there is none.
func sharedDir() string { return os.Getenv("MEMWALL_SHARED") }

// rows reads a CSV file of the shared data, a map for each row.
func rows(t *testing.T, name string) []map[string]string {
	t.Helper()
	f, err := os.Open(filepath.Join(sharedDir(), "data", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, r := range all[1:] {
		m := map[string]string{}
		for i, k := range all[0] {
			m[k] = r[i]
		}
		out = append(out, m)
	}
	return out
}
