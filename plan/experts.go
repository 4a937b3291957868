package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Values of All2All that select kernels of DeepEP. DeepEP alone means its normal kernels in steps with prompts and its
// low-latency kernels in all others.
const (
	DeepEP           = "deepep"
	DeepEPNormal     = "deepep-normal"
	DeepEPLowLatency = "deepep-low-latency"
)

// kernels returns the kernels of a decode worker, which has no use for the normal ones if other workers run prefill.
func (p *Plan) kernels() string {
	if p.Disaggregated != nil && p.All2All == DeepEP {
		return DeepEPLowLatency
	}
	return p.All2All
}

// NormalKernels reports whether decode workers run DeepEP's normal kernels.
func (p *Plan) NormalKernels() bool { k := p.kernels(); return k == DeepEP || k == DeepEPNormal }

// LowLatency reports whether decode workers run DeepEP's low-latency kernels.
func (p *Plan) LowLatency() bool { k := p.kernels(); return k == DeepEP || k == DeepEPLowLatency }

// Kinds of ExpertLoad.
const evenLoad, zipfLoad = "even", "zipf:"

// Bounds of ExpertLoad: number of listed experts, and exponent of Zipf's law.
const mostExperts, steepest = 1 << 12, 8

// Loads returns the share of tokens of each of the given number of experts: as listed, or by Zipf's law, ordered by
// rank rather than by expert. It returns nil if all shares are equal.
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

// counted parses a list of non-negative numbers, at least one of them positive.
func counted(text string) ([]float64, error) {
	words := strings.Split(text, ",")
	if len(words) < 2 || len(words) > mostExperts {
		return nil, badLoad(text, fmt.Sprintf("a list has a number for each expert, 2 to %d", mostExperts))
	}
	out, sum := make([]float64, len(words)), 0.0
	for i, w := range words {
		x, err := strconv.ParseFloat(strings.TrimSpace(w), 64)
		if err != nil || !(x >= 0 && x <= 1e18) {
			return nil, badLoad(w, fmt.Sprintf("number %d of the list is not a count", i+1))
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
