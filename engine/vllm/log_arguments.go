package vllm

import (
	"encoding/json"
	"strings"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/engine/pycall"
	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/plan"
)

// Arguments that a log prints and that a flag describes already: they are read as the command line is (args.go). Older servers print
// all of their arguments, so that what is off or not given says nothing.

// asFlags are those of towers, graphs, speculation, adapters and what lies on the host.
var asFlags = []string{"language_model_only", "limit_mm_per_prompt", "mm_encoder_tp_mode", "max_cudagraph_capture_size",
	"compilation_config", "speculative_config", "mamba_ssm_cache_dtype", "mamba_cache_dtype", "decode_context_parallel_size",
	"cpu_offload_gb", "kv_offloading_size"}

// asAdapters count where LoRA is on.
var asAdapters = []string{"enable_lora", "max_loras", "max_lora_rank"}

// flagged applies those arguments to the plan; one that cannot be parsed is reported.
func (r *Reader) flagged(s startup.Settings) {
	names := asFlags
	if on := s.Bool("enable_lora"); on != nil && *on {
		names = append(append([]string(nil), names...), asAdapters...)
	}
	var l launch
	for _, name := range names {
		if !l.take(name, s.Str(name)) {
			r.log.Note("not_read", "%s is set in the log and changes the cache; memwall does not read it", name)
		}
	}
	l.finish(false)
	l.into(&r.log.Plan)
}

// take parses one argument as its flag; false if the flag rejects it.
func (l *launch) take(name, value string) bool {
	flag := "--" + strings.ReplaceAll(name, "_", "-")
	var args []string
	switch value {
	case "", "False", "{}", "0", "0.0", "weights", "auto": // off, or the default
		return true
	case "True":
		args = []string{flag}
	default:
		if strings.HasPrefix(value, "{") {
			value = literal(value)
		}
		args = []string{flag, value}
	}
	_, unknown, err := argv.Read(&argv.Command{Args: args}, argv.Syntax{Dashes: true}, flags, l)
	return err == nil && len(unknown) == 0
}

// into fills in what a plan does not state yet.
func (l *launch) into(p *plan.Plan) {
	from := &l.Plan
	p.TextOnly, p.NoVideo = orBool(p.TextOnly, from.TextOnly), orBool(p.NoVideo, from.NoVideo)
	p.WholeTower = orBool(p.WholeTower, from.WholeTower)
	p.EnforceEager = orBool(p.EnforceEager, from.EnforceEager)
	p.MTP = orBool(p.MTP, from.MTP)
	if p.DraftModel == "" && p.DraftMethod == "" && p.DraftTokens == 0 {
		p.DraftModel, p.DraftMethod, p.DraftTokens = from.DraftModel, from.DraftMethod, from.DraftTokens
	}
	if p.GraphBatch == 0 {
		p.GraphBatch = from.GraphBatch
	}
	if p.StateFormat == "" {
		p.StateFormat = from.StateFormat
	}
	if p.DCP == 0 {
		p.DCP = from.DCP
	}
	if p.CPUOffload == 0 {
		p.CPUOffload = from.CPUOffload
	}
	if p.KVHost == 0 {
		p.KVHost = from.KVHost
	}
	if p.Adapters == nil {
		p.Adapters = from.Adapters
	}
}

// literal is a dict as Python prints it, as JSON; as it stands where it is none.
func literal(text string) string {
	calls, err := pycall.Calls("dict(" + text + ")")
	if err != nil || len(calls) == 0 {
		return text
	}
	out, err := json.Marshal(pythonic(calls[len(calls)-1].Positional(0)))
	if err != nil {
		return text
	}
	return string(out)
}

// pythonic is a literal's value: numbers as they are written, what is not a literal as its words.
func pythonic(v *pycall.Value) any {
	switch {
	case v == nil:
		return nil
	case v.Pairs != nil:
		object := map[string]any{}
		for _, p := range v.Pairs {
			object[p.Name] = pythonic(p.Value)
		}
		return object
	case v.Items != nil:
		list := []any{}
		for _, x := range v.Items {
			list = append(list, pythonic(x))
		}
		return list
	case v.Quoted:
		return v.Text
	}
	return word(v)
}

func word(v *pycall.Value) any {
	var known any
	text := strings.NewReplacer("True", "true", "False", "false", "None", "null").Replace(v.Text)
	if json.Unmarshal([]byte(text), &known) == nil {
		return json.RawMessage(text)
	}
	return v.String()
}
