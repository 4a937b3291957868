package memwall

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// overrides are what-if changes of the architecture, applied to every layer that has the part.
var overrides = map[string]func(*family.Spec, *family.Layer, int64){
	"kv_heads": func(_ *family.Spec, l *family.Layer, n int64) {
		if l.Attn.Heads > 0 {
			l.Attn.KVHeads = n
		}
	},
	"heads": func(_ *family.Spec, l *family.Layer, n int64) {
		if l.Attn.Heads > 0 {
			l.Attn.Heads = n
		}
	},
	"head_dim": func(_ *family.Spec, l *family.Layer, n int64) {
		if l.Attn.Heads > 0 {
			l.Attn.DimK, l.Attn.DimV = n, n
		}
	},
	"ffn": func(_ *family.Spec, l *family.Layer, n int64) {
		if l.FFN.Inner > 0 {
			l.FFN.Inner = n
		}
	},
	"window": func(_ *family.Spec, l *family.Layer, n int64) {
		if l.Attn.Window > 0 {
			l.Attn.Window = n
		}
	},
	"experts": func(_ *family.Spec, l *family.Layer, n int64) {
		if l.MoE.Experts > 0 {
			l.MoE.Experts = n
		}
	},
	"experts_used": func(_ *family.Spec, l *family.Layer, n int64) {
		if l.MoE.Experts > 0 {
			l.MoE.Used = n
		}
	},
}

// override changes a Spec. layers repeats or cuts the layers, vocab and hidden change the ends.
func override(s *family.Spec, changes map[string]plan.Int) error {
	s.Layers = append([]family.Layer(nil), s.Layers...)
	for _, k := range slices.Sorted(maps.Keys(changes)) {
		n := int64(changes[k])
		if n < 1 || n > 1<<20 {
			return &Error{Code: BadField, Field: "override." + k, Value: fmt.Sprint(n), Message: fmt.Sprintf("override %s = %d is out of range", k, n), Hint: "a number from 1 to 1,048,576"}
		}
		if err := overrideOne(s, k, n); err != nil {
			return err
		}
	}
	return overrideError(s.Check(), changes)
}

// overrideError says that it is the changes, not a file, that make no network.
func overrideError(err error, changes map[string]plan.Int) error {
	f, ok := errors.AsType[*family.FieldError](err)
	if !ok {
		return err
	}
	var given []string
	for _, k := range slices.Sorted(maps.Keys(changes)) {
		given = append(given, fmt.Sprintf("%s=%d", k, changes[k]))
	}
	return &Error{Code: BadField, Field: "override", Value: strings.Join(given, ","), Message: "override makes no network: " + f.Error(), Hint: "other numbers; " + strings.Join(overrideNames(), ", ") + " can be given together"}
}

// maxLayers is the most that a configuration may have too.
const maxLayers = 4096

func overrideOne(s *family.Spec, key string, n int64) error {
	switch key {
	case "layers":
		if n > maxLayers {
			return &Error{Code: BadField, Field: "override.layers", Value: fmt.Sprint(n), Message: fmt.Sprintf("override layers = %d is more than %s layers", n, unit.Count(maxLayers)), Hint: "at most " + unit.Count(maxLayers)}
		}
		s.Layers = resize(s.Layers, int(n))
	case "vocab":
		s.Vocab = n
	case "hidden":
		s.Hidden = n
	default:
		change, ok := overrides[key]
		if !ok {
			return &Error{Code: BadField, Field: "override." + key, Value: fmt.Sprint(n), Message: fmt.Sprintf("override %q is not known", key), Hint: "one of " + strings.Join(overrideNames(), ", ")}
		}
		for i := range s.Layers {
			change(s, &s.Layers[i], n)
		}
	}
	return nil
}

func overrideNames() []string {
	names := []string{"layers", "vocab", "hidden"}
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
