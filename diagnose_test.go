package memwall

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/diagnose"
	"github.com/memwall/memwall/internal/diagnose/cause"
	"github.com/memwall/memwall/unit"
)

// torchOOM is PyTorch's message with a size that was asked for.
func torchOOM(asked string) string {
	return "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate " + asked + ". GPU 0 has a total capacity of 23.52 GiB of " +
		"which 12.25 MiB is free. Including non-PyTorch memory, this process has 23.50 GiB memory in use. Of the allocated memory 22.91 " +
		"GiB is allocated by PyTorch, and 130.02 MiB is reserved by PyTorch but unallocated."
}

func with(t testing.TB, fields string) Request {
	t.Helper()
	r, err := Decode([]byte(fields))
	if err != nil {
		t.Fatal(err)
	}
	return *r
}

// sft is a plan of training whose allocations have sizes of their own.
const sft = `{"ask":"diagnose","model":"llama-3.1-8b","hardware":"rtx-4090","method":"lora","micro_batch":3,"sequence_length":3072,"attention":"eager"}`

// TestCauses: which allocation it was, and how sure that is.
func TestCauses(t *testing.T) {
	for _, c := range []struct{ name, text, fields, cause, confidence string }{
		// 3 × 3072 × 128256 × 4 B = 4.403 GiB; 3 × 32 × 3072² × 2 B = 1.6875 GiB; 3 × 3072 × 14336 × 2 B = 252 MiB
		{"logits", torchOOM("4.40 GiB"), sft, "fp32 logits: 3 × 3,072 × 128,256 × 4 B = 4.40 GiB exactly", cause.ConfidenceHigh},
		{"logits, in the loss", "  File \"t.py\", line 1, in f\n    F.cross_entropy(x, y)\n" + torchOOM("4.40 GiB"), sft,
			"fp32 logits: 3 × 3,072 × 128,256 × 4 B", cause.ConfidenceHigh},
		{"scores", torchOOM("1.69 GiB"), sft, "the matrix of attention scores: 3 × 32 heads × 3,072 × 3,072 × 2 B = 1.69 GiB exactly",
			cause.ConfidenceHigh},
		{"MLP", torchOOM("252.00 MiB"), sft, "the MLP's intermediate: 3 × 3,072 × 14,336 × 2 B = 0.25 GiB exactly", cause.ConfidenceHigh},
		{"tokens that nobody gave", "  File \"t.py\", line 1, in f\n    F.cross_entropy(x, y)\n" + torchOOM("6.85 GiB"), sft,
			"fp32 logits of 14,336 tokens", cause.ConfidenceLow},
		{"larger than the device", torchOOM("31.00 GiB"), "{}", "one allocation of 31.00 GiB is larger than the whole device (23.52 GiB)",
			cause.ConfidenceHigh},
		{"in pieces", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.52 GiB " +
			"of which 1.10 GiB is free. Of the allocated memory 15.10 GiB is allocated by PyTorch, and 6.70 GiB is reserved by PyTorch " +
			"but unallocated.", "{}", "fragmented: PyTorch keeps 6.70 GiB", cause.ConfidenceHigh},
		{"others", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.52 GiB of " +
			"which 1.10 GiB is free. Process 12 has 18.00 GiB memory in use. Including non-PyTorch memory, this process has 4.42 GiB " +
			"memory in use. Of the allocated memory 4.10 GiB is allocated by PyTorch, and 0 bytes is reserved by PyTorch but unallocated.",
			"{}", "other processes hold 18.00 GiB of the device's 23.52 GiB", cause.ConfidenceHigh},
		{"nothing of its own", "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 978.00 MiB. GPU 0 has a total capacity of " +
			"15.98 GiB of which 612.00 MiB is free. Of the allocated memory 0 bytes is allocated by PyTorch, and 0 bytes is reserved by " +
			"PyTorch but unallocated.", "{}", "this process holds nothing", cause.ConfidenceHigh},
		{"bare", "RuntimeError: CUDA error: out of memory", "{}", "the device is full", cause.ConfidenceLow},
		{"not memory", "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 147456, Hardware limit: 101376.",
			"{}", "no lack of device memory", cause.ConfidenceHigh},
		{"killed", "command terminated with exit code 137", "{}", "signal 9", cause.ConfidenceLow},
	} {
		fields := c.fields
		if fields == "{}" {
			fields = `{"ask":"diagnose"}`
		}
		a, err := Diagnose(c.text, with(t, fields))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if !strings.Contains(a.Diagnosed.Cause, c.cause) || a.Diagnosed.Confidence != c.confidence {
			t.Errorf("%s: %q (%s), want %q (%s)", c.name, a.Diagnosed.Cause, a.Diagnosed.Confidence, c.cause, c.confidence)
		}
	}
}

