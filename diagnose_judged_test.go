package memwall

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/memwall/memwall/diagnose"
)

// torchFull is PyTorch's message of a card that its own tensors fill.
func torchFull(allocator, asked string, capacity, allocated, kept float64) string {
	const context = 0.6
	free := capacity - allocated - kept - context
	return fmt.Sprintf("torch.OutOfMemoryError: %s out of memory. Tried to allocate %s. GPU 0 has a total capacity of %.2f GiB of which %.2f GiB is free. Including non-PyTorch memory, this process has %.2f GiB memory in use. Of the allocated memory %.2f GiB is allocated by PyTorch, and %.2f GiB is reserved by PyTorch but unallocated.",
		allocator, asked, capacity, free, capacity-free, allocated, kept)
}

// steps is a log that prints a figure again and again.
func steps(format string, at func(i int) float64) string {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, format+"\n", at(i))
	}
	return b.String()
}

func rising(i int) float64 { return 20_000 + 100*float64(i) }

const trainerStarts = "***** Running training *****\n  Instantaneous batch size per device = 8\n  Gradient Accumulation steps = 4\n"

// TestFirstCureOfFailures: what a practitioner would change first when such a text is all that there is. The situations are those of
// public threads; the texts are ours, in the programs' formats. never is what would be no cure there.
func TestFirstCureOfFailures(t *testing.T) {
	in := func(frame string) string { return "  File \"/x/run.py\", line 10, in main\n    " + frame + "\n" }
	for _, c := range []struct{ name, text, cause, cure, never string }{
		// PyTorch: what the figures bear out
		{"a full card is full", torchFull("CUDA", "20.00 MiB", 79.15, 78.10, 0.20), "full", "a smaller batch", "expandable_segments"},
		{"a full card, kept more than asked", torchFull("CUDA", "150.00 MiB", 79.15, 77.60, 0.81), "full", "a smaller batch", "expandable_segments"},
		{"pieces that cover the request", torchFull("CUDA", "2.00 GiB", 23.64, 15.20, 6.90), "fragmented", "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", ""},
		{"pieces that do not", torchFull("CUDA", "9.00 GiB", 47.44, 38.00, 6.00), "", "a smaller batch", "expandable_segments"},
		{"pieces on ROCm", torchFull("HIP", "2.00 GiB", 23.98, 15.20, 6.90), "fragmented", "PYTORCH_HIP_ALLOC_CONF=expandable_segments:True", "PYTORCH_CUDA"},
		{"pieces on Ascend", torchFull("NPU", "2.00 GiB", 60.97, 45.00, 14.00), "fragmented", "PYTORCH_NPU_ALLOC_CONF=expandable_segments:True", "PYTORCH_CUDA"},
		{"no such setting on XPU", torchFull("XPU", "2.00 GiB", 15.91, 11.00, 3.50), "fragmented", "a smaller batch", "expandable_segments"},
		{"another process, listed", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB. GPU 0 has a total capacity of 23.64 GiB of which 512.00 MiB is free. Process 4242 has 18.20 GiB memory in use. Including non-PyTorch memory, this process has 4.92 GiB memory in use. Of the allocated memory 4.40 GiB is allocated by PyTorch, and 80.00 MiB is reserved by PyTorch but unallocated.", "other processes hold 18.20 GiB", "end the other processes", "expandable_segments"},
		{"another process, not listed", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB. GPU 0 has a total capacity of 23.64 GiB of which 512.00 MiB is free. Including non-PyTorch memory, this process has 4.92 GiB memory in use. Of the allocated memory 4.40 GiB is allocated by PyTorch, and 80.00 MiB is reserved by PyTorch but unallocated.", "other processes hold 18.22 GiB", "end the other processes", "expandable_segments"},
		{"nothing of its own", "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 978.00 MiB. GPU 0 has a total capacity of 15.98 GiB of which 612.00 MiB is free. Of the allocated memory 0 bytes is allocated by PyTorch, and 0 bytes is reserved by PyTorch but unallocated.", "this process holds nothing", "end the other processes", "a smaller batch"},
		{"one large tensor", torchFull("CUDA", "16.01 GiB", 44.32, 27.67, 0.30), "found no room beside the 27.67 GiB", "a smaller batch", "is full"},
		{"ComfyUI", "!!! Exception during processing !!! Allocation on device \ntorch.OutOfMemoryError: Allocation on device", "", "a smaller batch", "expandable_segments"},
		{"cuBLAS", "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`", "outside of PyTorch's pool", "a smaller batch", "compute buffer"},
		{"cuBLAS at the start", "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`", "library", "a smaller batch", "expandable_segments"},
		{"HSA", "HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary resources. Code: 0x1008 Available Free mem : 36 MB", "full", "a smaller batch", "expandable_segments"},

		{"MPS", "RuntimeError: MPS backend out of memory (MPS allocated: 17.86 GB, other allocations: 232.50 MB, max allowed: 18.13 GB). Tried to allocate 256.00 MB on private pool.", "may hold is full", "a smaller batch", "FSDP"},
		{"TensorFlow", "tensorflow.python.framework.errors_impl.ResourceExhaustedError: Graph execution error: OOM when allocating tensor with shape[32,12,2048,2048] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc", "full", "a smaller batch", "inference_mode"},

		// training
		{"activations of a trainer", trainerStarts + in("hidden = self.down_proj(x)") + torchFull("CUDA", "448.00 MiB", 79.25, 77.80, 0.30), "MLP", "a smaller micro-batch", "inference"},
		{"backward", trainerStarts + in("loss.backward()") + torchFull("CUDA", "1.20 GiB", 23.64, 21.90, 0.30), "backward", "gradient checkpointing", "expandable_segments"},
		{"logits", trainerStarts + in("loss = F.cross_entropy(logits, labels)") + torchFull("CUDA", "7.83 GiB", 79.25, 70.00, 0.50), "loss", "a loss that never makes all logits", ""},
		{"first optimizer step", in("optimizer.step()") + torchFull("CUDA", "64.00 MiB", 79.25, 78.20, 0.10), "optimizer", "states that ranks share", "context"},
		{"optimizer states larger than the card", in("self.initialize_optimizer_states()") + torchFull("CUDA", "29.92 GiB", 23.69, 14.96, 0.04), "larger than the whole device", "states that ranks share", "scores"},
		{"scores of eager attention", in("attn_weights = nn.functional.softmax(attn_weights, dim=-1)") + torchFull("CUDA", "4.00 GiB", 23.64, 19.50, 0.40), "attention", "flash attention", ""},
		{"a checkpoint that is gathered", in("trainer.save_checkpoint(path)") + torchFull("CUDA", "2.00 GiB", 79.25, 77.00, 0.30), "checkpoint", "sharded checkpoints", ""},
		{"DeepSpeed's cache flushes", "[WARNING] [stage3.py:2000:step] 2 pytorch allocator cache flushes since last step. this happens when there is high memory pressure", "almost full", "a smaller micro-batch", ""},
		{"4 bits do not fit", "ValueError: Some modules are dispatched on the CPU or the disk. Make sure you have enough GPU RAM to fit the quantized model.", "loaded", "llm_int8_enable_fp32_cpu_offload", ""},

		// vLLM
		{"vLLM, graphs", "INFO [gpu_worker.py:227] Available KV cache memory: 8.12 GiB\nCapturing CUDA graph shapes:  40%|\nERROR [core.py:515] " + torchFull("CUDA", "20.00 MiB", 79.15, 77.60, 0.30), "graphs were captured", "--gpu-memory-utilization", "expandable_segments"},
		{"vLLM, sampler", "RuntimeError: CUDA out of memory occurred when warming up sampler with 1024 dummy requests. Please try lowering `max_num_seqs` or `gpu_memory_utilization` when initializing the engine.", "sampler", "--max-num-seqs", ""},
		{"vLLM, context", "ValueError: To serve at least one request with the models's max seq len (131072), (16.00 GiB KV cache is needed, which is larger than the available KV cache memory (6.12 GiB). Based on the available memory, the estimated maximum model length is 50128.", "one sequence of 131,072 tokens", "context 131,072 → 50,128", ""},
		{"vLLM, states", "ValueError: max_num_seqs (1024) exceeds available Mamba cache blocks (856). Each decode sequence requires one " +
			"Mamba cache block, so CUDA graph capture cannot proceed. Please lower max_num_seqs to at most 856 or increase " +
			"gpu_memory_utilization.", "the states of 856", "max_num_seqs 1,024 → 856", "tokens is allowed"},
		{"Ollama, warned", `level=WARN source=server.go:566 msg="model request too large for system" requested="41.2 GiB" ` +
			`available="30.1 GiB" total="31.2 GiB"`, "30.10 GiB are free", "a smaller model", ""},
		{"vLLM, nothing left", "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.", "nothing", "--gpu-memory-utilization 0.95", ""},
		{"vLLM, somebody else's card", "ValueError: Free memory on device (3.21/23.64 GiB) on startup is less than desired GPU memory utilization (0.9, 21.28 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.", "others hold 20.43 GiB", "stop what else uses the device", "0.13"},
		{"vLLM, a desktop on the card", "ValueError: Free memory on device (20.90/23.64 GiB) on startup is less than desired GPU memory utilization (0.9, 21.28 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.", "others hold 2.74 GiB", "gpu_memory_utilization 0.90 → 0.88", ""},
		{"vLLM, waking", "(EngineCore_DP0 pid=2381) CUDA Error: out of memory at /workspace/csrc/cumem_allocator.cpp:62", "sleep", "free what others hold", ""},
		{"vLLM, preempted", "WARNING [scheduler.py:1057] Sequence group 12 is preempted by PreemptionMode.RECOMPUTE mode because there is not enough KV cache space.", "requests wait", "--max-num-seqs", ""},

		// SGLang, TensorRT-LLM, TGI
		{"SGLang, graphs", "Exception: Capture cuda graph failed: CUDA out of memory. Tried to allocate 200.00 MiB.", "graphs", "--mem-fraction-static", ""},
		{"SGLang, static share", "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.", "nothing", "--mem-fraction-static 0.9", ""},
		{"SGLang, decode", "RuntimeError: Decode out of memory. Try to lower your batch size.", "", "--max-running-requests", ""},
		{"SGLang, retracted", "[2025-11-02 10:00:00 TP0] KV cache pool is full. Retract requests. #retracted_reqs: 3", "requests wait", "--max-running-requests", ""},
		{"TensorRT-LLM, pool", "[TensorRT-LLM][ERROR] Error while allocating 17179869184 bytes", "", "free_gpu_memory_fraction", "context"},
		{"TensorRT, engine", "[TRT] [E] [virtualMemoryBuffer.cpp::resizePhysical::154] Error Code 2: OutOfMemory (Requested size was 1048576000 bytes.)", "", "a smaller batch", "free_gpu_memory_fraction"},
		{"TensorRT below TensorRT-LLM", "[TRT-LLM] [I] Set nccl_plugin to None.\n[TRT] [E] Error Code 1: Cuda Runtime (out of memory)", "", "free_gpu_memory_fraction", ""},
		{"TGI, warm-up", "RuntimeError: Not enough memory to handle 4096 prefill tokens. You need to decrease `--max-batch-prefill-tokens`", "profile run", "--max-batch-prefill-tokens", ""},

		// llama.cpp and kin
		{"llama.cpp, weights", "alloc_tensor_range: failed to allocate CUDA0 buffer of size 19316290048\nllama_model_load: error loading model: unable to allocate CUDA0 buffer", "weights were loaded", "fewer layers on the GPU: a smaller -ngl", ""},
		{"llama.cpp, cache", "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 4588.00 MiB on device 0: cudaMalloc failed: out of memory\nllama_init_from_model: failed to initialize the context: failed to allocate buffer for kv cache", "KV cache", "a smaller -c", "more devices"},
		{"llama.cpp, scores of 317 GiB", "ggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 340376485888\ngraph_reserve: failed to allocate compute buffers", "compute buffer", "-fa on", "device is full"},
		{"llama.cpp, Vulkan's largest buffer", "ggml_vulkan: Requested buffer size exceeds device memory allocation limit: ErrorOutOfDeviceMemory\nggml_gallocr_reserve_n: failed to allocate Vulkan0 buffer of size 4342230552", "larger than the driver gives at once", "-fa on", ""},
		{"llama.cpp, pinned", "ggml_cuda_host_malloc: failed to allocate 1024.00 MiB of pinned memory: out of memory", "page-locked", "nothing, where it is only a warning", ""},
		{"llama.cpp, host", "ggml_aligned_malloc: insufficient memory (attempted to allocate 44668.09 MB)", "host", "a smaller -c", ""},
		{"llama.cpp, Metal", "ggml_metal_graph_compute: command buffer 0 failed with status 5\nerror: Insufficient Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)", "more than the system lets it hold", "a smaller -c", "compute buffer, which"},
		{"llama.cpp, slots", "decode: failed to find a memory slot for batch of size 512", "requests wait", "a larger -c", ""},
		{"Ollama in JSON", `{"error":"llama runner process has terminated: cudaMalloc failed: out of memory\nggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 1946157056"}`, "", "a smaller num_ctx", ""},
		{"Ollama, host", "Error: model requires more system memory (23.3 GiB) than is available (15.1 GiB)", "23.30 GiB of host memory are needed and 15.10 GiB are free", "a smaller model", ""},
		{"Ollama, host, a little", "Error: model requires more system memory (5.9 GiB) than is available (5.2 GiB)", "5.90 GiB of host memory are needed", "a shorter context", ""},
		{"LM Studio's guard", "Model loading was stopped due to insufficient system resources. This model may require approximately 12.5 GB of memory.", "", "a shorter context", ""},
		{"MLX", "libc++abi: terminating due to uncaught exception of type std::runtime_error: [METAL] Command buffer execution failed: Insufficient Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)", "more than the system lets it hold", "a shorter context", ""},
		{"MLX, one array", "[metal::malloc] Attempting to allocate 134217728000 bytes which is greater than the maximum allowed buffer size of 77309411328 bytes.", "larger than the driver gives at once", "a shorter context", ""},

		// the host
		{"Slurm", "slurmstepd: error: Detected 1 oom_kill event in StepId=123456.batch. Some of the step tasks have been OOM Killed.\nsrun: error: node01: task 0: Out Of Memory", "limit of its job", "--mem", ""},
		{"Slurm, one line", "srun: error: node01: task 3: Out Of Memory", "limit of its job", "--mem", ""},
		{"Kubernetes", "    State:          Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n    Limits:\n      memory:          32Gi\n      nvidia.com/gpu:  1\n", "at most 32.00 GiB", "a higher memory limit", ""},
		{"a pod that finds no node", "0/3 nodes are available: 3 Insufficient memory. preemption: 0/3 nodes are available", "no node", "resources.requests.memory", ""},
		{"DataLoader", "RuntimeError: DataLoader worker (pid 1234) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory.", "/dev/shm", "--shm-size", ""},
		{"DataLoader, what it prints before", "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).", "/dev/shm", "--shm-size", ""},
		{"NumPy", "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 29.3 GiB for an array with shape (50000, 78643) and data type float64", "29.30 GiB", "in parts", "layers"},
		{"NumPy, the older words", "MemoryError: Unable to allocate 29.3 GiB for an array with shape (50000, 78643) and data type float64", "29.30 GiB", "in parts", "layers"},
		{"Windows", "OSError: [WinError 1455] The paging file is too small for this operation to complete. Error loading \"torch_cuda.dll\"", "", "a larger paging file", ""},
		{"systemd", "llama.service: A process of this unit has been killed by the OOM killer.", "killed", "fewer processes", ""},
		{"the shell", "./run.sh: line 3: 12345 Killed                  python3 train.py", "signal 9", "fewer processes", ""},

		// growth
		{"nvidia-smi as CSV", "timestamp, index, memory.used [MiB], memory.total [MiB]\n" + steps("2025/11/02 12:00:00.123, 0, %.0f MiB, 81920 MiB", rising), "GPU 0 memory.used rises", "keep numbers, not tensors", ""},
		{"nvidia-smi as CSV without units", "index, memory.used [MiB]\n" + steps("0, %.0f", rising), "GPU 0 memory.used rises", "keep numbers, not tensors", ""},
		{"nvidia-smi's table", steps("|   0  NVIDIA A100-SXM4-80GB          On  | 00000000:07:00.0 Off |                    0 |\n| N/A   45C    P0   120W / 400W |  %.0fMiB / 81920MiB |     97%%      Default |", rising), "GPU 0 memory rises", "keep numbers, not tensors", ""},
		{"Megatron", steps("[Rank 0] (after 10 iterations) memory (MB) | allocated: %.2f | max allocated: 70000.00 | reserved: 72000.00", rising), "allocated rises", "keep numbers, not tensors", ""},
		{"DeepSpeed", steps("[2025-11-02 10:00:00,000] [INFO] [utils.py:782:see_memory_usage] MA %.2f MB         Max_MA 30000 MB         CA 31000 MB         Max_CA 31000 MB", rising), "allocated rises", "keep numbers, not tensors", ""},
		{"torchtitan", steps("[rank0]:[titan] step: 10  loss: 7.12  grad_norm: 1.2  memory: %.0fMiB(29.50%%)  tps: 7,000", rising), "memory rises", "keep numbers, not tensors", ""},
		{"torchtune", steps("Step 10 | loss:1.2 lr:2e-5 peak_memory_alloc:%.1f", func(i int) float64 { return 20 + float64(i)/10 }), "peak_memory_alloc rises", "keep numbers, not tensors", ""},
	} {
		a, err := Diagnose(c.text, Request{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		first := ""
		if len(a.Diagnosed.Fixes) > 0 {
			first = a.Diagnosed.Fixes[0].Text
		}
		if !strings.Contains(a.Diagnosed.Cause, c.cause) || !strings.Contains(first, c.cure) {
			t.Errorf("%s: %q, first %q; want %q, %q", c.name, a.Diagnosed.Cause, first, c.cause, c.cure)
		}
		all := fmt.Sprint(a.Diagnosed.Cause, a.Diagnosed.Fixes, a.Diagnosed.Command)
		if c.never != "" && strings.Contains(all, c.never) {
			t.Errorf("%s: %q is not part of such an answer: %s", c.name, c.never, all)
		}
	}
}

// unescaped is a text of a table, whose lines are parted by \n.
func unescaped(s string) string {
	return strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t").Replace(s)
}

// TestMessages: what a practitioner would say first of messages in the shapes of many programs.
func TestMessages(t *testing.T) {
	t.Parallel()
	rows := append(judged(t, "messages.tsv"), judged(t, "threads.tsv")...)
	agreed := 0
	for _, c := range rows {
		a, err := Diagnose(unescaped(c["text"]), Request{})
		if err != nil {
			t.Errorf("%s: %v", c["name"], err)
			continue
		}
		said := a.Diagnosed.Cause
		for _, f := range a.Diagnosed.Fixes[:min(2, len(a.Diagnosed.Fixes))] {
			said += "\n" + f.Text
		}
		if a.Diagnosed.Kind != diagnose.None && regexp.MustCompile("(?i)"+c["says"]).MatchString(said) {
			agreed++
		} else {
			t.Logf("%s: %q, want %q", c["name"], said, c["says"])
		}
		if all := fmt.Sprint(a.Diagnosed.Cause, a.Diagnosed.Fixes, a.Diagnosed.Command); c["never"] != "" && strings.Contains(all, c["never"]) {
			t.Errorf("%s: %q is not part of such an answer: %s", c["name"], c["never"], all)
		}
	}
	t.Logf("%d of %d", agreed, len(rows))
	if len(rows) < 190 || agreed*20 < len(rows)*19 {
		t.Errorf("%d of %d messages are answered as a practitioner would", agreed, len(rows))
	}
}

// TestQuietTexts: texts that tell of no failure for lack of memory raise no alarm. A full disk is named, and said to be none.
func TestQuietTexts(t *testing.T) {
	t.Parallel()
	rows := judged(t, "quiet.tsv")
	for _, c := range rows {
		a, err := Diagnose(unescaped(c["text"]), Request{})
		if err != nil {
			t.Errorf("%q: %v", c["text"], err)
		} else if k := a.Diagnosed.Kind; k != diagnose.None && k.Weight() != diagnose.NotMemory {
			t.Errorf("%q: %s", c["text"], k)
		}
	}
	if len(rows) < 60 {
		t.Errorf("only %d texts", len(rows))
	}
}
