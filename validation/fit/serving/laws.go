package main

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/speed/serving"
	"github.com/memwall/memwall/validation/kernels"
)

// schemes of the formats that rows of products name.
var schemes = map[string]*dtype.Scheme{
	"bf16": dtype.Of(dtype.BF16), "fp16": dtype.Of(dtype.F16), "fp8": dtype.FP8Tensor, "fp8_block": dtype.FP8Block,
	"nvfp4": dtype.NVFP4Split, "int4": dtype.Packed(dtype.I4, 128), "int8": dtype.Int8Channel,
}

// engines that have names of their own in the rows.
var engines = map[string]string{"vllm": "vllm", "trtllm": "tensorrt-llm", "sglang": "sglang"}

// bare are the programs that time a product by itself: its operands lie ready in their formats. The others time what an
// engine calls, which quantises the activations on the way.
var bare = map[string]bool{"azure": true, "deepgemm": true}

func engineOf(r *kernels.Row) string {
	if name, ok := engines[r.Engine()]; ok {
		return name
	}
	return r.Engine()
}

// law of a row's kernel; ok is false for what is not modelled.
func law(r *kernels.Row, d *hardware.Device) (k serving.Kernel, ok bool) {
	e := engineOf(r)
	switch r.Kind {
	case "gemm":
		s := schemes[r.Format]
		if s == nil {
			return k, false
		}
		return serving.ProductKernel(d, e, s, r.Size[0], r.Size[1], r.Size[2], bare[r.Engine()]), true
	case "allreduce":
		return serving.AllReduceKernel(d, e, r.Ranks, float64(r.Size[0])), true
	}
	h := serving.Heads{Sequences: r.Size[0], Tokens: r.Size[1], Heads: r.Size[2], KVHeads: r.Size[3], Width: r.Size[4], Cached: r.Cached(),
		KV: 2, Wide: 2}
	if r.KV == "fp8" {
		h.KV = 1
	}
	if r.Format == "fp8" {
		h.Wide = 1
	}
	if r.Kind == "decode" {
		return serving.DecodeKernel(d, e, h), true
	}
	return serving.PrefillKernel(d, e, h), true
}
