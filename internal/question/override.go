package question

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/spell"
	"github.com/memwall/memwall/unit"
)

// overrides are what-if changes of the architecture. Each changes one layer and reports whether the layer has the part;
// it receives all changes, since some depend on others.
var overrides = map[string]func(l *family.Layer, n int64, all map[string]plan.Int) bool{
	"kv_heads": func(l *family.Layer, n int64, _ map[string]plan.Int) bool { return set(&l.Attn.KVHeads, n, caches(l)) },
	"heads":    setHeads,
	"head_dim": setHeadDim,
	"ffn": func(l *family.Layer, n int64, _ map[string]plan.Int) bool {
		return set(&l.FFN.Inner, n, l.FFN.Inner > 0)
	},
	"expert_ffn": func(l *family.Layer, n int64, _ map[string]plan.Int) bool {
		return set(&l.MoE.Inner, n, l.MoE.Experts > 0)
	},
	"experts": func(l *family.Layer, n int64, _ map[string]plan.Int) bool {
		return set(&l.MoE.Experts, n, l.MoE.Experts > 0)
	},
	"experts_used": func(l *family.Layer, n int64, _ map[string]plan.Int) bool {
		return set(&l.MoE.Used, n, l.MoE.Experts > 0)
	},
	"window": func(l *family.Layer, n int64, _ map[string]plan.Int) bool {
		return set(&l.Attn.Window, n, l.Attn.Window > 0)
	},
	"latent": setLatent,
	"rope":   setRope,
}

// addedParts add a part that no layer of the model has: a window to all attention, and experts in place of every dense
// FFN (upcycling, arXiv:2212.05055).
var addedParts = map[string]func(l *family.Layer, n int64, all map[string]plan.Int) bool{
	"window": func(l *family.Layer, n int64, _ map[string]plan.Int) bool { return set(&l.Attn.Window, n, caches(l)) },
	"experts": func(l *family.Layer, n int64, all map[string]plan.Int) bool {
		f := &l.FFN
		if f.Inner == 0 || all["experts_used"] == 0 {
			return false
		}
		l.MoE, l.FFN = family.MoE{Experts: n, Inner: f.Inner, Gated: f.Gated, Act: f.Act, Norm: true}, family.MLP{}
		return true
	},
}

// missingPartHints suggest what to do if no layer has the part.
var missingPartHints = map[string]string{
	"kv_heads": "a cache of latents has no KV heads; latent= changes its rank",
	"experts":  "a dense model takes experts and experts_used together: experts=8,experts_used=2",
	"latent":   "attention with keys and values of every head takes latent and rope together: latent=512,rope=64",
	"rope":     "give latent too: latent=512,rope=64",
}

func set(field *int64, n int64, has bool) bool {
	if has {
		*field = n
	}
	return has
}

// caches reports whether a layer caches keys and values per head.
func caches(l *family.Layer) bool { return l.Attn.Heads > 0 && l.Attn.KVRank == 0 }

// setHeads sets the number of heads, keeping one KV head per head in latent attention.
func setHeads(l *family.Layer, n int64, _ map[string]plan.Int) bool {
	set(&l.Attn.KVHeads, n, l.Attn.KVRank > 0)
	return set(&l.Attn.Heads, n, l.Attn.Heads > 0)
}

// setHeadDim keeps the rotary part of latent attention.
func setHeadDim(l *family.Layer, n int64, _ map[string]plan.Int) bool {
	a := &l.Attn
	if a.KVRank > 0 {
		a.DimK, a.Nope = n+a.DimK-a.Nope, n
	} else if a.Heads > 0 {
		a.DimK = n
	}
	return set(&a.DimV, n, a.Heads > 0)
}

// setLatent sets the rank of a latent cache. Ordinary attention becomes latent attention (arXiv:2405.04434) with the
// same heads and widths plus rotary dimensions.
func setLatent(l *family.Layer, n int64, all map[string]plan.Int) bool {
	a, rope := &l.Attn, int64(all["rope"])
	if caches(l) && rope > 0 {
		*a = family.Attention{Heads: a.Heads, KVHeads: a.Heads, DimK: a.DimK + rope, DimV: a.DimV, Nope: a.DimK, KVRank: n,
			BiasOut: a.BiasOut, Bidirectional: a.Bidirectional}
		return true
	}
	return set(&a.KVRank, n, a.KVRank > 0)
}

func setRope(l *family.Layer, n int64, _ map[string]plan.Int) bool {
	return set(&l.Attn.DimK, l.Attn.Nope+n, l.Attn.KVRank > 0)
}

// modelOverrides are overrides of the whole model.
var modelOverrides = []string{"layers", "vocab", "hidden"}

// Override changes a Spec. layers repeats or cuts the layers; vocab and hidden change embedding and head.
func Override(s *family.Spec, changes map[string]plan.Int) error {
	s.Layers, s.MTP = slices.Clone(s.Layers), slices.Clone(s.MTP)
	for _, k := range slices.Sorted(maps.Keys(changes)) {
		n := int64(changes[k])
		if n < 1 || n > 1<<20 {
			return &api.Error{Code: api.BadField, Field: "override." + k, Value: fmt.Sprint(n),
				Message: fmt.Sprintf("override %s = %d is out of range", k, n), Hint: "a number from 1 to 1,048,576"}
		}
		if err := overrideOne(s, k, n, changes); err != nil {
			return err
		}
	}
	return overrideError(s.Check(), changes)
}

