package vllm

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/engine/manifest"
	"github.com/memwall/memwall/plan"
)

// Flags whose value is an object, and the file that --config names.

// read decodes a value; the error's fix shows an example.
func read[T any](v, example string) (out T, err error) {
	if json.Unmarshal([]byte(v), &out) != nil {
		err = &argv.Error{Value: v, Problem: "is not JSON", Fix: "'" + example + "', in single quotes"}
	}
	return out, err
}

// compiling is --compilation-config (vllm/config/compilation.py), of which the graphs take memory. A number alone is its level.
type compiling struct {
	Mode  any        `json:"cudagraph_mode"`
	Sizes []plan.Int `json:"cudagraph_capture_sizes"`
	Most  plan.Int   `json:"max_cudagraph_capture_size"`
	Whole *bool      `json:"full_cuda_graph"`
}

func compilation(l *launch, v string) error {
	if len(strings.TrimSpace(v)) == 1 {
		l.Beside = append(l.Beside, "--compilation-config "+v)
		return nil
	}
	c, err := read[compiling](v, `{"cudagraph_mode":"FULL_DECODE_ONLY"}`)
	if err != nil {
		return err
	}
	switch mode, _ := c.Mode.(string); {
	case strings.EqualFold(mode, "none"), c.Mode == 0.0:
		off := true
		l.Plan.EnforceEager = &off
	case c.Most > 0:
		l.Plan.GraphBatch = c.Most
	case len(c.Sizes) > 0:
		l.Plan.GraphBatch = slices.Max(c.Sizes)
	}
	list := &l.Beside
	if mode, said := c.Mode.(string); said && l.Plan.EnforceEager == nil && !strings.EqualFold(mode, "FULL_AND_PIECEWISE") {
		list = &l.Unknown // graphs of other kinds than those that are sized
	}
	*list = append(*list, "--compilation-config "+argv.Quote(argv.Blotted(v)))
	return nil
}

// graphSizes parses the batch sizes with graphs; the largest determines the others.
func graphSizes(l *launch, v string) error {
	for _, word := range strings.FieldsFunc(strings.Trim(v, "[]"), func(r rune) bool { return r == ',' || r == ' ' }) {
		n, err := argv.Count[plan.Int](word)
		if err != nil {
			return err
		}
		l.Plan.GraphBatch = max(l.Plan.GraphBatch, n)
	}
	return nil
}

func limitsMedia(arg string) bool { return strings.HasPrefix(arg, "--limit-mm-per-prompt") }

// mediaLimit: where no modality is let in, its tower is not loaded (vllm/model_executor/models/interfaces.py, _mark_tower_model).
func mediaLimit(l *launch, v string) error {
	if !strings.HasPrefix(strings.TrimSpace(v), "{") { // image=2,video=0
		parts := strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' })
		v = `{"` + strings.ReplaceAll(strings.Join(parts, `,"`), "=", `":`) + "}"
	}
	limits, err := read[map[string]any](v, `{"image":2,"video":0}`)
	if err != nil {
		return err
	}
	most := 0.0
	for _, limit := range limits {
		switch n := limit.(type) {
		case float64:
			most = max(most, n)
		case map[string]any:
			most = max(most, 1)
		}
	}
	_, pictures := limits["image"]
	of, videos := limits["video"]
	none := true
	if most == 0 && (pictures || videos) {
		l.Plan.TextOnly = &none
	} else if of == 0.0 {
		l.Plan.NoVideo = &none
		if len(limits) == 1 {
			return nil
		}
	}
	l.Beside = append(l.Beside, "--limit-mm-per-prompt "+argv.Quote(v))
	return nil
}

// balancing is --eplb-config (vllm/config/parallel.py, EPLBConfig).
func balancing(l *launch, v string) error {
	c, err := read[struct {
		Copies plan.Int `json:"num_redundant_experts"`
	}](v, `{"num_redundant_experts":32}`)
	l.Plan.RedundantExperts = c.Copies
	return err
}

// configured puts the flags of the file that --config names before those of the command line, which count more; a file that
// the text does not hold stays as it is.
func configured(c *argv.Command) ([]string, error) {
	for i, a := range c.Args {
		name, file, attached := strings.Cut(a, "=")
		if name != "--config" {
			continue
		}
		end := i + 1
		if !attached && end < len(c.Args) {
			file, end = c.Args[end], end+1
		}
		text, ok := c.Files[file]
		if !ok {
			return c.Args, nil
		}
		args, err := manifest.ConfigArguments(text)
		return append(append(args, c.Args[:i]...), c.Args[end:]...), err
	}
	return c.Args, nil
}
