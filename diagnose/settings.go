package diagnose

import "strings"

// Setting is a value that a text gives a request field, in the field's textual syntax.
type Setting struct{ Field, Value string }

// settings collects what a text says about the run: command lines, and arguments of training scripts.
type settings struct {
	list     []Setting
	commands []string
}

// arguments maps names of settings in training scripts and logs to request fields: flags (--name value), configuration
// (name: value) or Python (name=value).
var arguments = []struct {
	name, field string
	means       map[string]string
}{
	{"per_device_train_batch_size", "micro_batch", nil}, {"micro_batch_size", "micro_batch", nil}, {"micro-batch-size", "micro_batch", nil},
	{"train_micro_batch_size_per_gpu", "micro_batch", nil}, {"Instantaneous batch size per device", "micro_batch", nil},
	{"gradient_accumulation_steps", "accumulation", nil}, {"Gradient Accumulation steps", "accumulation", nil},
	{"global-batch-size", "global_batch", nil},
	{"max_seq_length", "sequence_length", nil}, {"max_length", "sequence_length", nil}, {"max_seq_len", "sequence_length", nil},
	{"cutoff_len", "sequence_length", nil}, {"sequence_len", "sequence_length", nil}, {"seq-length", "sequence_length", nil},
	{"model_max_length", "sequence_length", nil}, {"block_size", "sequence_length", nil},
	{"model_name_or_path", "model", nil}, {"base_model", "model", nil}, {"pretrained_model_name_or_path", "model", nil},
	{"model_name", "model", nil},
	{"gradient_checkpointing", "recompute", map[string]string{"True": "full", "true": "full", "False": "none", "false": "none",
		"unsloth": "full"}},
	{"attn_implementation", "attention", map[string]string{"flash_attention_2": "flash", "flash_attention_3": "flash", "sdpa": "sdpa",
		"eager": "eager"}},
	{"use_peft", "method", map[string]string{"True": "lora", "true": "lora"}},
	{"load_in_4bit", "method", map[string]string{"True": "qlora", "true": "qlora"}}, {"lora_r", "lora_rank", nil},
	{"optim", "optimizer", map[string]string{"adamw_torch": "adamw", "adamw_torch_fused": "adamw-fused", "adamw_hf": "adamw",
		"adamw_bnb_8bit": "adamw-8bit", "adamw_8bit": "adamw-8bit", "paged_adamw_8bit": "paged-adamw-8bit",
		"paged_adamw_32bit": "paged-adamw", "adafactor": "adafactor", "sgd": "sgd"}},
	{"zero_stage", "sharding", zeroStages}, {"deepspeed_stage", "sharding", zeroStages},
	{"nproc_per_node", "devices", nil}, {"nproc-per-node", "devices", nil}, {"num_processes", "devices", nil},
	{"tensor-model-parallel-size", "tp", nil}, {"pipeline-model-parallel-size", "pp", nil},
}

var zeroStages = map[string]string{"1": "zero1", "2": "zero2", "3": "zero3"}

// starters begin commands of servers and training.
var starters = []string{"vllm serve ", "vllm.entrypoints", "sglang.launch_server", "llama-server ", "llama-cli ", "trtllm-serve ",
	"ollama run ", "torchrun ", "accelerate launch", "deepspeed --", "deepspeed train", "python train", "python -m torch.distributed"}

const (
	maxCommands = 4
	maxCommand  = 4 << 10
	maxSettings = 64
)

// read processes a line.
func (s *settings) read(text string, in *hits) {
	if len(text) > maxCommand {
		return
	}
	for n, id := range words().starters {
		if !in.has(id) {
			continue
		}
		if i := strings.Index(text, starters[n]); i >= 0 && len(s.commands) < maxCommands && strings.Contains(text, " -") {
			s.commands = append(s.commands, command(text, i))
			break
		}
	}
	if !strings.ContainsAny(text, "=:-") {
		return
	}
	for n, id := range words().arguments {
		if !in.has(id) {
			continue
		}
		a := &arguments[n]
		if rest, ok := named(text, a.name); ok {
			v := value(rest)
			if a.means != nil {
				v = a.means[v]
			}
			s.set(a.field, v)
		}
	}
}

// command returns a line from its program on; Python modules start with python.
func command(text string, at int) string {
	if i := strings.LastIndex(text[:at], "python"); i >= 0 {
		at = i
	}
	return text[at:]
}

// named finds a standalone name followed by a value.
func named(text, name string) (rest string, ok bool) {
	i := strings.Index(text, name)
	if i < 0 || i > 0 && (letter(text[i-1]) || text[i-1] == '_') {
		return "", false
	}
	rest = strings.TrimLeft(text[i+len(name):], "'\" ")
	if strings.HasPrefix(rest, "=") || strings.HasPrefix(rest, ":") {
		return strings.TrimLeft(rest[1:], " ='\""), true
	}
	flag := i > 1 && text[i-1] == '-' && text[i-2] == '-'
	return rest, flag && len(rest) < len(text)-i-len(name)
}

// value returns the first word.
func value(rest string) string {
	if i := strings.IndexAny(rest, " ,'\")}\t"); i >= 0 {
		rest = rest[:i]
	}
	return rest
}

// set records the last value of a field.
func (s *settings) set(field, v string) {
	if v == "" || v == "None" || v == "null" || v == "-1" || len(v) > 200 {
		return
	}
	for i := range s.list {
		if s.list[i].Field == field {
			s.list[i].Value = v
			return
		}
	}
	if len(s.list) < maxSettings {
		s.list = append(s.list, Setting{field, v})
	}
}
