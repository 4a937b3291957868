package calibrate

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"
)

// readColumns reads tables with a header: llama-bench's CSV, or two columns with the varied parameter and the measured
// rate.
func readColumns(data []byte) (*File, error) {
	c := csv.NewReader(bytes.NewReader(data))
	c.FieldsPerRecord, c.TrimLeadingSpace, c.LazyQuotes, c.ReuseRecord = -1, true, true, false
	c.Comma = separator(data)
	header, err := c.Read()
	if err != nil {
		return nil, fmt.Errorf("the file is not a table: %w", err)
	}
	for i := range header {
		header[i] = strings.TrimSpace(header[i])
	}
	if slices.Contains(header, "avg_ts") && slices.Contains(header, "n_gen") {
		return readTable(c, header)
	}
	return readTwo(c, header)
}

// separator returns the most frequent separator in the header.
func separator(data []byte) rune {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	best, most := ',', 0
	for _, r := range []rune{',', ';', '\t'} {
		if n := bytes.Count(line, []byte(string(r))); n > most {
			best, most = r, n
		}
	}
	return best
}

func readTable(c *csv.Reader, header []string) (*File, error) {
	f := &File{Format: "llama-bench"}
	return f, eachRow(c, f, func(at string, row []string) {
		if len(row) != len(header) {
			f.refuse(at, "", strings.Join(row, ","), fmt.Sprintf("has %d columns, the header has %d", len(row), len(header)))
			return
		}
		r := record{}
		for i, name := range header {
			r[name] = cell(clip(row[i]))
		}
		f.llamaBench(at, r)
	})
}

// eachRow calls do for every row up to the limit; invalid rows are refused.
func eachRow(c *csv.Reader, f *File, do func(at string, row []string)) error {
	for n := 2; ; n++ {
		row, err := c.Read()
		at := fmt.Sprintf("line %d", n)
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			f.refuse(at, "", "", "is not a row: "+err.Error())
		case len(row) == 1 && strings.TrimSpace(row[0]) == "":
		default:
			do(at, row)
		}
		if n > maxRows {
			return errRows
		}
	}
}

// varied and rates are possible names of the two columns.
var (
	varied = map[string]func(*Observation, int64){
		"context": atDepth, "depth": atDepth, "n_depth": atDepth, "ctx": atDepth,
		"batch": together, "concurrency": together, "sequences": together, "users": together,
	}
	rates = []string{"tokens/s", "tokens_per_s", "tokens_per_second", "tok/s", "t/s", "tps"}
)

func atDepth(o *Observation, n int64) { o.Test, o.Depth, o.Concurrency = Decode, n, 1 }

func together(o *Observation, n int64) { o.Test, o.Concurrency = Output, n }

func readTwo(c *csv.Reader, header []string) (*File, error) {
	if len(header) != 2 {
		return nil, fmt.Errorf("the file is of no benchmark that is known; a table of one's own has two columns under a header, such as " +
			"context,tokens/s")
	}
	set := varied[strings.ToLower(header[0])]
	switch {
	case set == nil:
		return nil, fmt.Errorf("the first column is called %q: context or batch", clip(header[0]))
	case !slices.Contains(rates, strings.ToLower(header[1])):
		return nil, fmt.Errorf("the second column is called %q: tokens/s is the unit that is read", clip(header[1]))
	}
	f := &File{Format: "two columns"}
	return f, eachRow(c, f, func(at string, row []string) {
		if len(row) != 2 {
			f.refuse(at, "", strings.Join(row, ","), "has not two columns")
			return
		}
		n, text := integer(strings.TrimSpace(row[0])), strings.TrimSpace(row[1])
		o := Observation{At: at, Answer: 1}
		set(&o, n)
		if strings.TrimSpace(row[0]) != "0" && n <= 0 || n > 1e9 || o.Test == Output && n < 1 {
			f.refuse(at, header[0], row[0], "is not a count")
			return
		}
		f.add(o, header[1], text)
	})
}
