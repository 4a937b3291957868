package llamacpp

import (
	"strconv"
	"strings"

	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/plan"
)

// The start-up log, b1600 to v0.5. Sources of the words: llama.cpp (2024), then src/llama-model.cpp,
// llama-model-loader.cpp, llama-context.cpp, llama-kv-cache*.cpp, llama-memory-recurrent.cpp,
// ggml-backend and the backends. log_model.go reads what describes the model.

// LogReader collects what the lines of a log say.
type LogReader struct {
	log    startup.Log
	meta   startup.Metadata
	dims   map[string]string // as print_info names them
	server bool
	ollama bool
	// devices of "using device" lines are those that the model lies on; others are only present.
	used     []startup.Device
	kind     string // of the devices that ggml_cuda_init lists: CUDA or ROCm
	layersAt map[string]int
	done     bool
}

type logRule struct {
	words string
	read  func(r *LogReader, l *startup.Line, rest string)
}

var logRules = []logRule{
	{"loaded meta data with", (*LogReader).loading},
	{"llama_model_loader: - kv", (*LogReader).pair},
	{"llama_model_loader: - type", (*LogReader).types},
	{"print_info:", (*LogReader).info},
	{"llm_load_print_meta:", (*LogReader).info},
	{"llama_context:", (*LogReader).context},
	{"llama_new_context_with_model:", (*LogReader).context},
	{"llama_init_from_model:", (*LogReader).context},
	{" buffer size =", (*LogReader).buffer},
	{"KV self size  =", (*LogReader).cacheSize},
	{": size =", (*LogReader).cacheSize},
	{"offloaded ", (*LogReader).offloaded},
	{"(mmap =", (*LogReader).mapped},
	{", offload =", (*LogReader).cachePlace},
	{"assigned to device ", (*LogReader).assigned},
	{"using device ", (*LogReader).device},
	{"ggml_cuda_init: found ", (*LogReader).found},
	{"  Device ", (*LogReader).listed},
	{"found device: ", (*LogReader).apple},
	{"GPU name:", (*LogReader).apple},
	{"ggml_vulkan: ", (*LogReader).vulkan},
	{"build: ", (*LogReader).build},
	{"build = ", (*LogReader).build},
	{"version: ", (*LogReader).build},
	{"build_info: b", (*LogReader).build},
	{"build_info: v", (*LogReader).release},
	{"Flash Attention was auto, set to", (*LogReader).flash},
	{"n_parallel = ", (*LogReader).slots},
	{"initializing, n_slots = ", (*LogReader).slotted},
	{"load_model: loading model '", (*LogReader).named},
	{"(version ", (*LogReader).ollamaVersion},
	{"clip_model_loader:", (*LogReader).projector},
}

// Line reads one line.
func (r *LogReader) Line(l *startup.Line) {
	if r.done {
		return
	}
	r.log.Spot(l.Text)
	r.program(l.Text)
	for i := range logRules {
		rule := &logRules[i]
		if rest, ok := startup.After(l.Text, rule.words); ok {
			rule.read(r, l, rest)
		}
	}
}

// program: llama-server and Ollama say so in lines of their own.
func (r *LogReader) program(text string) {
	switch {
	case strings.Contains(text, "srv  ") || strings.Contains(text, "slot  ") || strings.Contains(text, "HTTP server"):
		r.server = true
	case strings.Contains(text, "level=INFO source=") || strings.Contains(text, "ollama"):
		r.ollama = true
	}
	for _, own := range []string{"mla_attn", "attn_max_b", "fused_moe", "fused_up_gate"} {
		if strings.Contains(text, own+" ") && strings.Contains(text, "=") {
			r.fork()
		}
	}
}

func (r *LogReader) fork() {
	r.log.Note("fork", "the log is of ik_llama.cpp, whose compute buffers and formats are its own")
}

// loading: each model that is loaded begins with this line. The first that gets buffers counts; Ollama
// first loads the vocabulary alone.
func (r *LogReader) loading(l *startup.Line, rest string) {
	if r.placed() {
		r.done = true
		r.log.Note("two_models", "the text holds more than one model or start: the first is taken")
		return
	}
	r.log.Signs++
	r.log.Figures, r.log.Quant = nil, ""
	r.meta, r.dims = startup.Metadata{}, nil
	if rest, ok := startup.After(rest, "pairs and"); ok {
		if n, ok := startup.Integer(rest); ok {
			r.meta.Count = n
		}
	}
	r.log.Models = nil
	if path, ok := startup.After(rest, "from "); ok {
		path, _, _ = strings.Cut(path, " (version")
		r.log.Named(fileName(path))
	}
}

// named: "load_model: loading model './x.gguf'", which a server says at its default verbosity too.
func (r *LogReader) named(_ *startup.Line, rest string) {
	if path, _, ok := strings.Cut(rest, "'"); ok && len(r.log.Models) == 0 {
		r.log.Named(fileName(path))
	}
}

