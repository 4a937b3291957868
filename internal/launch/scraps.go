package launch

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/memwall/memwall/engine/argv"
)

// Settings without a command: engine keys in YAML, in a program or an environment, items of a list of flags, flags in a variable.
// They are parsed if they identify their server.

// keyed is a server with the flags that texts set by key, the flag of its model, flags unique to it, and the words that name it in a
// text.
type keyed struct {
	program, model, own, words string
	flags                      string
	also                       map[string]string // keys that are not the flag's own name, in lower case without punctuation
}

var keysOf = []keyed{
	{program: "vllm.entrypoints.openai.api_server", model: "--model", words: "vllm",
		flags: "--max-model-len --gpu-memory-utilization --tensor-parallel-size --pipeline-parallel-size --data-parallel-size " +
			"--max-num-seqs --max-num-batched-tokens --kv-cache-dtype --enforce-eager --enable-prefix-caching --enable-expert-parallel " +
			"--quantization --block-size --cpu-offload-gb --speculative-config --enable-chunked-prefill",
		also: map[string]string{"maxmodellength": "--max-model-len", "gpumemoryutil": "--gpu-memory-utilization",
			"tensorparallelism": "--tensor-parallel-size", "tp": "--tensor-parallel-size", "tensorparallel": "--tensor-parallel-size",
			"pipelineparallelism": "--pipeline-parallel-size", "pp": "--pipeline-parallel-size", "dp": "--data-parallel-size"}},
	{program: "sglang.launch_server", model: "--model-path", words: "sglang sgl",
		flags: "--mem-fraction-static --context-length --tp-size --dp-size --max-running-requests --chunked-prefill-size " +
			"--kv-cache-dtype --quantization",
		also: map[string]string{"tp": "--tp-size", "dp": "--dp-size"}},
	{program: "trtllm-serve", own: "--max_num_tokens --kv_cache_free_gpu_memory_fraction", words: "tensorrtllm trtllm tensorrt",
		flags: "--max_num_tokens --max_batch_size --max_seq_len --tp_size --pp_size --ep_size",
		also: map[string]string{"freegpumemoryfraction": "--kv_cache_free_gpu_memory_fraction", "tensorparallelsize": "--tp_size",
			"tensor": "--tp_size", "pipelineparallelsize": "--pp_size", "pipeline": "--pp_size", "moeexpertparallelsize": "--ep_size"}},
}

// modelKeys are keys that name the model in such texts.
const modelKeys = " model modelid modelname modeltag modelpath modelsource hfmodelid url modelurl storageuri vllmmodel neuronmodelpath " +
	"pretrained "

var (
	// keyLine matches a key with its value in YAML, an assignment, a dict or a call.
	keyLine = regexp.MustCompile(`(?m)^[ \t]*(?:-[ \t]+)?(?:export[ \t]+|\{[ \t]*)?["']?([A-Za-z][\w.-]*)["']?[ \t]*[:=][ \t]*` +
		`(\{[^\n]*\}|"[^"\n]*"|'[^'\n]*'|[^\s,#]+)[^\n]*$`)
	// pairLine matches a container's variable whose value is on a line of its own.
	pairLine = regexp.MustCompile(`(?m)^([ \t]*)- name:[ \t]*["']?([A-Z][A-Z0-9_]*)["']?[ \t]*\n[ \t]*value:[ \t]*`)
	// itemLine matches a list item.
	itemLine = regexp.MustCompile(`(?m)^[ \t]*-[ \t]+("[^"\n]*"|'[^'\n]*'|[^\n#]+?)[ \t]*(?:#[^\n]*)?$`)
	// held matches flags kept in a variable.
	held = regexp.MustCompile(`(?m)^[ \t]*(?:export[ \t]+)?\w+=["'](-[^"'\n]+)["'][ \t]*$`)
)

// scraps parses such settings; nil if they identify no server.
func scraps(text string) *argv.Launch {
	text = folded(pairLine.ReplaceAllString(argv.Unfenced(text, "\n"), "$1$2: "))
	if l := keyedSettings(text); l != nil {
		return l
	}
	for _, m := range held.FindAllStringSubmatch(text, -1) {
		if l := flagsAlone(argv.Words(m[1]), ""); l != nil {
			return l
		}
	}
	if l := listedFlags(text); l != nil {
		return l
	}
	return ofScript(text)
}

// ofScript parses the flags of a user's own program, which starts the server that they identify.
func ofScript(text string) *argv.Launch {
	cmds, err := argv.Parse(text[:min(len(text), mostPart)])
	for i := 0; i < len(cmds) && err == nil; i++ {
		c := &cmds[i]
		if !strings.HasSuffix(c.Program, ".py") || len(c.Args) == 0 || !strings.HasPrefix(c.Args[0], "-") {
			continue
		}
		if l := flagsAlone(c.Args, ""); l != nil {
			l.Unknown = append(l.Unknown, argv.Blotted(c.Program)+", which may start another server")
			return l
		}
	}
	return nil
}

var (
	// braced matches a multi-line dict; drafted matches the head of a speculation block.
	braced  = regexp.MustCompile(`\{[^{}]*\}`)
	drafted = regexp.MustCompile(`^([ \t]*)(speculative[-_]\w+)[ \t]*:[ \t]*$`)
	// pythonWords converts Python literals to JSON.
	pythonWords = strings.NewReplacer("True", "true", "False", "false", "None", "null", "'", `"`)
	lastComma   = regexp.MustCompile(`,[ \t\n]*\}`)
)

