package validation

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/memwall/memwall/validation/packed"
)

const (
	streamRows    = packed.File("rows/decode.tsv")
	streamSources = packed.File("rows/decode-sources.txt")
)

// StreamRow is a measured speed of one stream: of a prompt, of an answer, or of both.
type StreamRow struct {
	Line    int
	Source  string
	Model   string // id of the catalog, or the report's name where the row is refused
	Weights string // a recipe
	GiB     float64
	Device  string
	Count   int
	Backend string
	Variant []string
	Engine  string
	Built   string // month, "2025-08"; "" where nobody says
	// Kind is "prefill", "decode", "both" (tokens of prompt and answer over the time of both), or the average of
	// LocalScore's nine tests, "localscore-prefill" and "localscore-decode".
	Kind string
	// Prompt and Generated tokens behind Depth others. UBatch is how many tokens of a prompt were computed at
	// once; 0 where nobody says.
	Prompt, Generated, Depth, UBatch int64
	Flash                            string // "1", "0", or "" where nobody says
	Rate                             float64
	// Refused says why the row cannot be used.
	Refused string
}

// Name is where the row stands.
func (r *StreamRow) Name() string { return fmt.Sprintf("decode:%d", r.Line) }

// Streams reads the measurements of single streams.
func Streams() ([]StreamRow, error) {
	return measurements(streamRows, streamSources, streamRow, func(r *StreamRow) *int { return &r.Line })
}

const streamCells = 18

func streamRow(cells, sources []string) (r StreamRow, err error) {
	if len(cells) != streamCells {
		return r, fmt.Errorf("%d cells, want %d", len(cells), streamCells)
	}
	c := cellReader{cells: cells}
	r = StreamRow{Model: c.text(0), Weights: c.text(1), GiB: c.float(2), Device: c.text(3), Count: int(c.integer(4)), Backend: c.text(5),
		Variant: strings.Fields(c.text(6)), Engine: c.text(7), Built: c.text(8), Kind: c.text(9), Prompt: c.integer(10),
		Generated: c.integer(11),
		Depth:     c.integer(12), UBatch: c.integer(13), Flash: c.text(14), Rate: c.float(15), Refused: c.text(17)}
	r.Count = max(1, r.Count)
	source := c.integer(16)
	if source < 0 || int(source) >= len(sources) {
		return r, fmt.Errorf("no source %d", source)
	}
	r.Source = sources[source]
	return r, c.err
}

// cellReader reads cells; empty numbers are 0.
type cellReader struct {
	cells []string
	err   error
}

func (c *cellReader) text(i int) string { return c.cells[i] }

func (c *cellReader) float(i int) float64 {
	if c.cells[i] == "" {
		return 0
	}
	x, err := strconv.ParseFloat(c.cells[i], 64)
	if err != nil {
		c.err = err
	}
	return x
}

func (c *cellReader) integer(i int) int64 {
	if c.cells[i] == "" {
		return 0
	}
	x, err := strconv.ParseInt(c.cells[i], 10, 64)
	if err != nil {
		c.err = err
	}
	return x
}
