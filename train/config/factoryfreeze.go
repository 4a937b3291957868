package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Freeze tuning of LLaMA-Factory (0.9.5, src/llamafactory/model/adapter.py: _setup_freeze_tuning): the last layers train, or the first
// where their number is negative, or with LLaMA Pro the last of each so many; of them all modules or those that are named.
const (
	freezeLayers  = "freeze_trainable_layers"
	freezeModules = "freeze_trainable_modules"
	freezeExtra   = "freeze_extra_modules"
)

// blockModules are the modules of a block, and the plan's word for each.
var blockModules = []string{"self_attn=self_attn", "mlp=mlp", "input_layernorm=norms", "post_attention_layernorm=norms"}

func getFactoryFreeze(in *Input, r *reader) {
	in.Training.Method = "full"
	in.Training.Thawed = thawed(r)
	if names := r.list(freezeModules); len(names) > 0 && !slices.Contains(names, "all") {
		for _, name := range names {
			if translate(name, blockModules) == "" {
				r.keep(freezeModules)
			}
		}
		in.Training.Frozen = append(in.Training.Frozen, otherModules(names)...)
	}
	in.Training.Full = r.list(freezeExtra)
}

// putFactoryFreeze: the sources take one module, all, or a list with commas.
func putFactoryFreeze(in *Input, s *section) {
	how, count, _ := strings.Cut(in.Training.Thawed, ":")
	n, err := strconv.ParseInt(count, 10, 32)
	if err != nil {
		return
	}
	s.set("finetuning_type", "freeze")
	s.set(freezeLayers, map[bool]int64{true: -n, false: n}[how == "first"])
	if how == "spread" {
		s.set("use_llama_pro", true)
	}
	if names := thawedModules(in.Training.Frozen); len(names) < len(blockModules) {
		s.set(freezeModules, strings.Join(names, ","))
	}
	if len(in.Training.Full) > 0 {
		s.set(freezeExtra, strings.Join(in.Training.Full, ","))
	}
}

// thawedModules of a block are those that no frozen word stands for.
func thawedModules(frozen []string) (names []string) {
	for _, p := range blockModules {
		if name, word, _ := strings.Cut(p, "="); !slices.Contains(frozen, word) {
			names = append(names, name)
		}
	}
	return names
}

// thawed are the layers that train, two where nobody says how many.
func thawed(r *reader) string {
	count := r.text(freezeLayers)
	if count == "" {
		count = "2"
	}
	n, err := strconv.ParseInt(count, 10, 32)
	switch pro := r.on("use_llama_pro"); {
	case err != nil || n == 0:
		r.keep(freezeLayers)
		return ""
	case n < 0:
		return fmt.Sprintf("first:%d", -n)
	case pro:
		return "spread:" + count
	default:
		return "last:" + count
	}
}

// otherModules of a block are those that are not named.
func otherModules(names []string) (out []string) {
	for _, p := range blockModules {
		name, word, _ := strings.Cut(p, "=")
		if !slices.Contains(names, name) && !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	return out
}