// TestBufferIsMatched: llama.cpp's buffers are found in the ledger by their size, each one.
func TestBufferIsMatched(t *testing.T) {
	fields := `{"ask":"fit","model":"llama-3.1-8b","weights":"q4_k_m","engine":"llama-server","hardware":"rtx-3060","context":131072}`
	r := with(t, fields)
	fit, err := Ask(&r)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, it := range fit.Devices[0].Ledger {
		if it.Bytes < unit.MiB || it.ID != "kv_cache" && it.ID != "compute" && it.ID != "weights" {
			continue
		}
		n++
		text := fmt.Sprintf("ggml_backend_cuda_buffer_type_alloc_buffer: allocating %.2f MiB on device 0: cudaMalloc failed: out of "+
			"memory\nggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size %d", it.Bytes.MiB(), int64(it.Bytes))
		a, err := Diagnose(text, with(t, strings.Replace(fields, `"fit"`, `"diagnose"`, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Diagnosed.Matches) == 0 || a.Diagnosed.Matches[0].Name != it.Name || !a.Diagnosed.Matches[0].Exact ||
			a.Diagnosed.Confidence == cause.ConfidenceLow {
			t.Errorf("%s of %d: %+v", it.Name, it.Bytes, a.Diagnosed.Matches)
		}
	}
	if n < 3 {
		t.Errorf("only %d buffers", n)
	}
}

// TestFixesHold: a fix with a verdict is one that was asked: applied to the plan, it saves what it says.
func TestFixesHold(t *testing.T) {
	logs := map[string]string{
		"training": sft,
		"vllm":     `{"ask":"diagnose","model":"llama-3.1-70b","hardware":"2xh100","engine":"vllm","tp":2}`,
		"llama":    `{"ask":"diagnose","model":"qwen3-32b","weights":"q4_k_m","hardware":"rtx-4090","engine":"llama-server","context":65536}`,
	}
	texts := map[string]string{"training": torchOOM("4.40 GiB"), "vllm": torchOOM("1.10 GiB"),
		"llama": "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 9216.00 MiB on device 0: cudaMalloc failed: out of memory"}
	for name, fields := range logs {
		a, err := Diagnose(texts[name], with(t, fields))
		if err != nil {
			t.Fatal(name, err)
		}
		tried := 0
		for _, f := range a.Diagnosed.Fixes {
			if f.Verdict == "" {
				continue
			}
			tried++
			saves, verdict := applied(t, a, &f)
			if saves != *f.Saves || verdict != f.Verdict {
				t.Errorf("%s: %s saves %d and %s, said %d and %s", name, f.Text, saves, verdict, *f.Saves, f.Verdict)
			}
		}
		if tried < 2 || a.Diagnosed.Command == "" {
			t.Errorf("%s: %d fixes were asked, command %q", name, tried, a.Diagnosed.Command)
		}
	}
}

// applied asks the plan with a fix.
func applied(t *testing.T, a *Answer, f *Fix) (unit.Bytes, Verdict) {
	t.Helper()
	ask := a.Diagnosed.Asked
	r, err := Patch(ask, f.Patch)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Ask(r)
	if err != nil {
		t.Fatalf("%s: %v", f.Text, err)
	}
	return a.Devices[0].Needed - b.Devices[0].Needed, b.Verdict
}

// TestMessageFixes: figures of a message alone give a fix with a patch.
func TestMessageFixes(t *testing.T) {
	for _, c := range []struct{ text, field, value, command string }{
		{"ValueError: To serve at least one request with the model's max seq len (40960), 5.00 GiB KV cache is needed, which is larger " +
			"than the available KV cache memory (2.50 GiB). Based on the available memory, the estimated maximum model length is 20464.",
			"context", "20464", "--max-model-len 20464"},
		{"ValueError: To serve at least one request with the models's max seq len (32768), (4.00 GiB KV cache is needed, which is larger " +
			"than the available KV cache memory (1.00 GiB).", "context", "8192", "--max-model-len 8192"},
		{"ValueError: Free memory on device (60.02/79.18 GiB) on startup is less than desired GPU memory utilization (0.9, 71.26 GiB).",
			"gpu_memory_utilization", "0.75", "--gpu-memory-utilization 0.75"},
	} {
		a, err := Diagnose(c.text, Request{})
		if err != nil {
			t.Fatal(err)
		}
		if f := a.Diagnosed.Fixes[0]; fmt.Sprint(f.Patch[c.field]) != c.value || f.Saves == nil ||
			!strings.Contains(a.Diagnosed.Command, c.command) {
			t.Errorf("%q: %+v, %q", c.text[:40], f, a.Diagnosed.Command)
		}
	}
}

// TestEngineIsGiven: a message of PyTorch is that of the engine that is given, and of PyTorch without.
func TestEngineIsGiven(t *testing.T) {
	for fields, want := range map[string]string{`{"ask":"diagnose"}`: "pytorch", `{"ask":"diagnose","engine":"sglang@0.5"}`: "sglang"} {
		if a, err := Diagnose(torchOOM("1.00 GiB"), with(t, fields)); err != nil || a.Diagnosed.Engine != want {
			t.Errorf("%s: %v, want %s (%v)", fields, a.Diagnosed.Engine, want, err)
		}
	}
}

// TestNoFailure: an ordinary text has the kind none, and no cause is made up.
func TestNoFailure(t *testing.T) {
	a, err := Diagnose("INFO all is well\n", Request{})
	if err != nil || a.Diagnosed.Kind != diagnose.None || len(a.Diagnosed.Fixes) > 0 || a.Diagnosed.Confidence != "" {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestDiagnoseRefuses: what is wrong is named; a text that is none, fields of other questions, a model that is unknown.
func TestDiagnoseRefuses(t *testing.T) {
	for _, c := range []struct{ text, fields, code, field string }{
		{strings.Repeat("\x00\x01\x02\xff", 64), `{"ask":"diagnose"}`, BadFile, "text"}, {"", `{"ask":"diagnose"}`, BadFile, "text"},
		{torchOOM("1.00 GiB"), `{"ask":"diagnose","model":"llama-3.1-9b"}`, UnknownModel, "model"}, {torchOOM("1.00 GiB"), `{"ask":"diagnose","model":"llama-3.1-8b","hardware":"rtx-9999"}`, UnknownHardware, "hardware"},
		{torchOOM("1.00 GiB"), `{"ask":"diagnose","goal":{"minimize":"cost"}}`, BadField, "goal"}, {torchOOM("1.00 GiB"), `{"ask":"diagnose","model":"llama-3.1-8b","hardware":"rtx-4090","micro_batch":1,"tp":3}`, ImpossiblePlan, "tp"},
	} {
		_, err := Diagnose(c.text, with(t, c.fields))
		if e := api.AsError(err); err == nil || e.Code != c.code || e.Field != c.field {
			t.Errorf("%s: %q in %q, %v", c.fields, e.Code, e.Field, err)
		}
	}
}

// TestTextNamesNoFile: what a text calls its model is looked up in the catalog alone.
func TestTextNamesNoFile(t *testing.T) {
	var asked []string
	a := &Asker{Models: sourceFunc(func(ref string) (*Resolved, error) { asked = append(asked, ref); return nil, fmt.Errorf("no") })}
	text := "python train.py --model_name_or_path /etc/passwd --per_device_train_batch_size 2 --max_seq_length 512\nllama-server -m " +
		"/root/secret.gguf -c 4096\n" + torchOOM("1.00 GiB")
	if _, err := a.Diagnose(strings.NewReader(text), Request{}); err != nil {
		t.Fatal(err)
	}
	if len(asked) > 0 {
		t.Errorf("%q were opened", asked)
	}
}

// TestNoSecretIsAnswered: no field of the answer holds what was secret in the text.
func TestNoSecretIsAnswered(t *testing.T) {
	secret := "hf_abcdefghijklmnopqrstuvwxyz"
	text := "vllm serve meta-llama/Llama-3.1-8B --api-key " + secret + " --max-model-len 8192\nHF_TOKEN=" + secret +
		" torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB. token=" + secret
	a, err := Diagnose(text, with(t, `{"ask":"diagnose","hardware":"rtx-4090"}`))
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(a)
	if err != nil || strings.Contains(string(data), secret) || a.Plan != nil && a.Plan.Text != "" {
		t.Errorf("%s %v", data, err)
	}
}

func BenchmarkDiagnose(b *testing.B) {
	for name, fields := range map[string]string{
		"message": `{"ask":"diagnose"}`, "training": sft, "vllm": `{"ask":"diagnose","model":"llama-3.1-8b","hardware":"rtx-4090","engine":"vllm","context":32768}`,
		"llama.cpp": `{"ask":"diagnose","model":"qwen3-32b","weights":"q4_k_m","hardware":"rtx-4090","engine":"llama-server","context":65536}`,
	} {
		r := with(b, fields)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Diagnose(torchOOM("4.40 GiB"), r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// FuzzDiagnosis: any text has an answer or an error of the contract, with a plan of a server, of training, or none.
func FuzzDiagnosis(f *testing.F) {
	for _, text := range []string{
		torchOOM("4.40 GiB"), torchOOM("0.00 GiB"), "deepspeed --x\n" + torchOOM("9999999999 GiB"),
		"vllm serve meta-llama/Llama-3.1-8B --max-model-len 0\n" + torchOOM("1.00 GiB"),
		"python train.py --model_name_or_path meta-llama/Llama-3.1-8B --per_device_train_batch_size 99999999 --max_seq_length 99999999 " +
			"--zero_stage 3\nloss.backward()\n" + torchOOM("1.00 GiB"),
		"ValueError: To serve at least one request with the model's max seq len (0), 0.00 GiB KV cache is needed, which is larger than " +
			"the available KV cache memory (-1 GiB)",
		"ValueError: Free memory on device (0/0 GiB) on startup is less than desired GPU memory utilization (0.9, 71.26 GiB).", "OOMKilled",
		"memory_allocated: 1 GiB\nmemory_allocated: 2 GiB",
	} {
		f.Add(text)
	}
	plans := []Request{{}, with(f, sft), with(f, `{"ask":"diagnose","model":"qwen3-30b-a3b","hardware":"2xrtx-4090","engine":"llama-server"}`), with(f, `{"ask":"diagnose","model":"llama-3.1-8b","hardware":"h100","engine":"vllm"}`)}
	f.Fuzz(func(t *testing.T, text string) {
		for _, p := range plans {
			a, err := Diagnose(text, p)
			switch {
			case err != nil && a.Error == nil, err == nil && a.Diagnosed.Kind == "":
				t.Fatalf("%v %+v", err, a)
			case err == nil && a.Diagnosed.Kind != diagnose.None &&
				(a.Diagnosed.Cause == "" || a.Diagnosed.Confidence == "" || len(a.Diagnosed.Found) == 0):
				t.Fatalf("%+v", a.Diagnosed)
			}
		}
	})
}
