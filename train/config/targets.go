package config

import (
	"regexp"
	"strings"
)

// linears are the paths of linear layers in a block, by the names that transformers has for them.
const linears = `self_attn.q_proj self_attn.k_proj self_attn.v_proj self_attn.o_proj self_attn.qkv_proj self_attn.q_a_proj self_attn.q_b_proj
	self_attn.kv_a_proj_with_mqa self_attn.kv_b_proj mlp.gate_proj mlp.up_proj mlp.down_proj mlp.gate_up_proj`

// blockIndex is what a pattern has for the number of a block, up to which paths differ from model to model.
var blockIndex = regexp.MustCompile(`^.*layers\\?\.(?:\[\\d\]|\[0-9\]|\\d)[+*]\\?\.`)

// matched are the linear layers whose path in a block a pattern fits whole, as peft takes a single text for target_modules
// (peft 0.18, tuners/tuners_utils.py, check_target_module_exists: re.fullmatch).
func matched(pattern string) (names []string) {
	rest := blockIndex.ReplaceAllString(pattern, "")
	if rest == pattern {
		rest = ".*" + strings.TrimLeft(pattern, "^.*")
	}
	fits, err := regexp.Compile("^(?:" + rest + ")$")
	if err != nil {
		return nil
	}
	for path := range strings.FieldsSeq(linears) {
		if fits.MatchString(path) || fits.MatchString("."+path) {
			names = append(names, path[strings.LastIndexByte(path, '.')+1:])
		}
	}
	return names
}
