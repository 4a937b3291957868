package quality

import (
	_ "embed" // the published figures
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

//go:embed rows.tsv
var rowsText string

//go:embed formats.tsv
var formatsText string

//go:embed models.tsv
var modelsText string

//go:embed metrics.tsv
var metricsText string

//go:embed sources.tsv
var sourcesText string

// files holds the contents of the tables: a header line, then one line per row, with tab-separated cells.
type files struct{ rows, formats, models, metrics, sources string }

var published = sync.OnceValue(func() *table {
	t, err := parse(files{rowsText, formatsText, modelsText, metricsText, sourcesText})
	if err != nil {
		panic("quality: " + err.Error()) // embedded: a test parses them
	}
	return t
})

// table is the published figures, indexed for queries.
type table struct {
	rows    []Row
	formats []*Format
	models  []*subject
	ids     names
}

// cells is a line, by column header.
type cells struct {
	file, line string
	heads      []string
	values     []string
}

func (c *cells) text(column string) string {
	for i, h := range c.heads {
		if h == column {
			return c.values[i]
		}
	}
	return ""
}

// number parses a cell; an empty one is unknown.
func (c *cells) number(column string) (x float64, known bool, err error) {
	s := c.text(column)
	if s == "" {
		return 0, false, nil
	}
	if x, err = strconv.ParseFloat(s, 64); err != nil {
		return 0, false, c.wrong(column)
	}
	return x, true, nil
}

func (c *cells) wrong(column string) error {
	return fmt.Errorf("%s.tsv, %s: column %s: %q is not understood", c.file, c.line, column, c.text(column))
}

// each parses the lines of a file and returns all errors, with their lines.
func each(file, text string, read func(*cells) error) error {
	head, body, _ := strings.Cut(strings.TrimSuffix(text, "\n"), "\n")
	heads := strings.Split(head, "\t")
	var wrong []error
	n := 1
	for line := range strings.SplitSeq(body, "\n") {
		n++
		c := cells{file: file, line: "line " + strconv.Itoa(n), heads: heads, values: strings.Split(line, "\t")}
		if len(c.values) != len(heads) {
			wrong = append(wrong, fmt.Errorf("%s.tsv, line %d: %d cells under %d heads", file, n, len(c.values), len(heads)))
			continue
		}
		if err := read(&c); err != nil {
			wrong = append(wrong, err)
		}
	}
	return errors.Join(wrong...)
}
