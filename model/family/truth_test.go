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

// beyond is what published totals have beyond the parameters, and why.
var beyond = map[string]struct {
	elements int64
	why      string
}{
	"THUDM/glm-4-9b-chat":               {32, "a rotary buffer"},
	"meta-llama/Llama-2-7b-chat-hf":     {32 * 64, "a rotary buffer in each of 32 layers"},
	"microsoft/Phi-3-small-8k-instruct": {32 * 64, "a rotary buffer in each of 32 layers"},
	"openai-community/gpt2-large":       {36 * 1024 * 1024, "a mask in each of 36 layers"},
	"microsoft/Phi-3.5-MoE-instruct":    {7_647_632_704 - 41_873_153_344, "the total is of Phi-mini-MoE, whose layers are as many"},
	"zai-org/GLM-5.2":                   {57 * (2048*4096 + 6144*128 + 256 + 6144*32), "the total is of GLM-5.1, which has an indexer in each layer"},
}

// TestTruth: published totals of unquantised checkpoints, exactly, in one of the ways to count.
func TestTruth(t *testing.T) {
	dir := shared()
	if dir == "" {
		return
	}
	files := map[string]string{}
	for _, r := range readCSV(t, filepath.Join(dir, "data/configs_index.csv")) {
		files[r["hf_id"]] = r["file"]
	}
	checked := 0
	for _, r := range readCSV(t, filepath.Join(dir, "data/params_truth.csv")) {
		file := r["config_file"]
		if file == "" {
			file = files[r["hf_id"]]
		}
		if file == "" || r["total_params"] == "" || r["exactness"] != "exact" && r["exactness"] != "exact-sibling" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, "data/configs", file))
		if err != nil {
			t.Fatal(err)
		}
		c, err := ParseConfig(data)
		if err != nil {
			t.Fatal(file, err)
		}
		m, err := FromConfigModel(r["hf_id"], c)
		if err != nil {
			t.Log(file, err)
			continue
		}
		want, err := strconv.ParseInt(r["total_params"], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		tot := m.Totals()
		switch want - beyond[r["hf_id"]].elements {
		case tot.Unique, tot.Unique + tot.MTP, tot.Unique + tot.TiedHead, tot.Unique - tot.Head, tot.Unique - tot.RouterBias:
		default:
			t.Errorf("%s: published %d, %d and %d in prediction layers | %s", r["hf_id"], want, tot.Unique, tot.MTP, r["note"])
		}
		checked++
	}
	if checked < 75 {
		t.Errorf("%d totals checked", checked)
	}
}
