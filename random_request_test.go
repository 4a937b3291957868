package memwall

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/plan"
)

// words that random requests choose from, by field.
var randomWords = map[string][]string{
	"engine": {"vllm", "vllm@0.6", "vllm@0.19", "sglang", "sglang@0.4", "tensorrt-llm", "llama.cpp", "llama.cpp@b3000",
		"llama-server", "ollama", "transformers", "generic", "ik_llama.cpp", "mlx-lm", "exllamav2", "exllamav3", "tgi", "lmdeploy",
		"ktransformers", "mlc", "no-engine"},
	"weights":      {"bf16", "fp8", "awq", "nf4", "q4_k_m", "q8_0", "iq2_xs", "mxfp4", "nvfp4", "f32", "no-format"},
	"kv":           {"bf16", "fp8", "q8_0", "q4_0", "f32", "int4", "no-format"},
	"kv_v":         {"bf16", "fp8", "q8_0", "q4_0"},
	"draft_model":  {"llama-3.2-1b", "qwen3-0.6b", "gpt-oss-20b", "mamba2-2.7b", "no-model"},
	"tensor_split": {"1", "3,1", "0,0", "1,1,1,1", "-1,2", "1e300,1", ",", "nan,1"},
	"override_tensor": {
		"exps=CPU", `\.ffn_.*_exps\.=CPU`, "blk=CUDA0,out=CPU", "(=CPU", "x=", "=", ".*=CPU",
	},
	"mmproj":     {"mmproj.gguf", "x"},
	"fit_target": {"1024", "0,512", "x", ",", "-1", "99999999999999999999"},
	"draft_kv":   {"q8_0", "f16", "no-format"}, "draft_kv_v": {"q4_0", "f16"},
}

var randomHardware = []string{
	"h100", "8xh100", "2xrtx-4090", "rtx-4090+rtx-3060", "b200+l4+h100", "m4-max", "cpu", "cpu,host=64GiB@50GB/s", "mi300x",
	"2xp5.48xlarge", "1000000xh100", "rtx-3060-12gb", "gaudi-3", "tpu-v5e", "",
	"name=x,memory=1MiB", "name=x,memory=1PiB", "4xname=x,memory=24GiB,bandwidth=1TB/s,host=8GiB@20GB/s,nvme=1TB@5GB/s",
}

// numbers of plans that could be, and numbers of any kind.
var (
	saneNumbers   = []int64{1, 2, 4, 8, 16, 64, 256, 1000, 4096, 20000}
	randomNumbers = []int64{-1, 0, 1, 2, 3, 4, 7, 8, 32, 100, 512, 2048, 8192, 32768, 131072, 1 << 20, 1<<20 + 1, 1 << 24, 1 << 30, 1 << 40,
		1<<63 - 1}
)

// apart are fields that make little sense by chance: one is chosen before, and the others ask for what few devices or drafts have.
var apart = map[string]bool{"engine": true, "cp": true, "backend": true, "draft_steps": true, "draft_branches": true, "acceptance_at": true,
	"acceptance_length": true, "draft_method": true}

// randomRequest is a request with some fields set to anything that their types allow; two of three have
// fields and numbers that suit their engine.
func randomRequest(r *rand.Rand, ids []string) *Request {
	out := &Request{Ask: "fit", Model: ids[r.IntN(len(ids))], Hardware: randomHardware[r.IntN(len(randomHardware))],
		Explain: r.IntN(4) == 0}
	sane, numbers := r.IntN(3) > 0, randomNumbers
	if sane {
		numbers = saneNumbers
		out.Engine = Engines()[r.IntN(len(Engines()))]
	}
	some := 1 + r.IntN(8)
	for _, f := range Fields() {
		if !f.OfAsk("fit") {
			continue
		}
		switch {
		case slices.Contains([]string{"ask", "model", "hardware", "also", "text", "devices", "explain"}, f.Name):
		case sane && (apart[f.Name] || !f.OwnedBy(out.Engine)):
		case r.IntN(40) < some:
			f.Value(out).Set(randomValue(r, &f, numbers))
		}
	}
	return out
}