// placed reports whether a model has got its buffers.
func (r *LogReader) placed() bool {
	for i := range r.log.Figures {
		if id := r.log.Figures[i].ID; strings.HasSuffix(id, "_buffer") || id == "kv_size" {
			return true
		}
	}
	return false
}

// fileName is the last part of a path, without .gguf and the number of a split.
func fileName(path string) string {
	if i := strings.LastIndexAny(path, `/\`); i >= 0 {
		path = path[i+1:]
	}
	path = strings.TrimSuffix(strings.TrimSpace(path), ".gguf")
	if i := strings.LastIndex(path, "-of-"); i > 6 && len(path)-i == 9 {
		path = path[:i-6]
	}
	return path
}

// context: "n_ctx = 4096" and the like. The same words begin lines without a setting.
func (r *LogReader) context(l *startup.Line, rest string) {
	key, value, ok := setting(rest)
	if !ok {
		return
	}
	p := &r.log.Plan
	if key == "flash_attn" {
		r.flash(l, value)
		return
	}
	n, whole := startup.Integer(value)
	if !whole {
		if key == "kv_unified" {
			v := value == "true"
			p.KVUnified = &v
		}
		return
	}
	for _, f := range []struct {
		name string
		at   *plan.Int
		most int64
	}{
		{"n_ctx", &p.ContextTotal, plan.MaxContext}, {"n_batch", &p.BatchTokens, plan.MaxContext}, {"n_ubatch", &p.UBatch, plan.MaxContext},
		{"n_seq_max", &p.Sequences, plan.MaxSequences}, {"n_outputs_max", &p.LogitRows, plan.MaxContext},
	} {
		if key == f.name && *f.at == 0 && n <= f.most {
			*f.at = plan.Int(n)
			r.log.Signs++
		}
	}
}

// setting reads "key   = value".
func setting(rest string) (key, value string, ok bool) {
	key, value, ok = strings.Cut(rest, "=")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	return key, value, ok && key != "" && !strings.ContainsAny(key, ":(")
}

func (r *LogReader) flash(_ *startup.Line, value string) {
	word := ""
	if f := strings.Fields(value); len(f) > 0 {
		word = f[0]
	}
	switch word {
	case "1", "enabled":
		r.log.Plan.Attention = "flash"
	case "0", "disabled":
		r.log.Plan.Attention = "eager"
	case "auto":
		r.log.Plan.Attention = "auto"
	}
}

// buffers by the word before "buffer size".
var bufferKinds = map[string]string{"model": "model_buffer", "KV": "kv_buffer", "RS": "rs_buffer", "output": "output_buffer", "compute": "compute_buffer", "LoRA": "lora_buffer"}

// buffer: "load_tensors:      CUDA0 model buffer size =  1624.00 MiB"; before 2024-09 the word model is
// left out.
func (r *LogReader) buffer(l *startup.Line, rest string) {
	head, _, _ := strings.Cut(l.Text, " buffer size =")
	if i := strings.LastIndex(head, ":"); i >= 0 {
		head = head[i+1:]
	}
	words := strings.Fields(head)
	if len(words) == 0 || len(words) > 4 || strings.ContainsAny(words[0], "'\"[]()=,") {
		return
	}
	kind, device := "model", words[0]
	if len(words) > 1 {
		kind = words[len(words)-1]
	}
	id, ok := bufferKinds[kind]
	if !ok {
		return
	}
	at := *l
	at.Rank = device
	r.log.Add(id, kind+" buffer size", "MiB", &at, rest)
	if strings.HasSuffix(device, "_Split") {
		r.log.Plan.SplitMode = "row" // the buffer type of -sm row
	}
	if device == "CPU_Mapped" && r.log.Plan.Mmap == nil {
		yes := true
		r.log.Plan.Mmap = &yes
	}
}

// cacheSize: "KV self size  =  256.00 MiB, K (f16):  128.00 MiB, V (f16):  128.00 MiB", from 2025-05
// "size =  384.00 MiB (  4096 cells,  48 layers,  1 seqs), K (f16): …", for recurrent states with R and S;
// ik_llama.cpp's latents are c^KV.
func (r *LogReader) cacheSize(l *startup.Line, rest string) {
	k, isKV := startup.After(rest, ", K (")
	_, isRS := startup.After(rest, ", R (")
	switch {
	case isKV:
		r.log.Add("kv_size", "KV self size", "MiB", l, rest)
		r.format(k, &r.log.Plan.KV)
		if v, ok := startup.After(rest, ", V ("); ok {
			r.format(v, &r.log.Plan.KVV)
		}
	case strings.Contains(rest, ", c^KV (") || strings.Contains(rest, ", K^R ("):
		r.fork()
		r.log.Note("latent_cache", "the cache holds latents (-mla), in the way of ik_llama.cpp")
		r.log.Add("kv_size", "KV self size", "MiB", l, rest)
	case isRS:
		r.log.Add("rs_size", "recurrent state size", "MiB", l, rest)
	}
	if inner, ok := startup.After(rest, "MiB ("); ok && isKV {
		r.log.Add("cells", "cells of the cache", "cells", l, inner)
	}
}

func (r *LogReader) format(rest string, at *string) {
	if name, _, ok := strings.Cut(rest, ")"); ok && *at == "" && len(name) < 16 {
		*at = name
	}
}

// build: "build: 5716 (d27b3ca1) with …", "build = 2752 (6e472f58)", "version: 4202 (9f912511)",
// "build_info: b9747-d32676d".
func (r *LogReader) build(_ *startup.Line, rest string) {
	n, ok := startup.Integer(rest)
	if ok && n > 100 && n < 1<<20 && r.log.Version == "" {
		r.log.Version = "b" + strconv.FormatInt(n, 10)
		r.log.Signs++
	}
}

func (r *LogReader) release(_ *startup.Line, rest string) {
	v, _, _ := strings.Cut(rest, "-")
	if _, err := (Engine{}).ParseVersion(v); err == nil && r.log.Version == "" && len(v) < 32 {
		r.log.Version = v
	}
}

// slots: "setting n_parallel = 4 and kv_unified = true".
func (r *LogReader) slots(l *startup.Line, rest string) {
	r.server = r.server || strings.Contains(rest, "kv_unified")
}

// slotted: "initializing, n_slots = 1, n_ctx_slot = 2048, kv_unified = 'false'", which a server says at its default verbosity too; what
// the context says of itself stands before it and counts more.
func (r *LogReader) slotted(_ *startup.Line, rest string) {
	slots, ok := startup.Integer(rest)
	text, found := startup.After(rest, "n_ctx_slot = ")
	each, whole := startup.Integer(text)
	p := &r.log.Plan
	if !ok || !found || !whole || p.ContextTotal > 0 || slots < 1 || slots > plan.MaxSequences || each > plan.MaxContext/slots {
		return
	}
	unified := strings.Contains(rest, "kv_unified = 'true'")
	p.Sequences, p.KVUnified, p.ContextTotal = plan.Int(slots), &unified, plan.Int(each)
	if !unified {
		p.ContextTotal *= plan.Int(slots)
	}
	r.log.Signs++
}

func (r *LogReader) ollamaVersion(l *startup.Line, rest string) {
	v, _, _ := strings.Cut(rest, ")")
	if strings.Contains(l.Text, "Listening on") && len(v) < 32 {
		r.ollama, r.log.Version = true, v
	}
}

func (r *LogReader) projector(*startup.Line, string) {
	r.log.Note("projector", "a vision projector is loaded beside the model; its buffers are not compared")
}

// Log gives what was read.
func (r *LogReader) Log() *startup.Log {
	l := &r.log
	l.Engine, l.Servers = "llama.cpp", 1
	switch {
	case r.ollama && !r.server:
		l.Engine = "ollama"
	case r.server:
		l.Engine = "llama-server"
	}
	if r.done {
		l.Servers = 2
	}
	if len(r.used) > 0 {
		l.Devices = r.used
	}
	if r.server && !r.placed() {
		l.Note("quiet", "llama-server prints its buffers with -lv 4 alone, from May 2026 on (#23021)")
	}
	r.split()
	r.fullWindows()
	r.describe()
	return l
}

// fullWindows: two caches with the same cells are those of --swa-full.
func (r *LogReader) fullWindows() {
	cells, same := 0.0, 0
	for i := range r.log.Figures {
		switch f := &r.log.Figures[i]; {
		case f.ID != "cells":
		case same == 0 || f.Value == cells:
			cells = f.Value
			same++
		default:
			return
		}
	}
	if same > 1 {
		yes := true
		r.log.Plan.SWAFull = &yes
	}
}

// split writes the layers of each device as proportions; without them, the free memory that the log prints,
// by which llama.cpp splits when it is not told (src/llama-model.cpp, load_tensors).
func (r *LogReader) split() {
	if len(r.used) < 2 {
		return
	}
	var parts []string
	for _, d := range r.used {
		switch {
		case len(r.layersAt) > 0:
			parts = append(parts, strconv.Itoa(r.layersAt[d.Slot]))
		case d.MiB > 0:
			parts = append(parts, strconv.FormatFloat(d.MiB, 'f', -1, 64))
		default:
			return
		}
	}
	if len(r.layersAt) == 0 {
		r.log.Note("split_by_free_memory", "layers are taken to be split by the free memory that the log prints; give tensor_split where -ts did it")
	}
	r.log.Plan.TensorSplit = strings.Join(parts, ",")
}
