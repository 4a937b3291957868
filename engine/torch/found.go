package torch

import (
	"fmt"
	"strconv"

	"github.com/memwall/memwall/engine/startup"
)

// Log makes figures of a trace: milliseconds of a step and of one device where the trace marks steps, else of the whole
// trace; and the peaks of memory.
func (t *Trace) Log() *startup.Log {
	l := &startup.Log{Engine: "torch", Teller: "trace", Servers: 1, Signs: 1}
	for i := 0; t.Device != "" && i < t.ranks(); i++ {
		l.Seen(startup.Device{Name: t.Device, Slot: strconv.Itoa(i)})
	}
	t.times(l)
	for _, m := range t.Memory {
		device := ""
		if len(t.Memory) > 1 {
			device = fmt.Sprint("GPU ", m.Device)
		}
		for _, f := range []struct {
			id, name string
			bytes    int64
		}{{"memory_allocated_peak", "Total Allocated, peak", m.Allocated}, {"memory_allocated_now", "Total Allocated, at the end", m.Last},
			{"memory_reserved_peak", "Total Reserved, peak", m.Reserved}} {
			if f.bytes > 0 {
				add(l, f.id, f.name, device, "MiB", float64(f.bytes)/(1<<20))
			}
		}
	}
	all := t.links.close()
	t.operators(l, all)
	t.remarks(l)
	t.unlinked(l, all)
	return l
}

// operators of a step, those of a class together and the longest first; none where the trace links no kernel with one.
func (t *Trace) operators(l *startup.Log, all []operated) {
	each := 1 / float64(max(1, t.Steps)) / float64(max(1, t.Ran))
	for _, o := range all {
		l.Operators = append(l.Operators, startup.Operator{Class: ids[o.class], Name: o.name, Calls: float64(o.calls) * each,
			MS: o.seconds * each * 1e3, Product: o.product, Message: o.message})
	}
}

// unlinked says why operators are not told apart.
func (t *Trace) unlinked(l *startup.Log, all []operated) {
	var whole, linked, shapeless, anyPass float64
	for _, o := range all {
		whole += o.seconds
		switch {
		case o.of == 0:
			continue
		case o.shapeless:
			shapeless += o.seconds
		case o.product != nil && (o.product.Pass == startup.AnyPass || o.product.Pass == startup.SomeBackward):
			anyPass += o.seconds
		}
		linked += o.seconds
	}
	graphs := ""
	if t.links.graphs > 0 {
		graphs = ": the kernels of a CUDA graph have none, and graphs were launched; run without them (--enforce-eager, no " +
			"mode=\"reduce-overhead\") to tell operators apart"
	}
	switch {
	case whole == 0:
		return
	case linked == 0:
		l.Operators = nil
		if graphs == "" {
			graphs = ": record it with ProfilerActivity.CPU beside CUDA"
		}
		l.Note("no_operators", "the trace does not say which operators launched the kernels%s", graphs)
		return
	case linked < 0.95*whole:
		l.Note("few_operators", "of %.0f %% of the kernels' time the trace does not say which operators launched them%s",
			100*(1-linked/whole), graphs)
	}
	if shapeless > 0 {
		l.Note("no_shapes", "the trace has no shapes, so matmuls cannot be told apart: record it with record_shapes=True")
	}
	if anyPass > 0 {
		l.Note("no_strides", "the trace does not say how operands of matmuls lie, as those of PyTorch 2.3 and later do: forward and "+
			"backward matmuls of the same sizes are one row")
	}
	if t.links.dropped > 0 {
		l.Note("operators_dropped", "%d operators or kernels are more than are kept: what they took counts as of no known operator",
			t.links.dropped)
	}
}

// ranks that the trace tells of: those of the run, else the devices that computed.
func (t *Trace) ranks() int {
	const most = 1 << 12
	return min(max(1, int(t.World), t.Ran), most)
}

func (t *Trace) times(l *startup.Log) {
	if t.Ran == 0 {
		return
	}
	steps, unit := float64(t.Steps), "ms a step"
	if t.Steps == 0 {
		steps, unit = 1, "ms in all"
	}
	each := 1e3 / steps / float64(t.Ran)
	for c := Products; c < classes; c++ {
		if t.Count[c] > 0 {
			add(l, "time_"+ids[c], c.String(), "", unit, t.Time[c]*each)
		}
	}
	if t.Count[Other] > 0 {
		add(l, "time_other", Other.String(), "", unit, t.Time[Other]*each)
	}
	if t.Steps == 0 {
		return
	}
	if idle := t.Span*1e3/steps - t.Worked*each; t.Known && idle >= 0 {
		add(l, "time_idle", "nothing computes", "", unit, idle)
	}
	add(l, "time_step", "a whole step", "", unit, t.Span*1e3/steps)
}

// ids of classes in figures.
var ids = [...]string{"other", "products", "experts", "attention", "elementwise", "norms", "loss", "optimizer", "unpacking", "collectives",
	"copies"}

func add(l *startup.Log, id, name, device, unit string, value float64) {
	const digits = 2
	l.Figures = append(l.Figures, startup.Figure{ID: id, Name: name, Device: device, Unit: unit,
		Text: strconv.FormatFloat(value, 'f', digits, 64), Value: value, Digits: digits})
}

func (t *Trace) remarks(l *startup.Log) {
	if t.Cut {
		l.Note("cut", "the trace is cut: what stands before the cut was read")
	}
	if t.Long > 0 {
		l.Note("long_events", "%d events are longer than 1 MiB and were passed over", t.Long)
	}
	if t.Ran == 0 {
		l.Note("no_kernels", "no kernel of a device is in the trace: record it with ProfilerActivity.CUDA")
	} else if t.Steps == 0 {
		l.Note("no_steps", "the trace marks no steps, so that times are of all of it: call profiler.step() after each")
	}
	if len(t.Memory) == 0 {
		l.Note("no_memory", "the trace has no events of memory: record it with profile_memory=True")
	}
	if t.Prompting > 0 && t.Decoding > 0 {
		l.Note("mixed_steps", "%d of the %d steps compute prompts, the others decode: times are means of both", t.Prompting, t.Steps)
	}
	if t.Prompting > 0 && t.Decoding == 0 {
		l.Note("prompt_steps", "all %d steps of the trace compute prompts", t.Prompting)
	}
	if t.Count[Collectives] > 0 {
		l.Note("collectives", "the time of collectives is that of their kernels, which wait for other devices and run beside computing")
	}
	for _, u := range t.Largest {
		l.Note("other_kernel", "not known whose work it is: %s", u.Name)
	}
}
