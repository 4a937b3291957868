package rows_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/calibrate"
	"github.com/memwall/memwall/internal/rows"
	"github.com/memwall/memwall/plan"
)

// line is a row in which a test changes a few words.
const line = `{"schema":"memwall/row/1","by":"0.1.0","engine":"vllm@0.12.0","date":"2026-11-27","source":"own","licence":"CC0-1.0",` +
	`"ask":{"ask":"fit","model":"llama-3.1-8b","hardware":"rtx-4090","weights":"bf16","engine":"vllm@0.12"},` +
	`"figures":[{"name":"Model loading took","device":"DP0","unit":"GiB","measured":15,"predicted":14.99}]}` + "\n"

func read(t *testing.T, text string) []*rows.Row {
	t.Helper()
	out, err := rows.Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRefused: what is hostile, not stated or of a newer version is refused by its place and with a way on.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ from, to, field string }{
		{`"CC0-1.0"`, `""`, "licence"},
		{`"CC0-1.0"`, `"my own rules"`, "licence"},
		{`"own"`, `"\u001b[2J"`, "source"},
		{`"own"`, `"a\u202eb"`, "source"},
		{`"own"`, `""`, "source"},
		{`"DP0"`, `"` + strings.Repeat("x", 300) + `"`, "device"},
		{`memwall/row/1`, `memwall/row/2`, "schema"},
		{`"measured":15`, `"measured":-1`, "measured"},
		{`"measured":15`, `"measured":1e300`, "measured"},
		{`"unit":"GiB"`, `"unit":"ms","test":"decode"`, "unit"},
		{`"unit":"GiB"`, `"unit":"GiB","test":"sprint"`, "test"},
		{`"rtx-4090"`, `"rtx-40900"`, "ask.hardware"},
		{`"llama-3.1-8b"`, `"/home/ann/secret.gguf"`, "ask.model"},
		{`"weights":"bf16"`, `"engine_args":["--api-key=x"]`, "ask.engine_args"},
		{`"weights":"bf16"`, `"mmproj":"/home/ann/x.gguf"`, "ask.mmproj"},
		{`"figures":[`, `"figures":[],"more":[`, ""},
		{`"2026-11-27"`, `"yesterday"`, "date"},
	} {
		_, err := rows.Read([]byte(line + strings.Replace(line, c.from, c.to, 1)))
		e, ok := errors.AsType[*rows.Error](err)
		if !ok || e.Field != c.field || e.Fix == "" || !strings.HasPrefix(e.At, "row 2") || strings.ContainsAny(err.Error(), "\x1b\u202e") {
			t.Errorf("%s → %s: %v", c.from, c.to, err)
		}
	}
	for _, text := range []string{"", "{", "[]", "null", `{"schema":1}`, strings.Repeat("[", 1e6)} {
		if _, err := rows.Read([]byte(text)); err == nil {
			t.Errorf("%.20q is a row", text)
		}
	}
}

