package memwall

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/plan"
)

// on is a request for a known model on one card, with further members.
func on(members string) string {
	return `{"ask":"fit","model":"llama-3.1-8b","hardware":"h100",` + members + "}"
}

// bare is the same without hardware.
func bare(members string) string { return `{"ask":"fit","model":"llama-3.1-8b",` + members + "}" }

// askText decodes a request and asks it.
func askText(text string) (*Answer, error) {
	r, err := Decode([]byte(text))
	if err != nil {
		return nil, err
	}
	return Ask(r)
}

// badRequests are what people and programs get wrong: what the error must name, and a word of its message
// and of its fix.
var badRequests = []struct {
	name, request      string
	code, field, value string
	message, hint      string
}{
	{"tp that cuts heads", `{"ask":"fit","model":"llama-3.1-8b","hardware":"8xh100","tp":3}`, ImpossiblePlan, "tp", "3", "does not divide the 32 attention heads", "--tp 2"},
	{"a word of another field", `{"ask":"train","model":"llama-3.1-8b","hardware":"h100","method":"grpo"}`, BadField, "method", "grpo", "is not known", `objective = "grpo"`},
	{"tp beyond the heads", bare(`"tp":1000000`), ImpossiblePlan, "tp", "1000000", "32 attention heads", "--tp 32"},
	{"tp that cuts recurrent heads", `{"ask":"fit","model":"mamba2-2.7b","tp":3}`, ImpossiblePlan, "tp", "3", "heads of the recurrent layers", "--tp 2"},
	{"more stages than layers", bare(`"pp":33`), ImpossiblePlan, "pp", "33", "more than the 32 layers", "--pp 32"},
	{"experts of a dense model", on(`"ep":4`), ImpossiblePlan, "ep", "4", "has no experts", "leave ep out"},
	{"ep that cuts experts", `{"ask":"fit","model":"qwen3-30b-a3b","hardware":"6xh100","engine":"sglang","tp":2,"dp":3,"ep":6}`, ImpossiblePlan, "ep", "6", "128 experts", "divides"},
	{"experts on ranks that are not there", `{"ask":"fit","model":"qwen3-30b-a3b","hardware":"h200","engine":"sglang","ep":8}`, ImpossiblePlan, "ep", "8", "ranks, which are 1 here", "8 devices"},
	{"more ranks than devices", `{"ask":"fit","model":"llama-3.1-8b","hardware":"2xh100","tp":4}`, ImpossiblePlan, "devices", "4", "the hardware has 2", "4 devices"},
	{"stages without devices", on(`"pp":4`), ImpossiblePlan, "devices", "4", "the hardware has 1", "smaller groups"},
	{"a billion devices", on(`"devices":1e9`), BadField, "devices", "1000000000", "out of bounds", "1,000,000"},
	{"a billion devices of nothing", bare(`"devices":1000000000`), BadField, "devices", "1000000000", "out of bounds", "1,000,000"},
	{"fewer than no devices", bare(`"devices":-1`), BadField, "devices", "-1", "out of bounds", "1 to"},
	{"half a device", on(`"devices":2.5`), BadField, "devices", "2.5", "not a whole number", "give a whole number"},
	{"two counts", `{"ask":"fit","model":"llama-3.1-8b","hardware":"2xh100","devices":3}`, BadField, "devices", "3", "does not agree", "once"},
	{"devices that llama.cpp cannot use", `{"ask":"fit","model":"llama-3.1-8b","hardware":"1000xh100","engine":"llama.cpp"}`, ImpossiblePlan, "devices", "1000", "more than the 16", "at most 16"},

	{"negative context", on(`"context":-1`), BadField, "context", "-1", "is negative", "from 1"},
	{"half a token", on(`"context":8192.5`), BadField, "context", "8192.5", "not a whole number", "whole number"},
	{"context in words", on(`"context":"8k"`), BadField, "context", `"8k"`, "not a number", "whole number"},
	{"context beyond counting", on(`"context":1e12`), BadField, "context", "1000000000000", "more than", "smaller"},
	{"1e300", on(`"context":1e300`), BadField, "context", "1e300", "too large", "whole number"},
	{"27 digits", on(`"context":100000000000000000000000000`), BadField, "context", "100000000000000000000000000", "too large", "whole number"},
	{"NaN", on(`"context":NaN`), BadField, "context", "NaN", "not JSON", "numbers such as"},
	{"NaN for a share", on(`"gpu_memory_utilization":NaN,"tp":1`), BadField, "gpu_memory_utilization", "NaN", "not JSON", "0.9"},
	{"infinity", on(`"acceptance":-Infinity`), BadField, "acceptance", "-Infinity", "not JSON", "0.9"},
	{"tokens beyond counting", on(`"context":1073741824,"sequences":16777216`), BadField, "sequences", "16777216", "at once", "fewer"},
	{"sequences beyond counting", on(`"sequences":1e9`), BadField, "sequences", "1000000000", "more than", "smaller"},
	{"negative sequences", on(`"sequences":-4`), BadField, "sequences", "-4", "negative", "from 1"},
	{"a score matrix beyond counting", `{"ask":"fit","model":"llama-3.1-8b","hardware":"h100","engine":"transformers","attention":"eager","context":1073741824,"sequences":1024}`, Limit, "context", "", "more than can be counted", "shorter context"},
	{"a prompt beyond the context", on(`"context":8192,"prompt_tokens":9000`), BadField, "prompt_tokens", "9000", "do not fit in a context of 8192", "raise context"},
	{"negative dp", on(`"dp":-4`), BadField, "dp", "-4", "negative", "from 1"},
	{"tp of 2^63-1", on(`"tp":9223372036854775807`), BadField, "tp", "9223372036854775807", "more than", "smaller"},
	{"tp of 2^63", on(`"tp":9223372036854775808`), BadField, "tp", "9223372036854775808", "too large", "whole number"},
	{"share above one", on(`"gpu_memory_utilization":1e300`), BadField, "gpu_memory_utilization", "1e+300", "is not a share", "at most 1"},
	{"share below nothing", on(`"gpu_memory_utilization":-0.5`), BadField, "gpu_memory_utilization", "-0.5", "is not a share", "above 0"},
	{"share beyond a float", on(`"gpu_memory_utilization":1e400`), BadField, "gpu_memory_utilization", "1e400", "too large", "a number"},
	{"share in words", on(`"gpu_memory_utilization":"90%"`), BadField, "gpu_memory_utilization", `"90%"`, "is a string, not a number", "a number"},
	{"negative size", on(`"reserved_bytes":-1`), BadField, "reserved_bytes", "-1", "negative", "from 1"},
	{"negative size in words", on(`"reserved_bytes":"-1GiB"`), BadField, "reserved_bytes", `"-1GiB"`, "negative", "24GiB"},
	{"a size in no unit", on(`"reserved_bytes":"lots"`), BadField, "reserved_bytes", `"lots"`, "is not a size", "24GiB"},
	{"a size beyond counting", on(`"reserved_bytes":1e300`), BadField, "reserved_bytes", "1e300", "too large", "24GiB"},
	{"layers below all", on(`"engine":"llama.cpp","gpu_layers":-5`), BadField, "gpu_layers", "-5", "not a number of layers", "-1 for all"},
	{"layers without end", on(`"engine":"llama.cpp","gpu_layers":1e15`), BadField, "gpu_layers", "1000000000000000", "not a number of layers", "-1 for all"},
	{"experts below all", on(`"engine":"llama.cpp","cpu_moe":-7`), BadField, "cpu_moe", "-7", "not a number of layers", "-1 for all"},

	{"a field spelt wrong", bare(`"contxt":8192`), BadField, "contxt", "", "no field called", "did you mean: context"},
	{"a field like no other", bare(`"xyzzyplugh":1`), BadField, "xyzzyplugh", "", "no field called", "memwall schema request"},
	{"a field by its flag", bare(`"on":"rtx-4090"`), BadField, "on", "", "no field called", "did you mean: hardware"},
	{"a field spelt wrong inside", on(`"offload":{"wights":"host"}`), BadField, "offload", `{"wights":"host"}`, `unknown field "wights"`, "did you mean: weights"},
	{"a field like no other inside", on(`"adapters":[{"rank":8,"xyzzyplugh":1}]`), BadField, "adapters", `[{"rank":8,"xyzzyplugh":1}]`, "unknown field", "one of rank, targets, format"},
	{"a field that stands twice", bare(`"model":"llama-3-8b"`), BadField, "model", "", "stands twice", "once"},
	{"a number for a name", `{"ask":"fit","model":8}`, BadField, "model", "8", "is a number, not a string", "catalog id"},
	{"a list for a name", `{"ask":"fit","model":["llama"]}`, BadField, "model", `["llama"]`, "is an array, not a string", "catalog id"},
	{"a truth for a number", bare(`"tp":true`), BadField, "tp", "true", "not a number", "a whole number"},
	{"a word for a number", bare(`"tp":"two"`), BadField, "tp", `"two"`, "not a number", "a whole number"},
	{"a word for a truth", on(`"enforce_eager":"yes"`), BadField, "enforce_eager", `"yes"`, "is a string, not true or false", "true or false"},
	{"a word for an object", on(`"offload":"host"`), BadField, "offload", `"host"`, "is a string, not an object", "an object"},
	{"an object for a list", on(`"adapters":{"rank":8}`), BadField, "adapters", `{"rank":8}`, "is an object, not a list", "a list"},
	{"a word for a list", on(`"engine_args":"--x"`), BadField, "engine_args", `"--x"`, "is a string, not a list", "a list"},
	{"a word for a number inside", on(`"override":{"kv_heads":"one"}`), BadField, "override", `{"kv_heads":"one"}`, "not a number", "an object"},

	{"no question", `{"model":"llama-3.1-8b"}`, BadField, "ask", "", "not a question", "fit"},
	{"a question of no kind", `{"ask":"fly","model":"llama-3.1-8b"}`, BadField, "ask", "fly", "not known", "one of fit"},
	{"a question of another version", `{"ask":"quant","model":"llama-3.1-8b"}`, BadField, "ask", "quant", "", ""},
	{"no model", `{"ask":"fit"}`, BadField, "model", "", "missing", "llama-3.1-8b"},
	{"a model spelt wrong", `{"ask":"fit","model":"lama-3.1-8b"}`, UnknownModel, "model", "lama-3.1-8b", "no model called", "did you mean: llama-3.1-8b"},
	{"a model that may be several", `{"ask":"fit","model":"llama"}`, UnknownModel, "model", "llama", "may be any of", "give one"},
	{"hardware spelt wrong", `{"ask":"fit","model":"llama-3.1-8b","hardware":"h10"}`, UnknownHardware, "hardware", "h10", "not in the catalog", "did you mean a10"},
	{"a device of no size", `{"ask":"fit","model":"llama-3.1-8b","hardware":"name=x"}`, BadField, "memory", "", "missing", "memory=24GiB"},
	{"a device below nothing", `{"ask":"fit","model":"llama-3.1-8b","hardware":"name=x,memory=-1GiB"}`, BadField, "memory", "-1GiB", "not a size", "24GiB"},
	{"the machine at hand", `{"ask":"fit","model":"llama-3.1-8b","hardware":"local"}`, BadField, "hardware", "local", "command line", "name a device"},
	{"an engine spelt wrong", on(`"engine":"vlm"`), BadField, "engine", "vlm", "not known", "vllm"},
	{"a version of no engine", on(`"engine":"vllm@banana"`), BadField, "engine", "vllm@banana", "not a version", "vllm@"},
	{"weights of no format", on(`"weights":"q4_k_x"`), BadField, "weights", "q4_k_x", "not a known format", "q4_k_m"},
	{"a cache of no format", on(`"kv":"q4_k_x"`), BadField, "kv", "q4_k_x", "cannot keep its KV cache in q4_k_x", "fp8"},
	{"attention of no kind", on(`"attention":"slow"`), BadField, "attention", "slow", "not known", "one of auto, flash"},
	{"a place of no kind", on(`"engine":"generic","offload":{"weights":"tape"}`), BadField, "offload.weights", "tape", "not known", "one of none, host"},
	{"an offload that is not sized", on(`"offload":{"weights":"host"}`), Unsupported, "offload.weights", "host", "not sized for vllm", "llama.cpp"},

	{"a setting of llama.cpp", on(`"ubatch":512`), BadField, "ubatch", "512", "a setting of llama.cpp, but the engine is vllm", "leave it out"},
	{"a setting of vLLM", on(`"engine":"llama.cpp","gpu_memory_utilization":0.9`), BadField, "gpu_memory_utilization", "0.9", "a setting of vllm, but the engine is llama.cpp", "name the engine"},
	{"a setting of SGLang", on(`"mem_fraction_static":0.8`), BadField, "mem_fraction_static", "0.8", "a setting of sglang", "name the engine"},
	{"a truth of another engine", on(`"engine":"llama.cpp","enforce_eager":false`), BadField, "enforce_eager", "false", "a setting of vllm", "name the engine"},

	{"heads that do not divide", on(`"override":{"kv_heads":3}`), BadField, "override", "kv_heads=3", "do not divide the 32", "other numbers"},
	{"heads below nothing", on(`"override":{"kv_heads":-3}`), BadField, "override.kv_heads", "-3", "out of range", "from 1"},
	{"layers beyond any", on(`"override":{"layers":1e6}`), BadField, "override.layers", "1000000", "more than 4,096", "at most 4,096"},
	{"a part of no network", on(`"override":{"kvheads":3}`), BadField, "override.kvheads", "3", "not known", "kv_heads"},

	{"a draft of no name", on(`"draft_model":"nope"`), UnknownModel, "draft_model", "nope", "no model called", "memwall models"},
	{"a draft below nothing", on(`"draft_model":"llama-3.2-1b","draft_tokens":-1`), BadField, "draft_tokens", "-1", "negative", "from 1"},
	{"more accepted than drafted", on(`"acceptance":1.5`), BadField, "acceptance", "1.5", "not a share", "at most 1"},
	{"an adapter without a rank", on(`"adapters":[{"rank":8},{"targets":["q_proj"]}]`), BadField, "adapters[1].rank", "0", "not a rank", "from 1"},
	{"an adapter beyond any", on(`"adapters":[{"rank":1e9}]`), BadField, "adapters[0].rank", "1000000000", "not a rank", "such as 16"},
	{"an adapter on nothing", on(`"adapters":[{"rank":8,"targets":["nose"]}]`), BadField, "adapters[0].targets", "nose", "not a known linear layer", "q_proj"},
	{"an adapter of no format", on(`"adapters":[{"rank":8,"format":"x9"}]`), BadField, "adapters[0].format", "x9", "not a known format", "bf16"},
	{"adapters without end", on(`"adapters":[` + strings.Repeat(`{"rank":8},`, 5000) + `{"rank":8}]`), BadField, "adapters", "5001", "5001 adapters", "at most"},
	{"images for the blind", on(`"images":4`), BadField, "images", "4", "sees no images", "leave images out"},
	{"images below nothing", on(`"images":-1`), BadField, "images", "-1", "negative", "from 1"},

	{"shared hardware that is missing", bare(`"also":[{"model":"llama-3.2-1b"}]`), BadField, "hardware", "", "missing", "rtx-4090"},
	{"an unknown model beside", on(`"also":[{"model":"llama-3.2-1b"},{"model":"x"}]`), UnknownModel, "also[1].model", "x", "no model called", "memwall models"},
	{"a plan that cannot be beside", on(`"also":[{"model":"llama-3.1-8b","tp":3}]`), ImpossiblePlan, "also[0].tp", "3", "does not divide", "--tp 2"},
	{"a field spelt wrong beside", on(`"also":[{"model":"llama-3.1-8b","contxt":3}]`), BadField, "also[0].contxt", "", "no field called", "did you mean: context"},
	{"a request beside that is none", on(`"also":[7]`), BadField, "also[0]", "", "not a JSON object", `{"ask":"fit"`},
	{"requests beside those beside", on(`"also":[{"model":"llama-3.1-8b","also":[{"model":"llama-3.1-8b"}]}]`), BadField, "also[0].also", "", "share nothing with further ones", "one also"},
	{"other hardware beside", on(`"also":[{"model":"llama-3.1-8b","hardware":"l4"}]`), BadField, "also[0].hardware", "l4", "not the hardware that is shared", "leave it out"},
	{"other devices beside", on(`"devices":1,"also":[{"model":"llama-3.1-8b","devices":4}]`), BadField, "also[0].devices", "4", "not the number that is shared", "leave it out"},
	{"another question beside", on(`"also":[{"ask":"compare","model":"llama-3.1-8b"}]`), BadField, "also[0].ask", "compare", "only fit requests", "fit"},
	{"requests without end beside", on(`"also":[` + strings.Repeat(`{"model":"llama-3.2-1b"},`, 40) + `{"model":"x"}]`), Limit, "also", "41", "41 requests", "at most 32"},
	{"one request beside, not a list", on(`"also":{"model":"x"}`), BadField, "also", `{"model":"x"}`, "not a list", `[{"ask"`},

	{"depth without end", bare(`"override":` + strings.Repeat(`{"a":`, 500000) + "1" + strings.Repeat("}", 500000)), Limit, "", "", "bytes", "1 MiB"},
	{"deep lists", bare(`"override":` + strings.Repeat("[", 100000)), Limit, "", "", "nests deeper than 16 levels, at byte", "flatten"},
	{"a name without end", `{"ask":"fit","model":"` + strings.Repeat("x", 100000) + `"}`, Limit, "model", strings.Repeat("x", 57) + "…", "100000 bytes", "at most 4096"},
	{"a field without end", `{"ask":"fit","` + strings.Repeat("y", 500000) + `":1}`, BadField, strings.Repeat("y", 57) + "…", "", "no field called", "memwall schema request"},
	{"a list", "[]", BadField, "", "", "it begins with [", `{"ask":"fit"`},
	{"nothing", "", BadField, "", "", "not a JSON object", `{"ask":"fit"`},
	{"null", "null", BadField, "", "", "not a JSON object", `{"ask":"fit"`},
	{"half a request", `{"ask":"fit","model"`, BadField, "model", "", "not JSON", "numbers such as"},
	{"a comma too many", `{"ask":"fit",}`, BadField, "", "", "not a JSON object", `{"ask":"fit"`},
	{"something behind", `{"ask":"fit","model":"llama-3.1-8b"} x`, BadField, "", "", `"x" follows it`, `{"ask":"fit"`},
}

