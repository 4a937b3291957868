package llamacpp

import (
	"strings"

	"github.com/memwall/memwall/engine/startup"
)

// What a log says of the model: the pairs of the file's header, and the dimensions that llama.cpp made of
// them, which stand in for pairs that were not printed.

// pair: "llama_model_loader: - kv  10:  qwen3.attention.head_count u32  = 32".
func (r *LogReader) pair(_ *startup.Line, rest string) {
	_, rest, ok := strings.Cut(rest, ":")
	if !ok {
		return
	}
	name, value, ok := strings.Cut(rest, "=")
	words := strings.Fields(name)
	if !ok || len(words) < 2 || strings.HasPrefix(words[0], "tokenizer.") {
		return
	}
	r.log.Signs++
	r.meta.Set(words[0], strings.TrimSpace(value))
}

// types: "llama_model_loader: - type q4_K:  193 tensors".
func (r *LogReader) types(_ *startup.Line, rest string) {
	name, count, ok := strings.Cut(strings.TrimSpace(rest), ":")
	if n, whole := startup.Integer(count); ok && whole && len(name) < 16 {
		r.meta.Type(strings.ToLower(name), n)
	}
}

// infoKeys are the names under which llama.cpp prints hyper-parameters, and the keys of the header that
// they come from.
var infoKeys = map[string]string{
	"n_ctx_train": "context_length", "n_embd": "embedding_length", "n_head": "attention.head_count", "n_head_kv": "attention.head_count_kv",
	"n_embd_head_k": "attention.key_length", "n_embd_head_v": "attention.value_length", "n_swa": "attention.sliding_window", "n_rot": "rope.dimension_count",
	"n_ff": "feed_forward_length", "n_expert": "expert_count", "n_expert_used": "expert_used_count", "n_ff_exp": "expert_feed_forward_length",
	"n_ff_shexp": "expert_shared_feed_forward_length", "n_expert_shared": "expert_shared_count", "n_layer_dense_lead": "leading_dense_block_count",
	"n_lora_q": "attention.q_lora_rank", "n_lora_kv": "attention.kv_lora_rank", "n_embd_head_k_mla": "attention.key_length_mla", "n_embd_head_v_mla": "attention.value_length_mla",
	"ssm_d_conv": "ssm.conv_kernel", "ssm_d_inner": "ssm.inner_size", "ssm_d_state": "ssm.state_size", "ssm_dt_rank": "ssm.time_step_rank", "ssm_n_group": "ssm.group_count",
	"n_vocab": "vocab_size", "n_layer_all": "block_count", "n_layer": "block_count", "n_layer_nextn": "nextn_predict_layers",
}

// info: "print_info: n_head_kv = 8", lists in brackets.
func (r *LogReader) info(l *startup.Line, rest string) {
	key, value, ok := setting(rest)
	if !ok {
		return
	}
	r.log.Signs++
	switch key {
	case "arch":
		r.meta.Set("general.architecture", value)
	case "general.name":
		r.log.Named(value)
	case "file type", "model ftype":
		if r.log.Quant == "" {
			r.log.Quant = strings.TrimSpace(strings.TrimSuffix(value, "(guessed)"))
		}
	case "file size", "model size":
		r.size(l, value)
	case "model params":
		r.log.Add("parameters", "model params", unitBehind(value, "T", "B", "M", "K"), l, value)
	default:
		if len(r.dims) < 128 {
			r.remember(key, value)
		}
	}
}

// remember keeps the first value of a dimension.
func (r *LogReader) remember(key, value string) {
	if _, known := infoKeys[key]; !known || value == "0" && key != "n_head_kv" {
		return
	}
	if r.dims == nil {
		r.dims = map[string]string{}
	}
	if _, have := r.dims[key]; !have {
		r.dims[key] = value
	}
}

// size: "4.58 GiB (4.89 BPW)".
func (r *LogReader) size(l *startup.Line, value string) {
	r.log.Add("file_size", "file size", unitBehind(value, "GiB", "MiB"), l, value)
}

func unitBehind(value string, units ...string) string {
	_, _, _, rest := startup.Number(value)
	rest = strings.TrimSpace(rest)
	for _, u := range units {
		if strings.HasPrefix(rest, u) {
			return u
		}
	}
	return ""
}

// describe completes the metadata from the dimensions: keys that the header's own lines gave stay, except
// lists that those lines cut short.
func (r *LogReader) describe() {
	arch := r.meta.Architecture()
	if arch == "" {
		return
	}
	if _, all := r.dims["n_layer_all"]; all {
		delete(r.dims, "n_layer")
	}
	for name, value := range r.dims {
		key := arch + "." + infoKeys[name]
		if _, whole := r.meta.Ints(key); !whole {
			r.meta.Replace(key, value)
		}
	}
	r.meta.Tensors = r.tensor
	r.log.Metadata = &r.meta
	r.vocabulary()
}

// vocabulary: the header often holds only the tokens themselves, whose number the dimensions have.
func (r *LogReader) vocabulary() {
	if v, ok := r.dims["n_vocab"]; ok {
		r.meta.Set(r.meta.Architecture()+".vocab_size", v)
	}
}

// tensor answers for the embedding alone; what else a file holds is not printed.
func (r *LogReader) tensor(name string) ([]int64, bool) {
	if name != "token_embd.weight" {
		return nil, false
	}
	arch := r.meta.Architecture()
	hidden, ok := r.meta.Int(arch + ".embedding_length")
	rows, known := r.meta.Int(arch + ".vocab_size")
	return []int64{hidden, rows}, ok && known
}
