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

// Programs that run Adam's step in host memory: DeepSpeed's CPU Adam, which is vectorized and multithreaded (csrc/adam;
// PyTorch's fused AdamW is similar), and PyTorch's other variants, which pass over the states once per operator.
const (
	DeepSpeedAdam = "deepspeed"
	TorchAdam     = "torch"
)

// AdamBytes is the memory traffic per parameter: gradient, master weight, two moments and the 16-bit weight.
const AdamBytes = 4 + 3*8 + 2

// AdamUse returns the coefficient for the share of host memory bandwidth that a program's step reaches. It varies with
// the host and with how ranks are bound to cores; launch identifies a measurement's.
func AdamUse(program, launch string) coef.Use {
	u := coef.Use{Name: "adam", Levels: []coef.Level{{Name: "all", Key: "all"}, {Name: "launch", Key: launch}}}
	if program == TorchAdam {
		u.Levels = append(u.Levels, coef.Level{Name: "program", Key: program})
	}
	return u
}

var adamTable = sync.OnceValues(func() (*coef.Table, error) { return coef.Parse(adam) })

// HostAdam returns that share with a band that covers the variation over hosts and launches.
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
