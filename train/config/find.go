package config

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/memwall/memwall/plan"
)

// Found is the content of the files and commands of a training run.
type Found struct {
	// Framework is the name of the format whose keys they hold.
	Framework string
	// Input has the model as Hub: what the framework loads it by. What nobody says is zero.
	Input
	// Unread are keys that no field of a plan has a place for, with their values.
	Unread []string
}

// maxFiles is how many files a run may be configured by.
const maxFiles = 16

// Find reads the files and commands that one run is configured by, in the words of whatever framework has most of their keys. The
// later file counts where two say the same. Nothing is run and nothing that a file names is opened. The error is a *plan.Problem.
func Find(texts [][]byte) (*Found, error) {
	if len(texts) == 0 || len(texts) > maxFiles {
		return nil, &plan.Problem{Field: "config", Message: "takes the files of one run, 16 at most", Fix: "train.yaml, and what it names, such as ds_config.json"}
	}
	if texts = slices.Clone(texts); !slices.ContainsFunc(texts, func(text []byte) bool { return !IsScript(text) }) {
		texts = [][]byte{bytes.Join(texts, []byte("\n"))} // scripts that read in each other share their variables
	}
	f, err := likeliest(texts)
	if err != nil {
		return nil, err
	}
	in, unread, err := f.readAll(texts)
	if err != nil {
		return nil, err
	}
	if in.Training.Expandable == nil {
		in.Training.Expandable = allocator(texts)
	}
	given := len(texts) > 1
	return &Found{Framework: f.name, Input: in, Unread: slices.DeleteFunc(unread, func(key string) bool { return idle(key) || given && strings.HasSuffix(key, notOpened) })}, nil
}

// idleKeys move neither memory nor the time of a step: how long a run is, its rates, data, records and names. A word that ends in _ is
// the beginning of many; one with a value is idle with that value alone.
const idleKeys = `learning_rate weight_decay adam_beta1 adam_beta2 adam_epsilon max_grad_norm clip_grad init_method_std lora_alpha use_rslora bias=none
	warmup warmup_steps warmup_ratio max_steps steps epochs num_epochs num_train_epochs early_stopping_patience lr lr_ min_lr cosine_
	seed data_seed random_state shuffle dataset dataset_ datasets data data_path data_files template chat_template train_on_inputs special_tokens max_samples
	tokenizer tokenizer_ tokenizer_type overwrite_cache preprocessing_num_workers dataloader_num_workers dataloader_drop_last remove_unused_columns
	logging_ log_ report_to run_name wandb_ mlflow_ comet_ tensorboard_ use_tensorboard metric_logger plot_ profiler disable_tqdm debug
	eval_ evals_ evaluation_ val_set_size do_train do_eval do_predict save_ saves_ load_best_model_at_end output_dir overwrite_output_dir logging_dir
	out_dir save_path ckpt_path max_epochs total_epochs input_key output_key prompt_key use_wandb project_name experiment_name logger logger_name
	save_freq test_freq critic_warmup train_files val_files val_ checkpointing env loss_fn kl_coef kl_loss_ entropy_coeff
	ckpt eval rollout_data_ resume_ hub_ push_to_hub trust_remote_code task_type strict ddp_timeout local_rank
	use_reentrant eot_tokens ddp_find_unused_parameters loss_watchdog_ revision_of_model quantization_device_map loraplus_ pissa_iter`

// idle tells an unread key, "a.b = value", that no answer hangs on.
func idle(unread string) bool {
	path, value, _ := strings.Cut(unread, " = ")
	for part := range strings.SplitSeq(path, ".") {
		key := strings.ReplaceAll(strings.TrimLeft(part, "-"), "-", "_")
		for w := range strings.FieldsSeq(idleKeys) {
			if key == w || key+"="+value == w || strings.HasSuffix(w, "_") && strings.HasPrefix(key, w) {
				return true
			}
		}
	}
	return false
}

// likeliest is the format that has most of the texts' keys; of those that have as many the last, which is TRL's own: arguments of its
// trainers are launched by DeepSpeed and accelerate too.
func likeliest(texts [][]byte) (*framework, error) {
	var best *framework
	most := 0
	var first error
	for i, f := range reads() {
		held, err := f.holds(texts)
		if err != nil && first == nil && i >= len(others()) {
			first = err
		}
		if held > 0 && held >= most {
			best, most = f, held
		}
	}
	switch {
	case best != nil:
		return best, nil
	case len(texts) == 1 && isPython(texts[0]):
		return nil, wrong("Python script", "says no settings of a trainer: it takes them from its arguments, or makes none",
			"the command that starts it, with its arguments")
	case len(texts) == 1 && IsScript(texts[0]):
		return nil, noFlags()
	case first != nil && len(texts) == 1 && !readAsText(texts[0]):
		if _, err := fromYAML(texts[0]); err != nil && !bytes.HasPrefix(bytes.TrimSpace(texts[0]), []byte("{")) {
			return nil, err // it is not JSON that lacks something
		}
		return nil, first
	}
	if base := Base(texts...); base != "" {
		return nil, &plan.Problem{Field: "config", Value: base, Lacking: true, Message: "takes its settings from " + base + ", which is not opened",
			Fix: "give that file too, before it: --from " + base + " --from …"}
	}
	return nil, &plan.Problem{
		Field: "config", Message: "holds no key that a training framework has", Lacking: true,
		Fix: "a configuration or a command of " + strings.TrimPrefix(readable(), "one of "),
	}
}

