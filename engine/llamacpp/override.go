package llamacpp

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
)

// Tensors that lie elsewhere than their layer: -ot and --n-cpu-moe (common/arg.cpp). The first pattern
// that matches a tensor's name decides.

// override sends tensors whose names match to a place.
type override struct {
	pattern *regexp.Regexp
	place   int
	pinned  bool // the device's host buffer, by name
}

// mover tells which tensors lie elsewhere. The zero mover moves nothing.
type mover struct {
	rules []override
	// experts of the first layers stay on the host; -1 means of all.
	experts int
	// cuts are layers held in part.
	cuts map[int]cut
}

// Bounds of -ot: --fit writes an expression for each layer.
const (
	maxPatternBytes = 1 << 15
	maxPatterns     = 512
)

func moverOf(j *engine.Job, r *rules) (*mover, error) {
	m := &mover{}
	if n := j.Plan.CPUMoE; n != nil {
		m.experts = int(min(int64(*n), 1<<16))
	}
	text := j.Plan.OverrideTensor
	if text == "" {
		return m, nil
	}
	if n := strings.Count(text, ",") + 1; len(text) > maxPatternBytes || n > maxPatterns {
		return nil, badOverride(text[:40]+"…", fmt.Sprintf("is %d bytes long, with %d patterns", len(text), n), "fewer or shorter patterns")
	}
	names := bufferNames(j, r)
	for _, one := range strings.Split(text, ",") {
		o, err := parseOverride(one, names)
		if err != nil {
			return nil, err
		}
		m.rules = append(m.rules, o)
	}
	return m, nil
}

func parseOverride(text string, names map[string]override) (override, error) {
	pattern, name, ok := strings.Cut(text, "=")
	if !ok {
		return override{}, badOverride(text, "has no =", `pattern=place, as in \.ffn_.*_exps=CPU`)
	}
	o, ok := names[name]
	if !ok {
		return override{}, badOverride(text, fmt.Sprintf("names no buffer of this plan: %q", name), "one of "+strings.Join(sortedNames(names), ", "))
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return override{}, badOverride(text, "is not an expression: "+err.Error(), `an expression such as blk\.(1|2)\.ffn_.*_exps`)
	}
	o.pattern = re
	return o, nil
}

func badOverride(value, why, fix string) error {
	return &plan.Problem{Field: "override_tensor", Value: value, Message: fmt.Sprintf("override_tensor %s %s", value, why), Fix: fix}
}

// bufferNames are the places that -ot may name.
func bufferNames(j *engine.Job, r *rules) map[string]override {
	names := map[string]override{"CPU": {place: host}}
	for i := range used(j) {
		b := backendAt(j, i)
		names[b.device(i, r)] = override{place: i}
		if b.host != "" {
			names[b.host] = override{place: host, pinned: true}
		}
	}
	return names
}

// placeName is the buffer of a place, as -ot names it.
func placeName(j *engine.Job, r *rules, place int) string {
	if place == host {
		return "CPU"
	}
	return backendAt(j, place).device(place, r)
}

func sortedNames(names map[string]override) []string {
	out := make([]string, 0, len(names))
	for n := range names {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// none reports whether every tensor lies with its layer.
func (m *mover) none() bool { return len(m.rules) == 0 && m.experts == 0 && len(m.cuts) == 0 }

// place of a tensor of a layer (or of model.InPre, model.InPost); ok is false when it is not moved.
func (m *mover) place(layer int, t *model.Tensor) (o override, ok bool) {
	if len(m.rules) > 0 {
		name := t.GGUF(layer)
		if ropeTables[t.Role] {
			name = t.GGUF(model.InPre) // of all layers
		}
		for i := range m.rules {
			if m.rules[i].pattern.MatchString(name) {
				return m.rules[i], true
			}
		}
	}
	if c, ok := m.cuts[layer]; ok && c.keeps.leaves(layer, t) {
		return override{place: c.place}, true
	}
	if layer >= 0 && (m.experts < 0 || layer < m.experts) && expertMatrix(t.Role) {
		return override{place: host}, true
	}
	return override{}, false
}

var ropeTables = map[dtype.Role]bool{dtype.RopeFreqs: true, dtype.RopeLong: true, dtype.RopeShort: true}

// expertMatrix: ffn_(up|down|gate|gate_up)_exps, with their biases and scales.
func expertMatrix(r dtype.Role) bool {
	s := strings.TrimSuffix(string(r), ".scale")
	return strings.HasPrefix(s, "ffn_") && strings.HasSuffix(s, "_exps")
}
