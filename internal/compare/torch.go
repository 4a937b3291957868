package compare

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/internal/planner"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/training"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

// A profiler trace and the allocator's counters show what a run used but not which run it was: the request comes from the caller,
// and without a model the figures stand alone.

// compareRun pairs the figures of a run with the answer to a request.
func compareRun(a *question.Env, log *startup.Log, overrides *api.Request) (*api.Answer, error) {
	b := &Rebuilt{Log: log, Request: api.Request{Ask: "fit"}}
	if overrides.Ask == api.AskTrain {
		b.Request.Ask = api.AskTrain
	}
	b.noteLog()
	addNorms(log)
	b.Request.Hardware = b.known(startup.Hardware(log.Devices, 0)) // "" for counters
	b.override(overrides)
	s, err := sizeRun(a, b)
	if err != nil {
		return nil, err
	}
	if b.Request.Ask != api.AskTrain && log.Find("time_step") != nil && s.answer != nil {
		b.note("decode_steps", "info", "", "the steps of the trace are set beside those of decoding; --train is for a run of training")
	}
	lines := linesOf(log, runFigures{log, s.answer}.estimate)
	rows := operatorLines(a, s)
	out := s.answerWith(lines)
	out.Operators = rows
	return out, nil
}

// sizeRun sizes the request if a model is given.
func sizeRun(a *question.Env, b *Rebuilt) (s *sized, err error) {
	s = &sized{Rebuilt: b}
	if b.Request.Model == "" {
		s.refused = &api.Error{Code: api.UnknownModel, Field: "model", Message: "which model ran is not in the file",
			Hint: "give model and plan: --model llama-3.1-8b --train …"}
		return s, nil
	}
	if s.answer, err = sizedRun(a, &b.Request); err == nil {
		b.Request = *s.answer.Plan
	}
	return s, err
}

// sizedRun answers the request of the run, to fit or to train.
func sizedRun(a *question.Env, r *api.Request) (*api.Answer, error) {
	if err := r.CheckAsk(); err != nil {
		return nil, err
	}
	switch {
	case r.Ask == api.AskTrain:
		return training.Train(a, r)
	case len(r.Also) > 0:
		return planner.FitAll(context.Background(), a, r)
	}
	return planner.Fit(a, r)
}

// runFigures are the predictions of what a profiler or an allocator reports.
type runFigures struct {
	log    *startup.Log
	answer *api.Answer // nil if the run cannot be sized
}

// estimate returns the counterpart of a figure.
func (r runFigures) estimate(f *startup.Figure) estimate {
	if r.answer == nil {
		return unknown("unknown")
	}
	if id, ok := strings.CutPrefix(f.ID, "memory_"); ok {
		return r.allocator(id).times(1 / mib)
	}
	if id, ok := strings.CutPrefix(f.ID, "held_"); ok {
		return r.booked(id).times(1 / mib)
	}
	switch id := strings.TrimPrefix(f.ID, "time_"); {
	case !strings.HasSuffix(f.Unit, "a step"):
		return unknown("the trace marks no steps")
	case r.answer.Step != nil:
		return stepPart(r.answer.Step, id)
	case r.log.Noted("mixed_steps") || r.log.Noted("prompt_steps"):
		return unknown("not all steps decode")
	case r.answer.Speed != nil:
		return decodePart(r.answer.Speed, id)
	}
	return unknown("memwall has no speed for this plan")
}

// allocator estimates what torch counts: everything on the device except the driver's share and other allocators' memory.
func (r runFigures) allocator(id string) estimate {
	if p := r.answer.PerDevice; p != nil {
		switch id {
		case "allocated_peak":
			return banded(p.Allocated, p.AllocatedLow, p.AllocatedHigh)
		case "reserved_peak":
			return banded(p.Reserved, p.ReservedLow, p.ReservedHigh)
		}
	}
	switch {
	case strings.HasSuffix(id, "_now"):
		return unknown("only peaks")
	case len(r.answer.Devices) == 0 || id != "allocated_peak" && id != "reserved_peak":
		return unknown("not booked")
	}
	return torchItems(&r.answer.Devices[0], id == "reserved_peak")
}

func banded(mid, low, high unit.Bytes) estimate {
	return estimate{value: float64(mid), low: float64(low), high: float64(high), known: true, basis: ledger.Derived}
}

// torchItems sums a ledger's items as torch allocates them; memory left over by caching is reserved.
func torchItems(d *api.Device, reserved bool) estimate {
	sum := estimate{known: true, basis: ledger.Derived}
	for i := range d.Ledger {
		it := &d.Ledger[i]
		if it.ID == "driver" || it.ID == "collectives" || it.ID == "graphs" || it.ID == "fragmentation" && !reserved ||
			it.Place != ledger.Device {
			continue
		}
		e := banded(it.Bytes, it.Low, it.High)
		e.known = !it.Unknown
		sum = sum.plus(e, 1)
	}
	return sum
}

