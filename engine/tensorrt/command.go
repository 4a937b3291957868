package tensorrt

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/plan"
)

// settingsFile is where the command keeps the settings that have no flag.
const settingsFile = "/tmp/trtllm.yaml"

// Command is the launch of a server with what differs from its defaults. Settings that trtllm-serve takes from a file
// only are written to one before it; of several replicas it is one.
func (Engine) Command(j *engine.Job) string {
	lines := inFile(j)
	if len(lines) == 0 {
		return serve(j)
	}
	return fmt.Sprintf("cat > %s <<'EOF'\n%s\nEOF\n%s --extra_llm_api_options %s", settingsFile, strings.Join(lines, "\n"), serve(j),
		settingsFile)
}

// inFile are the settings of the plan that have no flag, as lines of the YAML file that
// --extra_llm_api_options names (tensorrt_llm/commands/serve.py).
func inFile(j *engine.Job) []string {
	var s settings
	p := j.Plan
	if int64(p.BlockSize) != engine.At(tokensPerBlock, j.Version).Value {
		s.add("kv_cache_config", fmt.Sprintf("tokens_per_block: %d", p.BlockSize))
	}
	if c := p.PrefixCache; c != nil && !*c {
		s.add("kv_cache_config", "enable_block_reuse: false")
	}
	if attentionDP(p) {
		s.add("", "enable_attention_dp: true")
	}
	if d := drafting(j); d != "" {
		s.add("speculative_config", d)
	}
	for _, e := range expertSettings(j) {
		s.add("moe_config", e)
	}
	for _, l := range []struct {
		name string
		n    int64
	}{{"stream_interval", int64(j.Plan.StreamInterval)}, {"batch_wait_timeout_iters", int64(j.Plan.BatchWait)}} {
		if l.n > 0 {
			s.add("", fmt.Sprintf("%s: %d", l.name, l.n))
		}
	}
	for _, arg := range p.EngineArgs {
		if key, value, ok := ofFile(arg); ok {
			s.set(key, value)
		}
	}
	return s.lines()
}

// settings are sections of the file with what stands in each, in order.
type settings struct {
	sections []string
	in       map[string][]string
}

// add an entry to a section; of "" it stands for itself.
func (s *settings) add(section, entry string) {
	if section == "" {
		section, entry = entry, ""
	}
	if s.in == nil {
		s.in = map[string][]string{}
	}
	if s.in[section] == nil {
		s.sections = append(s.sections, section)
	}
	s.in[section] = append(s.in[section], entry)
}

// set a key whose levels are parted by dots.
func (s *settings) set(key, value string) {
	section, rest, deep := strings.Cut(key, ".")
	if !deep {
		s.add("", key+": "+value)
		return
	}
	levels := strings.Split(rest, ".")
	entry := levels[len(levels)-1] + ": " + value
	for i := len(levels) - 2; i >= 0; i-- {
		entry = levels[i] + ": {" + entry + "}"
	}
	s.add(section, entry)
}

func (s *settings) lines() (lines []string) {
	for _, name := range s.sections {
		if entries := s.in[name]; entries[0] != "" {
			name += ": {" + strings.Join(entries, ", ") + "}"
		}
		lines = append(lines, name)
	}
	return lines
}

// fileKey is how a key of the file stands among further arguments.
var fileKey = regexp.MustCompile(`^[a-z_]+(\.[a-z0-9_]+)*$`)

// plainValue needs no quotes in YAML.
var plainValue = regexp.MustCompile(`^[A-Za-z0-9_./-]+$`)

// ofFile parts an argument that is a key of the file.
func ofFile(arg string) (key, value string, ok bool) {
	key, value, ok = strings.Cut(arg, "=")
	switch {
	case strings.Contains(value, ","):
		value = "[" + value + "]" // as a list is told
	case !plainValue.MatchString(value):
		value = strconv.Quote(value)
	}
	return key, value, ok && fileKey.MatchString(key)
}

