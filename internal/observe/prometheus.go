// Package observe parses what a live engine reports about itself: the Prometheus metrics of vLLM, SGLang, TensorRT-LLM,
// llama-server and TGI become a Reading of requests, cache, tokens and latencies. It does no I/O: the caller fetches
// the page.
//
// See reading.go for what a Reading holds, engines.go for the engines' metric names, histogram.go for percentiles and
// their limits, prometheus.go for the format.
package observe

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Bounds on a page of metrics. Engines print some hundred lines for each model.
const (
	MaxBytes   = 8 << 20
	maxSamples = 200_000
	maxLabels  = 64
)

// Sample is one line of a page: a name, its labels and a value.
type Sample struct {
	Name   string
	Labels map[string]string
	Value  float64
}

// Page is what could be read of a page.
type Page struct {
	Samples []Sample
	// Broken counts lines that are not samples; FirstBroken says where the first stands and why.
	Broken      int
	FirstBroken string
}

// Errors of Parse.
var (
	ErrTooLarge = errors.New("the page is larger than 8 MiB or has more than 200,000 samples")
	ErrNone     = errors.New("the page holds no metric: is this the address of /metrics?")
)

// Parse reads Prometheus' text format, version 0.0.4, and OpenMetrics with their exemplars and timestamps, which are left
// out. Comments are skipped, lines that are broken are counted; values that are not numbers (NaN) are dropped, as they
// stand for "nothing yet".
func Parse(text []byte) (*Page, error) {
	if len(text) > MaxBytes {
		return nil, ErrTooLarge
	}
	p := &Page{}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		s, err := parseLine(line)
		switch {
		case err != nil:
			if p.Broken++; p.FirstBroken == "" {
				p.FirstBroken = fmt.Sprintf("line %d: %v", n, err)
			}
		case math.IsNaN(s.Value):
		case len(p.Samples) == maxSamples:
			return nil, ErrTooLarge
		default:
			p.Samples = append(p.Samples, s)
		}
	}
	if len(p.Samples) == 0 {
		return nil, ErrNone
	}
	return p, nil
}

var (
	errName  = errors.New("no name of a metric")
	errLabel = errors.New("labels that do not end")
	errValue = errors.New("no number behind the name")
)

// parseLine reads `name{label="value",…} 1.5 [timestamp] [# exemplar]`.
func parseLine(line string) (s Sample, err error) {
	end := 0
	for end < len(line) && nameByte(line[end], end == 0) {
		end++
	}
	if end == 0 {
		return s, errName
	}
	s.Name, line = line[:end], line[end:]
	if strings.HasPrefix(line, "{") {
		if s.Labels, line, err = parseLabels(line[1:]); err != nil {
			return s, err
		}
	}
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return s, errValue
	}
	if s.Value, err = strconv.ParseFloat(fields[0], 64); err != nil {
		return s, errValue
	}
	return s, nil
}

func nameByte(c byte, first bool) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == ':' || !first && c >= '0' && c <= '9'
}

// parseLabels reads `a="x",b="y\"z"}` and gives what follows.
func parseLabels(text string) (labels map[string]string, rest string, err error) {
	labels = map[string]string{}
	for {
		text = strings.TrimLeft(text, " ,\t")
		if strings.HasPrefix(text, "}") {
			return labels, text[1:], nil
		}
		name, after, ok := strings.Cut(text, "=")
		after = strings.TrimLeft(after, " ")
		if !ok || !strings.HasPrefix(after, `"`) || len(labels) == maxLabels {
			return nil, "", errLabel
		}
		value, after, ok := unquote(after[1:])
		if !ok {
			return nil, "", errLabel
		}
		labels[strings.TrimSpace(name)], text = value, after
	}
}

// unquote reads up to the closing quote; \n, \\ and \" are what they stand for.
func unquote(text string) (value, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return b.String(), text[i+1:], true
		case c == '\\' && i+1 < len(text):
			i++
			if text[i] == 'n' {
				b.WriteByte('\n')
			} else {
				b.WriteByte(text[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}