// trainingParts maps kernel classes to the parts of a training step; norms are only known to be element-wise.
var trainingParts = map[string]string{
	"products": "products", "experts": "experts", "attention": "attention", "elementwise": "element_wise", "loss": "loss",
	"optimizer": "optimizer", "unpacking": "dequantisation",
	"collectives": "tp ep cp pp sharding reduce", "copies": "copies", "idle": "host dispatch fixed",
}

const normsAre = "counted with element-wise"

// stepPart estimates a part of a training step. Its band is as wide as the whole step's, since parts have not been measured alone.
func stepPart(s *api.TrainingStep, id string) estimate {
	whole := estimate{value: s.Seconds * 1e3, low: s.SecondsLow * 1e3, high: s.SecondsHigh * 1e3, known: s.Seconds > 0,
		basis: ledger.Derived}
	if id == "step" {
		return whole
	}
	sum := 0.0
	for _, p := range s.Parts {
		if hasWord(trainingParts[id], p.Name) {
			sum += p.Seconds * 1e3
		}
	}
	return share(whole, sum, id)
}

// share returns a part of a whole, with the whole's relative band.
func share(whole estimate, part float64, id string) estimate {
	switch {
	case id == "norms":
		return unknown(normsAre)
	case !whole.known || part == 0 || whole.value == 0:
		return unknown("memwall books no such part")
	}
	return estimate{value: part, low: part * whole.low / whole.value, high: part * whole.high / whole.value, known: true,
		basis: ledger.Derived}
}

// decodingParts are the parts of a server's decode step.
var decodingParts = map[string]string{
	"products": "weights head", "experts": "experts", "attention": "attention kv_cache", "elementwise": "elementwise",
	"collectives": "tensor_parallel all_reduce all_to_all hand_over expert_parallel", "idle": "host",
}

func decodePart(v *api.Speed, id string) estimate {
	whole := figureOf(v.TPOT, v.TPOTLow, v.TPOTHigh)
	if id == "step" || !whole.known {
		return whole
	}
	sum := 0.0
	for _, p := range v.Parts {
		if hasWord(decodingParts[id], p.Name) {
			sum += p.MS
		}
	}
	return share(whole, sum, id)
}

// addNorms adds the time of norms to that of element-wise work, as the prediction counts them.
func addNorms(log *startup.Log) {
	norms, rest := log.Find("time_norms"), log.Find("time_elementwise")
	if norms == nil || rest == nil {
		return
	}
	rest.Value = math.Round((rest.Value+norms.Value)*100) / 100
	rest.Name, rest.Text = "element-wise and norms", fmt.Sprintf("%.2f", rest.Value)
	norms.Name = "of these, norms"
}

// heldItems maps groups of a memory snapshot to ledger items.
var heldItems = map[string]string{
	"parameters": "weights lora adapters reference reward", "optimizer": "optimizer master_weights", "gradients": "gradients collectives",
	"working": "activations checkpoints logits workspace compute output graphs encoder_cache", "kv_cache": "kv_cache state",
}

// booked estimates a group of a snapshot in the phase of its peak: "backward_gradients". It is zero if no item matches.
func (r runFigures) booked(id string) estimate {
	phase, group, _ := strings.Cut(id, "_")
	if heldItems[group] == "" {
		return unknown("")
	}
	if len(r.answer.Devices) == 0 {
		return unknown("not booked")
	}
	d := &r.answer.Devices[0]
	items := d.Ledger
	if p := phaseLike(d.Phases, phase); p != nil {
		items = p.Ledger
	}
	sum := estimate{known: true, basis: ledger.Derived}
	for i := range items {
		it := &items[i]
		name, _, _ := strings.Cut(it.ID, ".")
		if it.Place != ledger.Device || !slices.Contains(strings.Fields(heldItems[group]), name) {
			continue
		}
		e := banded(it.Bytes, it.Low, it.High)
		e.known = !it.Unknown
		sum = sum.plus(e, 1)
	}
	return sum
}

// phaseLike returns the fullest phase of a step whose name begins with a word; nil if there is none.
func phaseLike(phases []api.PhaseBytes, word string) (out *api.PhaseBytes) {
	for i := range phases {
		if p := &phases[i]; word != "" && strings.HasPrefix(p.Name, word) && (out == nil || p.Bytes > out.Bytes) {
			out = p
		}
	}
	return out
}
