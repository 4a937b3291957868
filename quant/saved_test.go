package quant

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/memwall/memwall/dtype"
)

// namedModel is a small network whose tensors have roles.
func namedModel(t *testing.T, formats []*Format) (*Model, []*Measured) {
	t.Helper()
	m := smallGGUF(t)
	var all []*Measured
	for _, x := range m.Tensors {
		stem := strings.TrimSuffix(x.Name, ".weight")
		x.Role, x.Part = dtype.Role(stem), "decoder"
		if rest, ok := strings.CutPrefix(stem, "blk."); ok {
			x.Layer = int(rest[0] - '0')
			x.Role = dtype.Role(rest[2:])
		}
		got, err := (&Work{Formats: formats}).Measure(x)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, got)
	}
	return m, all
}

// TestSaved: the error of a recipe of one format is that of the format; that of a mixture is the sum over the formats that
// llama.cpp gives its tensors. Recipes of formats that were not measured are not there.
func TestSaved(t *testing.T) {
	formats := []*Format{find(t, "q8_0"), find(t, "q6_k"), find(t, "q5_k"), find(t, "q4_k"), find(t, "fp8"), find(t, "int4-g128"),
		find(t, "int8-g128")}
	m, all := namedModel(t, formats)
	s := Save(m, all)
	of := map[string]float64{}
	for _, u := range Uniforms(all, formats) {
		of[u.Format.Name] = u.Error.WeightedRMS()
	}
	for recipe, format := range map[string]string{"q8_0": "q8_0", "q6_k": "q6_k", "fp8": "fp8", "int4": "int4-g128"} {
		if got, want := s.Recipes[recipe], of[format]; got == 0 || math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %v, want %v", recipe, got, want)
		}
	}
	var sum Error
	for _, x := range all {
		if len(x.Tried) == 0 {
			continue
		}
		// llama-quant.cpp at Q4_K_M: head q6_k; attn_v and ffn_down q6_k in the layers of more bits.
		f := "q4_k"
		if x.Role == dtype.Output || x.Role == dtype.AttnV && more(x.Layer) || x.Role == dtype.FFNDown && more(x.Layer) {
			f = "q6_k"
		}
		sum.Add(&x.Of(find(t, f)).Error)
	}
	if got := s.Recipes["q4_k_m"]; math.Abs(got-sum.WeightedRMS()) > 1e-12 {
		t.Errorf("q4_k_m: %v, want %v", got, sum.WeightedRMS())
	}
	if _, ok := s.Recipes["q3_k_m"]; ok {
		t.Error("q3_k_m was not measured")
	}
	if len(s.Tensors) != 16 || s.Tensors[0].Tried["q4_k"].Noise <= 0 {
		t.Errorf("%d tensors, %+v", len(s.Tensors), s.Tensors[0])
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	back, err := ReadSaved(bytes.NewReader(text))
	if err != nil || back.Recipes["q4_k_m"] != s.Recipes["q4_k_m"] {
		t.Errorf("%+v, %v", back, err)
	}
}

// more is use_more_bits of llama.cpp for two layers, i < 2/8 or i >= 7·2/8 or every third between: the second.
func more(layer int) bool { return layer == 1 }

func TestBadSaved(t *testing.T) {
	for text, says := range map[string]string{
		"":                               "not what memwall quant --save writes",
		`{"kind":"other"}`:               `its kind is "other"`,
		`{"kind":"` + SavedKind + `"}`:   "no recipe was measured whole",
		`{"recipes":{"q4_k_m":"large"}}`: "not what memwall quant",
		`{"kind":"` + SavedKind + `","recipes":{"q9":0.1}}`:      `"q9" has an error of 0.1`,
		`{"kind":"` + SavedKind + `","recipes":{"q4_k_m":-0.1}}`: "has an error of -0.1",
	} {
		if _, err := ReadSaved(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
}