// TestShared: nothing that names somebody's files, keys or patterns leaves, and what leaves can be added.
func TestShared(t *testing.T) {
	secret := "s3cret"
	value := func(x float64) *float64 { return &x }
	a := &memwall.Answer{Model: &memwall.ModelInfo{ID: "llama-3.1-8b"}, Compare: []memwall.Line{{Name: "Model loading took", Unit: "GiB",
		Printed: value(15), Ours: value(14.9)}},
		Plan: &memwall.Request{Ask: "fit", Model: "/home/" + secret + "/m.gguf", Hardware: "NVIDIA GeForce RTX 4090", Devices: 2,
			Plan: plan.Plan{Engine: "vllm@0.12", Weights: "bf16", TP: 2,
				LlamaCpp: plan.LlamaCpp{OverrideTensor: secret + "=CPU", MMProj: secret},
				Serving:  plan.Serving{EngineArgs: []string{"--api-key=" + secret}}, DraftModel: secret}}}
	got, err := rows.From(a, "", "own", "CC0-1.0", "2026-11-27")
	if err != nil {
		t.Fatal(err)
	}
	for _, as := range rows.Ways() {
		w, err := got.Written(as)
		if err != nil || strings.Contains(w.Text+w.Shown, secret) {
			t.Errorf("%s: %v %s", as, err, w.Text)
		}
	}
	if d := fmt.Sprint(got.Left); d != "[draft_model override_tensor mmproj engine_args]" {
		t.Errorf("left out %s", d)
	}
	one, err := got.Row.Line()
	if err != nil {
		t.Fatal(err)
	}
	back := read(t, string(one))[0]
	if back.ID() != got.Row.ID() || back.Plan().Hardware != "2xrtx-4090" || back.Plan().TP != 2 {
		t.Errorf("%s", one)
	}
	a.Model.ID, a.Plan.Model = "", "acme/"+secret
	if _, err := rows.From(a, "", "own", "CC0-1.0", ""); err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("a private name leaves: %v", err)
	}
	if got, err := rows.From(a, "acme/open", "own", "CC0-1.0", ""); err != nil || got.Row.Plan().Model != "acme/open" {
		t.Errorf("a name that was given does not leave: %v", err)
	}
}

// of makes rows whose figure is so many times its prediction.
func of(t *testing.T, ratios ...float64) []*rows.Row {
	var text strings.Builder
	for i, x := range ratios {
		text.WriteString(strings.Replace(strings.Replace(line, `"measured":15,"predicted":14.99`, fmt.Sprintf(`"measured":%g,"predicted":10`,
			10*x), 1), "own", fmt.Sprint("run ", i), 1))
	}
	return read(t, text.String())
}

// TestJudge: an outlier is set apart by its distance from the others, and a pair is held to the prediction alone.
func TestJudge(t *testing.T) {
	for _, c := range []struct {
		ratios []float64
		want   []int
	}{
		{[]float64{1, 1.02, 0.98, 1.01, 0.99, 2}, []int{5}},
		{[]float64{2, 2.05, 1.98, 2.01, 2, 2.03}, nil}, // all are off alike: that is news, and no outlier
		{[]float64{1, 4}, []int{1}},
		{[]float64{1, 2}, nil},
		{[]float64{1, 1.1, 1.3, 0.8, 0.7, 1.4}, nil},
	} {
		var got []int
		for _, d := range rows.Judge(of(t, c.ratios...)) {
			got = append(got, d.Row)
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%v: %v, want %v", c.ratios, got, c.want)
		}
	}
}

// TestJudgeOrder: the order of rows and the unit of figures change no judgement.
func TestJudgeOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		ratios := make([]float64, 1+rng.IntN(12))
		for i := range ratios {
			ratios[i] = math.Exp(rng.NormFloat64())
		}
		count := func() (n int) { return len(rows.Judge(of(t, ratios...))) }
		before := count()
		rng.Shuffle(len(ratios), func(i, j int) { ratios[i], ratios[j] = ratios[j], ratios[i] })
		if after := count(); after != before {
			t.Fatalf("%v: %d, then %d", ratios, before, after)
		}
	}
}

// TestEvidence: rows of the model tell of its answer, others of the card are counted, and those elsewhere say nothing.
func TestEvidence(t *testing.T) {
	all := append(of(t, 1, 1.02, 0.98, 1.01, 0.99, 2), read(t, strings.Replace(line, "llama-3.1-8b", "qwen3-8b", 1))...)
	asker := memwall.Asker{Evidence: rows.NewEvidence(all)}
	ask := func(hw string) *memwall.Measured {
		a, err := asker.Ask(&memwall.Request{Ask: "fit", Model: "llama-3.1-8b", Hardware: hw, Plan: plan.Plan{Engine: "vllm", Weights: "bf16"}})
		if err != nil {
			t.Fatal(err)
		}
		return a.Measured
	}
	m := ask("rtx-4090")
	if m == nil || m.Rows != 6 || m.OtherRows != 1 || m.Quarantined != 1 || len(m.Ratios) != 1 || m.Ratios[0].Figures != 5 ||
		math.Abs(m.Ratios[0].Median-1) > 1e-9 {
		t.Errorf("%+v", m)
	}
	if m := ask("rtx-3090"); m != nil {
		t.Errorf("%+v of another card", m)
	}
}

