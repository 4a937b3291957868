package compare

import (
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/ledger"
)

// A server that runs says other things than one that starts: how large its cache came to be, what it holds
// on the device, how fast it answers.

// servedFigures are of running servers, before those of start-up logs.
type servedFigures struct {
	*sized
	printed figures // of start-up logs
}

// derived from figures that a start-up log prints too.
func (s servedFigures) derived() []api.Line { return s.printed.derived() }

// estimate is the counterpart of a figure.
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

// measured is a latency or a rate at the load that the server had.
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

// parameterCount is of all tensors of the file, rotary factors among them.
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

// notOfModel are items that an engine does not count as a model's: drivers, the program itself, prompts that it keeps aside.
var notOfModel = map[string]bool{"driver": true, "other": true, "prompt_cache": true}

// modelBytes is what a model takes of all devices, and of the host too where all of it is asked for.
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

// deviceUsed is what the driver shows of the first device.
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

// capacity is of engines whose start-up log memwall does not read.
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

// capacityBand scales a count with the band of what is left beside everything else.
func (s servedFigures) capacityBand(n float64) estimate {
	p := s.pool(&s.ranks[0])
	e := estimate{value: n, low: n, high: n, known: true, basis: p.basis}
	if p.known && p.value > 0 {
		e.low, e.high = math.Max(0, n*p.low/p.value), n*p.high/p.value
	}
	return e
}
