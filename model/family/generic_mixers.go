package family

import "slices"

// mixer reads a recurrent mixer of a kind whose sizes the usual fields say, and which layers attend instead; attends is nil where there
// is none, or where no field says which: Mamba-2 (mamba_*, arXiv:2405.21060), gated delta nets (linear_*, arXiv:2412.06464), gated
// short convolutions (conv_L_cache, arXiv:2511.23404).
func (c *Config) mixer(hidden int64) (x SSM, attends func(int) bool) {
	mamba, delta := c.IntOr(0, "mamba_n_heads", "mamba_num_heads"), c.IntOr(0, "linear_num_value_heads")
	switch {
	case mamba > 0 && c.hasOne("mamba_d_head", "mamba_head_dim") && c.hasOne("mamba_d_state", "ssm_state_size"):
		x = SSM{Style: Mamba2, Conv: c.IntOr(4, "mamba_d_conv", "conv_kernel"), Inner: mamba * c.Int("mamba_d_head", "mamba_head_dim"),
			State: c.Int("mamba_d_state", "ssm_state_size"), Heads: mamba, Groups: c.IntOr(1, "mamba_n_groups", "n_groups"),
			BiasIn: c.Bool(false, "mamba_proj_bias"), NoConvBias: !c.Bool(true, "mamba_conv_bias", "use_conv_bias")}
	case delta > 0 && c.Has("linear_value_head_dim") && c.Has("linear_key_head_dim"):
		x = SSM{Style: DeltaNet, Conv: c.IntOr(4, "linear_conv_kernel_dim"), Inner: delta * c.Int("linear_value_head_dim"),
			State: c.Int("linear_key_head_dim"), Heads: delta, Groups: c.IntOr(delta, "linear_num_key_heads"), SplitBA: true, NoConvBias: true}
	case c.Has("conv_L_cache"):
		b := c.Bool(false, "conv_bias")
		x = SSM{Style: ShortOnly, Conv: c.Int("conv_L_cache"), Inner: hidden, BiasIn: b, NoConvBias: !b}
	default:
		return SSM{}, nil
	}
	return x, c.attending()
}

func (c *Config) hasOne(keys ...string) bool { return slices.ContainsFunc(keys, c.Has) }

// oneBranch: layers of one branch each, a mixer, an MLP or experts, as a pattern of letters or a list of words says (Nemotron-H).
func (c *Config) oneBranch() bool {
	types := c.Strs("layers_block_type")
	return c.Has("hybrid_override_pattern") || slices.Contains(types, "moe") || slices.Contains(types, "mlp")
}

// attending reads which layers of a hybrid attend: a word for each, a list of them, or a period.
func (c *Config) attending() func(int) bool {
	for _, key := range []string{"layer_types", "layers_block_type", "layer_type_list"} {
		if types := c.Strs(key); len(types) > 0 {
			return func(i int) bool {
				return i < len(types) && (types[i] == "attention" || types[i] == "full_attention" || types[i] == "sliding_attention")
			}
		}
	}
	for _, key := range []string{"full_attn_idxs", "attn_layer_indices", "full_attention_idx"} {
		if at := c.Ints(key); len(at) > 0 {
			return func(i int) bool { return slices.Contains(at, int64(i)) }
		}
	}
	if p := c.IntOr(0, "full_attention_interval"); p > 0 {
		return func(i int) bool { return (int64(i)+1)%p == 0 }
	}
	if p := c.IntOr(0, "attn_layer_period"); p > 0 {
		at := c.IntOr(0, "attn_layer_offset")
		return func(i int) bool { return int64(i)%p == at }
	}
	return nil
}
