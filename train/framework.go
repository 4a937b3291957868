package train

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/plan"
)

// Framework is what a training framework does, where frameworks differ.
type Framework struct {
	Name    string
	Aliases []string
	// On are programs that train by it and count versions of their own.
	On []string
	// Latest and Oldest bound the versions that rules were read from; without an Oldest there is one.
	Latest, Oldest engine.Version
	// What it does when nothing is said. One is the sharding on one device, Many on several.
	Precision, One, Many, Recompute, Attention string
	Optimizer                                  []engine.Since[string]
	Rank                                       int64
	Targets                                    []string
	Dropout                                    float64
	// Narrow is the precision where a device does not multiply bf16, as Precision elsewhere; empty where that stays.
	Narrow        Narrow
	Batch, Length int64
	// Global is the batch of a step when nothing is said of it; 0 for one pass.
	Global int64
	// WithCritic: policy and critic of PPO learn in one step; without it one after the other, each as an engine of its own.
	WithCritic bool
	// SequenceParallel: norms are shared wherever tensors are.
	SequenceParallel bool
	// Padded: samples are padded to the longest of a batch when nothing is said of packing; Typical is how long that is
	// in the examples of the framework, 0 when samples fill the length.
	Padded  bool
	Typical int64
	// Loss is what logits and their loss hold.
	Loss []engine.Since[Loss]
	Keep Keeping
	// Expands: it sets that segments of torch's allocator expand (PYTORCH_ALLOC_CONF) when nothing is said.
	Expands bool
	// Peft: it trains by peft's methods.
	Peft bool
	// Workspace are bytes of the device that are counted as allocated beside tensors.
	Workspace float64
	// Schedule of a pipeline, and what moments are in, when nothing is said; empty for what others do. NarrowActs: gated activations keep
	// their inputs in fp8 then.
	Schedule, Moments string
	NarrowActs        bool
}

// Narrow is a precision for adapters, and one for models that train whole.
type Narrow struct{ Adapters, Full string }

// Loss is what logits and their loss hold, in bytes for each token and entry of the vocabulary: the logits, their copies
// and gradients. Fused is that with fused kernels; in the model's format when Native (no copy in fp32). Chunked is what a loss
// keeps that goes through the logits in chunks; a fused head keeps nothing.
type Loss struct {
	Plain, Fused, Native, NativeFused, Chunked int64
	// Compiled is that of a loss which torch.compile takes along with the model; 0 where it does not, or keeps as much.
	Compiled int64
	// Chunks are how many parts the tokens go through the head and the loss in when nothing is said; 0 for one.
	Chunks int64
	// Heads are the gradients of a head's matrix that live beside chunks of logits: one that adds up, and that of a chunk.
	Heads int64
	// Most is what a loss takes that goes through the tokens in chunks of so many bytes, or of half of what the device has left; 0 without.
	Most float64
}

// Keeping is what differs between frameworks in what blocks keep.
type Keeping struct {
	FusedNorm, FusedGlu bool
	// FusedQKV: one product makes queries, keys and values, and its adapter has one input.
	FusedQKV bool
	// OutBits are those of a number of attention's output where gated activations keep theirs in fp8, of one copy for attention and the
	// product behind it; 0 for the copies of both.
	OutBits int64
	// Scores are how often a score is kept in the format of computing by attention that writes its matrix; WideSoftmax: and
	// once in fp32.
	Scores      int64
	WideSoftmax bool
	// PerHidden are values more for each token and number of the stream, in every block.
	PerHidden int64
	// Adapters16: adapters are kept in the model's format, not in fp32.
	Adapters16 bool
	// Kbit: quantised bases have residual streams in fp32 (peft, prepare_model_for_kbit_training).
	Kbit bool
	// Offloads: inputs of blocks lie in host memory where blocks are computed again.
	Offloads bool
	// QuantisedInputs: products with 4-bit weights keep their inputs, beyond the backward pass.
	QuantisedInputs bool
	// Linear: adapters and bitsandbytes are of linear layers alone.
	Linear bool
	// CastsAdapters: products cast adapters to the model's format and keep one input (unsloth/kernels/fast_lora.py).
	CastsAdapters bool
	// Embeddings32 is the version from which an optimizer of 8 bits keeps states of embeddings in fp32; none where it never does.
	Embeddings32 engine.Version
	// WidensMoments: an optimizer of 8 bits steps with both moments of a tensor in fp32 (torchao/optim/adam.py: single_param_adam).
	WidensMoments bool
	// Unstacked are families whose experts it loads from checkpoints of linear layers, where transformers stacks them.
	Unstacked []string
	// Splits are families whose stacked experts it makes linear layers of before they are packed.
	Splits []string
	// RepeatsKV: keys and values are repeated to all heads where attention is not of FlashAttention; FlashHeads is the version from
	// which classes of Mistral and Mixtral give FlashAttention theirs as they are (transformers/models/mistral/modeling_mistral.py).
	RepeatsKV  bool
	FlashHeads engine.Version
	// Shards16: FSDP2 shards weights in the format that they were loaded in, where accelerate makes them fp32 first.
	Shards16 bool
	// Loads are how 4-bit bases of bitsandbytes come under FSDP2: whole on each device before they are shared, or for good.
	Loads loading
	// Reduces32: FSDP2 sums gradients in fp32, whatever it computes in (torchtitan, mixed_precision_reduce).
	Reduces32 bool
	// Gathers: under sequence parallelism products keep their gathered inputs.
	Gathers bool
	// EndsApart: FSDP2 gathers embedding and head on their own, where others leave them to the root.
	EndsApart bool
	// OwnHead: the head has a matrix of its own where the model ties it to the embedding.
	OwnHead bool
}