// TestBadRequests: every one is refused at once, with the field, the value and what to do instead.
func TestBadRequests(t *testing.T) {
	for _, c := range badRequests {
		start := time.Now()
		_, err := askText(c.request)
		took := time.Since(start)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: accepted, or %v", c.name, err)
			continue
		}
		if e.Code != c.code || e.Field != c.field || c.value != "" && e.Value != c.value {
			t.Errorf("%s: %s of %q = %q, want %s of %q = %q", c.name, e.Code, e.Field, e.Value, c.code, c.field, c.value)
		}
		if !strings.Contains(e.Message, c.message) || !strings.Contains(e.Hint, c.hint) || e.Hint == "" {
			t.Errorf("%s: %q, and %q to do; want %q and %q", c.name, e.Message, e.Hint, c.message, c.hint)
		}
		if len(e.Message)+len(e.Hint)+len(e.Value)+len(e.Field) > 2000 || took > 5*time.Second {
			t.Errorf("%s: %d bytes of message after %s", c.name, len(e.Message), took)
		}
	}
}

// TestNotes: what is strange and not wrong is answered, with a note that says so.
func TestNotes(t *testing.T) {
	for _, c := range []struct{ request, code, field, says string }{
		{on(`"context":200000`), "beyond_trained_context", "context", "beyond the 131072 tokens"},
		{bare(`"devices":4`), "devices_ignored", "devices", "one device without bounds"},
		{on(`"engine":"vllm@99.0"`), "newer_engine", "engine", "is newer than"},
		{on(`"kv":"fp8"`), "default_used", "context", "context = 8192 by default"},
		{`{"ask":"fit","model":"llama-3.1-8b","hardware":"h100"}`, "default_used", "hardware", "read as"},
	} {
		a, err := askText(c.request)
		if err != nil {
			t.Errorf("%s: %v", c.request, err)
			continue
		}
		found := false
		for _, n := range a.Notes {
			found = found || n.Code == c.code && n.Field == c.field && strings.Contains(n.Text, c.says)
		}
		if !found || a.Verdict == "" {
			t.Errorf("%s: %s, notes %+v", c.request, a.Verdict, a.Notes)
		}
	}
}

