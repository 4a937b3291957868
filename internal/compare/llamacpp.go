package compare

import (
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/ledger"
)

const mib = float64(1 << 20)

// llamacpp gives memwall's figure for one that llama.cpp prints. Buffers go by the names of their places:
// several caches on one device are one figure here.
func (c *Comparison) llamacpp(f *startup.Figure) estimate {
	if why := c.foreign(f.ID); why != "" {
		return unknown("%s", why)
	}
	switch f.ID {
	case "parameters":
		return c.parameters(f)
	case "file_size":
		return c.fileSize(f)
	case "kv_size", "rs_size":
		return c.caches(f)
	case "lora_buffer":
		return unknown("the log does not tell the adapter's rank: give adapters")
	}
	if f.ID == "model_buffer" && c.noWeights != "" {
		return unknown("%s", c.noWeights)
	}
	return c.buffer(f)
}

// foreign says why a figure has no counterpart.
func (c *Comparison) foreign(id string) string {
	switch {
	case id == "compute_buffer" && c.Log.Noted("fork"):
		return "memwall does not size the compute buffers of ik_llama.cpp"
	case (id == "kv_buffer" || id == "kv_size") && c.Log.Noted("latent_cache"):
		return "memwall does not size the latent cache of ik_llama.cpp"
	case id == "model_buffer" && c.Log.Plan.SplitMode == "row":
		return "with -sm row the log counts a matrix at the device of its layer, and every device holds a part of it"
	}
	return ""
}

// buffer finds the engine's own print of the same name; of several for one place, the one at the same
// position.
func (c *Comparison) buffer(f *startup.Figure) estimate {
	nth, of := c.position(f)
	for _, name := range []string{f.Device + " " + f.Name, strings.Replace(f.Device+" "+f.Name, "CPU model", "CPU_Mapped model", 1),
		f.Name} {
		found := c.printed(name)
		switch {
		case len(found) == 0 || name == f.Name && f.ID != "output_buffer":
		case len(found) == of:
			return c.basisOf(f, found[nth])
		case of == 1:
			return c.basisOf(f, addAll(found))
		default:
			return unknown("the log prints %d for this place and memwall has %d: see their sum", of, len(found))
		}
	}
	if c.Request.Hardware == "" && !strings.HasPrefix(f.Device, "CPU") {
		return unknown("%s is which device? give hardware", f.Device)
	}
	return unknown("memwall books no buffer of that name")
}

// printed are memwall's figures of one name. Before 2024-11 mapped buffers were called by their device.
func (c *Comparison) printed(name string) (out []estimate) {
	for i := range c.ranks {
		for _, p := range c.ranks[i].Prints {
			if p.Name != name {
				continue
			}
			p = p.Banded()
			out = append(out, estimate{value: p.Value, low: p.Low, high: p.High, known: true})
		}
		if len(out) > 0 {
			break // every rank prints for all
		}
	}
	return out
}

func addAll(list []estimate) (sum estimate) {
	sum.known = true
	for _, e := range list {
		sum.value, sum.low, sum.high = sum.value+e.value, sum.low+e.low, sum.high+e.high
	}
	return sum
}

func (c *Comparison) basisOf(f *startup.Figure, e estimate) estimate {
	if f.ID == "compute_buffer" {
		e.basis = ledger.Derived
	}
	return e
}

// position of a figure among those of its kind and place.
func (c *Comparison) position(f *startup.Figure) (nth, of int) {
	for i := range c.Log.Figures {
		g := &c.Log.Figures[i]
		if g.ID != f.ID || g.Device != f.Device {
			continue
		}
		if g.Line == f.Line {
			nth = of
		}
		of++
	}
	return nth, of
}

// summed are buffers of which a place may have several: one for each file of a split model, one for each
// kind of cache.
var summed = map[string]bool{"model_buffer": true, "kv_buffer": true}

// several reports whether the log prints more than one of the kind for the place.
func (c *Comparison) several(f *startup.Figure) bool {
	_, of := c.position(f)
	return of > 1
}

