package family

// families is every family. A new one is a file of its own and a line here.
var families = []*Family{
	llama,
	qwen2, qwen2moe, qwen3, qwen3moe, qwen3next, qwen35, qwen35moe, qwen38next,
	gemma, gemma2, gemma3, gemma3n, gemma4, gemma4Unified,
	phi2, phi3,
	deepseek2, minicpm3,
	gptoss, minimaxM2, olmoe, openMoE,
	chatglm, glm4, glm4moe, glm4v, glm4vMoE, glm5next, laguna, mellum, hy3, hy4, cohere2MoE,
	commandR, cohere2, olmo2, stablelm, starcoder2, bloom, opt,
	gptneox, gptneo, gpt2, rugpt3xl, gptbigcode, codeshell, gptj, codegen, falcon, mpt, dbrx,
	xverse, aquila, yi, ministral3, k2Horizon, pangu, smollm3, arcee, seedOSS, orion, olmo, baichuan, internlm, internlm2, internlm3,
	deepseek4, kimiLinear, deepseek32, glmDSA, minimaxM3,
	decilm, nemotron, lfm2, lfm2moe, llama4, minimaxText, bailingLinear, bailingHybrid, bamba, falconH1, ernie, ernieMoE, hunyuanDense, hunyuanMoE, dots1, afmoe, apertus,
	deepseek1, minicpm, bailing, step35, grok, mistral4, glm4lite,
	qwen, phimoe, phi3small, exaone, exaone4, exaoneMoE, mimo, mimo2,
	granite, granitemoe, granitehybrid,
	mamba, mamba2Only, rwkv4, rwkv5, rwkv6, rwkv7, plamo2, zamba2, longcat, jamba, nemotronH, stripedHyena,
	qwen2vl, qwen3vl, qwen3vlmoe, qwen25Omni,
	llava, llavaLlama, mistral3, internvl, internvlHF, idefics1, idefics2, idefics3, paligemma, lfm2vl, kimivl, kimik25, mllama,
	llama4vl, phi3v, phi4mm, minicpmv, minicpmv46, museGlimmer, dotsOCR, deepseekvl2, deepseekOCR, fuyu, persimmon, molmo, locateAnything, videollama3, llavaOneVision15, andesvl, logics, minimaxM3VL, kimiK3, xgenMM, infiMM, cogVLM2, qwenOmni, qwen3Omni, qwen3OmniThinker,
	ernieVL, paddleOCR, hunyuanVL, molmo2, exaone45, qwen3ASR, bitnet, olmoHybrid, plamo3,
	bert, distilbert, mpnet, nomicBERT, gteNew, jinaBERT, modernBERT, clip, clipTextModel, clipVisionModel, siglip, siglipVisionModel, vit, dinov2,
	flux, sd3, qwenImage, hunyuanVideo, pixart, wan, zImage,
	eagle3, dflash,
	t5, t5Encoder, bart, mbart, m2m100, pegasus, codet5p, whisper, voxtral, qwen2audio, glmASR,
}