// TestNumbersOfGo: what JSON cannot say, a program can; such plans are refused as well.
func TestNumbersOfGo(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for field, p := range map[string]plan.Plan{
		"gpu_memory_utilization":   {Serving: plan.Serving{GPUMemoryUtilization: &nan}},
		"mem_fraction_static":      {Serving: plan.Serving{MemFractionStatic: &inf}},
		"free_gpu_memory_fraction": {Serving: plan.Serving{FreeGPUMemoryFraction: &nan}},
		"acceptance":               {Acceptance: &inf},
		"context":                  {Context: math.MinInt64},
		"kv_cache_memory_bytes":    {Serving: plan.Serving{KVCacheMemory: math.MaxInt64}},
	} {
		_, err := Ask(&Request{Ask: "fit", Model: "llama-3.1-8b", Hardware: "h100", Plan: p})
		var e *Error
		if !errors.As(err, &e) || e.Code != BadField || e.Field != field || e.Value == "" || e.Hint == "" {
			t.Errorf("%s: %+v", field, err)
		}
	}
}

// addRequests are seeds: those that are refused and those that are not.
func addRequests(f *testing.F) {
	f.Helper()
	for _, c := range badRequests {
		if len(c.request) < 1000 {
			f.Add([]byte(c.request))
		}
	}
	for _, s := range goodRequests {
		f.Add([]byte(s))
	}
}

