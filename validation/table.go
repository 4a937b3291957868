package validation

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"
)

// eachRow hands on the cells of every line behind the header of a table, with the line's number from 1. What it
// returns names file and line.
func eachRow(name string, table []byte, read func(line int, cells []string) error) error {
	scan := bufio.NewScanner(bytes.NewReader(table))
	scan.Buffer(nil, 1<<20)
	for n := 1; scan.Scan(); n++ {
		if n == 1 {
			continue
		}
		if err := read(n, strings.Split(scan.Text(), "\t")); err != nil {
			return fmt.Errorf("%s, line %d: %w", name, n, err)
		}
	}
	return scan.Err()
}
