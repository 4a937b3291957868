package validation

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/stat"
)

// MeasuredTable returns the table of measurements that answers cite beside a prediction (speed/stream/measured.tsv): the median of
// each report's decode rates at an empty context on one device.
func MeasuredTable() ([]byte, error) {
	rows, err := Streams()
	if err != nil {
		return nil, err
	}
	by := map[string][]float64{}
	for i := range rows {
		r := &rows[i]
		if r.Refused != "" || r.Kind != "decode" || r.Count > 1 || r.Depth > 0 || r.Generated > shortAnswer {
			continue
		}
		key := strings.Join([]string{r.Model, r.Weights, r.Device, r.Backend, r.Engine, r.Built}, "\t")
		by[key] = append(by[key], r.Rate)
	}
	var keys []string
	for k := range by {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	var b bytes.Buffer
	for _, k := range keys {
		fmt.Fprintf(&b, "%s\t%.4g\n", k, stat.Median(by[k]))
	}
	return b.Bytes(), nil
}

// shortAnswer is the longest answer that is timed behind next to nothing.
const shortAnswer = 1024
