package memwall

import (
	"fmt"
	"sort"
	"strings"

	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/plan"
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
	keys := make([]string, 0, len(changes))
	for k := range changes {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	s.Layers = append([]family.Layer(nil), s.Layers...)
	for _, k := range keys {
		n := int64(changes[k])
		if n < 1 || n > 1<<20 {
			return &Error{Code: BadField, Field: "override." + k, Value: fmt.Sprint(n), Message: fmt.Sprintf("override %s = %d is out of range", k, n), Hint: "a number from 1 to 1,048,576"}
		}
		if err := overrideOne(s, k, n); err != nil {
			return err
		}
	}
	return s.Check()
}

func overrideOne(s *family.Spec, key string, n int64) error {
	switch key {
	case "layers":
		s.Layers = resize(s.Layers, int(min(n, 4096)))
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
