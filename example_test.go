package memwall_test

import (
	"fmt"
	"log"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/workload"
)

// Each example stands by itself, in ten lines and fewer: a test holds them to it.

func ExampleAsk_fit() {
	r := &memwall.Request{Ask: "fit", Model: "llama-3.1-8b", Hardware: "rtx-4090"}
	r.Context, r.Weights = 8192, "bf16"
	a, err := memwall.Ask(r)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Verdict, a.Model.WeightsBytes, a.KV.BytesPerToken)
	// Output: fits 14.96 GiB 128.0 KiB
}

func ExampleAsk_plan() {
	a, err := memwall.Ask(&memwall.Request{Ask: "plan", Model: "qwen3-32b", Hardware: "rtx-4090"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Best.Verdict, a.Best.Plan.Weights)
	// Output: fits q4_k_m
}

func ExampleAsk_goal() {
	r := &memwall.Request{Ask: "plan", Model: "llama-3.1-8b", Hardware: "h100"}
	r.Workload = &workload.Spec{Rate: 2, Requests: 200}
	r.Goal = &memwall.Goal{TTFT: map[string]float64{"p99": 1000}} // in milliseconds
	a, err := memwall.Ask(r)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Best.Verdict, a.Best.Fleet.Replicas)
	// Output: fits 1
}

func ExampleAsk_pick() {
	a, err := memwall.Ask(&memwall.Request{Ask: "pick", Hardware: "rtx-3060"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(a.Picks) > 0)
	// Output: true
}

func ExampleAsk_train() {
	r := &memwall.Request{Ask: "train", Model: "llama-3.1-8b", Hardware: "rtx-4090"}
	r.Method = "qlora"
	a, err := memwall.Ask(r)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Verdict, a.PerDevice.PeakPhase)
	// Output: fits forward and loss
}

func ExampleAsk_sim() {
	r := &memwall.Request{Ask: "sim", Model: "llama-3.1-8b", Hardware: "h100"}
	r.Workload = &workload.Spec{Rate: 2, Requests: 200}
	a, err := memwall.Ask(r)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Simulated.Holds, a.Simulated.Requests.Finished)
	// Output: true 200
}

func ExampleAsk_diff() {
	r := &memwall.Request{Ask: "diff", Model: "llama-3.1-8b", Hardware: "h100"}
	r.Change = map[string]any{"weights": "fp8"}
	a, err := memwall.Ask(r)
	if err != nil {
		log.Fatal(err)
	}
	f := a.Diff.Fields[0]
	fmt.Println(f.Field, f.A, f.B)
	// Output: weights bf16 fp8
}

func ExampleAsk_compare() {
	r := &memwall.Request{Ask: "compare", Model: "llama-3.1-8b", Hardware: "h100"}
	r.Engine = "vllm@0.11"
	r.Text = "INFO [gpu_model_runner.py:2653] Model loading took 14.9889 GiB and 2.0 seconds"
	a, err := memwall.Ask(r)
	if err != nil {
		log.Fatal(err)
	}
	line := a.Compare[0]
	fmt.Printf("%s: %.2f printed, %.2f predicted\n", line.Name, *line.Printed, *line.Ours)
	// Output: Model loading took: 14.99 printed, 14.99 predicted
}

func ExampleAsk_diagnose() {
	r := &memwall.Request{Ask: "diagnose"}
	r.Text = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
	a, err := memwall.Ask(r)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Diagnosed.Kind, *a.Diagnosed.Requested)
	// Output: device_memory 2.00 GiB
}
