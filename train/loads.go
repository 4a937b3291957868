package train

import (
	"strings"

	"github.com/memwall/memwall/ledger"
)

// loading is how a bitsandbytes-quantized base is loaded under FSDP2. It cannot be loaded on the meta device, so every
// device loads all of it (accelerate/utils/fsdp_utils.py: fsdp2_prepare_model, model_has_params4bit).
type loading uint8

const (
	// inParts loads only each rank's part, for programs with formats of their own.
	inParts loading = iota
	// sharedLater shards weights (4-bit ones packed in bfloat16) once all are loaded; until then both copies are on the
	// device (axolotl/loaders/model.py: bnb_4bit_quant_storage, device_map; monkeypatch/accelerate/fsdp2.py:
	// original_sd).
	sharedLater
	// stayWhole leaves weights packed in bytes, BitsAndBytesConfig's default, out of FSDP's units: every rank keeps them
	// all (accelerate 1.14, fsdp2_prepare_model: incompatible_params4bit, #3987).
	stayWhole
)

// loads returns how the job's base is loaded.
func loads(j *Job) loading {
	four := strings.HasPrefix(j.Plan.Weights, "nf4") || j.Plan.Weights == "fp4"
	eight := strings.HasPrefix(j.Plan.Weights, "bnb-int8")
	how := j.Framework.Keep.Loads
	if j.Training.Sharding != "fsdp2" || !j.quantised() || !four && !(eight && how == sharedLater) {
		return inParts
	}
	return how
}

// remarkLoads notes that FSDP2 does not shard the base of QLoRA.
func remarkLoads(j *Job) {
	if loads(j) == stayWhole && j.Plan.DP > 1 {
		j.Note("replicated_base", "warn", "sharding", "4-bit weights are packed in bytes unless "+
			"bnb_4bit_quant_storage says bfloat16, and FSDP2 leaves those out: every device holds all of them; --sharding fsdp shares them")
	}
}

// frozenWeights books frozen weights: this rank's part, and all those that FSDP2 leaves out.
func frozenWeights(f *filler) ledger.Num {
	if loads(f.s.j) != stayWhole {
		return f.both("frozen_bytes", stored, 1, ofWeights)
	}
	blocks := f.part("quantised_bytes", f.h.dense.stored+f.h.expert.stored-f.h.endsStored, 1, 1)
	return f.b.Add(blocks, f.part("embedding_and_head_bytes", f.h.endsStored, 1, f.s.every.weights))
}

// loadingPhase returns the phase before the first step in which the whole base and the rank's part coexist, if any.
func loadingPhase(f *filler) []Phase {
	if loads(f.s.j) != sharedLater || f.s.every.weights == 1 {
		return nil
	}
	whole := f.both("frozen_bytes", stored, 1, notShared)
	base := ledger.Known("weights", "frozen weights, before they are shared", whole, ledger.Derived, ledger.Ephemeral, ledger.Device, phasesPage)
	p := Phase{Name: "loading", Items: []ledger.Item{f.called(base)}}
	if !f.s.j.offload().params {
		p.add(f.called(ledger.Known("weights", "frozen weights", frozenWeights(f), ledger.Exact, ledger.Persistent, ledger.Device, statesPage)))
	}
	return []Phase{p}
}
