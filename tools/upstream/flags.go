package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/memwall/memwall/engine/llamacpp"
	"github.com/memwall/memwall/engine/sglang"
	"github.com/memwall/memwall/engine/vllm"
)

// project is an upstream whose rules, flags and families are followed.
type project struct {
	name  string
	marks []string // files by which a checkout is told
	// flags of its command line are told by these files and patterns; reads are those that memwall's reader knows.
	files []string
	flag  *regexp.Regexp
	reads func() []string
	// archs are architectures of models, in a file, by a pattern; knows tells whether memwall has the family.
	arches []listed
}

var (
	pythonFlag = regexp.MustCompile(`"(--[a-z][a-z0-9-]+)"`)
	pyField    = regexp.MustCompile(`(?m)^    ([a-z][a-z0-9_]+): `)
)

var projects = []project{
	{name: "vllm", marks: []string{"vllm/engine/arg_utils.py"}, files: []string{"vllm/engine/arg_utils.py",
		"vllm/entrypoints/openai/cli_args.py"}, flag: pythonFlag,
		reads: vllm.Flags, arches: []listed{vllmModels}},
	{name: "sglang", marks: []string{"python/sglang/srt/server_args.py"}, files: []string{"python/sglang/srt/server_args.py"},
		flag: pyField, reads: sglang.Flags}, // it keeps no list of architectures
	{name: "llama.cpp", marks: []string{"src/llama-arch.cpp", "common/arg.cpp"}, files: []string{"common/arg.cpp"}, flag: pythonFlag,
		reads: llamacpp.Flags, arches: []listed{llamaModels}},
	{name: "transformers", marks: []string{"src/transformers/models/auto/modeling_auto.py"}, arches: []listed{autoModels, autoPictures}},
	{name: "megatron", marks: []string{"megatron/core/tensor_parallel/cross_entropy.py"}},
	{name: "torchtune", marks: []string{"torchtune/modules/loss/cross_entropy_loss.py"}},
	{name: "litgpt", marks: []string{"litgpt/utils.py"}},
}

// flagsOf the command line of a checkout.
func (p *project) flagsOf(c *checkout) ([]string, error) {
	var out []string
	for _, file := range p.files {
		text, err := c.read(file)
		if absent(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, m := range p.flag.FindAllStringSubmatch(text, -1) {
			name := m[1]
			if !strings.HasPrefix(name, "--") {
				name = "--" + strings.ReplaceAll(name, "_", "-")
			}
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// missing are those that memwall's reader does not know.
func (p *project) missing(flags []string) []string {
	return less(flags, p.reads())
}
