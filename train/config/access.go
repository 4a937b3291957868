package config

import (
	"strings"

	"github.com/memwall/memwall/plan"
)

// Places of the fields that rules read and write.
func objective(in *Input) *string       { return &in.Training.Objective }
func method(in *Input) *string          { return &in.Training.Method }
func optimizerName(in *Input) *string   { return &in.Training.Optimizer }
func precision(in *Input) *string       { return &in.Training.Precision }
func recompute(in *Input) *string       { return &in.Training.Recompute }
func attention(in *Input) *string       { return &in.Plan.Attention }
func cpComm(in *Input) *string          { return &in.Training.CPComm }
func tp(in *Input) *int64               { return &in.Plan.TP }
func pp(in *Input) *int64               { return &in.Plan.PP }
func cp(in *Input) *int64               { return &in.Plan.CP }
func ep(in *Input) *int64               { return &in.Plan.EP }
func etp(in *Input) *int64              { return &in.Training.ETP }
func vpp(in *Input) *int64              { return &in.Training.VPP }
func microBatch(in *Input) *plan.Int    { return &in.Training.MicroBatch }
func accumulation(in *Input) *plan.Int  { return &in.Training.Accumulation }
func globalBatch(in *Input) *plan.Int   { return &in.Training.GlobalBatch }
func sequence(in *Input) *plan.Int      { return &in.Training.SequenceLength }
func loraRank(in *Input) *plan.Int      { return &in.Training.LoRARank }
func packing(in *Input) **bool          { return &in.Training.Packing }
func compiled(in *Input) **bool         { return &in.Training.Compile }
func fusedLoss(in *Input) **bool        { return &in.Training.FusedLoss }
func sequenceParallel(in *Input) **bool { return &in.Training.SequenceParallel }

// dropout is a share that may be left open.
func dropout(key string) rule {
	return rule{
		put: func(in *Input, s *section) {
			if d := in.Training.Dropout; d != nil && adapted(in) {
				s.set(key, *d)
			}
		},
		get: func(in *Input, r *reader) {
			if r.root.at(key) == nil {
				return
			}
			if x, ok := r.number(key); ok && x >= 0 && x < 1 {
				in.Training.Dropout = &x
			}
		},
	}
}

// ifAdapted writes a rule for adapters only; it is read wherever it stands.
func ifAdapted(rules ...rule) (out []rule) {
	for _, r := range rules {
		put := r.put
		out = append(out, rule{get: r.get, put: func(in *Input, s *section) {
			if adapted(in) {
				put(in, s)
			}
		}})
	}
	return out
}

// adapted tells training of adapters.
func adapted(in *Input) bool {
	switch in.Training.Method {
	case "lora", "qlora", "dora":
		return true
	}
	return false
}

// fourBit tells a base that is loaded in four bits.
func fourBit(in *Input) bool {
	return !eightBit(in) && (in.Training.Method == "qlora" || in.Training.Method == "dora" && quantized(in) != "")
}

// eightBit tells a base that bitsandbytes loads in eight bits.
func eightBit(in *Input) bool { return adapted(in) && strings.HasPrefix(in.Plan.Weights, bnbInt8) }

const bnbInt8 = "bnb-int8"

// ofExperts is the end of the names of formats that take in experts which a class stacks.
const ofExperts = "-all"

// nested tells constants of the quantisation that are quantised again; bitsandbytes leaves that open, QLoRA does it.
func nested(in *Input) bool { return in.Plan.Weights != "nf4-single" }

// sharded tells that ranks hold parts of the model's states.
func sharded(in *Input) bool {
	switch in.Training.Sharding {
	case "", "none", "ddp":
		return false
	}
	return true
}

// zero tells DeepSpeed's sharding.
func zero(in *Input) bool { return in.Training.ZeROStage() > 0 }

// load is what transformers loads the model by.
func load(in *Input) any {
	if in.Hub != "" {
		return in.Hub
	}
	return in.Model
}

func truth(b bool) *bool { return &b }

// named is a switch and what it stands for.
type named struct {
	on   bool
	name string
}

// first is the name of the first switch that is on, and none where no one is.
func first(none string, of ...named) string {
	for _, n := range of {
		if n.on {
			return n.name
		}
	}
	return none
}
