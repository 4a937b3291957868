package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/memwall/memwall/model/family"
)

// listed are architectures in a file: between two lines, by a pattern.
type listed struct {
	file, from, to string
	one            *regexp.Regexp
	knows          func(name string) bool
}

func byClass(name string) bool { return family.ByClass(name, "") != nil }
func byGGUF(name string) bool  { return family.ByGGUF(name) != nil }

var (
	vllmModels = listed{"vllm/model_executor/models/registry.py", "_TEXT_GENERATION_MODELS = {", "_SPECULATIVE_DECODING_MODELS",
		regexp.MustCompile(`(?m)^    "(\w+)":`), byClass}
	llamaModels = listed{"src/llama-arch.cpp", "LLM_ARCH_NAMES = {", "};", regexp.MustCompile(`LLM_ARCH_\w+,\s*"([^"(]+)"`), byGGUF}
	autoModels  = listed{"src/transformers/models/auto/modeling_auto.py", "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES = ", "\n)",
		regexp.MustCompile(`"(\w+)"\),`), byClass}
	autoPictures = listed{"src/transformers/models/auto/modeling_auto.py", "MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES = ", "\n)",
		regexp.MustCompile(`"(\w+)"\),`), byClass}
)

// architectures that a checkout lists, and those of them that memwall has no family for.
func (l *listed) architectures(c *checkout) (all, lack []string, err error) {
	text, err := c.read(l.file)
	if absent(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if _, behind, ok := strings.Cut(text, l.from); ok {
		text = behind
	}
	if before, _, ok := strings.Cut(text, l.to); ok && l.to != "" {
		text = before
	}
	for _, m := range l.one.FindAllStringSubmatch(text, -1) {
		if len(m) > 1 && !slices.Contains(all, m[1]) {
			all = append(all, m[1])
		}
	}
	slices.Sort(all)
	for _, name := range all {
		if !l.knows(name) {
			lack = append(lack, name)
		}
	}
	return all, lack, nil
}
