package train_test

import (
	"math"
	"testing"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/train"
)

// TestEveryModelOfTheCatalog is sized or refused with a field and a fix, under every framework and method; what is sized
// is a number, and methods that train less hold less in states.
func TestEveryModelOfTheCatalog(t *testing.T) {
	m, _, err := hardware.Parse("8xh100-sxm-80gb", 0)
	if err != nil {
		t.Fatal(err)
	}
	sized := 0
	for _, id := range catalog.IDs() {
		net, err := catalog.Model(id)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range train.Frameworks() {
			for _, method := range []string{"full", "lora", "qlora", "dora"} {
				j := &train.Job{Model: net, Machine: &m, Plan: &plan.Plan{}, Training: &plan.Training{Framework: f, Method: method}}
				s, err := sizer(j)
				if err != nil {
					t.Errorf("%s, %s, %s: %v", id, f, method, err)
				}
				if s == nil {
					continue
				}
				for _, r := range s.Size(nil) {
					if x := r.Allocated.Mid; !(x > 0) || math.IsInf(x, 0) || r.Allocated.Low > x || r.Allocated.High < x || r.SMI.Mid < x && r.SMI.Mid < r.Capacity.V {
						t.Errorf("%s, %s, %s: %+v, %+v", id, f, method, r.Allocated, r.SMI)
					}
				}
				sized++
			}
		}
	}
	if sized < 5000 {
		t.Errorf("only %d are sized", sized)
	}
}
