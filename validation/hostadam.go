package validation

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/memwall/memwall/unit"
	"github.com/memwall/memwall/validation/packed"
)

const hostAdamRows packed.File = "rows/host-adam.tsv"

// HostAdam is a measured step of Adam in a host's memory, as one of speed.Adams runs it: all parameters of a node.
type HostAdam struct {
	Line                int
	Program             string
	Host                unit.ByteRate // of the memory, by its channels
	Parameters, Seconds float64
	Source              string
}

// Publisher is what stands before the row's first comma: rows of one are not independent evidence.
func (r *HostAdam) Publisher() string {
	who, _, _ := strings.Cut(r.Source, ",")
	return who
}

// HostAdams reads them. The error names the line.
func HostAdams() (out []HostAdam, err error) {
	err = eachRow(hostAdamRows, func(line int, cells []string) error {
		r, err := readHostAdam(cells)
		r.Line = line
		out = append(out, r)
		return err
	})
	return out, err
}

func readHostAdam(cells []string) (r HostAdam, err error) {
	if len(cells) != 5 {
		return r, fmt.Errorf("%d cells, want 5", len(cells))
	}
	var x [3]float64
	for i := range x {
		if x[i], err = strconv.ParseFloat(cells[i+1], 64); err != nil || !(x[i] > 0) {
			return r, fmt.Errorf("%q is not an amount", cells[i+1])
		}
	}
	return HostAdam{Program: cells[0], Host: unit.ByteRate(x[0] * 1e9), Parameters: x[1], Seconds: x[2], Source: cells[4]}, nil
}
