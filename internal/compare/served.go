package compare

import (
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/ledger"
)

// A server that runs says other things than one that starts: how large its cache came to be, what it holds
// on the device, how fast it answers.

// served puts the figures of running servers before those of start-up logs.
func (c *Comparison) served(printed func(*Comparison, *startup.Figure) estimate) func(*Comparison, *startup.Figure) estimate {
	return func(c *Comparison, f *startup.Figure) estimate {
		if strings.HasPrefix(f.ID, "speed_") {
			return c.measured(f.ID)
		}
		switch f.ID {
		case "parameter_count":
			return c.parameterCount()
		case "file_bytes":
			return c.fileBytes()
		case "held_device":
			return c.modelBytes(true).times(1 / mib)
		case "held":
			return c.modelBytes(false).times(1 / mib)
		case "device_used":
			return c.deviceUsed()
		case "kv_pool":
			return c.cachePoolBytes().times(1 / gib)
		}
		if c.Log.Engine == "tensorrt-llm" || c.Log.Engine == "generic" {
			return c.capacity(f.ID)
		}
		return printed(c, f)
	}
}

// measured is a latency or a rate at the load that the server had.
func (c *Comparison) measured(id string) estimate {
	v := c.sized.Speed
	switch {
	case v == nil:
		return unknown("memwall has no speed for this plan")
	case !c.Log.Loaded && id != "speed_out":
		return unknown("how many requests ran at once is not known: --for 10s looks on")
	case !c.Log.Loaded:
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
func (c *Comparison) parameterCount() estimate {
	if c.noWeights != "" && strings.Contains(c.noWeights, "tensors") {
		return unknown("%s", c.noWeights)
	}
	return exactly(elements(c.q.Job.Model))
}

func (c *Comparison) fileBytes() estimate {
	if c.noWeights != "" {
		return unknown("%s", c.noWeights)
	}
	return exactly(float64(c.q.Job.Weights.Bytes()))
}

// notOfModel are items that an engine does not count as a model's: drivers, the program itself, prompts that it keeps aside.
var notOfModel = map[string]bool{"driver": true, "other": true, "prompt_cache": true}

// modelBytes is what a model takes of all devices, and of the host too where all of it is asked for.
func (c *Comparison) modelBytes(device bool) estimate {
	if c.noWeights != "" {
		return unknown("%s", c.noWeights)
	}
	if c.Request.Hardware == "" {
		return unknown(needsRoom)
	}
	sum := estimate{known: true, basis: ledger.Derived}
	for i := range c.ranks {
		r := &c.ranks[i]
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

// plus adds an estimate some times; what is not known makes the sum unknown.
func (e estimate) plus(more estimate, times float64) estimate {
	e.value, e.low, e.high = e.value+times*more.value, e.low+times*more.low, e.high+times*more.high
	e.known = e.known && more.known
	return e
}

// deviceUsed is what the driver shows of the first device.
func (c *Comparison) deviceUsed() estimate {
	r := &c.ranks[0]
	if r.Unlimited {
		return unknown(needsRoom)
	}
	if c.noWeights != "" {
		return unknown("%s", c.noWeights)
	}
	t, used := r.Needed(), float64(c.sized.Devices[0].Used)
	return estimate{value: used, low: used - float64(t.Bytes-t.Low), high: used + float64(t.High-t.Bytes), known: !t.Unknown,
		basis: t.Basis}
}

func (c *Comparison) cachePoolBytes() estimate {
	r := &c.ranks[0]
	if r.Unlimited {
		return unknown(needsRoom)
	}
	if c.noWeights != "" {
		return unknown("%s", c.noWeights)
	}
	return exactly(float64(r.KV.Pool))
}

// capacity is of engines whose start-up log memwall does not read.
func (c *Comparison) capacity(id string) estimate {
	r := &c.ranks[0]
	switch {
	case id == "block_tokens" && r.KV.BlockTokens > 0:
		return exactly(float64(r.KV.BlockTokens))
	case r.Unlimited:
		return unknown(needsRoom)
	case c.noWeights != "":
		return unknown("%s", c.noWeights)
	case id == "kv_tokens" && r.KV.Tokens >= 0:
		return c.capacityBand(float64(r.KV.Tokens))
	case id == "kv_tokens" && c.sized.KV != nil && c.sized.KV.CapacityTokens != nil:
		return c.capacityBand(float64(*c.sized.KV.CapacityTokens))
	case id == "kv_blocks" && r.KV.Blocks > 0:
		return c.capacityBand(float64(r.KV.Blocks))
	}
	return unknown("memwall has no figure for it")
}

// capacityBand scales a count with the band of what is left beside everything else.
func (c *Comparison) capacityBand(n float64) estimate {
	p := c.pool(&c.ranks[0])
	e := estimate{value: n, low: n, high: n, known: true, basis: p.basis}
	if p.known && p.value > 0 {
		e.low, e.high = math.Max(0, n*p.low/p.value), n*p.high/p.value
	}
	return e
}
