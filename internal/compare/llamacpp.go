package compare

import (
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/ledger"
)

const mib = float64(1 << 20)

// llamacppFigures are the predictions of what llama.cpp prints. Buffers are matched by the names of their locations: several caches
// on one device are one figure here.
type llamacppFigures struct{ *sized }

// estimate returns the counterpart of a figure.
func (l llamacppFigures) estimate(f *startup.Figure) estimate {
	if why := l.foreign(f.ID); why != "" {
		return unknown("%s", why)
	}
	switch f.ID {
	case "parameters":
		return l.parameters(f)
	case "file_size":
		return l.fileSize(f)
	case "kv_size", "rs_size":
		return l.caches(f)
	case "lora_buffer":
		return unknown("the log does not tell the adapter's rank: give adapters")
	}
	if f.ID == "model_buffer" && l.noWeights != "" {
		return unknown("%s", l.noWeights)
	}
	return l.buffer(f)
}

// foreign returns why a figure has no counterpart.
func (l llamacppFigures) foreign(id string) string {
	switch {
	case id == "compute_buffer" && l.Log.Noted("fork"):
		return "memwall does not size the compute buffers of ik_llama.cpp"
	case (id == "kv_buffer" || id == "kv_size") && l.Log.Noted("latent_cache"):
		return "memwall does not size the latent cache of ik_llama.cpp"
	case id == "model_buffer" && l.Log.Plan.SplitMode == "row":
		return "with -sm row the log counts a matrix at the device of its layer, and every device holds a part of it"
	}
	return ""
}

// buffer returns the predicted buffer of the same name; of several at one location, the one at the same position.
func (l llamacppFigures) buffer(f *startup.Figure) estimate {
	nth, of := position(l.Log, f)
	for _, name := range []string{f.Device + " " + f.Name, strings.Replace(f.Device+" "+f.Name, "CPU model", "CPU_Mapped model", 1),
		f.Name} {
		found := l.printed(name)
		switch {
		case len(found) == 0 || name == f.Name && f.ID != "output_buffer":
		case len(found) == of:
			return basisOf(f, found[nth])
		case of == 1:
			return basisOf(f, addAll(found))
		default:
			return unknown("the log prints %d for this place and memwall has %d: see their sum", of, len(found))
		}
	}
	if l.Request.Hardware == "" && !strings.HasPrefix(f.Device, "CPU") {
		return unknown("%s is which device? give hardware", f.Device)
	}
	return unknown("memwall books no buffer of that name")
}

// printed returns the predicted figures of a name. Before 2024-11, mapped buffers were named after their device.
func (l llamacppFigures) printed(name string) (out []estimate) {
	for i := range l.ranks {
		for _, p := range l.ranks[i].Prints {
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

func basisOf(f *startup.Figure, e estimate) estimate {
	if f.ID == "compute_buffer" {
		e.basis = ledger.Derived
	}
	return e
}

// position returns the position of a figure among those of its kind and location.
func position(log *startup.Log, f *startup.Figure) (nth, of int) {
	for i := range log.Figures {
		g := &log.Figures[i]
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

// summed are the buffers that a location may have several of: one per file of a split model, or one per kind of cache.
var summed = map[string]bool{"model_buffer": true, "kv_buffer": true}

// parameters estimates "8.03 B": the elements of all tensors in the file.
func (l llamacppFigures) parameters(f *startup.Figure) estimate {
	if l.noWeights != "" && strings.Contains(l.noWeights, "tensors") {
		return unknown("%s", l.noWeights)
	}
	n, ok := parametersIn(l.q.Job.Model, f.Unit)
	if !ok {
		return unknown("the unit of the printed figure is not known")
	}
	return exactly(n)
}

// fileSize estimates the bytes of all tensors.
func (l llamacppFigures) fileSize(f *startup.Figure) estimate {
	scale := map[string]float64{"MiB": mib, "GiB": gib}[f.Unit]
	if l.noWeights != "" || scale == 0 {
		return unknown("%s", l.noWeights)
	}
	return exactly(float64(l.q.Job.Weights.Bytes()) / scale)
}

// caches estimates the caches of all devices together. The log prints one line per kind of cache, in order, so that with two kinds
// only their sum has a counterpart.
func (l llamacppFigures) caches(f *startup.Figure) estimate {
	n := 0
	for i := range l.Log.Figures {
		if l.Log.Figures[i].ID == f.ID {
			n++
		}
	}
	if n > 1 {
		return unknown("the log prints %d caches: see their sum", n)
	}
	return l.cacheTotal(f.ID)
}

func (l llamacppFigures) cacheTotal(id string) estimate {
	want := map[string]string{"kv_size": "kv_cache", "rs_size": "state"}[id]
	var items []ledger.Item
	for i := range l.ranks {
		for _, it := range append(append([]ledger.Item(nil), l.ranks[i].Items...), l.ranks[i].Host...) {
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

// derived returns sums of caches of several kinds, and buffers that the log does not print.
func (l llamacppFigures) derived() (out []api.Line) {
	if l.Log.Teller != "" || l.Log.Engine == "tensorrt-llm" || l.Log.Engine == "generic" {
		return nil // a running server prints no buffers
	}
	for _, id := range []string{"kv_size", "rs_size"} {
		if sum := sumOfFigures(l.Log, id, ""); sum != nil && l.foreign(id) == "" {
			out = append(out, line(sum, l.cacheTotal(id), ""))
		}
	}
	done := map[string]bool{}
	for i := range l.Log.Figures {
		f := &l.Log.Figures[i]
		_, n := position(l.Log, f)
		if !summed[f.ID] || n < 2 || done[f.ID+f.Device] || l.foreign(f.ID) != "" || f.ID == "model_buffer" && l.noWeights != "" {
			continue
		}
		done[f.ID+f.Device] = true
		if ours := l.printed(f.Device + " " + f.Name); len(ours) > 0 {
			out = append(out, line(sumOfFigures(l.Log, f.ID, f.Device), basisOf(f, addAll(ours)), ""))
		}
	}
	for _, p := range l.ranks[0].Prints {
		if !l.Log.Noted("fork") {
			out = append(out, l.unprinted(&p)...)
		}
	}
	return out
}

// sumOfFigures adds up figures of one kind, at one location if given; nil if there are fewer than two.
func sumOfFigures(log *startup.Log, id, device string) *startup.Figure {
	var sum *startup.Figure
	n := 0
	for i := range log.Figures {
		f := log.Figures[i]
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

// unprinted returns the line of a predicted buffer that the log does not name.
func (l llamacppFigures) unprinted(p *engine.Print) []api.Line {
	device, name, ok := strings.Cut(p.Name, " ")
	if !ok || l.noWeights != "" && name == "model buffer size" {
		return nil
	}
	for i := range l.Log.Figures {
		f := &l.Log.Figures[i]
		if f.Name != name {
			continue
		}
		if f.Device == device || device == "CPU_Mapped" && f.Device == "CPU" || f.ID == "output_buffer" {
			return nil
		}
	}
	e := p.Banded()
	return []api.Line{{Name: name, Device: device, Unit: p.Unit, Digits: 2, Ours: &e.Value, Low: &e.Low,
		High: new(max(e.High, e.Value)), Basis: new(ledger.Basis), Why: "the log does not print it"}}
}
