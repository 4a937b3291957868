package train

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/plan"
)

// Framework describes what sets a training framework apart.
type Framework struct {
	Name    string
	Aliases []string
	// On lists programs built on it that have version numbers of their own.
	On []string
	// Latest and Oldest bound the versions that rules were read from; without Oldest there is only one.
	Latest, Oldest engine.Version
	// Defaults. One is the sharding on a single device, Many on several.
	Precision, One, Many, Recompute, Attention string
	Optimizer                                  []engine.Since[string]
	Rank                                       int64
	Targets                                    []string
	Dropout                                    float64
	// Narrow replaces Precision on devices that do not multiply bf16; empty if it does not change.
	Narrow        Narrow
	Batch, Length int64
	// Global is the default batch of a step; 0 for one pass.
	Global int64
	// WithCritic trains PPO's policy and critic in one step, rather than one after the other in separate engines.
	WithCritic bool
	// SequenceParallel shards norms whenever tensors are sharded.
	SequenceParallel bool
	// Padded pads samples to the longest of a batch unless packing is set; Typical is that length in the framework's
	// examples, 0 if samples fill the length.
	Padded  bool
	Typical int64
	// Loss is the memory of logits and their loss, by version.
	Loss []engine.Since[Loss]
	Keep Keeping
	// Expands enables expandable segments of torch's allocator (PYTORCH_ALLOC_CONF) by default.
	Expands bool
	// Peft reports that it trains with peft's methods.
	Peft bool
	// Workspace is device memory that counts as allocated beyond tensors, in bytes.
	Workspace float64
	// Defaults of the pipeline schedule and of the format of moments; empty if the usual ones. NarrowActs then keeps
	// inputs of gated activations in fp8.
	Schedule, Moments string
	NarrowActs        bool
}

// Narrow is a precision for adapters, and one for full training.
type Narrow struct{ Adapters, Full string }

// Loss is the memory of logits and their loss, in bytes per token and vocabulary entry: the logits, their copies and
// gradients. Fused applies to fused kernels, in the model's format if Native (without an fp32 copy). Chunked is what a
// loss keeps that processes logits in chunks; a fused head keeps nothing.
type Loss struct {
	Plain, Fused, Native, NativeFused, Chunked int64
	// ChunkedEager is Chunked if nothing compiles the chunks, so that each keeps its log-softmax in fp32; 0 if it makes no
	// difference.
	ChunkedEager int64
	// Compiled applies if torch.compile includes the loss; 0 if it does not, or makes no difference.
	Compiled int64
	// Chunks is the default number of chunks for head and loss; 0 for one.
	Chunks int64
	// Heads is the number of head gradients alive during a chunked loss: an accumulated one and a chunk's.
	Heads int64
	// Most bounds the loss processed in chunks of that many bytes, or of half the device's free memory; 0 if not
	// bounded.
	Most float64
}

// Keeping describes how frameworks differ in what blocks keep.
type Keeping struct {
	FusedNorm, FusedGlu bool
	// Grouped is the first version that computes all experts in one grouped matmul; 0 if they run one after another.
	Grouped engine.Version
	// FusedQKV computes queries, keys and values in one matmul, whose adapters share an input.
	FusedQKV bool
	// OutBits is the bits per element of attention's output, in a copy shared with the following matmul, when gated
	// activations keep theirs in fp8; 0 for separate copies.
	OutBits int64
	// Scores is the number of copies kept of each score, in the compute format, by attention that materializes them;
	// WideSoftmax adds one in fp32.
	Scores      int64
	WideSoftmax bool
	// PerHidden is the number of additional values per token and element of the stream in every block.
	PerHidden int64
	// Adapters16 keeps adapters in the model's format rather than fp32.
	Adapters16 bool
	// Kbit keeps residual streams in fp32 over quantized bases (peft, prepare_model_for_kbit_training).
	Kbit bool
	// Ends32 is the version from which Kbit leaves embedding and head in fp32 too: earlier, trl's trainers made them 16
	// bits again (trl/models/utils.py: peft_module_casting_to_bf16); zero if never.
	Ends32 engine.Version
	// Offloads keeps inputs of recomputed blocks in host memory.
	Offloads bool
	// QuantisedInputs reports that matmuls with 4-bit weights keep their inputs beyond the backward pass.
	QuantisedInputs bool
	// Linear applies adapters and bitsandbytes to linear layers only.
	Linear bool
	// CastsAdapters casts adapters to the model's format and keeps one input (unsloth/kernels/fast_lora.py).
	CastsAdapters bool
	// Embeddings32 is the version from which an 8-bit optimizer keeps embedding states in fp32; zero if none.
	Embeddings32 engine.Version
	// WidensMoments steps an 8-bit optimizer with both moments of a tensor in fp32 (torchao/optim/adam.py:
	// single_param_adam).
	WidensMoments bool
	// Unstacked lists families whose experts it loads as linear layers although transformers stacks them.
	Unstacked []string
	// Splits lists families whose stacked experts it converts to linear layers before quantization.
	Splits []string
	// RepeatsKV repeats keys and values to all heads except for FlashAttention; FlashHeads is the version from which
	// Mistral's and Mixtral's classes pass them to FlashAttention unrepeated
	// (transformers/models/mistral/modeling_mistral.py).
	RepeatsKV  bool
	FlashHeads engine.Version
	// Shards16 makes FSDP2 shard weights as loaded, whereas accelerate converts them to fp32 first.
	Shards16 bool
	// Loads is how 4-bit bitsandbytes bases are loaded under FSDP2: whole on each device until sharded, or permanently.
	Loads loading
	// Reduces32 makes FSDP2 sum gradients in fp32 whatever the compute format (torchtitan, mixed_precision_reduce).
	Reduces32 bool
	// Gathers keeps gathered inputs of matmuls under sequence parallelism.
	Gathers bool
	// EndsApart makes embedding and head separate FSDP2 units, rather than part of the root.
	EndsApart bool
	// OwnHead gives the head a matrix of its own even if the model ties it to the embedding.
	OwnHead bool
}

// FindFramework returns a framework by its name or an alias, or nil.
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

// Frameworks returns the names of all frameworks described.
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

// sharings is the default sharding of programs that differs from that of the framework they use: verl's strategy
// (verl/trainer/config/actor/actor.yaml), NeMo-RL's DTensor (examples/configs/grpo_math_1B.yaml).
var sharings = map[string]string{"fsdp": "fsdp", "verl": "fsdp", "nemo-rl": "fsdp2"}

// versioned sets the requested version. Versions outside those that rules were read from use the rules unchanged, with
// a note; a different numbering scheme is rejected, since it would select rules arbitrarily.
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

// framework returns the default for what the plan asks for: Megatron for pipelines, tensor or expert parallelism and
// chunks, DeepSpeed for ZeRO, torchtitan for FSDP2, otherwise transformers.
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
