package llamacpp

import (
	"fmt"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// LoRA adapters (arXiv:2106.09685): two matrices beside each one that is adapted, in its buffer
// (src/llama-adapter.cpp).

// addControlVector books one f32 vector for each layer but the first, on the layer's device; several files are summed
// into one (llama_adapter_cvec).
func (s *sizer) addControlVector(b *ledger.Book, out []ledger.Item, at int, place ledger.Place) []ledger.Item {
	if !isOn(s.job.Plan.ControlVector) {
		return out
	}
	layers := int64(0)
	for l, p := range s.layout.layer {
		if l > 0 && p == at {
			layers++
		}
	}
	if layers == 0 {
		return out
	}
	each := unit.PadUp(4*s.job.Model.Hidden, s.backendAt(s.spot(at)).align)
	n := b.Mul(b.Int("layers", layers, "all but the first"), b.Int("vector", each, "hidden × 4 bytes, aligned"))
	basis := ledger.Exact
	if at != host {
		basis = s.basis(at)
	}
	return append(out, ledger.Known("adapters", "control vector", n, basis, ledger.Persistent, place, "src/llama-adapter.cpp (llama_adapter_cvec::init)"))
}

// addAdapters books the adapters' matrices held in a place.
func (s *sizer) addAdapters(b *ledger.Book, out []ledger.Item, at int, place ledger.Place) []ledger.Item {
	var n, low unit.Bytes
	for i := range s.job.Plan.Adapters {
		a := &s.job.Plan.Adapters[i]
		f, least := adapterFormats(a)
		n += s.adapter(a, f, at)
		low += s.adapter(a, least, at)
	}
	out = s.addControlVector(b, out, at, place)
	if n == 0 {
		return out
	}
	basis := ledger.Exact
	if low < n || at != host && s.basis(at) != ledger.Exact {
		basis = ledger.Derived
	}
	num := b.Size("adapters", n, "rank × (inputs + outputs) of each adapted matrix, as the backend allocates it")
	it := ledger.Known("adapters", fmt.Sprintf("%d LoRA adapters", len(s.job.Plan.Adapters)), num, basis, ledger.Persistent, place, "src/llama-adapter.cpp (llama_adapter_lora_init_impl)")
	return append(out, it.Band(low, n))
}

// adapterFormats returns the format of an adapter's file, and the smallest it may have: convert_lora_to_gguf.py writes
// f32 unless asked for f16.
func adapterFormats(a *plan.Adapter) (f, least *dtype.Format) {
	if f = dtype.FindFormat(a.Format); f != nil {
		return f, f
	}
	return dtype.F32, dtype.F16
}

// adapter returns the bytes of one adapter in a place.
func (s *sizer) adapter(a *plan.Adapter, f *dtype.Format, at int) (n unit.Bytes) {
	on, here := engine.Adapted(a), s.spot(at)
	align := s.backendAt(here).align
	s.job.Model.Decoder().Tensors(func(layer int, t *model.Tensor) {
		if !on(t) || s.home(layer, t) != here {
			return
		}
		for _, elems := range []int64{t.Batch * t.Cols, t.Batch * t.Rows()} {
			n += unit.Bytes(unit.PadUp(int64(f.Row(int64(a.Rank)*elems)), align))
		}
	})
	return n
}
