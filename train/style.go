package train

import (
	"slices"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/model"
)

// modules maps peft's names to linear layers. A fused matmul goes by the names of its parts.
var modules = map[string][]dtype.Role{
	"q_proj": {dtype.AttnQ, dtype.AttnQB, dtype.AttnQKV}, "k_proj": {dtype.AttnK, dtype.AttnQKV}, "v_proj": {dtype.AttnV, dtype.AttnQKV}, "o_proj": {dtype.AttnOutput}, "output_proj": {dtype.AttnOutput}, "out_proj": {dtype.AttnOutput, dtype.SSMOut},
	"qkv_proj": {dtype.AttnQKV}, "c_attn": {dtype.AttnQKV}, "query_key_value": {dtype.AttnQKV}, "wqkv": {dtype.AttnQKV}, "dense": {dtype.AttnOutput}, "c_proj": {dtype.AttnOutput, dtype.FFNDown},
	"q_a_proj": {dtype.AttnQA}, "q_b_proj": {dtype.AttnQB}, "kv_a_proj_with_mqa": {dtype.AttnKVA}, "kv_b_proj": {dtype.AttnKB, dtype.AttnVB},
	"gate_proj": {dtype.FFNGate, dtype.FFNGateExps, dtype.FFNGateSh}, "up_proj": {dtype.FFNUp, dtype.FFNUpExps, dtype.FFNUpSh}, "down_proj": {dtype.FFNDown, dtype.FFNDownExps, dtype.FFNDownSh},
	"gate_up_proj": {dtype.FFNUp, dtype.FFNGateUpExps}, "c_fc": {dtype.FFNUp}, "fc1": {dtype.FFNUp}, "fc2": {dtype.FFNDown}, "w1": {dtype.FFNGate, dtype.FFNGateExps}, "w2": {dtype.FFNDown, dtype.FFNDownExps}, "w3": {dtype.FFNUp, dtype.FFNUpExps},
	"dense_h_to_4h": {dtype.FFNUp}, "dense_4h_to_h": {dtype.FFNDown}, "in_proj": {dtype.SSMIn}, "linear_qkv": {dtype.AttnQ, dtype.AttnK, dtype.AttnV, dtype.AttnQKV}, "linear_proj": {dtype.AttnOutput},
	"linear_fc1": {dtype.FFNGate, dtype.FFNUp, dtype.FFNGateExps, dtype.FFNUpExps}, "linear_fc2": {dtype.FFNDown, dtype.FFNDownExps},
	"embed_tokens": {dtype.TokenEmbd}, "lm_head": {dtype.Output}, "wte": {dtype.TokenEmbd},
	"word_embeddings": {dtype.TokenEmbd}, "output_layer": {dtype.Output}, // megatron/core/models/gpt/gpt_model.py
	"to_q": {dtype.AttnQ}, "to_k": {dtype.AttnK}, "to_v": {dtype.AttnV}, "to_out": {dtype.AttnOutput},
	"add_q_proj": {dtype.ContextQ}, "add_k_proj": {dtype.ContextK}, "add_v_proj": {dtype.ContextV}, "to_add_out": {dtype.ContextOutput},
	"proj_mlp": {dtype.FFNUp}, "proj_out": {dtype.FFNDown},
	"ff": {dtype.FFNUp, dtype.FFNDown}, "ff_context": {dtype.ContextUp, dtype.ContextDown},
	"in_proj_qkvz": {dtype.AttnQKV, dtype.AttnGate}, "in_proj_qkv": {dtype.AttnQKV}, "in_proj_z": {dtype.AttnGate},
	"in_proj_ba": {dtype.SSMBA}, "in_proj_b": {dtype.SSMBeta}, "in_proj_a": {dtype.SSMAlpha},
	"shared_expert_gate": {dtype.FFNGateInpSh}, "all-router": {dtype.FFNGateInp},
}

// rolesOf returns the linear layers that a name stands for; a name under shared experts means those only.
func rolesOf(name string) []dtype.Role {
	parts := strings.Split(strings.TrimSuffix(name, ".0"), ".") // to_out.0, as diffusers names it
	found := modules[parts[len(parts)-1]]
	if n := len(parts); n < 2 || !strings.HasPrefix(parts[n-2], "shared_expert") {
		return found
	}
	var shared []dtype.Role
	for _, r := range found {
		if r == dtype.FFNGateSh || r == dtype.FFNUpSh || r == dtype.FFNDownSh {
			shared = append(shared, r)
		}
	}
	return shared
}

