package step_test

import (
	"math"
	"testing"

	"github.com/memwall/memwall/train/step"
)

// TestOperatorsAddUp: for models of all structures, methods, precisions and layouts, the operators of a part add up to it,
// and only element-wise work and what ranks send has a rest that belongs to no operator.
func TestOperatorsAddUp(t *testing.T) {
	table, err := step.Fitted()
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range models {
		in := input(t, id, "16xh100-sxm-80gb")
		in.Training.Precision = []string{"bf16-mixed", "fp8", "bf16"}[i%3]
		in.Training.Recompute = []string{"none", "full", "selective"}[i%3]
		in.Training.Accumulation = 3
		in.Extras.Prediction = true
		switch i % 4 {
		case 1:
			in.Plan.TP, in.Plan.PP, in.Training.Sharding = 2, 2, "zero1"
		case 2:
			in.Training.Method, in.Training.Sharding = "lora", "ddp"
		case 3:
			in.Plan.CP, in.Plan.Attention = 2, "eager"
		}
		p := compile(t, in).With(table)
		list, err := p.Operators()
		if err != nil {
			t.Fatal(err)
		}
		sum, rests := map[string]float64{}, map[string]float64{}
		for _, o := range list {
			sum[o.Part] += o.Seconds
			if o.Rest {
				rests[o.Part] += o.Seconds
			}
			if !(o.Seconds > 0) || o.FLOPs < 0 || !o.Rest && o.Part == "products" && len(o.Members) == 0 && o.Role != "" {
				t.Errorf("%s: %+v", id, o)
			}
		}
		for _, part := range p.Predict().Parts {
			if math.Abs(sum[part.Name]/part.Seconds-1) > 1e-9 {
				t.Errorf("%s: operators of %s are %g s of %g", id, part.Name, sum[part.Name], part.Seconds)
			}
			delete(sum, part.Name)
		}
		if len(sum) > 0 {
			t.Errorf("%s: no such parts: %v", id, sum)
		}
		for _, part := range []string{"products", "experts", "attention", "loss", "dequantisation"} {
			if rests[part] > 0 {
				t.Errorf("%s: %g s of %s belong to nobody", id, rests[part], part)
			}
		}
	}
}