// FindFramework by its name or another that people use; nil when unknown.
func FindFramework(name string) *Framework {
	name = strings.ToLower(name)
	for i := range frameworks {
		f := &frameworks[i]
		if f.Name == name || slices.Contains(f.Aliases, name) || slices.Contains(f.On, name) {
			return f
		}
	}
	return nil
}

// Frameworks lists the names of all that are described.
func Frameworks() (names []string) {
	for i := range frameworks {
		names = append(names, frameworks[i].Name)
	}
	return names
}

func (j *Job) findFramework() error {
	t := j.Training
	if t.Framework == "" {
		t.Framework = j.framework()
		j.Default("framework", t.Framework)
	}
	name, version, given := strings.Cut(t.Framework, "@")
	f := FindFramework(name)
	if f == nil {
		return unknown("framework", t.Framework, Frameworks()...)
	}
	j.Framework, j.Version = f, f.Latest
	if given && version != "latest" {
		if err := j.versioned(strings.ToLower(name), version); err != nil {
			return err
		}
	}
	if by := sharings[strings.ToLower(name)]; t.Sharding == "" && j.Devices() > 1 {
		t.Sharding = by
	}
	return nil
}

// sharings are how programs share what trains where nobody says, in place of the framework that they train by: verl by its strategy
// (verl/trainer/config/actor/actor.yaml), NeMo-RL by DTensor (examples/configs/grpo_math_1B.yaml).
var sharings = map[string]string{"fsdp": "fsdp", "verl": "fsdp", "nemo-rl": "fsdp2"}

// versioned takes the version that is asked for. Rules are used as they stand for versions that they were not read from, and
// a note says so; another way of counting versions is refused, since it would pick rules by chance.
func (j *Job) versioned(name, text string) error {
	f := j.Framework
	v, err := engine.ParseVersion(text)
	refuse := func(message string) error {
		return &plan.Problem{Field: "framework", Value: j.Training.Framework, Message: message, Fix: f.Name + "@" + f.Latest.String()}
	}
	switch dated := f.Latest.Major > 2000; {
	case err != nil:
		return refuse(err.Error())
	case slices.Contains(f.On, name):
		return refuse(fmt.Sprintf("%s counts versions of its own, and what it keeps follows from the version of %s", name, f.Name))
	case dated != (v.Major > 2000):
		return refuse(fmt.Sprintf("versions of %s are counted as %s is, and %s is none of them", f.Name, f.Latest, text))
	}
	oldest := f.Oldest
	if oldest == (engine.Version{}) {
		oldest = f.Latest
	}
	switch j.Version = v; {
	case v.Before(oldest):
		j.Note("older_framework", "warn", "framework", "%s %s is older than %s, the oldest whose rules are known here; they are used as they stand", f.Name, v, oldest)
	case !f.Latest.AtLeast(v):
		j.Note("newer_framework", "warn", "framework", "%s %s is newer than %s, whose rules are the newest known here", f.Name, v, f.Latest)
	}
	return nil
}

// framework that has what the plan asks for: a pipeline, tensor or expert parallelism and chunks are Megatron's, ZeRO is
// DeepSpeed's, FSDP2 torchtitan's; all else transformers'.
func (j *Job) framework() string {
	p, t := j.Plan, j.Training
	switch adapters := t.Method != "" && t.Method != "full"; {
	case p.TP > 1 || p.PP > 1 || p.CP > 1 || p.EP > 1 || t.VPP > 1:
		return "megatron-bridge"
	case t.ZeROStage() > 0:
		return "deepspeed"
	case t.Sharding == "fsdp2" && !adapters:
		return "torchtitan"
	}
	return "transformers"
}
