package torch

import (
	"bytes"
	"strings"
)

// Class is the kind of work done by a kernel.
type Class uint8

// Classes of kernels.
const (
	Other       Class = iota
	Products          // of matrices: weights, head, their gradients
	Experts           // products of a mixture of experts, and its routing
	Attention         // scores, softmax, values, and writing the cache
	Elementwise       // activations, rotary embedding, additions, casts, copies on the device
	Norms             // of layers and rows
	Loss              // log-softmax, cross-entropy and their gradients
	Optimizer         // updates, and the norm of gradients
	Unpacking         // of quantised weights
	Collectives       // of NCCL, RCCL and engines' own
	Copies            // between host and device
	classes
)

// String names a class as lines do.
func (c Class) String() string {
	return [...]string{"other kernels", "matmuls", "experts", "attention", "element-wise", "norms", "loss", "optimizer",
		"unpacking of weights", "collectives", "copies to and from the host"}[c]
}

// words by which kernels are known, in lower case; the first row that has one of them decides. The names are those of
// PyTorch's own kernels, cuBLAS, cuBLASLt, CUTLASS, cuDNN, hipBLASLt, flash-attention, FlashInfer, Triton as Inductor and
// Liger write it, vLLM, SGLang, Apex, DeepSpeed and bitsandbytes.
var words = []struct {
	class Class
	words string
}{
	{Collectives, "nccl rccl cross_device_reduce all_reduce allreduce allgather all_gather reducescatter reduce_scatter alltoall " +
		"all_to_all multimem deep_ep symm_mem"},
	{Optimizer, "multi_tensor_apply multitensorapply multi_tensor adam koptimizer fused_sgd lamb_ adafactor lion_ muon"},
	{Loss, "logsoftmax log_softmax nll_loss cross_entropy crossentropy cross-entropy cunn_softmaxforwardsmem_log"},
	{Norms, "rmsnorm rms_norm layer_norm layernorm groupnorm ln_fwd ln_bwd ln_parallel norm_kernel normkernel gammabeta"},
	{Experts, "fused_moe moe_ moe:: grouped_gemm groupedgemm group_gemm topkgating topk_softmax expert permute_tokens"},
	{Elementwise, "act_and_mul rotary rope sampling dropout"},
	{Attention, "flash fmha attention attn_fwd attn_bwd mha_ batchprefill batchdecode singleprefill singledecode reshape_and_cache " +
		"concat_and_cache softmax paged mla_ _mla sdpa merge_state"},
	{Unpacking, "dequant kdequantize unpack"},
	{Products, "gemm gemv cutlass cublas xmma nvjet cijk_ matmul splitk marlin machete awq gptq triton_mm triton_tem wgrad dgrad " +
		"dot_kernel addmm mul_mat hmma s884 s1688 s16816 _mm_ bmm"},
	{Elementwise, "elementwise vectorized silu gelu swiglu relu copy cat index gather scatter embedding reduce fill triton_poi " +
		"triton_red triton_per cast add mul transpose permute topk sort arange where tril triu scan cumsum quant pow rsqrt memset argmax " +
		"unrolled"},
}

// classOf a kernel's name.
func classOf(name []byte) Class {
	low := bytes.ToLower(name)
	for i := range words {
		rest := words[i].words
		for rest != "" {
			word, after, _ := strings.Cut(rest, " ")
			if bytes.Contains(low, []byte(word)) {
				return words[i].class
			}
			rest = after
		}
	}
	return Other
}

// copyClass of "Memcpy HtoD (Pinned -> Device)".
func copyClass(name []byte) Class {
	if bytes.Contains(name, []byte("HtoD")) || bytes.Contains(name, []byte("DtoH")) || bytes.Contains(name, []byte("HostToDevice")) ||
		bytes.Contains(name, []byte("DeviceToHost")) {
		return Copies
	}
	if bytes.Contains(name, []byte("PtoP")) || bytes.Contains(name, []byte("PeerToPeer")) {
		return Collectives
	}
	return Elementwise
}
