package config

import (
	"slices"
	"strings"
)

// axolotl freezes all but what matches one of the patterns of unfrozen_parameters (axolotl/utils/freeze.py: freeze_layers_except), and
// towers of pictures and sound by freeze_mm_modules. Of its patterns plans have a word for those that leave the language model whole.

// towers are the parts beside a language model.
var towers = []string{"vision", "projector", "audio"}

const (
	unfrozenKey = "unfrozen_parameters"
	towersKey   = "freeze_mm_modules"
)

// getAxolotlFrozen: beside adapters all else is frozen anyway.
func getAxolotlFrozen(in *Input, r *reader) {
	patterns := r.list(unfrozenKey)
	switch {
	case adapted(in):
		r.on(towersKey)
	case len(patterns) > 0 && !languageModels(patterns):
		r.keep(unfrozenKey)
	case len(patterns) > 0, r.on(towersKey):
		r.take(towersKey)
		in.Training.Frozen = slices.Clone(towers)
	}
}

// languageModels reports whether patterns match a language model and its head from the first layer to the last, and nothing else.
func languageModels(patterns []string) (layers bool) {
	for _, p := range patterns {
		switch name := strings.TrimSuffix(strings.Trim(p, "^$"), ".*"); name {
		case "model.language_model", "language_model", "language_model.model":
			layers = true
		case "lm_head", "lm_head.weight", "embed_tokens", "model.embed_tokens", "model.embed_tokens.weight":
		default:
			return false
		}
	}
	return layers
}
