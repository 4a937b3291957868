package source

import (
	"slices"
	"testing"

	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/family"
)

// TestAlikeHeaders: files of the shared data with the family of their architecture held out. Weights are whole, and caches are the
// family's, but where a file names a window without its layers, or where nothing else is like its layers.
func TestAlikeHeaders(t *testing.T) {
	asked, read, cached := 0, 0, 0
	for _, h := range headers(t) {
		own, err := GGUF(h.model, h.file)
		if err != nil || own.Spec == nil {
			continue
		}
		asked++
		f := family.ByGGUF(own.Spec.Arch)
		r := &Resolved{}
		s := newHeader(h.file).alike(r, slices.DeleteFunc(family.Families(), func(x *family.Family) bool { return x == f }))
		if s == nil {
			t.Logf("%s: %s is not read", h.name, own.Spec.Arch)
			continue
		}
		read++
		if a, b := kept(s.Model("")), kept(own.Model); a == b {
			cached++
		} else {
			t.Logf("%s: %s: cache %d of %d, %s", h.name, own.Spec.Arch, a, b, r.Derived)
		}
	}
	t.Logf("of %d files %d are read, weights whole; the cache of %d is the family's", asked, read, cached)
	if read*100 < asked*95 || cached*100 < asked*80 {
		t.Errorf("of %d files %d are read and the cache of %d is right", asked, read, cached)
	}
}

// kept elements of a sequence of 32,768 tokens.
func kept(m *model.Model) (n int64) {
	m.Decoder().Each(func(k *model.Kind, layers int64) {
		k.Caches(func(c model.Cache) {
			tokens := int64(32768)
			if c.Span > 0 {
				tokens = min(tokens, c.Span)
			}
			n += layers * (tokens*(c.K+c.V) + c.ConvElems + c.StateElems)
		})
	})
	return n
}
