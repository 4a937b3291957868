package config

// Words that every trainer over transformers shares: it hands them to TrainingArguments.optim (training_args.py: OptimizerNames)
// and to attn_implementation (modeling_utils.py) as they stand.

// hfOptim reads and writes TrainingArguments.optim.
func hfOptim(key string) []rule {
	return []rule{
		words(key, optimizerName, "adamw=adamw_torch", "adamw-fused=adamw_torch_fused", "adamw-8bit=adamw_bnb_8bit", "adamw-4bit=adamw_torch_4bit",
			"paged-adamw-8bit=paged_adamw_8bit", "paged-adamw=paged_adamw_32bit", "adafactor=adafactor", "lion=lion_32bit", "sgd=sgd",
			"galore=galore_adamw", "schedule-free-adamw=schedule_free_adamw"),
		also(key, optimizerName, "adamw-8bit=adamw_8bit", "adamw-8bit=adamw_torch_8bit", "adamw=adamw_hf", "adamw-fused=adamw_apex_fused",
			"paged-adamw=paged_adamw", "adagrad=adagrad"),
	}
}

// hfAttention reads and writes attn_implementation. Kernels of a hub, FlashAttention 3 and 4, and FlexAttention keep no matrix of
// scores either.
func hfAttention(key string) []rule {
	return []rule{
		words(key, attention, "flash=flash_attention_2", "sdpa=sdpa", "eager=eager"),
		also(key, attention, "flash=flash_attention_3", "flash=flash_attention_4", "flash=flex_attention", "flash=flash_attention", "flash=kernels-community/flash-attn",
			"flash=kernels-community/flash-attn2", "flash=kernels-community/flash-attn3", "flash=kernels-community/vllm-flash-attn3"),
	}
}
