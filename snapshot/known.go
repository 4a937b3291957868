package snapshot

import (
	"cmp"
	"slices"

	"github.com/memwall/memwall/model"
)

// Know says which model the record is of. What no stack names is then told by the sizes of its tensors, where most of them are found.
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
			if t.Batch > 1 { // experts may lie one by one
				s.numbers[t.Rows()*t.Cols] += int(t.Batch)
			}
		})
	}
}

// widths of a number of a stored parameter, in half bytes: 4 bits as bitsandbytes packs them, 8, 16 and 32.
var widths = []int64{1, 2, 4, 8}

// mostStates are how many tensors in fp32 an optimizer keeps for a parameter: two moments and a copy.
const mostStates = 3

// mostOf the decoder's bytes must be found, so that no other model's tensors are taken for its own.
const mostOf = 0.9

// fromModel tells by the model's tensors what lives to the record's end, has no stack of use, and has not been told by gradients:
// of a size as many are parameters as the model has, the first of them, in the narrowest format in which most of them are found. More of
// the size that a parameter has in fp32 are the optimizer's states.
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

// take marks, of the lives that no category has, those that are as large as a tensor of the model in so many half bytes a number, up to
// so many for each tensor, and says how many bytes they are. A nil map only counts.
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