// TestStore: rows are added once, a line that was cut off is passed over, and a store of a newer memwall stays as it is.
func TestStore(t *testing.T) {
	s := &rows.Store{Path: filepath.Join(t.TempDir(), "memwall", "rows.jsonl")}
	if kept, err := s.Rows(); err != nil || len(kept) != 0 {
		t.Fatal(kept, err)
	}
	add := func(n, had int, r []*rows.Row) {
		t.Helper()
		if a, h, err := s.Add(r); err != nil || a != n || h != had {
			t.Fatalf("%d added, %d had, %v", a, h, err)
		}
	}
	add(2, 0, of(t, 1, 1.1))
	add(1, 2, of(t, 1, 1.1, 1.2))
	cut(t, s.Path, line[:100])
	add(1, 3, of(t, 1, 1.1, 1.2, 1.3))
	if info, err := os.Stat(s.Path); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	cut(t, s.Path, strings.Replace(line, "row/1", "row/2", 1))
	before, _ := os.ReadFile(s.Path)
	_, _, err := s.Add(of(t, 5))
	after, _ := os.ReadFile(s.Path)
	if e, ok := errors.AsType[*rows.Error](err); !ok || !strings.Contains(e.Why, "newer") || string(before) != string(after) {
		t.Errorf("%v", err)
	}
}

// cut puts text at the end of a file.
func cut(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestStoreTwoAtOnce: whoever adds beside somebody else loses nothing.
func TestStoreTwoAtOnce(t *testing.T) {
	s := &rows.Store{Path: filepath.Join(t.TempDir(), "rows.jsonl")}
	var wait sync.WaitGroup
	for i := range 8 {
		r := of(t, 1+float64(i)/100)
		wait.Go(func() {
			if _, _, err := s.Add(r); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if kept, err := s.Rows(); err != nil || len(kept) != 8 {
		t.Errorf("%d rows, %v", len(kept), err)
	}
}

// TestSharedRows: every row that was sent to the project can be read.
func TestSharedRows(t *testing.T) {
	names, err := filepath.Glob("../../validation/rows/shared/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err == nil {
			_, err = rows.Read(data)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(line))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := rows.Read(data)
		if err != nil {
			return
		}
		rows.NewEvidence(all)
		if _, err := json.Marshal(rows.NewReport("x", all)); err != nil {
			t.Error(err)
		}
	})
}

// TestImportedWeights: a figure whose weights nobody knows is refused by itself, and the rest of the file is kept.
func TestImportedWeights(t *testing.T) {
	table := "| model | params | backend | test | t/s |\n| - | - | - | - | - |\n" +
		"| llama 8B I2_S - 2 bpw ternary | 8.03 B | CUDA | tg128 | 90 |\n| llama 8B Q9_0 | 8.03 B | CUDA | tg128 | 80 |\n" +
		"| llama 8B Q4_0 | 8.03 B | CUDA | tg128 | 70 |\n"
	s := &rows.Stated{Source: "own", Licence: "CC0-1.0", Given: calibrate.Given{Hardware: "rtx-3090"}}
	got, refused, err := rows.Load([]byte(table), s, memwall.Catalog{})
	if err != nil || len(got) != 1 || len(got[0].Figures) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	if len(refused) != 2 || !strings.Contains(refused[0].Why, "how the weights are stored") || !strings.Contains(refused[1].Why, "Q9_0") {
		t.Errorf("%+v", refused)
	}
}
