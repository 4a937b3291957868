package train

import (
	"slices"
	"strings"

	"github.com/memwall/memwall/engine"
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
	Batch, Length                              int64
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
	// Expands: segments of torch's allocator expand (PYTORCH_ALLOC_CONF).
	Expands bool
	// Workspace are bytes of the device that are counted as allocated beside tensors.
	Workspace float64
}

// Loss is what logits and their loss hold, in bytes for each token and entry of the vocabulary: the logits, their copies
// and gradients. Fused is that with a fused cross entropy; in the model's format when Native (no copy in fp32).
type Loss struct{ Plain, Fused, Native, NativeFused int64 }

// Keeping is what differs between frameworks in what blocks keep.
type Keeping struct {
	FusedNorm, FusedGlu bool
	// FusedQKV: one product makes queries, keys and values, and its adapter has one input.
	FusedQKV bool
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
	// QuantisedInputs: products with 4-bit weights keep their inputs.
	QuantisedInputs bool
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
