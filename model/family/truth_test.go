package family_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/memwall/memwall/internal/datatest"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/model/family"
)

// counts are the ways in which a checkpoint counts its parameters, by the names that the rows have.
var counts = map[string]func(*model.Totals) int64{
	"parameters":              func(t *model.Totals) int64 { return t.Unique },
	"parameters_with_mtp":     func(t *model.Totals) int64 { return t.Unique + t.MTP },
	"parameters_head_twice":   func(t *model.Totals) int64 { return t.Unique + t.TiedHead },
	"parameters_without_head": func(t *model.Totals) int64 { return t.Unique - t.Head },
}

// TestTruth: the published total of every checkpoint among the rows of validation is that of its network, to
// the last parameter.
func TestTruth(t *testing.T) {
	f, err := os.Open("../../validation/rows/parameters.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	checked := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var row struct {
			About, Source, Refused string
			Ask                    struct {
				Model    string
				Override struct{ Vocab int64 }
			}
			Got map[string]int64
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		if row.About != "" || row.Refused != "" {
			continue // the head of the file, and totals that count something else; each says what
		}
		totals := catalogTotals(t, row.Ask.Model, row.Ask.Override.Vocab)
		for figure, want := range row.Got {
			count, ok := counts[figure]
			if !ok || totals == nil {
				t.Errorf("%s: no count for %s of %q", row.Source, figure, row.Ask.Model)
				continue
			}
			if got := count(totals); got != want {
				t.Errorf("%s: %s of %s are %d, published %d", row.Source, figure, row.Ask.Model, got, want)
			}
			checked++
		}
	}
	if checked < 200 {
		t.Errorf("only %d totals are checked", checked)
	}
}

// catalogTotals counts an entry of the catalog, with another vocabulary where one is given.
func catalogTotals(t *testing.T, id string, vocab int64) *model.Totals {
	t.Helper()
	e, err := catalog.Find(id)
	if err != nil {
		t.Error(err)
		return nil
	}
	s, err := e.Spec()
	if err != nil {
		t.Errorf("%s: %v", id, err)
		return nil
	}
	if vocab > 0 {
		s.Vocab = vocab
	}
	totals := s.Model(id).Totals()
	return &totals
}

// beyond is what these published totals have beyond what is learned, and why.
var beyond = map[string]int64{
	"meta-llama/Llama-2-7b-chat-hf":     32 * 64,                                     // rotary frequencies in each layer
	"BAAI/bge-large-en":                 512,                                         // numbers of positions, a buffer
	"MBZUAI/AIN":                        8_291_375_616,                               // bytes halved, though the files are in fp32
	"Salesforce/instructcodet5p-16b":    55 * 2048 * 2048 / 2,                        // bytes halved; a mask of one byte each in 54 layers, and one more for cross-attention
	"deepseek-ai/DeepSeek-OCR-2":        564 * 896,                                   // the total is of a study of its queries, which has as many more; unsloth/DeepSeek-OCR-2 is exact
	"THUDM/glm-4-9b-chat":               32,                                          // rotary frequencies
	"microsoft/Phi-3-small-8k-instruct": 32 * 64,                                     // rotary frequencies in each layer
	"openbmb/Scicore-Omics":             1500 * 8 / 2,                                // numbers of positions of genes, a buffer of 64-bit integers, its bytes halved
	"openai-community/gpt2-large":       36 * 1024 * 1024,                            // a mask in each layer
	"microsoft/Phi-3.5-MoE-instruct":    7_647_632_704 - 41_873_153_344,              // the total is of Phi-mini-MoE, which has as many layers
	"zai-org/GLM-5.2":                   57 * (2048*4096 + 6144*128 + 256 + 6144*32), // the total is of GLM-5.1, which has an indexer in each layer
}

// TestTruthOfConfigs: published configurations give the published totals, in one of the ways of counting.
// Totals of packed elements are checked where quantisations are read.
func TestTruthOfConfigs(t *testing.T) {
	dir := os.Getenv("MEMWALL_SHARED")
	if dir == "" {
		return
	}
	files := map[string]string{}
	for _, r := range datatest.Shared(t, "configs_index.csv") {
		files[r["hf_id"]] = r["file"]
	}
	checked := 0
	for _, r := range datatest.Shared(t, "params_truth.csv") {
		file := r["config_file"]
		if file == "" {
			file = files[r["hf_id"]]
		}
		if file == "" || r["exactness"] != "exact" && r["exactness"] != "exact-sibling" {
			continue
		}
		want, err := strconv.ParseInt(r["total_params"], 10, 64)
		if err != nil {
			continue // a row of another figure
		}
		if m := configModel(t, filepath.Join(dir, "data/configs", file)); m != nil {
			checked++
			checkTotal(t, r["hf_id"], m, want-beyond[r["hf_id"]])
		}
	}
	if checked < 60 {
		t.Errorf("only %d totals are checked", checked)
	}
}

// configModel reads a configuration; nil when no family reads its architecture, or not all of it.
func configModel(t *testing.T, file string) *model.Model {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c, err := family.ParseConfig(data)
	if err != nil {
		t.Errorf("%s: %v", file, err)
		return nil
	}
	m, err := family.FromConfigModel(file, c)
	if unknown := (*family.UnknownError)(nil); err != nil && !errors.As(err, &unknown) {
		t.Errorf("%s: %v", file, err)
	}
	return m
}

func checkTotal(t *testing.T, id string, m *model.Model, want int64) {
	t.Helper()
	totals := m.Totals()
	for _, count := range counts {
		if count(&totals) == want {
			return
		}
	}
	if totals.Unique-totals.RouterBias != want {
		t.Errorf("%s: %+v, published %d", id, totals, want)
	}
}
