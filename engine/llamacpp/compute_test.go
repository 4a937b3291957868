package llamacpp

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/memwall/memwall/ledger"
)

// ratio is a printed compute buffer over the computed one.
type ratio struct {
	value  float64
	family string
	piped  bool // of several devices
	fallen bool
	host   bool
	inside bool // the band holds it
}

func (a ratio) off() float64 { return math.Abs(1/a.value - 1) }

func ratios(t *testing.T, rows []row) (out []ratio) {
	for i := range rows {
		r := &rows[i]
		j := r.job(t)
		s := sizerOf(t, Engine{CLI}, j)
		ranks := s.Size(nil, j.Load())
		add := func(items []ledger.Item, printed int64, host bool) {
			for k := range items {
				if it := &items[k]; it.ID == "compute" {
					out = append(out, ratio{float64(printed) / float64(it.Bytes), j.Model.Family, r.devices > 1, s.fallen(), host, int64(it.Low) <= printed && printed <= int64(it.High)})
				}
			}
		}
		for d := range ranks {
			add(ranks[d].Items, r.compute[d], false)
		}
		if r.devices > 0 {
			add(ranks[0].Host, r.hostCompute, true)
		}
	}
	return out
}

func pick(list []ratio, keep func(ratio) bool) (out []ratio) {
	for _, a := range list {
		if keep(a) {
			out = append(out, a)
		}
	}
	return out
}

// quantile of values that are sorted.
func quantile(list []float64, q float64) float64 {
	return list[min(len(list)-1, int(q*float64(len(list))))]
}

func values(list []ratio, of func(ratio) float64) (out []float64) {
	for _, a := range list {
		out = append(out, of(a))
	}
	slices.Sort(out)
	return out
}

func coverage(list []ratio) float64 {
	n := 0
	for _, a := range list {
		if a.inside {
			n++
		}
	}
	return float64(n) / float64(len(list))
}

// evenQuantiles give each architecture the same weight.
func evenQuantiles(list []ratio, low, high float64) (a, b float64) {
	runs := map[string]float64{}
	for _, r := range list {
		runs[r.family]++
	}
	slices.SortFunc(list, func(a, b ratio) int { return cmp.Compare(a.value, b.value) })
	sum, all := 0.0, float64(len(runs))
	for _, r := range list {
		if sum < low*all {
			a = r.value
		}
		if sum < high*all {
			b = r.value
		}
		sum += 1 / runs[r.family]
	}
	return a, b
}

// TestComputeMedian: half of the computed buffers are as printed, within a thousandth, and 85 of a hundred
// lie in their band; of the data folder too, when there is one.
func TestComputeMedian(t *testing.T) {
	for _, rows := range [][]row{ownRows(t), sharedRows(t)} {
		if len(rows) == 0 {
			continue
		}
		all := ratios(t, rows)
		for _, c := range []struct {
			name string
			keep func(ratio) bool
		}{
			{"devices and cpu", func(a ratio) bool { return !a.host }},
			{"host", func(a ratio) bool { return a.host }},
		} {
			list := pick(all, c.keep)
			off := values(list, ratio.off)
			t.Logf("%-16s %5d buffers: median %.2f %%, 90 of 100 within %.2f %%, at most %.1f %%; in the band %.1f %%", c.name, len(off), 100*quantile(off, .5), 100*quantile(off, .9), 100*quantile(off, 1), 100*coverage(list))
			if m := quantile(off, .5); m > 0.001 {
				t.Errorf("%s: the median is %.3f %% off", c.name, 100*m)
			}
			if in := coverage(list); in < 0.85 {
				t.Errorf("%s: the band holds %.1f %%", c.name, 100*in)
			}
		}
	}
}

// TestComputeBands does the tables of compute_band.go again: quantiles of all rows of the data folder.
func TestComputeBands(t *testing.T) {
	all := ratios(t, sharedRows(t))
	if len(all) == 0 {
		return
	}
	families := map[string]bool{}
	for _, a := range all {
		families[a.family] = true
	}
	near := func(what string, s spread, list []ratio) {
		v := values(list, func(a ratio) float64 { return a.value })
		low, high := quantile(v, .05), quantile(v, .95)
		if s.low > low+0.001 || s.high < high-0.001 || s.low < min(low, 1)-0.011 || s.high > max(high, 1)+0.011 {
			t.Errorf("%s: the band is %.3f to %.3f, and of %d buffers the quantiles are %.4f and %.4f", what, s.low, s.high, len(v), low, high)
		}
	}
	for f := range families {
		one := pick(all, func(a ratio) bool { return a.family == f && !a.host && !a.fallen && !a.piped })
		s, ok := spreads[f]
		if !ok {
			t.Errorf("%s has rows and no band", f)
			continue
		}
		near(f, s, one)
		off := values(one, ratio.off)
		t.Logf("%-14s %4d buffers: median %.2f %%, 90 of 100 within %.2f %%, at most %.1f %%; in the band %.0f %%", f, len(one), 100*quantile(off, .5), 100*quantile(off, .9), 100*quantile(off, 1), 100*coverage(one))
		if p, ok := pipelineSpreads[f]; ok {
			near(f+" on several devices", p, pick(all, func(a ratio) bool { return a.family == f && !a.host && !a.fallen && a.piped }))
		}
	}
	low, high := evenQuantiles(pick(all, func(a ratio) bool { return !a.host && !a.fallen && !a.piped }), .02, .98)
	if otherSpread.low > low || otherSpread.high < high || otherSpread.low < low-0.011 || otherSpread.high > high+0.011 {
		t.Errorf("others: the band is %.3f to %.3f, and the quantiles are %.4f and %.4f", otherSpread.low, otherSpread.high, low, high)
	}
	near("host", hostSpread, pick(all, func(a ratio) bool { return a.host }))
}
