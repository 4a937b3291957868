package memwall

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/sim"
	"github.com/memwall/memwall/snapshot"
	"github.com/memwall/memwall/workload"
)

const modulePrefix = "github.com/memwall/memwall"

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
	if !strings.HasPrefix(v.Type().PkgPath(), modulePrefix) {
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

// answerTypes are the structs of this module that a type leads to.
func answerTypes(t reflect.Type, seen map[reflect.Type]bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		answerTypes(t.Elem(), seen)
	case reflect.Struct:
		if seen[t] || !strings.HasPrefix(t.PkgPath(), modulePrefix) {
			return
		}
		seen[t] = true
		for _, f := range reflect.VisibleFields(t) {
			if f.IsExported() {
				answerTypes(f.Type, seen)
			}
		}
	}
}

// readEmpty reads a value without any of its optional parts: fields, methods without arguments, as text and as JSON.
func readEmpty(t *testing.T, of reflect.Type) {
	t.Helper()
	v := reflect.New(of)
	readAll(t, of.String(), v)
	for i := range v.NumMethod() {
		if m := v.Type().Method(i); m.Type.NumIn() == 1 {
			callMethod(t, of.String()+"."+m.Name, v.Method(i))
		}
	}
	if text := fmt.Sprintf("%v %+v", v.Interface(), v.Elem().Interface()); strings.Contains(text, "PANIC=") {
		t.Errorf("an empty %s prints %s", of, text)
	}
	if _, err := json.Marshal(v.Interface()); err != nil && !strings.Contains(err.Error(), "unsupported type: func") {
		t.Errorf("an empty %s is not JSON: %v", of, err)
	}
}

// TestEmptyAnswersCanBeRead: no part of an answer needs another to be there, in any type that an answer leads to.
func TestEmptyAnswersCanBeRead(t *testing.T) {
	seen := map[reflect.Type]bool{}
	for _, of := range []reflect.Type{reflect.TypeFor[Answer](), reflect.TypeFor[Roof](), reflect.TypeFor[Roofline](), reflect.TypeFor[Launch](),
		reflect.TypeFor[Progress](), reflect.TypeFor[sim.Result](), reflect.TypeFor[snapshot.Report]()} {
		answerTypes(of, seen)
	}
	if len(seen) < 60 {
		t.Errorf("only %d types are seen", len(seen))
	}
	for of := range seen {
		readEmpty(t, of)
		for _, f := range reflect.VisibleFields(of) {
			if f.Anonymous && f.Type.Kind() == reflect.Pointer {
				t.Errorf("%s embeds %s, which may be nil: naming its fields panics", of, f.Type)
			}
		}
	}
}