// parameters: "8.03 B" are elements of all tensors of the file.
func (c *Comparison) parameters(f *startup.Figure) estimate {
	if c.noWeights != "" && strings.Contains(c.noWeights, "tensors") {
		return unknown("%s", c.noWeights)
	}
	n, ok := parametersIn(c.q.Job.Model, f.Unit)
	if !ok {
		return unknown("the unit of the printed figure is not known")
	}
	return exactly(n)
}

// fileSize is the bytes of all tensors.
func (c *Comparison) fileSize(f *startup.Figure) estimate {
	scale := map[string]float64{"MiB": mib, "GiB": gib}[f.Unit]
	if c.noWeights != "" || scale == 0 {
		return unknown("%s", c.noWeights)
	}
	return exactly(float64(c.q.Job.Weights.Bytes()) / scale)
}

// caches of all devices together; the log prints one line for each kind of cache, in order, so that only
// their sum has a counterpart when there are two.
func (c *Comparison) caches(f *startup.Figure) estimate {
	n := 0
	for i := range c.Log.Figures {
		if c.Log.Figures[i].ID == f.ID {
			n++
		}
	}
	if n > 1 {
		return unknown("the log prints %d caches: see their sum", n)
	}
	return c.cacheTotal(f.ID)
}

func (c *Comparison) cacheTotal(id string) estimate {
	want := map[string]string{"kv_size": "kv_cache", "rs_size": "state"}[id]
	var items []ledger.Item
	for i := range c.ranks {
		for _, it := range append(append([]ledger.Item(nil), c.ranks[i].Items...), c.ranks[i].Host...) {
			if it.ID == want {
				items = append(items, it)
			}
		}
	}
	if len(items) == 0 {
		return exactly(0)
	}
	return total(ledger.Sum(items)).times(1 / mib)
}

// llamacppRest adds sums of caches of several kinds, and the buffers that the log does not print.
func (c *Comparison) llamacppRest() {
	for _, id := range []string{"kv_size", "rs_size"} {
		if sum := c.sumOfFigures(id, ""); sum != nil && c.foreign(id) == "" {
			c.add(sum, c.cacheTotal(id), "")
		}
	}
	done := map[string]bool{}
	for i := range c.Log.Figures {
		f := &c.Log.Figures[i]
		if !summed[f.ID] || !c.several(f) || done[f.ID+f.Device] || c.foreign(f.ID) != "" || f.ID == "model_buffer" && c.noWeights != "" {
			continue
		}
		done[f.ID+f.Device] = true
		if ours := c.printed(f.Device + " " + f.Name); len(ours) > 0 {
			c.add(c.sumOfFigures(f.ID, f.Device), c.basisOf(f, addAll(ours)), "")
		}
	}
	for _, p := range c.ranks[0].Prints {
		if !c.Log.Noted("fork") {
			c.unprinted(&p)
		}
	}
}

// sumOfFigures adds up figures of one kind, at one place when one is given; nil when there are not at
// least two.
func (c *Comparison) sumOfFigures(id, device string) *startup.Figure {
	var sum *startup.Figure
	n := 0
	for i := range c.Log.Figures {
		f := c.Log.Figures[i]
		if f.ID != id || device != "" && f.Device != device {
			continue
		}
		if n++; sum == nil {
			sum = &f
			sum.Name += ", all"
			continue
		}
		sum.Value += f.Value
		sum.Text = ""
	}
	if n < 2 {
		return nil
	}
	return sum
}

// unprinted adds a buffer of ours that no line of the log names.
func (c *Comparison) unprinted(p *engine.Print) {
	device, name, ok := strings.Cut(p.Name, " ")
	if !ok || c.noWeights != "" && name == "model buffer size" {
		return
	}
	for i := range c.Log.Figures {
		f := &c.Log.Figures[i]
		if f.Name != name {
			continue
		}
		if f.Device == device || device == "CPU_Mapped" && f.Device == "CPU" || f.ID == "output_buffer" {
			return
		}
	}
	e := p.Banded()
	c.lacks(name, device, p.Unit, 2, estimate{value: e.Value, low: e.Low, high: max(e.High, e.Value), known: true})
}
