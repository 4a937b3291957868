package family_test

import (
	"math"
	"testing"

	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/model/family"
)

// explains reports whether a network has just the tensors of a header, each with as many elements.
func (h *header) explains(s *family.Spec) bool {
	n, same := 0, true
	s.Model("").Decoder().Tensors(func(layer int, t *model.Tensor) {
		d, ok := h.tensors[t.GGUF(layer)]
		n++
		elems := int64(1)
		for _, x := range d {
			elems *= x
		}
		same = same && ok && elems == t.Elems()
	})
	return same && n == len(h.tensors)
}

// without lists the families but one.
func without(own *family.Family) (out []*family.Family) {
	for _, f := range family.Families() {
		if f != own {
			out = append(out, f)
		}
	}
	return out
}

// TestAlike: every text model of the catalog whose GGUF header its own family reads, under a name that nobody knows and with its family
// held out. What is answered is whole by tensors; nearly all caches are those of the family.
func TestAlike(t *testing.T) {
	asked, read, cached := 0, 0, 0
	seen := map[string]bool{}
	for _, e := range catalog.All() {
		own, err := e.Spec()
		if err != nil {
			t.Fatal(err)
		}
		f := family.ByGGUF(own.Family)
		if f == nil || seen[own.Family] || own.Vision != nil || len(own.Beside) > 0 {
			continue
		}
		own.MTP = nil
		if s, err := family.FromHeader(described(own.Family, own)); err != nil || !described(own.Family, own).explains(s) {
			continue // the header that the test writes lacks keys of the family's own
		}
		seen[own.Family] = true
		asked++
		h := described("foo", own)
		s, as := family.Alike(h, without(f), h.explains)
		if s == nil {
			t.Logf("%-26s %-16s not read", e.ID, own.Family)
			continue
		}
		read++
		got, want := cacheOf(s), cacheOf(own)
		if math.Abs(got/want-1) < 1e-9 || got == want {
			cached++
		} else {
			t.Logf("%-26s %-16s read as %s: cache %.3g of %.3g", e.ID, own.Family, as, got, want)
		}
	}
	t.Logf("of %d families held out %d are read, weights whole; the cache of %d is the family's", asked, read, cached)
	if asked < 36 || read*100 < asked*95 || cached*100 < asked*95 {
		t.Errorf("of %d families %d are read and %d caches are right: fewer than 95 in a hundred of 36", asked, read, cached)
	}
}

// cacheOf a sequence of 32,768 tokens: elements of keys, values and states.
func cacheOf(s *family.Spec) (sum float64) {
	const length = 32768
	s.Model("").Decoder().Each(func(k *model.Kind, layers int64) {
		k.Caches(func(c model.Cache) {
			tokens := int64(length)
			if c.Span > 0 {
				tokens = min(tokens, c.Span)
			}
			sum += float64(layers) * float64(tokens*(c.K+c.V)+c.ConvElems+c.StateElems)
		})
	})
	return sum
}
