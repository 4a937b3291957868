package family

// families is every family. A new one is a file of its own and a line here.
var families = []*Family{
	llama,
	qwen2, qwen2moe, qwen3, qwen3moe, qwen3next, qwen35, qwen35moe,
	gemma, gemma2, gemma3, gemma3n, gemma4,
	phi2, phi3,
	deepseek2, minicpm3,
	gptoss, minimaxM2, olmoe,
	chatglm, glm4, glm4moe,
	commandR, cohere2, olmo2, stablelm, starcoder2, bloom, opt,
	granite, granitemoe, granitehybrid,
	mamba, mamba2Only, jamba, nemotronH,
	qwen2vl, qwen3vl, qwen3vlmoe,
	llava, llavaLlama, mistral3, internvl, internvlHF, idefics3, paligemma, lfm2vl, kimivl, kimik25, mllama,
	llama4vl, phi3v, minicpmv, deepseekvl2, deepseekOCR, fuyu, persimmon, molmo, locateAnything, videollama3, llavaOneVision15, andesvl, logics,
	bert, distilbert, mpnet, nomicBERT, gteNew, jinaBERT, modernBERT, clip, clipTextModel, clipVisionModel, siglip, siglipVisionModel, vit, dinov2,
	t5, t5Encoder, bart, mbart, m2m100, pegasus, codet5p, whisper, voxtral, qwen2audio, glmASR,
}