// FuzzDecode: any text gives a request or an *Error that says what to do, and a request that was read is
// written and read again as the same.
func FuzzDecode(f *testing.F) {
	addRequests(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Decode(data)
		if err != nil {
			checkError(t, err)
			return
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Decode(text)
		if err != nil {
			t.Fatalf("%s was read, and %s is not: %v", data, text, err)
		}
		if second, _ := json.Marshal(again); string(second) != string(text) {
			t.Fatalf("%s becomes %s", text, second)
		}
	})
}

// FuzzAsk: any request gives an answer with a verdict or an *Error that says what to do, within bounds of
// time.
func FuzzAsk(f *testing.F) {
	addRequests(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Decode(data)
		if err != nil {
			return
		}
		start := time.Now()
		a, err := Ask(r)
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s took %s", data, took)
		}
		if a == nil || a.Schema != Schema {
			t.Fatalf("%s: answer %+v", data, a)
		}
		if err != nil {
			checkError(t, err)
			return
		}
		checkAnswer(t, a)
	})
}

// checkError: an error is of the contract's form and says what to do.
func checkError(t *testing.T, err error) {
	t.Helper()
	e, ok := err.(*Error)
	if !ok || e.Code == "" || e.Message == "" || len(e.Message) > 6000 {
		t.Fatalf("%T %+v", err, err)
	}
	if e.Code == Internal {
		t.Fatalf("an error nobody explains: %+v", e)
	}
	if e.Hint == "" {
		t.Fatalf("no way out of %+v", e)
	}
}

