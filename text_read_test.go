package memwall_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/memwall/memwall"
)

// TestAskText: a configuration or a command in text says the plan, fields count over it, and what is not counted is a note.
func TestAskText(t *testing.T) {
	a, err := memwall.Ask(&memwall.Request{Ask: "train", Hardware: "rtx-4090",
		Text: "base_model: meta-llama/Llama-3.1-8B\nadapter: qlora\nload_in_4bit: true\nlora_r: 16\nsequence_len: " +
			"2048\nmicro_batch_size: 2\nlora_on_cpu: true\n"})
	if err != nil {
		t.Fatal(err)
	}
	if p := a.Plan; p.Framework != "axolotl" || p.Method != "qlora" || p.SequenceLength != 2048 || p.Text != "" {
		t.Errorf("%+v", p)
	}
	if len(a.Notes) == 0 || !strings.Contains(a.Notes[0].Text, "lora_on_cpu") {
		t.Errorf("no note of lora_on_cpu: %v", a.Notes)
	}
	r := &memwall.Request{Ask: "fit", Hardware: "2xh100",
		Text: "vllm serve meta-llama/Llama-3.1-8B-Instruct --max-model-len 4096 --tensor-parallel-size 2"}
	r.Context = 8192
	if a, err = memwall.Ask(r); err != nil || a.Plan.TP != 2 || a.Plan.Context != 8192 {
		t.Errorf("%v, %+v", err, a.Plan)
	}
	_, err = memwall.Ask(&memwall.Request{Ask: "train", Text: "a: [1"})
	if e, ok := errors.AsType[*memwall.Error](err); !ok || e.Hint == "" {
		t.Errorf("%v", err)
	}
}
