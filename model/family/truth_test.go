package family

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// shared is a folder with configs and published totals, where there is one.
func shared() string {
	return os.Getenv("MEMWALL_SHARED")
}

func readCSV(t *testing.T, path string) []map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, r := range rows[1:] {
		m := map[string]string{}
		for i, k := range rows[0] {
			m[k] = r[i]
		}
		out = append(out, m)
	}
	return out
}

func TestTruth(t *testing.T) {
	dir := shared()
	if dir == "" {
		return
	}
	files := map[string]string{}
	for _, r := range readCSV(t, filepath.Join(dir, "data/configs_index.csv")) {
		files[r["hf_id"]] = r["file"]
	}
	ok, bad := 0, 0
	for _, r := range readCSV(t, filepath.Join(dir, "data/params_truth.csv")) {
		file := r["config_file"]
		if file == "" {
			file = files[r["hf_id"]]
		}
		if file == "" || r["total_params"] == "" || r["exactness"] == "rounded" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, "data/configs", file))
		if err != nil {
			t.Fatal(err)
		}
		c, err := ParseConfig(data)
		if err != nil {
			t.Log(file, err)
			continue
		}
		m, err := FromConfigModel(r["hf_id"], c)
		if err != nil {
			t.Log("ERR", file, err)
			continue
		}
		want, _ := strconv.ParseInt(r["total_params"], 10, 64)
		tot := m.Totals()
		got := tot.Unique
		switch want {
		case got, got + tot.MTP, got + tot.TiedHead, got - tot.Head, got - tot.RouterBias:
			ok++
			continue
		}
		bad++
		t.Logf("%s %s %s want %d got %d (diff %d) mtp %d tied %d | %s", r["hf_id"], c.Class(), r["exactness"], want, got, want-got, tot.MTP, tot.TiedHead, r["note"])
	}
	t.Log("ok", ok, "bad", bad)
}
