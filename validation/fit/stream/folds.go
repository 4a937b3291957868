package main

import (
	"bytes"
	"fmt"

	"github.com/memwall/memwall/speed/coef"
)

// writeFolds gives the predictions of rows by the fits that lacked them, with their bands, in tokens a second.
func writeFolds(rows []row, models, hardware []out, bands map[string]coef.Spread) []byte {
	var b bytes.Buffer
	fmt.Fprintln(&b, "line\tmodels\tlow\thigh\thardware\tlow\thigh")
	for i := range rows {
		if len(models[i].spreads) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%d", rows[i].Line)
		for _, o := range []*out{&models[i], &hardware[i]} {
			_, s := o.band(bands)
			low, high := s.Band(1, o.variance) // of the time
			fmt.Fprintf(&b, "\t%.4g\t%.4g\t%.4g", o.rate, o.rate/high, o.rate/low)
		}
		fmt.Fprintln(&b)
	}
	return b.Bytes()
}
