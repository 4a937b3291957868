package source

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Lengths reads files with the tokens of one sample on each line, as data sets are measured with.
type Lengths struct{}

// Bounds of such a file, so that no file makes memwall work without end.
const (
	maxSamples = 1 << 24
	maxLength  = 1 << 30
)

// Lengths of a file's samples. Empty lines and those that begin with # are passed over; an error names the line.
func (Lengths) Lengths(name string) ([]int64, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read", name)
	}
	defer f.Close()
	var out []int64
	in := bufio.NewScanner(f)
	for line := 1; in.Scan(); line++ {
		text := strings.TrimSpace(in.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 || n > maxLength {
			return nil, fmt.Errorf("%s: line %d: %.40q is no number of tokens", name, line, text)
		}
		if out = append(out, n); len(out) > maxSamples {
			return nil, fmt.Errorf("%s has more than %d samples", name, maxSamples)
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no samples", name)
	}
	return out, nil
}