// checkAnswer: an answer to fit has a verdict, ledgers that are not negative and sum to their totals, bands
// around their values, and can be written.
func checkAnswer(t *testing.T, a *Answer) {
	t.Helper()
	if a.Ask != "fit" {
		return
	}
	if _, err := json.Marshal(a); err != nil {
		t.Fatal(err)
	}
	switch a.Verdict {
	case Fits, Tight, DoesNotFit, Unknown:
	default:
		t.Fatalf("verdict %q", a.Verdict)
	}
	if len(a.Devices) == 0 && a.Host == nil {
		t.Fatal("an answer without a ledger")
	}
	for _, d := range a.Devices {
		checkDevice(t, &d)
	}
	checkRungs(t, a)
}

// checkRungs: a longer context takes no smaller cache, leaves room for no more users and falls no less short.
func checkRungs(t *testing.T, a *Answer) {
	t.Helper()
	for i := 1; i < len(a.Rungs); i++ {
		short, long := a.Rungs[i-1], a.Rungs[i]
		fewer := short.MaxUsers == nil || long.MaxUsers != nil && *long.MaxUsers <= *short.MaxUsers
		if long.Context/2 != short.Context || long.KVBytes < short.KVBytes || !fewer {
			t.Errorf("%s with %s: %+v (%v users), then %+v (%v users)", a.Model.ID, a.Plan.Engine, short, short.MaxUsers, long,
				long.MaxUsers)
		}
	}
}

