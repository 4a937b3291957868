package source

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Lengths is a LengthSource that reads files with one sample's token count per line.
type Lengths struct{}

// Limits of such a file.
const (
	maxSamples = 1 << 24
	maxLength  = 1 << 30
)

// Lengths returns a file's sample lengths in tokens. Empty lines and lines starting with # are skipped; errors name the
// line.
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
			return nil, fmt.Errorf("%s: line %d: %.40q is not a number of tokens", name, line, text)
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
