package validation

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"

	"github.com/memwall/memwall/validation/packed"
)

// measurements of a file, a line each, with their sources in a file beside it.
func measurements[T any](file, beside packed.File, row func(cells, sources []string) (T, error), line func(*T) *int) ([]T, error) {
	sources, err := beside.Lines()
	if err != nil {
		return nil, err
	}
	var out []T
	err = eachRow(file, func(n int, cells []string) error {
		r, err := row(cells, sources)
		*line(&r) = n
		out = append(out, r)
		return err
	})
	return out, err
}

// eachRow hands on the cells of every line behind the header of a table, with the line's number from 1. What it
// returns names file and line.
func eachRow(file packed.File, read func(line int, cells []string) error) error {
	table, err := file.Read()
	if err != nil {
		return err
	}
	scan := bufio.NewScanner(bytes.NewReader(table))
	scan.Buffer(nil, 1<<20)
	for n := 1; scan.Scan(); n++ {
		if n == 1 {
			continue
		}
		if err := read(n, strings.Split(scan.Text(), "\t")); err != nil {
			return fmt.Errorf("%s, line %d: %w", file.Name(), n, err)
		}
	}
	return scan.Err()
}
