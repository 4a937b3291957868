package snapshot

import (
	"cmp"
	"slices"

	"github.com/memwall/memwall/model"
)

// Know tells which model the recording is of. Allocations without an informative stack are then identified by the sizes
// of its tensors, if most of these are found.
func (s *Snapshot) Know(m *model.Model) {
	s.numbers, s.decoder = map[int64]int{}, m.Decoder().Params()
	for i := range m.Parts {
		m.Parts[i].Tensors(func(_ int, t *model.Tensor) {
			switch {
			case t.In == nil:
				s.numbers[t.Elems()]++
			case t.First:
				s.numbers[t.In.Rows*t.In.Cols]++
			}
			if t.Batch > 1 { // experts may be stored separately
				s.numbers[t.Rows()*t.Cols] += int(t.Batch)
			}
		})
	}
}

// widths are the sizes of a stored parameter in half bytes: 4 bits as packed by bitsandbytes, 8, 16 and 32.
var widths = []int64{1, 2, 4, 8}

// mostStates is the maximum of fp32 tensors that an optimizer keeps per parameter: two moments and a master copy.
const mostStates = 3

// mostOf is the share of the decoder's bytes that must be found, so that another model's tensors are not mistaken for
// its own.
const mostOf = 0.9

// fromModel identifies, by the model's tensors, allocations that live to the end of the recording and that neither
// stack nor gradients identify. Of each size, as many are parameters as the model has, in allocation order, in the
// narrowest format in which most of them are found. Further ones of a parameter's fp32 size are optimizer states.
func (j *judge) fromModel() map[int64]Category {
	if len(j.numbers) == 0 {
		return nil
	}
	var unknown []life
	j.lives(func(l *life) {
		if c := j.category(l); l.died == never && (c == Older || c == Other) {
			unknown = append(unknown, *l)
		}
	})
	slices.SortStableFunc(unknown, func(a, b life) int { return a.born - b.born })
	out := map[int64]Category{}
	for _, w := range widths {
		if float64(j.take(unknown, w, 1, Parameters, nil)) >= mostOf*float64(j.decoder*w/2) {
			j.take(unknown, w, 1, Parameters, out)
			j.take(unknown, widths[len(widths)-1], mostStates, Optimizer, out)
			break
		}
	}
	return out
}

// take marks uncategorized lives with the size of a model tensor at halfBytes per element, up to each per tensor, and
// returns their total bytes. A nil map only counts.
func (j *judge) take(lives []life, halfBytes int64, each int, c Category, into map[int64]Category) (sum int64) {
	left := map[int64]int{}
	for numbers, n := range j.numbers {
		left[tensorBytes((numbers*halfBytes+1)/2)] += n * each
	}
	for i := range lives {
		l := &lives[i]
		size := tensorBytes(cmp.Or(l.asked, l.size)) // a block may be larger
		if _, taken := into[l.address]; taken || left[size] == 0 {
			continue
		}
		left[size]--
		sum += l.size
		if into != nil {
			into[l.address] = c
		}
	}
	return sum
}
