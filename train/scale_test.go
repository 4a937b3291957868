package train

import (
	"github.com/memwall/memwall/plan"
	"strings"
	"testing"
)

// TestLossScale: training in fp16 is told how its framework scales the loss, and other precisions are not.
func TestLossScale(t *testing.T) {
	for framework, want := range map[string]string{"deepspeed": "fp16.loss_scale", "megatron": "2^32", "transformers": "GradScaler"} {
		for _, precision := range []string{"fp16-mixed", "bf16-mixed"} {
			j := &Job{Framework: &Framework{Name: framework}, Training: &plan.Training{}}
			j.Training.Precision = precision
			remarkScale(j)
			if told := len(j.Notes) == 1 && strings.Contains(j.Notes[0].Text, want); told != (precision == "fp16-mixed") {
				t.Errorf("%s in %s: %v", framework, precision, j.Notes)
			}
		}
	}
}
