package examples

import (
	"math"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
)

// Devices and models that Go speaks of; texts/words.txt names the same and more.
const (
	h100     = "h100-sxm-80gb"
	a100     = "a100-sxm-80gb"
	a100half = "a100-sxm-40gb"
	l7       = "llama-2-7b"
)

// names are what every text may use beside its own definitions: units, formats, ways to say a figure, and look-ups.
var names = map[string]any{
	"bytesU": bytesU, "kb": kb, "mb": mb, "gb": gb, "tb": tb, "gbs": gbs, "tbs": tbs, "tflops": tflops, "tflop": tflop, "perB": perB,
	"seconds": Unit{"s", 1, 0}, "millis": millis, "micros": micros, "cycles": cycles, "tokps": tokps, "times": times, "pct": pct,
	"billions": params, "bits": bits, "tokens": tokens, "plain": plain,

	"fp32": dtype.F32, "fp16": dtype.F16, "bf16": dtype.BF16, "fp8": dtype.FP8E4M3, "int8": dtype.I8, "int4": dtype.I4,
	"llmInt8": dtype.LLMInt8, "int8Channel": dtype.Int8Channel, "nf4Double": dtype.NF4Double, "nf4Single": dtype.NF4Single,
	"awq": dtype.AWQ(128), "gptq": dtype.GPTQ(dtype.I4, 128),

	"said": said, "about": about, "span": span, "aboutSpan": aboutSpan, "rounded": rounded, "atLeast": atLeast,
	"most": most, "least": least, "between": between,
	"is": (*calc).is, "when": (*calc).when, "shown": (*calc).shown, "waits": (*calc).waits,

	"given": (*calc).given, "input": (*calc).In, "weights": (*calc).weights, "element": (*calc).element, "width": (*calc).width,
	"largest": (*calc).largest, "floor": (*calc).Floor, "ceilDiv": (*calc).CeilDiv, "root": (*calc).root,
	"params": (*calc).params, "active": (*calc).active, "stored": (*calc).stored, "layer": (*calc).layer, "ends": (*calc).ends,
	"saved": (*calc).saved, "heads": (*calc).heads, "kvHeads": (*calc).kvHeads, "flop": flop, "bytesRead": bytesRead,
	"fact": (*calc).fact, "memory": (*calc).memory, "usable": (*calc).usable, "bandwidth": (*calc).bandwidth, "peak": (*calc).peak,
	"pcie": (*calc).pcie, "link": (*calc).link, "levelSize": (*calc).levelSize, "levelCycles": (*calc).levelCycles,
	"levelLatency": (*calc).levelLatency, "levelRate": (*calc).levelRate, "firstBF16": (*calc).firstBF16, "llama65": (*calc).llama65,

	"streamed": (*calc).streamed, "serves": (*calc).serves, "streamParts": streamParts, "servedParts": servedParts,
	"waiting": (*calc).waiting, "computeBound": (*calc).computeBound, "trafficShare": (*calc).trafficShare,
	"flashGain": (*calc).flashGain, "promptScaling": promptScaling, "tokenScaling": tokenScaling, "saves": (*calc).saves,
}

// asked are what an answer can be asked: answer.item("weights").
var asked = map[string]any{
	"needed": answer.needed, "mayUse": answer.mayUse, "item": answer.item, "perToken": answer.perToken, "users": answer.users,
	"fits": answer.fits, "fitsWhen": answer.fitsWhen, "memoryHeld": answer.memoryHeld, "each": answer.each, "inPhase": answer.inPhase,
	"again": answer.again, "perSecond": answer.perSecond,
}

// facts of the hardware catalog, by the name that formulas show.
var facts = map[string]func(c *calc, name, id string) ledger.Num{
	"cores":        func(c *calc, name, id string) ledger.Num { return fact(c, name, c.device(id).SMs, id) },
	"sm":           func(c *calc, name, id string) ledger.Num { return fact(c, name, c.device(id).SMs, id) },
	"shared_bytes": func(c *calc, name, id string) ledger.Num { return fact(c, name, c.device(id).SharedPerSM, id) },
	"watts":        func(c *calc, name, id string) ledger.Num { return fact(c, name, c.device(id).TDP, id) },
	"host":         func(c *calc, name, id string) ledger.Num { return fact(c, name, c.node(id).Host.Memory, id) },
	"nvme":         func(c *calc, name, id string) ledger.Num { return fact(c, name, c.node(id).NVMe, id) },
}

func (c *calc) fact(name, id string) ledger.Num {
	if f := facts[name]; f != nil {
		return f(c, name, id)
	}
	return c.fail("no fact %s", name)
}

// largest is the largest number of a floating-point format.
func (c *calc) largest(f *dtype.Format) ledger.Num {
	return c.In(f.Name+"_largest", f.Float.Max(), "dtype")
}

// heads and kvHeads are of a model of the catalog.
func (c *calc) heads(id string) ledger.Num {
	return c.ofModel("heads", id, "catalog, "+id, func(m *model.Model) int64 { return m.Traits.Heads })
}

func (c *calc) kvHeads(id string) ledger.Num {
	return c.ofModel("kv_heads", id, "catalog, "+id, func(m *model.Model) int64 { return m.Traits.KVHeads })
}

// firstBF16 is the lowest compute capability of the catalog with a rate for BF16.
func (c *calc) firstBF16() ledger.Num {
	low := math.Inf(1)
	for _, d := range hardware.All() {
		if x := number(d.Capability); d.Vendor == "NVIDIA" && d.Peaks.BF16.Known && x > 0 {
			low = min(low, x)
		}
	}
	return c.In("capability", low, "hardware catalog, lowest with a BF16 rate")
}

// llama65 counts Llama 65B, which is Llama 2 70B with as many KV heads as heads and a narrower FFN.
func (c *calc) llama65() ledger.Num {
	a, err := memwall.Ask(&memwall.Request{Ask: "fit", Model: "llama-2-70b", Plan: plan.Plan{Engine: "generic"},
		Override: map[string]plan.Int{"kv_heads": 64, "ffn": 22016}})
	if err != nil {
		return c.fail("llama-2-70b with 64 KV heads: %w", err)
	}
	return c.Int("parameters", a.Model.Parameters, "memwall fit llama-2-70b --set kv_heads=64,ffn=22016")
}
