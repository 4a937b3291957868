package quant

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/unit"
)

// Saved is the stored measurement of a model, for searches that weigh the cost of formats on these weights, and for
// other programs.
type Saved struct {
	Kind  string     `json:"kind"` // SavedKind
	Model string     `json:"model"`
	Bytes unit.Bytes `json:"bytes"` // of all tensors as stored
	// Weighed is the number of matrices with known inputs, which errors are weighted by.
	Weighed int `json:"weighed"`
	// Recipes are the relative errors of recipes all of whose formats were measured, by the name of weights in a
	// request: √(Σw(x−q)² / Σwx²) over all matrices.
	Recipes map[string]float64 `json:"recipes"`
	Tensors []SavedTensor      `json:"tensors"`
}

// SavedKind identifies such files.
const SavedKind = "memwall/measured-weights/1"

// SavedTensor is one matrix with what was tried on it.
type SavedTensor struct {
	Tensor string                `json:"tensor"`
	Role   string                `json:"role,omitempty"`
	Layer  int                   `json:"layer"` // -1 outside the layers
	Rows   int64                 `json:"rows"`  // of all its matrices together
	Cols   int64                 `json:"cols"`
	Signal float64               `json:"weighted_signal"` // Σwx²
	Tried  map[string]SavedTrial `json:"tried"`
}

// SavedTrial is one format on one tensor.
type SavedTrial struct {
	Bytes unit.Bytes `json:"bytes"`
	Noise float64    `json:"weighted_noise"` // Σw(x−q)²
}

// Save returns the measurement of a model for storage.
func Save(m *Model, all []*Measured) *Saved {
	s := &Saved{Kind: SavedKind, Model: m.ID, Bytes: m.Bytes(), Recipes: map[string]float64{}}
	for _, x := range all {
		if len(x.Tried) == 0 {
			continue
		}
		if x.Weighed {
			s.Weighed++
		}
		t := SavedTensor{Tensor: x.Name, Role: string(x.Role), Layer: x.Layer, Rows: x.Batch * x.Rows, Cols: x.Cols,
			Signal: x.Tried[0].Error.WeightedSignal, Tried: map[string]SavedTrial{}}
		for i := range x.Tried {
			t.Tried[x.Tried[i].Format.Name] = SavedTrial{x.Tried[i].Bytes, x.Tried[i].Error.WeightedNoise}
		}
		s.Tensors = append(s.Tensors, t)
	}
	sites := sitesOf(m, all)
	for _, r := range dtype.Recipes() {
		if e, ok := recipeError(all, sites, r); ok && r.StandsFor == "" {
			s.Recipes[r.Name] = e
		}
	}
	return s
}

// recipeError returns the error of all matrices under a recipe; false if it is exact, or was not measured completely.
func recipeError(all []*Measured, sites []dtype.Site, r *dtype.Recipe) (float64, bool) {
	var sum Error
	for i, m := range all {
		if m.Survey == nil || m.Kept != "" {
			continue
		}
		e, ok := m.under(r.Pick(&sites[i]))
		if !ok {
			return 0, false
		}
		sum.Add(&e)
	}
	return sum.WeightedRMS(), sum.WeightedNoise > 0
}

// under returns the least error of the formats that store a scheme.
func (m *Measured) under(s *dtype.Scheme) (best Error, ok bool) {
	if s == nil {
		return m.exact(), true
	}
	if len(s.With) == 0 && (s.Elem == dtype.F32 || s.Elem == dtype.F16 || s.Elem == dtype.BF16) {
		return m.exact(), true
	}
	for i := range m.Tried {
		t := &m.Tried[i]
		if !t.Format.storedAs(s) || ok && t.Error.WeightedNoise >= best.WeightedNoise {
			continue
		}
		best, ok = t.Error, true
	}
	return best, ok
}

// storedAs reports whether the format is stored as a scheme: without known inputs, GPTQ's codes, scales and zero points
// are those of plain groups.
func (f *Format) storedAs(s *dtype.Scheme) bool {
	if f.Scheme.Elem != s.Elem {
		return false
	}
	return f.Scheme.Name == s.Name || f.Asks == Nothing && s.Name == "gptq-g128" && f.Scheme.Name == "awq-g128"
}

// sitesOf returns the sites of tensors, counted as quantizers do: tensors of one role and layer, such as the experts in
// hub files, once.
func sitesOf(m *Model, all []*Measured) []dtype.Site {
	facts := factsOf(m, all)
	type place struct {
		part  string
		layer int
		role  dtype.Role
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	stable.Sort(order, func(a, b int) int { return cmp.Compare(all[a].Layer, all[b].Layer) })
	sites := make([]dtype.Site, len(all))
	nth, of := map[place]int{}, map[dtype.Category]int{}
	for _, i := range order {
		t := all[i].Tensor
		p, c := place{t.Part, t.Layer, t.Role}, dtype.Other
		if t.Dims >= 2 {
			c = t.Role.Category()
		}
		if _, ok := nth[p]; !ok {
			nth[p] = of[c]
			of[c]++
		}
		sites[i] = dtype.Site{Part: t.Part, Role: t.Role, Dims: t.Dims, Batch: t.Batch, Rows: t.Rows, Cols: t.Cols, Layer: t.Layer,
			Nth: nth[p], Model: facts}
	}
	for i := range sites {
		sites[i].Of = of[sites[i].Role.Category()]
	}
	return sites
}

// factsOf returns the facts of a model, as far as its tensors show.
func factsOf(m *Model, all []*Measured) *dtype.Facts {
	f := &dtype.Facts{GQA: 1, Tied: true, Native: dtype.BF16}
	if m.GGUF != nil {
		f.Arch, _ = m.GGUF.String("general.architecture")
	}
	var q, k int64
	experts := map[string]bool{}
	for _, x := range all {
		f.Layers = max(f.Layers, x.Layer+1)
		switch {
		case x.Role == dtype.Output:
			f.Tied = false
		case x.Role == dtype.AttnQ && x.Layer == 0:
			q = x.Rows
		case x.Role == dtype.AttnK && x.Layer == 0:
			k = x.Rows
		case x.Role == dtype.FFNDownExps:
			f.Experts = max(f.Experts, x.Batch)
			experts[x.Name] = true
		}
	}
	if k > 0 {
		f.GQA = max(1, q/k)
	}
	if f.Experts == 1 && f.Layers > 0 {
		f.Experts = int64(len(experts) / f.Layers)
	}
	return f
}

// maxSaved is the maximum size of a file.
const maxSaved = 256 << 20

// ReadSaved parses what Save returned. Errors say what is wrong with the file.
func ReadSaved(r io.Reader) (*Saved, error) {
	s := &Saved{}
	d := json.NewDecoder(io.LimitReader(r, maxSaved))
	if err := d.Decode(s); err != nil {
		return nil, fmt.Errorf("it is not what memwall quant --save writes: %w", err)
	}
	switch {
	case s.Kind != SavedKind:
		return nil, fmt.Errorf("its kind is %.40q, and not %q", s.Kind, SavedKind)
	case len(s.Recipes) == 0:
		return nil, fmt.Errorf("no recipe was measured whole: formats are missing")
	}
	for name, e := range s.Recipes {
		if dtype.FindRecipe(name) == nil || !(e > 0) || math.IsInf(e, 0) {
			return nil, fmt.Errorf("recipe %.40q has an error of %v", name, e)
		}
	}
	return s, nil
}
