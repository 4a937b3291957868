package ggml

import "github.com/memwall/memwall/model"

// rotationStep is what a head's width must divide by for its cache to be rotated.
const rotationStep = 64

// Rotations gives the widths of the rotations before quantised keys and values: the largest power of two
// that divides the keys' head width, and 64 for values. Heads of other widths, and latents, are not rotated.
func Rotations(m *model.Model, quantisedK, quantisedV bool) (k, v int64) {
	dimK, dimV := int64(0), int64(0)
	m.Decoder().Each(func(kind *model.Kind, _ int64) {
		kind.Caches(func(c model.Cache) {
			if c.Class != model.LatentKV && c.Class != model.StateCache {
				dimK, dimV = c.DimK, c.DimV
			}
		})
	})
	if quantisedK && dimK > 0 && dimK%rotationStep == 0 {
		for k = rotationStep; dimK%(2*k) == 0; k *= 2 {
		}
	}
	if quantisedV && dimV > 0 && dimV%rotationStep == 0 {
		v = rotationStep
	}
	return k, v
}