func checkDevice(t *testing.T, d *Device) {
	t.Helper()
	var needed int64
	for _, it := range d.Ledger {
		if it.Bytes < 0 || it.Low > it.Bytes || it.High < it.Bytes || it.Low < 0 {
			t.Fatalf("%s: %d, from %d to %d", it.ID, it.Bytes, it.Low, it.High)
		}
		if it.ID != "pool_unused" {
			needed += int64(it.Bytes)
		}
	}
	if needed != int64(d.Needed) || d.NeededLow > d.Needed || d.NeededHigh < d.Needed || d.Used < d.Needed {
		t.Fatalf("%s: items of %d, needed %d (%d to %d), used %d", d.Name, needed, d.Needed, d.NeededLow, d.NeededHigh, d.Used)
	}
}

// goodRequests are read and answered.
var goodRequests = []string{
	`{"ask":"fit","model":"llama-3.1-8b"}`,
	`{"ask":"fit","model":"llama-3.1-70b","hardware":"2xh100","explain":true}`,
	`{"ask":"fit","model":"deepseek-v3","hardware":"8xh200","tp":8,"ep":8,"context":32768}`,
	`{"ask":"fit","model":"qwen3-next-80b-a3b","hardware":"4xh100","reserved_bytes":"2GiB","gpu_memory_utilization":0.9,"override":{"layers":24}}`,
	`{"ask":"fit","model":"gemma-3-12b","hardware":"rtx-4090+rtx-3060","engine":"llama.cpp","weights":"q4_k_m","tensor_split":"2,1","kv":"q8_0","attention":"flash"}`,
	`{"ask":"fit","model":"gpt-oss-120b","hardware":"rtx-4090","engine":"llama-server","cpu_moe":-1,"context_total":65536,"sequences":4}`,
	`{"ask":"fit","model":"mamba2-2.7b","hardware":"l4","engine":"transformers","sequences":64}`,
	`{"ask":"fit","model":"llama-3.1-8b","hardware":"h100","draft_model":"llama-3.2-1b","draft_tokens":4,"acceptance":0.7,"adapters":[{"rank":16,"targets":["q_proj","v_proj"]}]}`,
	`{"ask":"fit","model":"llama-3.1-8b","hardware":"h200","also":[{"model":"qwen3-32b","context":4096},{"model":"llama-3.2-1b"}]}`,
	`{"ask":"fit","model":"llama-3.1-70b","hardware":"h100","engine":"generic","offload":{"weights":"host","kv":"nvme"}}`,
	`{"ask":"fit","model":"gemma-3-27b","hardware":"name=x,memory=64GiB,bandwidth=1TB/s,host=128GiB@100GB/s","images":2}`,
	`{"ask":"fit","model":"llama-3.1-405b","hardware":"2xp5.48xlarge","pp":2,"tp":8,"engine":"sglang","mem_fraction_static":0.85}`,
	`{"ask":"fit","model":"llama-3.1-8b","hardware":"cpu","engine":"llama.cpp","devices":0,"context":1e4}`,
	`{"ask":"compare","text":"vLLM API server version 0.9.1"}`,
}

