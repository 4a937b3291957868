package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Values of All2All: kernels of DeepEP. Alone it takes the normal ones for steps with prompts and the low-latency ones for
// the others.
const (
	DeepEP           = "deepep"
	DeepEPNormal     = "deepep-normal"
	DeepEPLowLatency = "deepep-low-latency"
)

// kernels of a worker that generates: where others compute prompts, it has no use for the normal ones.
func (p *Plan) kernels() string {
	if p.Disaggregated != nil && p.All2All == DeepEP {
		return DeepEPLowLatency
	}
	return p.All2All
}

// NormalKernels reports whether DeepEP's normal kernels run on the workers that generate.
func (p *Plan) NormalKernels() bool { k := p.kernels(); return k == DeepEP || k == DeepEPNormal }

// LowLatency reports whether its low-latency kernels do.
func (p *Plan) LowLatency() bool { k := p.kernels(); return k == DeepEP || k == DeepEPLowLatency }

// Kinds of ExpertLoad.
const evenLoad, zipfLoad = "even", "zipf:"

// Bounds of ExpertLoad: experts that are counted, and the exponent of Zipf's law.
const mostExperts, steepest = 1 << 12, 8

// Loads are the shares of tokens that each of so many experts has, the counted ones where these are listed; nil where all
// have the same. The order of Zipf's law is that of the ranks, not of the experts.
func (p *Plan) Loads(experts int64) ([]float64, error) {
	text := strings.TrimSpace(p.ExpertLoad)
	switch {
	case text == "" || text == evenLoad:
		return nil, nil
	case strings.HasPrefix(text, zipfLoad):
		s, err := strconv.ParseFloat(text[len(zipfLoad):], 64)
		if err != nil || !(s >= 0 && s <= steepest) {
			return nil, badLoad(text, fmt.Sprintf("zipf takes an exponent from 0 to %d", steepest))
		}
		return zipf(min(max(1, experts), mostExperts), s), nil
	}
	return counted(text)
}

func zipf(n int64, exponent float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.Pow(float64(i+1), -exponent)
	}
	return out
}

// counted reads a list of numbers, of which one at least is above zero.
func counted(text string) ([]float64, error) {
	words := strings.Split(text, ",")
	if len(words) < 2 || len(words) > mostExperts {
		return nil, badLoad(text, fmt.Sprintf("a list has a number for each expert, 2 to %d", mostExperts))
	}
	out, sum := make([]float64, len(words)), 0.0
	for i, w := range words {
		x, err := strconv.ParseFloat(strings.TrimSpace(w), 64)
		if err != nil || !(x >= 0 && x <= 1e18) {
			return nil, badLoad(w, fmt.Sprintf("number %d of the list is no count", i+1))
		}
		out[i], sum = x, sum+x
	}
	if sum == 0 {
		return nil, badLoad(text, "no expert of the list has any token")
	}
	return out, nil
}

func badLoad(value, why string) error {
	if len(value) > 40 {
		value = value[:40] + "…"
	}
	return &Problem{Field: "expert_load", Value: value, Message: "expert_load: " + why, Fix: "even, zipf:0.5, or counts as in 120,80,95,…"}
}
