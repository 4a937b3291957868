package validation

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/train/step"
	"github.com/memwall/memwall/validation/packed"
)

// script is what measures on a GPU. Its plan needs neither a GPU nor torch.
const script = "gpu/measure.py"

// gpuPlan are the lines of the script's plan, in cells, by what they are: header, config, row.
func gpuPlan(t *testing.T) map[string][][]string {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("the plan is Python's, and there is no python3")
	}
	var talk bytes.Buffer
	c := exec.Command(python, script, "--plan")
	c.Stderr = &talk
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, &talk)
	}
	lines := map[string][][]string{}
	for l := range strings.Lines(string(out)) {
		cells := strings.Split(strings.TrimSuffix(l, "\n"), "\t")
		lines[cells[0]] = append(lines[cells[0]], cells[1:])
	}
	return lines
}

// measured gives a planned row with a figure in place of each mark.
func measured(cells []string) []string {
	out := append([]string(nil), cells[1:]...)
	for i, c := range out {
		if c == "?" {
			out[i] = "1.5"
		}
	}
	return out
}

// The columns that the script writes are those of the tables here.
func TestGPUColumns(t *testing.T) {
	tables := map[string]packed.File{"train-memory": trainingRows, "train-speed": trainSpeedRows, "decode": streamRows}
	seen := 0
	for _, h := range gpuPlan(t)["header"] {
		rows, ok := tables[h[0]]
		if !ok {
			continue // kernels are read by a package of their own
		}
		seen++
		lines, err := rows.Lines()
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.Split(lines[0], "\t"); !reflect.DeepEqual(h[1:], want) {
			t.Errorf("%s has columns %q, want %q", h[0], h[1:], want)
		}
	}
	if seen != len(tables) {
		t.Errorf("%d tables of %d", seen, len(tables))
	}
}

// Its configurations are the catalog's: as many parameters under the same id.
func TestGPUModels(t *testing.T) {
	configs := gpuPlan(t)["config"]
	if len(configs) == 0 {
		t.Fatal("no configuration")
	}
	for _, c := range configs {
		parsed, err := family.ParseConfig(json.RawMessage(c[1]))
		if err != nil {
			t.Errorf("%s: %v", c[0], err)
			continue
		}
		s, err := family.FromConfig(parsed)
		if err != nil {
			t.Errorf("%s: %v", c[0], err)
			continue
		}
		want, err := catalog.Model(c[0])
		if err != nil {
			t.Errorf("%s: %v", c[0], err)
			continue
		}
		if got := s.Model(c[0]); got.Params() != want.Params() {
			t.Errorf("%s has %d parameters, want %d", c[0], got.Params(), want.Params())
		}
	}
}

// Every row that it would write can be read, and memwall has a prediction for it.
func TestGPURows(t *testing.T) {
	count := map[string]int{}
	trainer, err := NewTrainer()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range gpuPlan(t)["row"] {
		count[row[0]]++
		if err := predicted(trainer, row[0], measured(row)); err != nil {
			t.Errorf("%q: %v", row, err)
		}
	}
	for _, table := range []string{"train-memory", "train-speed", "decode", "kernels"} {
		if count[table] == 0 {
			t.Errorf("no rows of %s", table)
		}
	}
}

func predicted(trainer *Trainer, table string, cells []string) error {
	source := []string{"measured, GPU, date"}
	switch table {
	case "train-memory":
		r, err := trainingRow(cells, source)
		if err == nil {
			_, err = r.Predict()
		}
		return err
	case "train-speed":
		r, err := trainSpeed(cells, source)
		if err != nil {
			return err
		}
		m, err := trainer.Compile(&r)
		if err != nil {
			return err
		}
		fitted, err := step.Fitted()
		if err == nil {
			m.With(fitted).Predict()
		}
		return err
	case "decode":
		_, err := streamRow(cells, source)
		return err
	}
	return nil
}

// Merged rows stand behind the others, under a source of their own.
func TestGPUMerge(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	into, from := t.TempDir(), t.TempDir()
	write := func(dir, name, text string) {
		t.Helper()
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for _, h := range gpuPlan(t)["header"] {
		write(from, h[0]+".tsv", strings.Join(h[1:], "\t")+"\n")
	}
	plan := gpuPlan(t)
	var memory, kernel []string
	for _, r := range plan["row"] {
		switch r[0] {
		case "train-memory":
			memory = measured(r)
		case "kernels":
			kernel = measured(r)
		}
	}
	write(from, "train-memory.tsv", "header\n"+strings.Join(memory, "\t")+"\n")
	write(from, "kernels.tsv", "header\n"+strings.Join(kernel, "\t")+"\n")
	write(from, "source.txt", "measured, NVIDIA X, 2026-01-02\n")
	for _, f := range []packed.File{trainingRows, trainingSources} {
		text, err := f.Read()
		if err != nil {
			t.Fatal(err)
		}
		write(into, string(f), string(text))
	}
	write(into, "kernels/rows.tsv", "")
	write(into, "kernels/sources.tsv", "aic\tsomewhere\n")
	if out, err := exec.Command(python, script, "--merge", from, into).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	read := func(name string) []string {
		data, err := os.ReadFile(filepath.Join(into, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(string(data)), "\n")
	}
	rows := read("rows/train-memory.tsv")
	r, err := trainingRow(strings.Split(rows[len(rows)-1]+"\t\t", "\t")[:10], read("rows/train-memory-sources.txt"))
	if err != nil || r.Source != "measured, NVIDIA X, 2026-01-02" || r.GiB != 1.5 {
		t.Errorf("%+v, %v", r, err)
	}
	if got := read("kernels/rows.tsv"); !strings.Contains(got[0], "\tgpu0") || read("kernels/sources.tsv")[1] != "gpu0\tmeasured, NVIDIA X, 2026-01-02" {
		t.Errorf("%q, %q", got, read("kernels/sources.tsv"))
	}
}
