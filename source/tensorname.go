package source

import (
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/family"
)

// partDecoder is the name of the part that generates tokens.
const partDecoder = "decoder"

// tensorName is a parsed hub tensor name.
type tensorName struct {
	part   string // as named by package model
	layer  int    // numbers in the file; -1 outside the layers
	module string // within the layer, numbers written #
	param  param
}

// scope returns where to look the module up. Decoder and prediction layers share names.
func (n *tensorName) scope() scope {
	switch {
	case isDenoiser(n.part) && n.layer < 0:
		return atDenoiser
	case isDenoiser(n.part):
		return inDenoiser
	case isTower(n.part) && n.layer < 0:
		return atVision
	case isTower(n.part):
		return inVision
	case n.layer >= 0:
		return inLayer
	case n.part == model.PartMTP:
		return inPrediction
	}
	return atEnds
}

// param is a kind of tensor within a module.
type param uint8

const (
	weight    param = iota
	biasTerm        // the additive bias
	companion       // scales, zero points and the like that accompany a weight
)

// companions are the last words of tensors that accompany a weight: of compressed-tensors and fp8 (weight_*, input_*),
// gptq and awq (qzeros, scales, g_idx), bitsandbytes (absmax and maps, SCB), MLX (biases), modelopt (weight_scale_2,
// pre_quant_scale), Mistral (qscale_*) and quantized KV caches.
var companions = words(`weight_scale weight_scale_inv weight_scale_2 weight_global_scale weight_zero_point weight_shape weight_g_idx
	weight_format weight_min_max input_scale input_scale_inv input_global_scale input_zero_point activation_scale output_scale
	scales qzeros g_idx biases absmax quant_map nested_absmax nested_quant_map SCB
	k_scale v_scale q_scale kv_scale prob_scale k_zero_point v_zero_point pre_quant_scale qscale_weight qscale_act`)

// weightWords are the last words of tensors that hold a module's elements.
var weightWords = words(`weight qweight weight_packed`)

// wrappers are words before "layers" that still denote the decoder.
var wrappers = words(`model language_model text_model transformer backbone encoder decoder llm thinker base_model module gpt_neox
	bert roberta distilbert mpnet new vit dinov2 vlm image_vit whisper global_transformer timm_model rwkv`)

// towers maps leading words to vision and audio parts.
var towers = map[string]string{"visual": family.PartVision, "vision": family.PartVision, "vision_tower": family.PartVision, "vision_towers": family.PartVision,
	"vision_model": family.PartVision, "vision_encoder": family.PartVision, "vision_backbone": family.PartVision, "vision_embed_tokens": family.PartVision,
	"img_processor": family.PartVision, "embed_vision": family.PartVision, "vision_embedder": family.PartVision, "multi_modal_projector": family.PartVision, "vpm": family.PartVision,
	"qwen2_model": family.PartVision, "sam_model": family.PartPage, "audio_tower": family.PartAudio, "audio_encoder": family.PartAudio,
	"embed_audio": family.PartAudio}

// joints are modules outside the towers that belong to them; their numbers distinguish modules.
var joints = words(`visual_projection mlp1 connector resampler img_projection glb_GN sub_GN mm_projector projector image_newline view_seperator`)

// ordinals are words whose number distinguishes modules.
var ordinals = words(`layer mlp adapting neck stem downsample cap_embedder lora`)

// isTower reports whether a part is a vision or audio tower.
func isTower(part string) bool {
	return strings.HasPrefix(part, family.PartVision) || part == family.PartAudio
}

// layerWords precede the number of a layer.
var layerWords = words(`layers layer h block blocks resblocks mtp_layers transformer_blocks single_transformer_blocks refiner_blocks noise_refiner context_refiner conformer`)

func words(text string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(text) {
		m[w] = true
	}
	return m
}

// readName parses a tensor name; ok is false if it has no module.
func readName(name string) (n tensorName, ok bool) {
	path, param := readParam(name)
	n = tensorName{part: partDecoder, layer: -1, param: param}
	parts := strings.Split(path, ".")
	for i, w := range parts {
		rest := parts[i+1:]
		switch {
		case len(rest) == 0 && wrappers[w]:
			return n, false
		case joints[w]:
			n.part, n.module = family.PartVision, strings.Join(parts[i:], ".")
			return n, true
		case towers[w] != "" && (len(rest) > 0 || w == "multi_modal_projector" || w == "vision_embed_tokens"):
			if n.part = towers[w]; len(rest) == 0 {
				n.module = w
				return n, true
			}
		case isTower(n.part) && isNumber(w) && len(rest) > 0: // one of several towers in a list
		case (w == "context_embedder" || w == "token_refiner") && slices.Contains(rest, "refiner_blocks"): // HunyuanVideo's text stream
		case w == "layers" && len(rest) > 0 && rest[0] == "layers": // PLaMo 2
		case w == "midlayer" && len(rest) > 0: // EAGLE-3's only layer
			n.layer, n.module = 0, masked(rest)
			return n, true
		case w == "mtp" && len(rest) > 0:
			n.part = model.PartMTP
		case layerWords[w] && len(rest) > 1 && isNumber(rest[0]):
			if w == "mtp_layers" {
				n.part = model.PartMTP
			}
			n.layer, _ = strconv.Atoi(rest[0])
			n.module = masked(rest[1:])
			if w == "blocks" && i > 0 && parts[i-1] == "encoder" && isTower(n.part) {
				n.module = "moonvit." + n.module // whose norms and maps are numbered from 0
			}
			return n, true
		case !wrappers[w]:
			n.module = masked(parts[i:])
			return n, true
		}
	}
	return n, false
}

// masked joins a path, replacing numbers that do not distinguish modules by #.
func masked(parts []string) string {
	for i, w := range parts {
		if isNumber(w) && (i == 0 || !ordinals[parts[i-1]]) {
			parts[i] = "#"
		}
	}
	return strings.Join(parts, ".")
}

func isNumber(s string) bool {
	if s == "" || len(s) > 6 {
		return false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// readParam splits the parameter off a name.
func readParam(name string) (module string, p param) {
	module, _, state := strings.Cut(name, ".quant_state.")
	if state {
		return strings.TrimSuffix(module, ".weight"), companion
	}
	path, last := name, ""
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		path, last = name[:i], name[i+1:]
	}
	switch {
	case companions[last]:
		return ofAttention(strings.TrimSuffix(path, ".weight")), companion
	case weightWords[last]:
		return path, weight
	case last == "bias":
		return path, biasTerm
	}
	return readStacked(name, last)
}

// readStacked parses parameters without a module of their own, as used for stacked experts: gate_up_proj,
// gate_up_proj_bias, and gate_up_proj_blocks with gate_up_proj_scales (gpt-oss).
func readStacked(name, last string) (module string, p param) {
	stem, suffix, ok := cutLast(last, "_")
	if !ok || !strings.HasSuffix(stem, "_proj") {
		return name, weight
	}
	path := strings.TrimSuffix(name, "_"+suffix)
	switch suffix {
	case "blocks":
		return path, weight
	case "bias":
		return path, biasTerm
	case "scales":
		return path, companion
	}
	return name, weight
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// ofAttention assigns the scales of a quantized cache, which belong to the whole attention, to the keys.
func ofAttention(path string) string {
	path = strings.TrimSuffix(path, ".attn")
	if strings.HasSuffix(path, ".self_attn") {
		return path + ".k_proj"
	}
	return path
}
