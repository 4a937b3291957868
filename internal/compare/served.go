package compare

import (
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/ledger"
)

// A running server reports other things than a starting one: the size of its cache, the memory it holds on the device, and its
// latencies and throughput.

// servedFigures are the predictions for running servers, tried before those for startup logs.
type servedFigures struct {
	*sized
	printed figures // of startup logs
}

// derived returns what follows from figures that a startup log prints too.
func (s servedFigures) derived() []api.Line { return s.printed.derived() }

// estimate returns the counterpart of a figure.
func (s servedFigures) estimate(f *startup.Figure) estimate {
	if strings.HasPrefix(f.ID, "speed_") {
		return s.measured(f.ID)
	}
	switch f.ID {
	case "parameter_count":
		return s.parameterCount()
	case "file_bytes":
		return s.fileBytes()
	case "held_device":
		return s.modelBytes(true).times(1 / mib)
	case "held":
		return s.modelBytes(false).times(1 / mib)
	case "device_used":
		return s.deviceUsed()
	case "kv_pool":
		return s.cachePoolBytes().times(1 / gib)
	}
	if s.Log.Engine == "tensorrt-llm" || s.Log.Engine == "generic" {
		return s.capacity(f.ID)
	}
	return s.printed.estimate(f)
}

// measured estimates a latency or throughput at the server's load.
func (s servedFigures) measured(id string) estimate {
	v := s.answer.Speed
	switch {
	case v == nil:
		return unknown("memwall has no speed for this plan")
	case !s.Log.Loaded && id != "speed_out":
		return unknown("how many requests ran at once is not known: --for 10s looks on")
	case !s.Log.Loaded:
		return unknown("nothing ran")
	}
	switch id {
	case "speed_tpot":
		return figureOf(v.TPOT, v.TPOTLow, v.TPOTHigh)
	case "speed_ttft":
		return figureOf(v.Unloaded, v.UnloadedLow, v.TTFTHigh)
	case "speed_out":
		return figureOf(v.Total, v.TotalLow, v.TotalHigh)
	}
	return unknown("memwall has no figure for it")
}

func figureOf(mid, low, high *float64) estimate {
	if mid == nil || low == nil || high == nil {
		return unknown("memwall has no speed for this plan")
	}
	return estimate{value: *mid, low: *low, high: *high, known: true, basis: ledger.Derived}
}

// parameterCount estimates the parameters of all tensors in the file, including rotary factors.
func (s servedFigures) parameterCount() estimate {
	if s.noWeights != "" && strings.Contains(s.noWeights, "tensors") {
		return unknown("%s", s.noWeights)
	}
	return exactly(elements(s.q.Job.Model))
}

func (s servedFigures) fileBytes() estimate {
	if s.noWeights != "" {
		return unknown("%s", s.noWeights)
	}
	return exactly(float64(s.q.Job.Weights.Bytes()))
}

// notOfModel are items that an engine does not count towards a model: drivers, the program itself, saved prompts.
var notOfModel = map[string]bool{"driver": true, "other": true, "prompt_cache": true}

// modelBytes estimates a model's memory on all devices, and also on the host unless device is set.
func (s servedFigures) modelBytes(device bool) estimate {
	if s.noWeights != "" {
		return unknown("%s", s.noWeights)
	}
	if s.Request.Hardware == "" {
		return unknown(needsRoom)
	}
	sum := estimate{known: true, basis: ledger.Derived}
	for i := range s.ranks {
		r := &s.ranks[i]
		sum = sum.plus(ofModel(r.Items), float64(max(1, r.Count)))
		if !device {
			sum = sum.plus(ofModel(r.Host), 1)
		}
	}
	return sum
}

func ofModel(items []ledger.Item) estimate {
	return total(ledger.Sum(slices.DeleteFunc(slices.Clone(items), func(it ledger.Item) bool { return notOfModel[it.ID] })))
}

// deviceUsed estimates the memory that the driver reports for the first device.
func (s servedFigures) deviceUsed() estimate {
	r := &s.ranks[0]
	if r.Unlimited {
		return unknown(needsRoom)
	}
	if s.noWeights != "" {
		return unknown("%s", s.noWeights)
	}
	t, used := r.Needed(), float64(s.answer.Devices[0].Used)
	return estimate{value: used, low: used - float64(t.Bytes-t.Low), high: used + float64(t.High-t.Bytes), known: !t.Unknown,
		basis: t.Basis}
}

func (s servedFigures) cachePoolBytes() estimate {
	r := &s.ranks[0]
	if r.Unlimited {
		return unknown(needsRoom)
	}
	if s.noWeights != "" {
		return unknown("%s", s.noWeights)
	}
	return exactly(float64(r.KV.Pool))
}

// capacity estimates the cache capacity for engines whose startup log is not read.
func (s servedFigures) capacity(id string) estimate {
	r := &s.ranks[0]
	switch {
	case id == "block_tokens" && r.KV.BlockTokens > 0:
		return exactly(float64(r.KV.BlockTokens))
	case r.Unlimited:
		return unknown(needsRoom)
	case s.noWeights != "":
		return unknown("%s", s.noWeights)
	case id == "kv_tokens" && r.KV.Tokens >= 0:
		return s.capacityBand(float64(r.KV.Tokens))
	case id == "kv_tokens" && s.answer.KV != nil && s.answer.KV.CapacityTokens != nil:
		return s.capacityBand(float64(*s.answer.KV.CapacityTokens))
	case id == "kv_blocks" && r.KV.Blocks > 0:
		return s.capacityBand(float64(r.KV.Blocks))
	}
	return unknown("memwall has no figure for it")
}

// capacityBand scales a count with the band of the memory left by everything else.
func (s servedFigures) capacityBand(n float64) estimate {
	p := s.pool(&s.ranks[0])
	e := estimate{value: n, low: n, high: n, known: true, basis: p.basis}
	if p.known && p.value > 0 {
		e.low, e.high = math.Max(0, n*p.low/p.value), n*p.high/p.value
	}
	return e
}
