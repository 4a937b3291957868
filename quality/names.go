package quality

import (
	"strings"

	"github.com/memwall/memwall/dtype"
)

// names numbers what can be asked about: recipes and pairs of cache formats that rows stand for, and names in the rows
// themselves.
type names struct {
	weights map[string]int
	kv      map[cacheKey]int
	own     map[string]int
}

// cacheKey is the formats of keys and values; nil means 16 bits or wider.
type cacheKey struct{ k, v *dtype.Format }

// side is one side of a change: a format, or the 16 bits and wider that baselines use.
type side struct {
	wide bool
	own  bool // matched by the rows' own name rather than by what they stand for
	id   int
}

// holds reports whether a row belongs to the side.
func (s side) holds(f *Format) bool {
	if s.own {
		return f.own == s.id
	}
	return f.How == Same && f.as == s.id
}

const none = -1

// resolve numbers a format; ok is false if it stands for something unknown.
func (n *names) resolve(f *Format) (ok bool) {
	f.as, f.own = none, numbered(n.own, string(f.Target)+" "+f.Name)
	if f.As == "" {
		return true
	}
	switch f.Target {
	case Weights:
		r := dtype.FindRecipe(f.As)
		if r == nil || r.Name != f.As {
			return false
		}
		f.as, f.wide = numbered(n.weights, f.As), Wide(r)
	case KVCache:
		k, v, _ := strings.Cut(f.As, "/")
		key, known := cacheOf(Cache{k, v})
		if !known {
			return false
		}
		f.as, f.wide = numbered(n.kv, key), key == cacheKey{}
	default:
		return false
	}
	return true
}

func numbered[K comparable](m map[K]int, key K) int {
	if _, ok := m[key]; !ok {
		m[key] = len(m)
	}
	return m[key]
}

// Wide reports whether a recipe keeps the weights in 16 bits or more, the reference for losses.
func Wide(r *dtype.Recipe) bool {
	return wideFormat(r.Base) && r.BulkBits() >= 16 // pruned weights have a wide base
}

func wideFormat(f *dtype.Format) bool { return f.Float != nil && f.Bits() >= 16 }

// cacheOf parses the formats of a cache; values default to the format of keys.
func cacheOf(c Cache) (key cacheKey, known bool) {
	if c.V == "" {
		c.V = c.K
	}
	k, v := dtype.FindFormat(c.K), dtype.FindFormat(c.V)
	if k == nil || v == nil {
		return cacheKey{}, false
	}
	return keyOf(k, v), true
}

func keyOf(k, v *dtype.Format) (key cacheKey) {
	if !wideFormat(k) {
		key.k = k
	}
	if !wideFormat(v) {
		key.v = v
	}
	return key
}

// weightSide returns the side for any name of a recipe, or for a name in the rows; false if no row has it.
func (n *names) weightSide(name string) (side, bool) {
	if r := dtype.FindRecipe(name); r != nil {
		id, ok := n.weights[r.Name]
		return side{wide: Wide(r), id: orNone(id, ok)}, ok || Wide(r)
	}
	return n.ownSide(Weights, name)
}

func (n *names) kvSide(c Cache) (side, bool) {
	key, known := cacheOf(c)
	if !known {
		return n.ownSide(KVCache, c.K)
	}
	return n.keySide(key)
}

func (n *names) keySide(key cacheKey) (side, bool) {
	id, ok := n.kv[key]
	wide := key == cacheKey{}
	return side{wide: wide, id: orNone(id, ok)}, ok || wide
}

func (n *names) ownSide(t Target, name string) (side, bool) {
	id, ok := n.own[string(t)+" "+strings.ToLower(name)]
	return side{own: true, id: id}, ok
}

func orNone(id int, ok bool) int {
	if !ok {
		return none
	}
	return id
}