// expertSettings are those of moe_config: kernels, and copies of experts that move with the load.
func expertSettings(j *engine.Job) (out []string) {
	if name := expertKernels.Name(j.Plan.MoEBackend); name != "" {
		out = append(out, "backend: "+name)
	}
	if j.Plan.RedundantExperts > 0 {
		out = append(out, fmt.Sprintf("load_balancer: {num_slots: %d}", engine.Slots(j)))
	}
	return out
}

// expertKernels are the values of moe_config.backend (tensorrt_llm/llmapi/llm_args.py, MoeConfig).
var expertKernels = argv.ExpertKernels{{"TRTLLM", "trtllm"}, {"CUTLASS", "cutlass"}, {"DEEPGEMM", "deepgemm"}, {"TRITON", "triton"},
	{"MARLIN", "marlin"}}

// replicas are servers of their own.
func replicas(j *engine.Job) int64 {
	if attentionDP(j.Plan) {
		return 1
	}
	return j.Plan.DP
}

// drafting is by a draft model; without one by the model's own prediction layers, or by what the text repeats
// (tensorrt_llm/llmapi/llm_args.py).
func drafting(j *engine.Job) string {
	n := j.Plan.DraftTokens
	switch {
	case j.Draft != nil:
		kind := "Draft_Target"
		if j.Draft.Model.Family == "eagle3" {
			kind = "Eagle3"
		}
		return fmt.Sprintf("decoding_type: %s, max_draft_len: %d, speculative_model_dir: %q", kind, n, j.Draft.CheckpointName())
	case j.Plan.DraftTokens == 0:
		return ""
	case j.MTP != nil:
		return fmt.Sprintf("decoding_type: MTP, num_nextn_predict_layers: %d", n)
	}
	kind := "NGram"
	if j.Plan.DraftMethod == plan.DraftSuffix {
		kind = "SA"
	}
	return fmt.Sprintf("decoding_type: %s, max_draft_len: %d", kind, n)
}

func commandNote(j *engine.Job) {
	if n := replicas(j); n > 1 {
		j.Note("command_by_hand", "info", "engine", "run the command %d times, each on its own devices", n)
	}
}

func serve(j *engine.Job) string {
	p := j.Plan
	args := []string{"trtllm-serve " + argv.Quote(j.CheckpointName())}
	tp := p.TP
	if attentionDP(p) {
		tp = p.DP
	}
	for _, g := range []struct {
		flag    string
		n, than int64
	}{{"--tp_size", tp, 1}, {"--pp_size", p.PP, 1}, {"--ep_size", p.EP, 1}, {"--max_batch_size", int64(p.MaxSeqs), maxBatchSize},
		{"--max_num_tokens", int64(p.MaxBatchedTokens), maxNumTokens}, {"--max_seq_len", int64(p.Context), 0}} {
		if g.n != g.than && g.n > 0 {
			args = append(args, fmt.Sprint(g.flag, " ", g.n))
		}
	}
	if f := p.FreeGPUMemoryFraction; f != nil && *f != freeFraction {
		args = append(args, "--kv_cache_free_gpu_memory_fraction "+strconv.FormatFloat(*f, 'f', -1, 64))
	}
	if name := cacheNames[dtype.FindFormat(p.KV)]; name != "" {
		args = append(args, "--kv_cache_dtype "+name)
	}
	if c := p.ChunkedPrefill; c != nil && *c {
		args = append(args, "--enable_chunked_prefill")
	}
	for _, arg := range p.EngineArgs {
		if _, _, inFile := ofFile(arg); !inFile {
			args = append(args, arg)
		}
	}
	return strings.Join(args, " ")
}

var cacheNames = map[*dtype.Format]string{dtype.FP8E4M3: "fp8", dtype.FP4E2M1: "nvfp4", dtype.I8: "int8"}
