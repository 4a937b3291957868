package config

import (
	"strings"

	"github.com/memwall/memwall/engine/pycall"
)

// trainers are the configurations of TRL that name the file's part; TrainingArguments is what SFTTrainer took before.
var trainers = map[string]string{"SFTConfig": "SFTConfig", "DPOConfig": "DPOConfig", "GRPOConfig": "GRPOConfig", "GKDConfig": "GKDConfig", "TrainingArguments": "SFTConfig"}

// fromPython reads the arguments of the configurations that a script makes, each a block under its class. Nothing is
// run; values that are not literals stand as they are written.
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
		switch {
		case c.Func() == "from_pretrained" && strings.Contains(c.Name, "Fast"):
			out.fromUnsloth(c, class)
		case c.Func() == "from_pretrained" && !strings.Contains(c.Name, "Tokenizer") && !strings.Contains(c.Name, "Processor"):
			out.named(c)
			out.of[class].fromPretrained(c)
		case c.Func() == "get_peft_model":
			out.adapters(c, class)
		case strings.HasSuffix(c.Func(), "Trainer"):
			out.trained(c)
		}
	}
	return out, nil
}

// named takes the model that the script loads, where its name stands there.
func (n *node) named(c *pycall.Call) {
	if v := c.Positional(0); v != nil && v.Quoted && n.of["model"] == nil {
		n.put("model", &node{text: v.Text})
	}
}

// trained takes the model that a trainer loads by its name.
func (n *node) trained(c *pycall.Call) {
	for _, a := range c.Args {
		if a.Name == "model" && a.Value != nil && a.Value.Quoted && n.of["model"] == nil {
			n.put("model", &node{text: a.Value.Text})
		}
	}
}

// fromUnsloth takes what FastLanguageModel.from_pretrained says (unsloth/models/loader.py): in four bits NF4, with constants that are
// quantised again.
func (n *node) fromUnsloth(c *pycall.Call, class string) {
	n.named(c)
	n.put("unsloth", &node{text: "true"})
	four := true // the default
	for _, a := range c.Args {
		switch a.Name {
		case "model_name":
			n.put("model", literalOf(a.Value))
		case "max_seq_length":
			n.of[class].put("max_length", literalOf(a.Value))
		case "load_in_4bit":
			four = literalOf(a.Value).text == "true"
		}
	}
	if four {
		bits := block()
		for _, kv := range []string{"load_in_4bit=true", "bnb_4bit_quant_type=nf4", "bnb_4bit_use_double_quant=true"} {
			key, value, _ := strings.Cut(kv, "=")
			bits.put(key, &node{text: value})
		}
		n.put("BitsAndBytesConfig", bits)
	}
}

// adapters takes what FastLanguageModel.get_peft_model says in one call: LoraConfig's arguments, and how activations are kept.
func (n *node) adapters(c *pycall.Call, class string) {
	if n.of["LoraConfig"] == nil {
		n.put("LoraConfig", block())
	}
	for _, a := range c.Args {
		switch a.Name {
		case "", "model", "random_state", "loftq_config", "max_seq_length":
		case "use_gradient_checkpointing":
			on := literalOf(a.Value)
			if on.text == "unsloth" {
				on = &node{text: "true"}
			}
			n.of[class].put("gradient_checkpointing", on)
		default:
			n.of["LoraConfig"].put(a.Name, literalOf(a.Value))
		}
	}
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