// folded joins each dict and each block of speculation settings into one line, so that their keys are not mistaken for those around
// them.
func folded(text string) string {
	text = braced.ReplaceAllStringFunc(text, func(dict string) string {
		if !strings.Contains(dict, "\n") {
			return dict
		}
		return strings.Join(strings.Fields(pythonWords.Replace(lastComma.ReplaceAllString(dict, "}"))), " ")
	})
	var out []string
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		m := drafted.FindStringSubmatch(lines[i])
		if m == nil {
			out = append(out, lines[i])
			continue
		}
		fields := map[string]any{}
		for i+1 < len(lines) && strings.HasPrefix(lines[i+1], m[1]+" ") {
			i++
			if k := keyLine.FindStringSubmatch(lines[i]); k != nil {
				fields[k[1]] = jsonOf(unquoted(k[2]))
			}
		}
		data, _ := json.Marshal(fields)
		out = append(out, m[1]+m[2]+": "+string(data))
	}
	return strings.Join(out, "\n")
}

// jsonOf returns a value in JSON form: numbers and booleans are not strings.
func jsonOf(v string) any {
	if json.Valid([]byte(v)) {
		return json.RawMessage(v)
	}
	return v
}

// listedFlags parses the items of a list that begins with a flag.
func listedFlags(text string) *argv.Launch {
	var words []string
	for _, m := range itemLine.FindAllStringSubmatch(text, -1) {
		words = append(words, unquoted(m[1]))
	}
	at := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "--") })
	if at < 0 {
		return nil
	}
	return flagsAlone(words[at:], keyedModel(text))
}

// keyedModel returns the model that a key of a text names.
func keyedModel(text string) string {
	_, model := (&keyed{}).settings(keyLine.FindAllStringSubmatch(text, maxKeys))
	return model
}

// flagsAlone parses flags that identify their server.
func flagsAlone(words []string, model string) *argv.Launch {
	program := argv.ServerOf(words)
	if program == "" {
		return nil
	}
	if model != "" && strings.HasPrefix(program, "vllm") {
		words = append([]string{"--model", model}, words...)
	}
	return served(program, words)
}

// keyedSettings parses the keys of one server: at least two, or one and a model, in a text that names the engine or has a key
// unique to it.
func keyedSettings(text string) *argv.Launch {
	lower, all := strings.ToLower(text), keyLine.FindAllStringSubmatch(text, -1)
	if len(all) > maxKeys {
		return nil
	}
	for i := range keysOf {
		k := &keysOf[i]
		words, model := k.settings(all)
		says := func(w string) bool { return strings.Contains(lower, w) }
		own := argv.ServerOf(words) == k.program || slices.ContainsFunc(words, func(w string) bool {
			flag, _, _ := strings.Cut(w, "=")
			return slices.Contains(strings.Fields(k.own), flag)
		})
		if !own && !slices.ContainsFunc(strings.Fields(k.words), says) {
			continue
		}
		if len(words) == 0 || len(words) == 1 && model == "" {
			continue
		}
		switch {
		case model != "" && k.model == "":
			words = append([]string{model}, words...)
		case model != "":
			words = append([]string{k.model, model}, words...)
		}
		if l := served(k.program, words); l != nil {
			return l
		}
	}
	return nil
}

// maxKeys is the most keys of a text; texts with more are programs.
const maxKeys = 400

// settings returns the server's settings among the keys of a text, as flags, and the model that a key names.
func (k *keyed) settings(all [][]string) (words []string, model string) {
	seen := map[string]bool{}
	for _, m := range all {
		key, value := plainKey(m[1]), unquoted(m[2])
		flag := k.flag(key)
		switch {
		case flag == "" && model == "" && strings.Contains(modelKeys, " "+key+" "):
			model = hubOrFolder(value)
		case flag == "" || seen[flag] || value == "" || argv.Open(value) || strings.EqualFold(value, "none"):
		case strings.HasPrefix(value, "{") && !json.Valid([]byte(value)):
		default:
			seen[flag] = true
			words = append(words, flag+"="+value)
		}
	}
	return words, model
}

// flag returns the flag of a key; "" if the server has none.
func (k *keyed) flag(key string) string {
	for _, f := range strings.Fields(k.flags) {
		if plainKey(f) == key {
			return f
		}
	}
	return k.also[key]
}

// plainKey returns the last component of a key in lower case, without hyphens and underscores.
func plainKey(key string) string {
	key = key[strings.LastIndexByte(key, '.')+1:]
	return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(key))
}

func unquoted(word string) string { return strings.Trim(strings.TrimSpace(word), `"',`) }

// hubOrFolder returns the model that a key names: a repository, a folder, or a URI of either.
func hubOrFolder(value string) string {
	_, rest, uri := strings.Cut(value, "://")
	switch {
	case strings.HasPrefix(value, "http") || argv.Open(value):
		return ""
	case uri && strings.HasPrefix(value, "hf"):
		return rest
	case uri:
		return "/" + rest
	case servedAs(value) != "" || strings.HasPrefix(value, "/") && strings.Count(value, "/") > 1:
		return value
	}
	return ""
}

func served(program string, words []string) *argv.Launch {
	l, err := firstLaunch([]argv.Command{{Program: program, Args: words}})
	if err != nil {
		return nil
	}
	return l
}