// TestGoodRequests: they are answered, and every answer keeps the laws.
func TestGoodRequests(t *testing.T) {
	for _, s := range goodRequests[:len(goodRequests)-1] {
		a, err := askText(s)
		if err != nil {
			t.Errorf("%s: %v", s, err)
			continue
		}
		checkAnswer(t, a)
		for _, b := range a.Also {
			checkAnswer(t, b)
		}
	}
}

// TestWholeNumbers: a whole number may be written in any form that JSON has, in every field.
func TestWholeNumbers(t *testing.T) {
	for _, f := range Fields() {
		kind := api.KindName(f.Type)
		if kind != "a whole number" {
			continue
		}
		for _, text := range []string{"20", "2e1", "2.0e1", "20.0", "200e-1"} {
			r, err := Decode(fmt.Appendf(nil, `{%q:%s}`, f.Name, text))
			if err != nil || f.Text(r) != "20" {
				t.Errorf("%s: %s is %v, %v", f.Name, text, r, err)
			}
		}
	}
}

// TestImagesNeedTheProjector: a GGUF file leaves the vision tower out, and the error says where it is.
func TestImagesNeedTheProjector(t *testing.T) {
	r := &Request{Ask: "fit", Model: "gemma-3-27b", Hardware: "rtx-4090"}
	r.Weights, r.Images = "q4_k_m", 1
	_, err := Ask(r)
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Field != "images" || !strings.Contains(e.Hint, "--mmproj") {
		t.Errorf("%v", err)
	}
}

// TestPagesAreOfAPowerOfTwo: vLLM has no others; tokens to draft without a model to draft them are said to come from the text.
func TestPagesAreOfAPowerOfTwo(t *testing.T) {
	r := &Request{Ask: "fit", Model: "llama-3.1-8b", Hardware: "h100"}
	r.BlockSize = 7
	if _, err := Ask(r); err == nil || !strings.Contains(err.Error(), "block_size = 7") {
		t.Errorf("%v", err)
	}
	r.BlockSize, r.DraftTokens = 32, 4
	a, err := Ask(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range a.Notes {
		if n.Code == "speculation" && strings.Contains(n.Text, "what the text repeats") {
			return
		}
	}
	t.Error("draft_tokens without draft_model is passed over")
}
