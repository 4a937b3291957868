package serving

import "github.com/memwall/memwall/speed/coef"

// Fitted returns the table of coefficients fitted to measurements.
func Fitted() (*coef.Table, error) { return fitted() }