// Base returns the file that a recipe overrides (NeMo RL's defaults), from the first text that names one; "" if none does.
func Base(texts ...[]byte) string {
	for _, text := range texts {
		if root, err := fromYAML(text); err == nil {
			if base := root.textAt("defaults"); strings.HasSuffix(base, ".yaml") || strings.HasSuffix(base, ".yml") {
				return base
			}
		}
	}
	return ""
}

// imports begin the lines by which a Python script is told from other texts.
var imports = regexp.MustCompile(`(?m)^(import [\w.]+|from [\w.]+ import )`)

func isPython(text []byte) bool { return imports.Match(text) }

// readAsText: some format has parsed it, so that what it lacks are keys.
func readAsText(text []byte) bool {
	_, err := fromYAML(text)
	return err == nil
}

// holds is how many keys of the texts a format has, in halves: a key that it does not have counts half against it. A text of which it
// has none is not of it.
func (f *framework) holds(texts [][]byte) (sum int, err error) {
	marked := f.marks == ""
	for _, text := range texts {
		p, n, problem := f.part(text)
		if problem != nil {
			return 0, problem
		}
		marked = marked || slices.ContainsFunc(n.keys, func(k string) bool { return has(f.marks, k) })
		held := p.knownKeys(n)
		if held == 0 {
			return 0, nil
		}
		sum += 3*held - n.leaves()
	}
	if !marked {
		return 0, nil
	}
	return max(sum, 1), nil
}

// leaves counts the values of a tree.
func (n *node) leaves() (count int) {
	if n.of == nil {
		return 1
	}
	for _, v := range n.of {
		count += v.leaves()
	}
	return count
}

// isCommand tells a command line, or a script of some, from a file of keys: a line begins with a program, or with a flag.
func isCommand(text []byte) bool {
	for line := range bytes.Lines(text) {
		words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(string(line)), "$ "))
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if strings.HasPrefix(words[0], "--") || launcher(words) {
			return true
		}
	}
	return false
}

// launchers begin commands that start training.
const launchers = "litgpt ray torchrun accelerate deepspeed trl llamafactory-cli axolotl tune swift srun mpirun uv python python3"

// launcher tells a line that starts a program: one of those known, or a variable before it, with an argument behind it.
func launcher(words []string) bool {
	for len(words) > 0 && strings.Contains(words[0], "=") && !strings.HasPrefix(words[0], "-") {
		words = words[1:] // NAME=value before a command
	}
	return len(words) > 1 && has(launchers, words[0]) && !strings.HasPrefix(words[1], "=") && !strings.HasPrefix(words[1], ":")
}

// yamlOrArguments reads a file of keys, or the flags of a command that takes the same: --lora-r 16 is lora_r: 16.
func yamlOrArguments(data []byte) (*node, error) {
	if !isCommand(data) {
		return fromYAML(data)
	}
	n, err := fromShell(data)
	if err != nil {
		return nil, err
	}
	out := block()
	for _, key := range n.keys {
		if name, ok := strings.CutPrefix(key, "--"); ok {
			out.put(strings.ReplaceAll(name, "-", "_"), n.of[key])
		}
	}
	return out, nil
}

// processes reads how many processes a launcher starts, and passes over where they meet.
func processes() rule {
	return rule{get: func(in *Input, r *reader) {
		for _, key := range []string{"rdzv_backend", "rdzv_endpoint", "rdzv_id", "node_rank", "machine_rank", "master_addr", "master_port", "main_process_ip", "main_process_port", "standalone", "module", "hostfile"} {
			r.take(key)
		}
		nodes := max(1, first64(r, "nnodes", "num_machines", "num_nodes"))
		each := first64(r, "nproc_per_node", "num_gpus")
		total := first64(r, "num_processes")
		if total == 0 {
			total = each * nodes
		}
		if total > 0 && total <= plan.MaxRanks {
			in.Devices, in.Nodes = total, nodes
		}
	}}
}

// first64 is the number of the first of several keys that has one.
func first64(r *reader, keys ...string) int64 {
	for _, key := range keys {
		if n, ok := r.optional(key); ok && n > 0 && n <= plan.MaxRanks {
			return n
		}
	}
	return 0
}

// loads is the key that says what the model is loaded by.
func loads(key string) rule {
	return rule{
		put: func(in *Input, s *section) { s.set(key, load(in)) },
		get: func(in *Input, r *reader) {
			if name := r.text(key); name != "" {
				in.Hub = name
			}
		},
	}
}
