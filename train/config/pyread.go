package config

import (
	"strings"

	"github.com/memwall/memwall/engine/pycall"
)

// trainers are the configurations of TRL that name the file's part; TrainingArguments is what SFTTrainer took before.
var trainers = map[string]string{"SFTConfig": "SFTConfig", "DPOConfig": "DPOConfig", "GRPOConfig": "GRPOConfig", "GKDConfig": "GKDConfig", "TrainingArguments": "SFTConfig"}

// fromPython reads the arguments of the configurations that a script makes, each a block under its class. Nothing is
// run; values that are no literals stand as they are written.
func fromPython(data []byte) (*node, error) {
	calls, err := pycall.Calls(string(data))
	if err != nil {
		return nil, wrong("script", "cannot be read: "+err.Error(), "the calls that make the configurations alone")
	}
	out := block()
	class := ""
	for _, c := range calls {
		name := c.Func()
		if trainers[name] != "" {
			name = trainers[name]
			class = name
		} else if name != "LoraConfig" && name != "BitsAndBytesConfig" {
			continue
		}
		out.put(name, arguments(c.Args))
	}
	if class == "" {
		return nil, wrong("script", "makes no SFTConfig, DPOConfig, GRPOConfig or GKDConfig", "a script of TRL with one of them")
	}
	for _, c := range calls {
		if c.Func() == "from_pretrained" {
			out.of[class].fromPretrained(c)
		}
	}
	return out, nil
}

// fromPretrained takes attention and format of a model that the script loads itself.
func (n *node) fromPretrained(c *pycall.Call) {
	for _, a := range c.Args {
		key := map[string]string{"attn_implementation": "attn_implementation", "dtype": "dtype", "torch_dtype": "dtype"}[a.Name]
		if key == "" {
			continue
		}
		if n.of["model_init_kwargs"] == nil {
			n.put("model_init_kwargs", block())
		}
		if k := n.of["model_init_kwargs"]; !k.leaf() && k.of[key] == nil {
			k.put(key, literalOf(a.Value))
		}
	}
}

func arguments(args []pycall.Pair) *node {
	out := block()
	for _, a := range args {
		if a.Name != "" {
			out.put(a.Name, literalOf(a.Value))
		}
	}
	return out
}

// literalOf is a value as other formats write it: torch.bfloat16 is bfloat16.
func literalOf(v *pycall.Value) *node {
	switch {
	case v == nil, !v.Quoted && v.Text == "None":
		return &node{null: true}
	case v.Call != nil:
		return &node{text: v.String()}
	case v.Pairs != nil:
		return arguments(v.Pairs)
	case v.Items != nil:
		out := &node{list: []*node{}}
		for _, i := range v.Items {
			out.list = append(out.list, literalOf(i))
		}
		return out
	case v.Quoted:
		return &node{text: v.Text}
	}
	switch v.Text {
	case "True", "False":
		return &node{text: strings.ToLower(v.Text)}
	}
	return &node{text: strings.TrimPrefix(v.Text, "torch.")}
}