// roles returns the linear layers that module names stand for; all reports that they cover every one.
func roles(names []string) (out []dtype.Role, all bool) {
	for _, n := range names {
		n = strings.ToLower(strings.TrimSpace(n))
		if n == "all-linear" || n == "all" {
			all = true
		}
		out = append(out, rolesOf(n)...)
	}
	return out, all
}

// adapts returns a function that reports which tensors have an adapter.
func (j *Job) adapts() func(*model.Tensor) bool {
	if !j.Adapters() {
		return nil
	}
	if tuners[j.Training.Method].count == nil {
		return func(*model.Tensor) bool { return false }
	}
	named, all := roles(j.Training.LoRA)
	return beyondExperts(j, func(t *model.Tensor) bool {
		return t.Adapt && !t.Bias && t.Dims >= 2 && (all && t.Role != dtype.Output && !t.Role.Embedding() || slices.Contains(named, t.Role))
	})
}

// style returns what blocks keep under the framework and the plan. A compiled block recomputes norms from their input,
// like fused kernels (torch/_functorch/partitioners.py, min_cut_rematerialization_partition).
func (j *Job) style() model.Style {
	t, keep := j.Training, &j.Framework.Keep
	s := model.Style{Width: j.width(), Frozen: j.Adapters(), FusedNorm: keep.FusedNorm || on(t.Fused) || on(t.Compile), FusedGlu: keep.FusedGlu || on(t.Compile), Adapts: j.adapts(), Dropout: t.Dropout != nil && *t.Dropout > 0}
	s.Sequences = int64(j.Training.MicroBatch)
	s.Image, s.Text = j.Model.Streams(j.longest())
	s.AdapterWidth, s.Magnitudes = j.adapterWidth(s.Dropout), t.Method == "dora"
	if keep.FusedQKV && s.Adapts != nil {
		s.Adapts = oneInput(s.Adapts)
	}
	if j.Plan.Attention == "eager" && !j.attentionRecomputed() {
		s.Scores = j.scores()
	}
	s.HiddenDropout = j.drops()
	s.OutTwice = j.Plan.CP > 1 && t.CPComm == exchanges
	s.RepeatKV = j.repeatsKV()
	if on(t.SequenceParallel) && j.Plan.TP > 1 {
		s.Stream = j.Plan.TP
		s.Choices = j.Plan.TP / max(1, t.ETP)
		s.Whole = keep.Gathers
	}
	s.ExpertLoop = !j.megatron() && (keep.Grouped == engine.Version{} || j.Version.Before(keep.Grouped))
	if j.megatron() {
		s.Again, s.WeighsEarly = recomputeOf(j).modules, true
		if t.Narrow() {
			s.Inputs = 1
		}
		if on(t.NarrowActs) {
			s.ActInputs, s.OutBits = 1, keep.OutBits
		}
	}
	return s
}

// wide reports whether activations are in fp32; tf32 applies to matmuls only, whose inputs are kept in fp32
// (developer.nvidia.com/blog/accelerating-ai-training-with-tf32-tensor-cores).
func (j *Job) wide() bool { return j.Training.Precision == "fp32" || j.Training.Precision == "tf32" }

// width returns the bytes per activation.
func (j *Job) width() int64 {
	if j.wide() {
		return 4
	}
	return 2
}

// scores returns the bytes kept per score by attention that materializes them. An fp32 softmax is a copy, unless that
// is the compute format; dropout adds its mask and result.
func (j *Job) scores() int64 {
	keep := &j.Framework.Keep
	n := keep.Scores * j.width()
	if keep.WideSoftmax && !j.wide() {
		n += 4
	}
	if j.drops() {
		n += 1 + j.width()
	}
	return n
}

func (j *Job) drops() bool { return j.Training.Masks != nil && *j.Training.Masks > 0 }

func on(b *bool) bool { return b != nil && *b }

func (j *Job) megatron() bool { return j.Framework.megatron() }

func (f *Framework) megatron() bool {
	switch f.Name {
	case "megatron", "megatron-bridge", "ms-swift-megatron", "hai-llm":
		return true
	}
	return false
}

