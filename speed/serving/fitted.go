package serving

import "github.com/memwall/memwall/speed/coef"

// Fitted is the table of coefficients that measurements gave.
func Fitted() (*coef.Table, error) { return fitted() }
