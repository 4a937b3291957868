package main

import (
	"bytes"
	"fmt"
)

// writeFolds gives the predictions of rows by the fits that lacked them, with their bands, in tokens a second.
func writeFolds(rows []row, models, hardware, reports []out) []byte {
	var b bytes.Buffer
	fmt.Fprintln(&b, "line\tmodels\tlow\thigh\thardware\tlow\thigh\treports\tlow\thigh\tnaive")
	for i := range rows {
		if len(models[i].spreads) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%d", rows[i].Line)
		for _, o := range []*out{&models[i], &hardware[i], &reports[i]} {
			fmt.Fprintf(&b, "\t%.4g\t%.3g\t%.3g", o.rate, o.low, o.high)
		}
		fmt.Fprintf(&b, "\t%.3g\n", rows[i].naive())
	}
	return b.Bytes()
}
