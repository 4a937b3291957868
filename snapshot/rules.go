package snapshot

import "strings"

// role is what a line of code does, of a run: several hold of a stack.
type role uint16

const (
	optimizing role = 1 << iota
	backward
	accumulating // gradients, by autograd itself
	forward
	loading
	feeding    // samples to the device
	gathering  // shards of parameters into whole ones
	reducing   // gradients over ranks
	exchanging // other collectives
	workspace  // of cuBLAS
	caching    // keys and values
	clearing   // gradients set to none: nothing is made there
)

// rule gives the frames of a file, of a function or of both a role. File and function are parts of the path and of the name; a
// function that begins with = is meant whole.
type rule struct {
	file, function string
	role           role
}

// rules of frames, by the files of the libraries that train: names as they stand in PyTorch 2.9, transformers 4.57 and 5, accelerate 1.10,
// peft 0.17, bitsandbytes 0.48, DeepSpeed 0.17, Megatron-LM core 0.14 and vLLM 0.11. All that match count.
var rules = []rule{
	{"", "torch::autograd::AccumulateGrad", accumulating | backward},
	{"", "torch::autograd::Engine", backward},
	{"", "torch::autograd::generated", backward},
	{"", "torch::autograd::python::PythonEngine", backward},
	{"", "CublasHandlePool", workspace},
	{"", "getNewWorkspace", workspace},
	{"", "getCUDABlasLtWorkspace", workspace},
	{"", "getCurrentCUDABlasHandle", workspace},
	{"", "c10d::ProcessGroup", exchanging},

	{"torch/optim/", "=step", optimizing},
	{"torch/optim/", "=_init_group", optimizing},
	{"torch/optim/", "=zero_grad", clearing},
	{"optim", "=step", optimizing},
	{"optim", "=zero_grad", clearing},
	{"bitsandbytes/optim/", "init_state", optimizing},
	{"bitsandbytes/optim/", "get_state_buffer", optimizing},
	{"deepspeed/runtime/zero/", "=step", optimizing},
	{"deepspeed/runtime/zero/", "_optimizer_step", optimizing},
	{"deepspeed/runtime/zero/", "initialize_optimizer_states", optimizing},
	{"deepspeed/runtime/zero/", "_create_fp32_partitions", optimizing},
	{"deepspeed/runtime/bf16_optimizer.py", "", optimizing},
	{"megatron/core/optimizer/", "", optimizing},
	{"torch/amp/grad_scaler.py", "", optimizing},
	{"torch/nn/utils/clip_grad.py", "", optimizing},

	{"torch/_tensor.py", "=backward", backward},
	{"torch/autograd/__init__.py", "=backward", backward},
	{"torch/autograd/graph.py", "_engine_run_backward", backward},
	{"torch/utils/checkpoint.py", "=backward", backward},
	{"torch/utils/checkpoint.py", "=unpack_hook", backward},
	{"torch/utils/checkpoint.py", "=recompute_fn", backward},
	{".py", "=backward", backward},
	{"megatron/core/pipeline_parallel/schedules.py", "=backward_step", backward},

	{"torch/distributed/fsdp/", "unshard", gathering},
	{"torch/distributed/fsdp/", "all_gather", gathering},
	{"torch/distributed/fsdp/", "_reduce", reducing},
	{"torch/distributed/fsdp/", "post_backward", reducing},
	{"torch/distributed/fsdp/", "_init_", loading},
	{"torch/distributed/fsdp/", "=__init__", loading},
	{"deepspeed/runtime/zero/partition", "_all_gather", gathering},
	{"deepspeed/runtime/zero/partition", "all_gather", gathering},
	{"deepspeed/runtime/zero/partition", "=__init__", loading},
	{"deepspeed/runtime/zero/stage", "=__init__", loading},
	{"deepspeed/runtime/zero/stage", "reduce", reducing},
	{"deepspeed/runtime/zero/stage", "average_tensor", reducing},
	{"torch/nn/parallel/distributed.py", "=_ddp_init_helper", reducing},
	{"megatron/core/distributed/param_and_grad_buffer.py", "", reducing},
	{"torch/distributed/distributed_c10d.py", "", exchanging},
	{"torch/distributed/_functional_collectives.py", "", exchanging},

	{"", "=forward", forward},
	{"torch/nn/modules/module.py", "_call_impl", forward},
	{"", "=compute_loss", forward},
	{"torch/nn/functional.py", "", forward},
	{"torchinductor_", "=call", forward},
	{"megatron/core/pipeline_parallel/schedules.py", "=forward_step", forward},

	{"torch/nn/modules/module.py", "=_apply", loading},
	{"torch/nn/modules/module.py", "=to", loading},
	{"torch/nn/modules/module.py", "=cuda", loading},
	{"torch/nn/modules/module.py", "=load_state_dict", loading},
	{"torch/nn/parameter.py", "", loading},
	{"torch/nn/init.py", "", loading},
	{"torch/nn/modules/", "=__init__", loading},
	{"torch/nn/modules/", "=reset_parameters", loading},
	{"torch/serialization.py", "", loading},
	{"safetensors/", "", loading},
	{"transformers/modeling_utils.py", "", loading},
	{"transformers/core_model_loading.py", "", loading},
	{"transformers/integrations/", "", loading},
	{"accelerate/utils/modeling.py", "", loading},
	{"accelerate/big_modeling.py", "", loading},
	{"peft/tuners/", "=__init__", loading},
	{"peft/tuners/", "=update_layer", loading},
	{"bitsandbytes/nn/modules.py", "=_quantize", loading},
	{"bitsandbytes/nn/modules.py", "=cuda", loading},
	{"", "=from_pretrained", loading},
	{"model_executor/model_loader/", "", loading},

	{"torch/utils/data/", "", feeding},
	{"accelerate/utils/operations.py", "=send_to_device", feeding},
	{"transformers/trainer.py", "=_prepare_input", feeding},
	{"tokenization_utils_base.py", "=to", feeding},
	{"feature_extraction_utils.py", "=to", feeding},

	{"transformers/cache_utils.py", "", caching},
	{"", "_allocate_kv_cache", caching},
	{"", "initialize_kv_cache", caching},
	{"mem_cache/memory_pool.py", "", caching},
}

func (r *rule) matches(file, name string) bool {
	if !strings.Contains(file, r.file) {
		return false
	}
	if whole, ok := strings.CutPrefix(r.function, "="); ok {
		return name == whole || strings.HasSuffix(name, "."+whole)
	}
	return strings.Contains(name, r.function)
}

// settle gives every stack the roles of its frames.
func (s *stacks) settle() {
	of := make([]role, len(s.frames))
	for i, f := range s.frames {
		for j := range rules {
			if rules[j].matches(strings.ReplaceAll(s.texts[f.file], `\`, "/"), s.texts[f.name]) {
				of[i] |= rules[j].role
			}
		}
	}
	s.roles = make([]role, len(s.lists))
	for i, list := range s.lists {
		for _, f := range list {
			s.roles[i] |= of[f]
		}
	}
}