func randomValue(r *rand.Rand, f *Field, numbers []int64) reflect.Value {
	t := f.Type
	if t.Kind() == reflect.Pointer {
		p := reflect.New(t.Elem())
		inner := *f
		inner.Type = t.Elem()
		p.Elem().Set(randomValue(r, &inner, numbers))
		return p
	}
	v := reflect.New(t).Elem()
	switch words := append(f.Enum, randomWords[f.Name]...); {
	case t.Kind() == reflect.String && len(words) > 0:
		v.SetString(words[r.IntN(len(words))])
	case t.Kind() == reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case t.Kind() == reflect.Int64:
		v.SetInt(numbers[r.IntN(len(numbers))])
	case t.Kind() == reflect.Float64:
		v.SetFloat([]float64{0, 0.001, 0.3, 0.5, 0.9, 0.99, 1, 2}[r.IntN(8)])
	case f.Name == "offload":
		places := []string{"", "none", "host", "nvme"}
		v.Set(reflect.ValueOf(plan.Offload{Weights: places[r.IntN(4)], KV: places[r.IntN(4)], Experts: places[r.IntN(4)]}))
	case f.Name == "adapters":
		for range r.IntN(3) {
			v.Set(
				reflect.Append(v,
					reflect.ValueOf(plan.Adapter{Rank: plan.Int(numbers[r.IntN(len(numbers))]),
						Format: []string{"", "bf16", "f32", "q4_k"}[r.IntN(4)]})))
		}
	case f.Name == "override":
		m := map[string]plan.Int{}
		for range r.IntN(3) {
			m[question.OverrideNames()[r.IntN(len(question.OverrideNames()))]] = plan.Int(numbers[r.IntN(len(numbers))])
		}
		v.Set(reflect.ValueOf(m))
	}
	return v
}

// askRandom asks a random request: an answer keeps the laws, an error says what to do, both at once, and the
// plan that an answer writes back is one that can be asked.
func askRandom(t *testing.T, seed uint64, ids []string) (answered bool) {
	t.Helper()
	r := randomRequest(rand.New(rand.NewPCG(seed, 1)), ids)
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	where := fmt.Sprintf("seed %d: %s", seed, text)
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s: %v", where, p)
			panic(p)
		}
	}()
	start := time.Now()
	a, err := asker().Ask(r)
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("%s: %s", where, took)
	}
	if err != nil {
		checkErrorOf(t, where, err)
		return false
	}
	checkAnswer(t, a)
	checkFormulas(t, r, a)
	askBack(t, where, a)
	return !t.Failed()
}

// askBack: the plan that an answer writes back, with every default filled in, is the same plan.
func askBack(t *testing.T, where string, a *Answer) {
	t.Helper()
	b, err := asker().Size(a.Plan)
	if err != nil {
		t.Errorf("%s: its own plan is refused: %v", where, err)
		return
	}
	if b.Verdict != a.Verdict || b.Devices[0].Needed != a.Devices[0].Needed || b.Devices[0].Usable != a.Devices[0].Usable ||
		b.Devices[0].Used != a.Devices[0].Used {
		t.Errorf("%s: %s, %d of %d; its own plan %s, %d of %d", where, a.Verdict, a.Devices[0].Needed, a.Devices[0].Usable, b.Verdict,
			b.Devices[0].Needed, b.Devices[0].Usable)
	}
}

func checkErrorOf(t *testing.T, where string, err error) {
	t.Helper()
	e, ok := err.(*Error)
	if !ok || e.Code == "" || e.Code == Internal || e.Message == "" || e.Hint == "" || e.Field == "" {
		t.Errorf("%s: %T %+v", where, err, err)
	}
}

// TestRandomRequests: whatever is asked is answered or refused in the contract's form.
func TestRandomRequests(t *testing.T) {
	ids := catalog.IDs()
	answered := 0
	for seed := range uint64(2200) {
		if askRandom(t, seed, ids) {
			answered++
		}
	}
	if answered < 350 {
		t.Errorf("only %d are answered", answered)
	}
}

// FuzzPlan: the same for any seed.
func FuzzPlan(f *testing.F) {
	ids := catalog.IDs()
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { askRandom(t, seed, ids) })
}
