package simfile

import (
	"io"
	"strconv"

	"github.com/memwall/memwall"
)

// SeriesColumns are the names of the columns of a series.
const SeriesColumns = "from_s,waiting,running,kv_utilization,output_tokens_per_s"

// WriteSeries writes what a run was like over time, a row for each interval.
func WriteSeries(w io.Writer, s *memwall.Simulated) {
	b := append([]byte(SeriesColumns), '\n')
	if s != nil && s.Series != nil {
		v := s.Series
		for i := range v.Waiting {
			b = strconv.AppendFloat(b, float64(i)*v.IntervalS, 'f', -1, 64)
			for _, x := range []float64{v.Waiting[i], v.Running[i], v.KV[i], v.Output[i]} {
				b = strconv.AppendFloat(append(b, ','), x, 'f', -1, 64)
			}
			b = append(b, '\n')
		}
	}
	_, _ = w.Write(b)
}
