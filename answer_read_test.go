package memwall

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/workload"
)

// successes are questions of every kind that are answered.
func successes() map[string]*Request {
	load := &workload.Spec{Arrivals: "poisson", Rate: 1, Requests: 50}
	train := Request{Ask: api.AskTrain, Model: "llama-3.1-8b", Hardware: "h100"}
	train.Method = "qlora"
	return map[string]*Request{
		"fit":           {Ask: "fit", Model: "llama-3.1-8b", Hardware: "h100"},
		"fit, anywhere": {Ask: "fit", Model: "llama-3.1-8b"},
		"fit, files":    {Ask: "fit", Model: "qwen3-32b", Hardware: "rtx-4090", Plan: plan.Plan{Engine: "llama.cpp", Weights: "q4_k_m"}},
		"does not fit":  {Ask: "fit", Model: "llama-3.1-70b", Hardware: "rtx-4090"},
		"plan":          {Ask: api.AskPlan, Model: "qwen3-32b", Hardware: "rtx-4090"},
		"plan, goal": {Ask: api.AskPlan, Model: "llama-3.1-8b", Hardware: "h100", Plan: plan.Plan{TP: 1}, Workload: load,
			Goal: &Goal{TPOT: map[string]float64{"p99": 100}}},
		"pick":  {Ask: api.AskPick, Hardware: "rtx-4090"},
		"train": &train,
		"sim":   {Ask: api.AskSim, Model: "llama-3.1-8b", Hardware: "h100", Workload: load},
		"diff":  {Ask: api.AskDiff, Model: "llama-3.1-8b", Hardware: "h100", Change: map[string]any{"weights": "fp8"}},
		"compare": {Ask: api.AskCompare, Text: "INFO 01-01 00:00:00 [core.py:58] Initializing a V1 LLM engine (v0.11.0) with config: " +
			"model='meta-llama/Llama-3.1-8B-Instruct', dtype=torch.bfloat16, max_seq_len=8192, tensor_parallel_size=1\n" +
			"INFO 01-01 00:00:09 [gpu_model_runner.py:2653] Model loading took 14.9889 GiB and 2.0 seconds\n", Hardware: "h100"},
		"diagnose": {Ask: api.AskDiagnose, Text: "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a " +
			"total capacity of 23.65 GiB of which 1.10 GiB is free."},
	}
}

// readAll reads every exported field that can be written behind a value of the package, promoted ones too, and calls its methods
// without arguments. It counts what it read; a panic names the place.
func readAll(t *testing.T, at string, v reflect.Value) (n int) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s: %v", at, p)
		}
	}()
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			n = readAll(t, at, v.Elem())
		}
	case reflect.Slice:
		for i := range min(v.Len(), 3) {
			n += readAll(t, at+"[]", v.Index(i))
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			n += readAll(t, at+"[]", v.MapIndex(k))
		}
	case reflect.Struct:
		n = readStruct(t, at, v)
	}
	return n
}

func readStruct(t *testing.T, at string, v reflect.Value) (n int) {
	if !strings.HasPrefix(v.Type().PkgPath(), "github.com/memwall/memwall") {
		return 0
	}
	for _, f := range reflect.VisibleFields(v.Type()) {
		if f.IsExported() {
			n += 1 + readField(t, at+"."+f.Name, v, f)
		}
	}
	for i := range v.NumMethod() {
		if m := v.Type().Method(i); m.Type.NumIn() == 1 {
			callMethod(t, at+"."+m.Name, v.Method(i))
		}
	}
	return n
}

func readField(t *testing.T, at string, v reflect.Value, f reflect.StructField) int {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s panics: %v", at, p)
		}
	}()
	return readAll(t, at, v.FieldByIndex(f.Index))
}

func callMethod(t *testing.T, at string, m reflect.Value) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s() panics: %v", at, p)
		}
	}()
	m.Call(nil)
}

// TestAnswersCanBeRead: whatever is asked, every field of the answer can be named without a panic, and JSON and back is the same JSON.
func TestAnswersCanBeRead(t *testing.T) {
	asks := map[string]bool{}
	for name, r := range successes() {
		a, err := Ask(r)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		asks[r.Ask] = true
		if n := readAll(t, "Answer", reflect.ValueOf(a)); n < 50 {
			t.Errorf("%s: only %d fields are read", name, n)
		}
		text, err := json.Marshal(a)
		var back Answer
		if err != nil || json.Unmarshal(text, &back) != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if again, err := json.Marshal(&back); err != nil || string(again) != string(text) {
			t.Errorf("%s is other JSON when it was read: %v\n%s\n%s", name, err, text, again)
		}
		if (a.Simulated != nil) != (r.Ask == api.AskSim) || (a.Diagnosed != nil) != (r.Ask == api.AskDiagnose) {
			t.Errorf("%s: simulated %v, diagnosed %v", name, a.Simulated != nil, a.Diagnosed != nil)
		}
	}
	if len(asks) != 8 {
		t.Errorf("of the eight questions only %v are asked", asks)
	}
}

// TestReadingFindsPanics: a nil pointer that is embedded is what the test is for.
func TestReadingFindsPanics(t *testing.T) {
	type inner struct{ Pool Waste }
	type outer struct{ *inner }
	f, _ := reflect.TypeFor[outer]().FieldByName("Pool")
	defer func() {
		if recover() == nil {
			t.Error("a field behind a nil pointer is read")
		}
	}()
	reflect.ValueOf(outer{}).FieldByIndex(f.Index)
}