// overrideError explains that the changes, rather than a file, make the network invalid.
func overrideError(err error, changes map[string]plan.Int) error {
	f, ok := errors.AsType[*family.FieldError](err)
	if !ok {
		return err
	}
	return &api.Error{Code: api.BadField, Field: "override", Value: Overridden(changes), Message: "override makes no network: " + f.Error(),
		Hint: "other numbers; " + strings.Join(OverrideNames(), ", ") + " can be given together"}
}

// Overridden formats the changes: kv_heads=1,layers=40.
func Overridden(changes map[string]plan.Int) string {
	var given []string
	for _, k := range slices.Sorted(maps.Keys(changes)) {
		given = append(given, fmt.Sprintf("%s=%d", k, changes[k]))
	}
	return strings.Join(given, ",")
}

// maxLayers is the maximum also allowed in configurations.
const maxLayers = 4096

func overrideOne(s *family.Spec, key string, n int64, all map[string]plan.Int) error {
	switch key {
	case "layers":
		if n > maxLayers {
			return &api.Error{Code: api.BadField, Field: "override.layers", Value: fmt.Sprint(n),
				Message: fmt.Sprintf("override layers = %d is more than %s layers", n, unit.Count(maxLayers)),
				Hint:    "at most " + unit.Count(maxLayers)}
		}
		if len(s.Layers) == 0 {
			return noPart(key, n)
		}
		s.Layers = resize(s.Layers, int(n))
	case "vocab":
		s.Vocab = n
	case "hidden":
		s.Hidden = n
	case "rope":
		s.Source.Rotary = slices.Clone(s.Source.Rotary)
		for i := range s.Source.Rotary {
			s.Source.Rotary[i].Dim = n
		}
		return overrideLayers(s, key, n, all)
	case "head_dim":
		widenRotary(s, n)
		return overrideLayers(s, key, n, all)
	default:
		return overrideLayers(s, key, n, all)
	}
	return nil
}

// widenRotary keeps the rotary share of a head: position tables and stored factors follow the head width. In latent
// attention the rotary part is separate from it.
func widenRotary(s *family.Spec, n int64) {
	i := slices.IndexFunc(s.Layers, func(l family.Layer) bool { return l.Attn.Heads > 0 })
	if i < 0 || s.Layers[i].Attn.KVRank > 0 || s.Layers[i].Attn.DimK == 0 {
		return
	}
	was := s.Layers[i].Attn.DimK
	s.Source.Rotary, s.Tables = slices.Clone(s.Source.Rotary), slices.Clone(s.Tables)
	for j := range s.Source.Rotary {
		s.Source.Rotary[j].Dim = s.Source.Rotary[j].Dim * n / was
	}
	for j := range s.Tables {
		s.Tables[j].Rows = s.Tables[j].Rows * n / was
	}
}

// overrideLayers changes every layer that has the part, including prediction layers. A change without effect is an
// error: its answer would be taken for another network's.
func overrideLayers(s *family.Spec, key string, n int64, all map[string]plan.Int) error {
	change, ok := overrides[key]
	if !ok {
		hint := "one of " + strings.Join(OverrideNames(), ", ")
		if near := spell.Nearest(key, OverrideNames()); len(near) > 0 {
			hint = "did you mean " + strings.Join(near, " or ") + "? " + hint
		}
		return &api.Error{Code: api.BadField, Field: "override." + key, Value: fmt.Sprint(n),
			Message: fmt.Sprintf("override %q is not known", key), Hint: hint}
	}
	for _, f := range []func(*family.Layer, int64, map[string]plan.Int) bool{change, addedParts[key]} {
		if f != nil && changeLayers(s, f, n, all) {
			return nil
		}
	}
	return noPart(key, n)
}

func changeLayers(s *family.Spec, change func(*family.Layer, int64, map[string]plan.Int) bool, n int64,
	all map[string]plan.Int) (changed bool) {
	for _, layers := range [][]family.Layer{s.Layers, s.MTP} {
		for i := range layers {
			changed = change(&layers[i], n, all) || changed
		}
	}
	return changed
}

func noPart(key string, n int64) error {
	return &api.Error{Code: api.BadField, Field: "override." + key, Value: fmt.Sprint(n),
		Message: fmt.Sprintf("override %s = %d changes nothing: no layer of the model has that part", key, n),
		Hint:    cmp.Or(missingPartHints[key], "leave it out")}
}

// assumed marks the weights of a modified network as assumed: they are in no file, and no engine rule determines them.
func assumed(items []ledger.Item, changes string) {
	for i := range items {
		it := &items[i]
		assumed(it.Items, changes)
		if it.ID == "weights" || strings.HasSuffix(it.ID, ".weights") {
			it.Basis, it.Source = max(it.Basis, ledger.Assumed), "what if "+changes
		}
	}
}

// standing widens the model's weights to the band of files that the recipe represents. Those of a draft model have a
// recipe of their own.
func standing(items []ledger.Item, r *dtype.Recipe) {
	for i := range items {
		it := &items[i]
		standing(it.Items, r)
		if it.ID == "weights" {
			low, high := unit.Bytes(float64(it.Bytes)*r.Low), unit.Bytes(float64(it.Bytes)*r.High)
			*it = it.Band(min(low, it.Low), max(high, it.High))
			it.Basis, it.Source = max(it.Basis, ledger.Assumed), r.StandsFor
		}
	}
}

// OverrideNames returns what can be overridden.
func OverrideNames() []string {
	names := slices.Clone(modelOverrides)
	for k := range overrides {
		names = append(names, k)
	}
	sort.Strings(names)
	return names
}

// resize repeats the pattern of layers, or cuts it.
func resize(l []family.Layer, n int) []family.Layer {
	out := make([]family.Layer, n)
	for i := range out {
		out[i] = l[i%len(l)]
	}
	return out
}
