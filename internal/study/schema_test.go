package study

import (
	"encoding/json"
	"testing"
)

// TestSchema: the schema has every key that is read, and every field of a plan and a workload that a study may set.
func TestSchema(t *testing.T) {
	data, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Properties map[string]struct {
			Properties map[string]any `json:"properties"`
		} `json:"properties"`
		Defs map[string]any `json:"$defs"`
	}
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if _, ok := s.Properties[key]; !ok {
			t.Errorf("the schema has no %s", key)
		}
	}
	if len(s.Properties) != len(keys) {
		t.Errorf("the schema has %d keys, and %d are read", len(s.Properties), len(keys))
	}
	for name := range taken {
		if _, ok := s.Properties["plan"].Properties[name]; ok {
			t.Errorf("the schema has plan.%s, which is refused", name)
		}
	}
	for _, name := range workloadNames() {
		if _, ok := s.Properties["workload"].Properties[name]; !ok {
			t.Errorf("the schema has no workload.%s", name)
		}
	}
	if s.Defs["Law"] == nil {
		t.Error("the schema does not say what a law is")
	}
}
