package train_test

import (
	"math"
	"testing"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model/catalog/catalogtest"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/train"
)

// ask is a job over a model of the catalog; change sets what is not left to the framework.
func ask(t testing.TB, id, machine string, devices int, change func(*plan.Plan, *plan.Training)) *train.Job {
	t.Helper()
	m, _, err := hardware.Parse(machine, devices)
	if err != nil {
		t.Fatal(err)
	}
	j := &train.Job{Model: catalogtest.Model(t, id), Machine: &m, Plan: &plan.Plan{}, Training: &plan.Training{}}
	change(j.Plan, j.Training)
	if err := train.Defaults(j); err != nil {
		t.Fatal(err)
	}
	return j
}

func size(t testing.TB, j *train.Job, b *ledger.Book) []train.Rank {
	t.Helper()
	s, err := train.Compile(j)
	if err != nil {
		t.Fatal(err)
	}
	return s.Size(b)
}

func phase(t testing.TB, r *train.Rank, name string) float64 {
	t.Helper()
	for i := range r.Phases {
		if r.Phases[i].Name == name {
			return float64(r.Phases[i].Total().Bytes)
		}
	}
	t.Fatalf("no phase %q", name)
	return 0
}

// TestStatesOfPureBF16: weights, gradients, two moments and the copy that the foreach step makes are 10 bytes a
// parameter on one device and 10/N on N (measured exactly on Mistral 7B).
func TestStatesOfPureBF16(t *testing.T) {
	for n, sharding := range map[int]string{1: "none", 2: "fsdp", 4: "fsdp"} {
		j := ask(t, "mistral-7b-v0.1", "a100-sxm-80gb", n, func(_ *plan.Plan, q *plan.Training) {
			q.Precision, q.Sharding, q.Optimizer = "bf16", sharding, "adamw"
		})
		want := 10 * float64(j.Model.Params()) / float64(n)
		if got := phase(t, &size(t, j, nil)[0], "optimizer step"); math.Abs(got/want-1) > 1e-6 {
			t.Errorf("%d devices: %.0f bytes, want %.0f", n, got, want)
		}
	}
}
