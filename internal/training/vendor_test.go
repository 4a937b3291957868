package training_test

import (
	"slices"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/api"
)

// TestVendors: a step says which vendor's program shows its memory, names that vendor's driver, and says where no run on such a
// device is behind the rules.
func TestVendors(t *testing.T) {
	for _, c := range []struct {
		on, monitor, driver string
		warned              bool
	}{
		{"h100-sxm-80gb", "nvidia-smi", "CUDA context and kernels", false},
		{"mi300x", "rocm-smi", "HIP context and kernels", false},
		{"m4-max-40-core", "", "Metal context and kernels", true},
		{"tpu-v5e", "", "device context and kernels", true},
	} {
		r := &api.Request{Ask: api.AskTrain, Model: "qwen3-4b", Hardware: c.on}
		r.Method = "lora"
		a, err := (&memwall.Asker{}).Ask(r)
		if err != nil {
			t.Fatal(err)
		}
		if a.PerDevice.Monitor != c.monitor {
			t.Errorf("%s: monitor is %q, not %q", c.on, a.PerDevice.Monitor, c.monitor)
		}
		if !slices.ContainsFunc(a.Devices[0].Ledger, func(it api.Item) bool { return it.Name == c.driver }) {
			t.Errorf("%s: no line is called %q", c.on, c.driver)
		}
		if warned := slices.ContainsFunc(a.Notes, func(n api.Note) bool { return n.Code == "other_vendor" }); warned != c.warned {
			t.Errorf("%s: warned %v", c.on, warned)
		}
	}
}
