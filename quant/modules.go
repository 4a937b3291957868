package quant

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Per-module configuration of hub files: compressed-tensors' config_groups (QuantizationScheme and QuantizationArgs of
// compressed_tensors/quantization, 0.12 to 0.17), which llm-compressor accepts as a recipe and vLLM and SGLang read
// from config.json. Only its formats can be mixed in one model: bitsandbytes has one for all modules.

// ModuleConfig assigns formats to modules.
type ModuleConfig struct {
	Groups []ModuleGroup `json:"groups"`
	Ignore []string      `json:"ignore"`
}

// ModuleGroup is the modules of one format.
type ModuleGroup struct {
	Format  string      `json:"format"` // of Formats
	Targets []string    `json:"targets"`
	Weights ModuleArgs  `json:"weights"`
	Inputs  *ModuleArgs `json:"input_activations,omitempty"`
}

// ModuleArgs are QuantizationArgs.
type ModuleArgs struct {
	Bits      int     `json:"num_bits"`
	Type      string  `json:"type"` // int or float
	Symmetric bool    `json:"symmetric"`
	Strategy  string  `json:"strategy"`
	Group     int64   `json:"group_size,omitempty"`
	Block     []int64 `json:"block_structure,omitempty"`
	Dynamic   bool    `json:"dynamic"`
	ScaleType string  `json:"scale_dtype,omitempty"`
}

// moduleArgs of a format; false for one that compressed-tensors does not know, or that vLLM reads of no module.
func moduleArgs(name string) (w ModuleArgs, inputs *ModuleArgs, ok bool) {
	const e4m3, bytes = "torch.float8_e4m3fn", "torch.uint8"
	integer := func(bits int, symmetric bool, group int64) (ModuleArgs, *ModuleArgs, bool) {
		a := ModuleArgs{Bits: bits, Type: "int", Symmetric: symmetric, Strategy: "channel", Group: group}
		if group > 0 {
			a.Strategy = "group"
		}
		return a, nil, true
	}
	float := func(bits int, strategy string, group int64, scale string) (ModuleArgs, *ModuleArgs, bool) {
		return ModuleArgs{Bits: bits, Type: "float", Symmetric: true, Strategy: strategy, Group: group, ScaleType: scale}, nil, true
	}
	switch name {
	case "int8":
		return integer(8, true, 0)
	case "int8-zero":
		return integer(8, false, 0)
	case "int8-g128":
		return integer(8, true, 128)
	case "int8-zero-g128":
		return integer(8, false, 128)
	case "int4-g32", "int4-g64", "int4-g128", "int4-zero-g32", "int4-zero-g64", "int4-zero-g128":
		group, _ := strconv.ParseInt(name[strings.LastIndexByte(name, 'g')+1:], 10, 64) // of the names above
		return integer(4, !strings.Contains(name, "zero"), group)
	case "awq-g128", "gptq-g128":
		return integer(4, false, 128)
	case "fp8":
		return float(8, "channel", 0, "")
	case "fp8-tensor":
		return float(8, "tensor", 0, "")
	case "fp8-block":
		w, _, _ = float(8, "block", 0, "")
		w.Block = []int64{blockRows, blockRows}
		return w, &ModuleArgs{Bits: 8, Type: "float", Symmetric: true, Strategy: "group", Group: blockRows, Dynamic: true}, true
	case "mxfp8":
		return float(8, "group", 32, bytes)
	case "mxfp4":
		return float(4, "group", 32, bytes)
	case "nvfp4":
		return float(4, "tensor_group", 16, e4m3)
	}
	return w, nil, false
}

// Modules returns the configuration of a mixture, or why there is none.
func (x *Mixed) Modules() (*ModuleConfig, string) {
	c := &ModuleConfig{Groups: []ModuleGroup{}}
	type place struct{ format, stem string }
	layers, all := map[place][]int{}, map[string]int{}
	var order []place
	for i := range x.Parts {
		p := &x.Parts[i]
		_, _, ok := moduleArgs(p.Format)
		if p.Format != "" && !ok {
			return nil, p.Format + " lies beside no other format in files of the hub: name those that may be mixed with --formats"
		}
		at := place{p.Format, moduleStem(p.Tensor)}
		if _, ok := layers[at]; !ok {
			order = append(order, at)
		}
		if l := layers[at]; !slices.Contains(l, p.Tensor.Layer) {
			layers[at] = append(l, p.Tensor.Layer)
			all[at.stem]++
		}
	}
	for _, at := range order {
		target := moduleTarget(at.stem, layers[at], len(layers[at]) == all[at.stem])
		if at.format == "" {
			c.Ignore = append(c.Ignore, target)
			continue
		}
		i := slices.IndexFunc(c.Groups, func(g ModuleGroup) bool { return g.Format == at.format })
		if i < 0 {
			i = len(c.Groups)
			w, in, _ := moduleArgs(at.format)
			c.Groups = append(c.Groups, ModuleGroup{Format: at.format, Weights: w, Inputs: in})
		}
		c.Groups[i].Targets = append(c.Groups[i].Targets, target)
	}
	c.Ignore = append(c.Ignore, "lm_head")
	return c, ""
}

// moduleStem is the name of a tensor's module with "#" for its layer, and "*" for other numbers, such as that of an
// expert.
func moduleStem(t *Tensor) string {
	words := strings.Split(strings.TrimSuffix(t.Name, ".weight"), ".")
	layer := t.Layer >= 0
	for i, w := range words {
		if _, err := strconv.Atoi(w); err != nil {
			continue
		}
		words[i] = "*"
		if layer {
			words[i], layer = "#", false
		}
	}
	return strings.Join(words, ".")
}

// moduleTarget is a pattern of module names; compressed-tensors matches it from the first letter on.
func moduleTarget(stem string, layers []int, whole bool) string {
	numbers := `\d+`
	if !whole {
		words := make([]string, len(layers))
		for i, l := range layers {
			words[i] = strconv.Itoa(l)
		}
		numbers = "(" + strings.Join(words, "|") + ")"
	}
	return "re:" + strings.NewReplacer("#", numbers, `\*`, `\d+`).Replace(regexp.QuoteMeta(stem)) + "$"
}

// YAML returns the llm-compressor recipe that quantizes a model this way.
func (c *ModuleConfig) YAML() string {
	var b strings.Builder
	b.WriteString("quant_stage:\n  quant_modifiers:\n    QuantizationModifier:\n      ignore: " + flow(c.Ignore) +
		"\n      config_groups:\n")
	for i, g := range c.Groups {
		fmt.Fprintf(&b, "        group_%d:\n          targets: %s\n          weights: %s\n", i, flow(g.Targets), flow(g.Weights))
		if g.Inputs != nil {
			fmt.Fprintf(&b, "          input_activations: %s\n", flow(*g.Inputs))
		}
	}
	return b.String()
}

// flow is JSON, which YAML reads as it is.
func flow(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // words and numbers
	}
	return strings.TrimSpace(b.String())
}
