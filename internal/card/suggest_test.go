package card

import (
	"strings"
	"testing"
)

// TestSuggestions: what somebody means who types a few letters stands first, or among the first three.
func TestSuggestions(t *testing.T) {
	for _, c := range []struct {
		typed, wants string
		within       int
		of           func(string) []Suggestion
	}{
		{"qwen3-32b", "qwen3-32b", 1, SuggestModels},
		{"Qwen3 32", "qwen3-32b", 1, SuggestModels},
		{"llama 3.1 8", "llama-3.1-8b", 1, SuggestModels},
		{"meta-llama/Llama-3.3-70B-Instruct", "llama-3.3-70b", 1, SuggestModels},
		{"gpt-oss", "gpt-oss-120b", 4, SuggestModels},
		{"32b", "qwen3-32b", 8, SuggestModels},
		{"4090", "rtx-4090", 1, SuggestHardware},
		{"RTX 3060", "rtx-3060-12gb", 2, SuggestHardware},
		{"h100", "h100-sxm-80gb", 3, SuggestHardware},
		{"m4 max", "m4-max-40-core", 2, SuggestHardware},
	} {
		list := c.of(c.typed)
		found := false
		var ids []string
		for i, s := range list {
			ids = append(ids, s.ID)
			found = found || s.ID == c.wants && i < c.within
		}
		if !found {
			t.Errorf("%q: %q, want %s within the first %d", c.typed, ids, c.wants, c.within)
		}
	}
}

// TestSuggestionsSay what tells a model or a device from others, and are few; what nothing is called has none.
func TestSuggestionsSay(t *testing.T) {
	if s := SuggestModels("llama-3.1-8b")[0]; s.Format != "bf16" || s.Bytes != 16_060_522_496 || s.Date != "2024-07" {
		t.Errorf("%+v", s)
	}
	if s := SuggestHardware("rtx-4090")[0]; s.Bytes.GiB() < 23.9 || s.Date != "2022" {
		t.Errorf("%+v", s)
	}
	for _, typed := range []string{"", " ", "q", "-", "./", strings.Repeat("q", 1000), "\x00", "no such thing"} {
		for _, list := range [][]Suggestion{SuggestModels(typed), SuggestHardware(typed)} {
			if len(list) > mostSuggestions || strings.HasPrefix(typed, "no") && len(list) > 0 {
				t.Errorf("%q: %d", typed, len(list))
			}
		}
	}
}
