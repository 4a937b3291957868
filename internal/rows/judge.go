package rows

import (
	"fmt"
	"math"

	"github.com/memwall/memwall/stat"
)

// The rule that sets a figure apart. Its logarithm of measured over predicted is set beside those of other figures of its kind on the
// same devices with the same engine: a median and the median distance from it do not follow an outlier. With fewer than enough others
// a figure must only lie within lonely times the prediction.
const (
	enough = 5   // figures of a kind
	spread = 3.0 // standard deviations, of 1.4826 median distances each (normal law)
	narrow = 1.25
	lonely = 3.0
)

// Doubt is why a figure is quarantined: it is shown, but not counted.
type Doubt struct {
	Row    int    `json:"row"` // from 0, in the order given
	Figure int    `json:"figure"`
	Why    string `json:"why"`
}

// Judge returns the figures that disagree with the others. The result does not depend on the order of rows.
func Judge(rows []*Row) (out []Doubt) {
	groups := map[string][]float64{}
	for _, r := range rows {
		for i := range r.Figures {
			if x, ok := r.Figures[i].Ratio(); ok && r.Figures[i].Kind() != "" {
				k := r.group(&r.Figures[i])
				groups[k] = append(groups[k], math.Log(x))
			}
		}
	}
	for at, r := range rows {
		for i := range r.Figures {
			f := &r.Figures[i]
			if x, ok := f.Ratio(); ok && f.Kind() != "" && !f.within() {
				if why := doubt(math.Log(x), groups[r.group(f)]); why != "" {
					out = append(out, Doubt{at, i, why})
				}
			}
		}
	}
	return out
}

// within its band a figure is as it was predicted, however small both are.
func (f *Figure) within() bool {
	return f.Low != nil && f.High != nil && *f.Low <= f.Measured && f.Measured <= *f.High
}

// group of figures that are compared.
func (r *Row) group(f *Figure) string {
	k := r.key()
	return k.hardware + "\x00" + k.engine + "\x00" + f.Kind()
}

func doubt(x float64, all []float64) string {
	if len(all) < enough {
		if math.Abs(x) > math.Log(lonely) {
			return fmt.Sprintf("%.2g × the prediction, and fewer than %d figures of its kind here to bear it out", math.Exp(x), enough)
		}
		return ""
	}
	middle := stat.Median(all)
	apart := make([]float64, len(all))
	for i := range all {
		apart[i] = math.Abs(all[i] - middle)
	}
	most := max(spread*1.4826*stat.Median(apart), math.Log(narrow))
	if math.Abs(x-middle) > most {
		return fmt.Sprintf("%.2g × the prediction, where %d figures of its kind have %.2g × in the middle", math.Exp(x), len(all),
			math.Exp(middle))
	}
	return ""
}