// attentionRecomputed reports whether the attention core is recomputed, as by Megatron's selective recompute
// (arXiv:2205.05198).
func (j *Job) attentionRecomputed() bool {
	return j.Training.Recompute == "selective" && j.Framework.Name == "megatron-deepspeed" || recomputeOf(j).modules&model.CoreAttention != 0
}

// adapterWidth returns the bytes per element of an adapter's own copy of its input: fp32 if the adapter is fp32 and not
// autocast, 16 bits under autocast; none in the model's format without dropout (peft/tuners/lora/layer.py).
func (j *Job) adapterWidth(dropout bool) int64 {
	mixed := strings.HasSuffix(j.Training.Precision, "-mixed")
	switch {
	case (j.adapters16() || j.wide() || j.Framework.Keep.CastsAdapters) && !dropout:
		return 0
	case j.adapters16() || mixed:
		return j.width()
	}
	return 4
}

// adapters16 reports whether adapters are in the model's format: by the framework's default, or in FSDP units with a
// quantized base, which have a single format.
func (j *Job) adapters16() bool {
	return j.Framework.Keep.Adapters16 || j.quantised() && sharded(j.Training.Sharding)
}

// oneInput counts the adapters of queries, keys and values once, for frameworks that compute them in one matmul.
func oneInput(adapts func(*model.Tensor) bool) func(*model.Tensor) bool {
	return func(t *model.Tensor) bool {
		return t.Role != dtype.AttnK && t.Role != dtype.AttnV && adapts(t)
	}
}

// repeatsKV reports whether keys and values are repeated to all heads before scaled_dot_product_attention and eager
// attention; Mistral's and Mixtral's classes did so for FlashAttention too.
func (j *Job) repeatsKV() bool {
	tr := &j.Model.Traits
	if tr.KVHeads == tr.Heads {
		return false
	}
	if j.Plan.Attention == "flash" {
		return j.Version.Before(j.Framework.Keep.FlashHeads) && (strings.HasPrefix(j.Model.Arch, "Mistral") || strings.HasPrefix(j.Model.Arch, "Mixtral"))
	}
	return j.Framework.Keep.RepeatsKV
}

// loss returns the bytes per token and vocabulary entry held for logits and loss.
func (j *Job) loss() float64 {
	l := engine.At(j.Framework.Loss, j.Version).Value
	switch {
	case on(j.Training.FusedLoss) && !on(j.Training.Compile) && l.ChunkedEager > 0:
		return float64(l.ChunkedEager)
	case on(j.Training.FusedLoss):
		return float64(l.Chunked)
	case on(j.Training.Compile) && l.Compiled > 0 && !j.wide():
		return float64(l.Compiled) / float64(max(1, l.Chunks))
	}
	return j.eagerLoss(&l) / float64(max(1, l.Chunks))
}

// eagerLoss returns that for an unchunked, unfused loss.
func (j *Job) eagerLoss(l *Loss) float64 {
	t := j.Training
	native := nativeLoss[j.Model.Family] && (t.Precision == "bf16" || j.cast()) && l.Native != l.Plain
	switch {
	case j.wide() && !on(t.Fused) && !j.megatron():
		return 12 // logits, log-softmax and gradient, uncast (torch/nn/functional.py: cross_entropy)
	case native && j.quantised() && !j.cast() && on(t.Fused):
		return 14
	case native && j.quantised() && !j.cast():
		return 18 // all logits in fp32, since the head is cast (measured)
	case native && on(t.Fused):
		return float64(l.NativeFused)
	case native:
		return float64(l.Native)
	case on(t.Fused):
		return float64(l.Fused)
	}
	return float64(l.Plain)
}

// cast reports whether the framework casts the model to 16 bits and runs it without autocast, which would compute the
// loss in fp32: DeepSpeed's engine does (deepspeed/runtime/engine.py, _configure_distributed_model; torch_autocast is
// off by default).
func (j *Job) cast() bool { return j.Training.ZeROStage() > 0 && !j.wide() }

// nativeLoss lists families whose classes compute the loss in the model's format.
var nativeLoss = map[string]bool{"qwen": true, "starcoder": true, "gpt2": true, "bloom": true, "falcon": true, "mpt": true, "gptneox": true}
