package step_test

import (
	"strings"
	"testing"

	"github.com/memwall/memwall/train/step"
)

// TestRestsOn: the words say whether device and framework were measured themselves.
func TestRestsOn(t *testing.T) {
	table, err := step.Fitted()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ device, framework, want string }{
		{"h100-sxm-80gb", "llm-foundry", "runs on H100 SXM 80GB, 216 with llm-foundry"},
		{"h100-pcie-80gb", "nobody-knows", "none on itself, "},
		{"h100-pcie-80gb", "nobody-knows", "with frameworks like nobody-knows, none with itself"},
		{"mi250", "torchtitan", "runs on other families than that of "},
	} {
		in := input(t, "llama-3.1-8b", c.device)
		in.Training.Framework = c.framework
		if got := compile(t, in).With(table).RestsOn(); !strings.Contains(got, c.want) {
			t.Errorf("%s with %s: %q, want %q", c.device, c.framework, got, c.want)
		}
	}
}
