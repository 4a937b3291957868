package memwall_test

import (
	"fmt"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/workload"
)

// ask answers a question; what goes wrong is printed, and is then not the output of an example.
func ask(r memwall.Request) *memwall.Answer {
	a, err := memwall.Ask(&r)
	if err != nil {
		fmt.Println(err)
	}
	return a
}

func ExampleAsk_fit() {
	r := memwall.Request{Ask: "fit", Model: "llama-3.1-8b", Hardware: "rtx-4090", Plan: plan.Plan{Context: 8192, Weights: "bf16"}}
	a, err := memwall.Ask(&r)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a.Verdict, int64(a.Model.WeightsBytes), int64(a.KV.BytesPerToken))
	// Output: fits 16060522496 131072
}

func ExampleAsk_plan() {
	a := ask(memwall.Request{Ask: "plan", Model: "qwen3-32b", Hardware: "rtx-4090", Plan: plan.Plan{Context: 8192}})
	fmt.Println(a.Best.Verdict)
	// Output: fits
}

func ExampleAsk_pick() {
	a := ask(memwall.Request{Ask: "pick", Hardware: "rtx-3060"})
	fmt.Println(len(a.Picks) > 0)
	// Output: true
}

func ExampleAsk_train() {
	r := memwall.Request{Ask: "train", Model: "llama-3.1-8b", Hardware: "rtx-4090"}
	r.Method = "qlora"
	a := ask(r)
	fmt.Println(a.Verdict, a.PerDevice.PeakPhase)
	// Output: fits forward and loss
}

func ExampleAsk_sim() {
	r := memwall.Request{Ask: "sim", Model: "llama-3.1-8b", Hardware: "h100"}
	r.Workload = &workload.Spec{Rate: 2, Requests: 200}
	a := ask(r)
	fmt.Println(a.Simulated.Holds, a.Simulated.Requests.Finished)
	// Output: true 200
}

func ExampleAsk_diff() {
	change := map[string]any{"weights": "fp8"}
	a := ask(memwall.Request{Ask: "diff", Model: "llama-3.1-8b", Hardware: "h100", Change: change})
	for _, f := range a.Diff.Fields {
		fmt.Println(f.Field, f.A, f.B)
	}
	// Output: weights bf16 fp8
}

func ExampleAsk_compare() {
	log := "INFO [gpu_model_runner.py:2653] Model loading took 14.9889 GiB and 2.0 seconds"
	r := memwall.Request{Ask: "compare", Model: "llama-3.1-8b", Hardware: "h100", Text: log}
	r.Engine = "vllm@0.11"
	for _, line := range ask(r).Compare {
		if line.Printed != nil {
			fmt.Printf("%s: %.2f printed, %.2f predicted\n", line.Name, *line.Printed, *line.Ours)
		}
	}
	// Output: Model loading took: 14.99 printed, 14.99 predicted
}

func ExampleAsk_diagnose() {
	text := "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
	a := ask(memwall.Request{Ask: "diagnose", Text: text})
	fmt.Println(a.Diagnosed.Kind, int64(*a.Diagnosed.Requested))
	// Output: device_memory 2147483648
}
