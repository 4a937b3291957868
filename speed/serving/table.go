package serving

import (
	_ "embed"
	"sync"

	"github.com/memwall/memwall/speed/coef"
)

//go:embed fitted.tsv
var table []byte

var fitted = sync.OnceValues(func() (*coef.Table, error) { return coef.Parse(table) })
