package speed

import (
	_ "embed"
	"fmt"
	"sync"

	"github.com/memwall/memwall/speed/coef"
)

// adam.tsv is written by validation/fit/adam.
//
//go:embed adam.tsv
var adam []byte

// Programs that run Adam's step in a host's memory: DeepSpeed's CPU Adam, which has vector instructions and threads
// (csrc/adam; PyTorch's fused AdamW is alike), and PyTorch's other ones, which go over the states once for each operator.
const (
	DeepSpeedAdam = "deepspeed"
	TorchAdam     = "torch"
)

// AdamBytes are read and written for a parameter: gradient, master, two moments and the weight in 16 bits.
const AdamBytes = 4 + 3*8 + 2

// AdamUse is the share of the host's memory rate that a program's step reaches. Hosts and how ranks are bound to their
// cores differ; launch names those of a measurement.
func AdamUse(program, launch string) coef.Use {
	u := coef.Use{Name: "adam", Levels: []coef.Level{{Name: "all", Key: "all"}, {Name: "launch", Key: launch}}}
	if program == TorchAdam {
		u.Levels = append(u.Levels, coef.Level{Name: "program", Key: program})
	}
	return u
}

var adamTable = sync.OnceValues(func() (*coef.Table, error) { return coef.Parse(adam) })

// HostAdam is that share with its band, which is as wide as hosts and launches differ.
func HostAdam(program string) (f Figure, err error) {
	t, err := adamTable()
	if err != nil {
		return f, err
	}
	u := AdamUse(program, "")
	s, ok := t.Spread(u.Name)
	if !ok {
		return f, fmt.Errorf("adam.tsv has no spread")
	}
	c := t.At(u)
	f.Mid = c.Value
	f.Low, f.High = s.Band(c.Value, c.Var)
	return f, nil
}
