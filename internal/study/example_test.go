package study

import (
	"os"
	"testing"
)

// TestExample: the study of the guide is one, of as many questions as it says.
func TestExample(t *testing.T) {
	text, err := os.ReadFile("../../docs/examples/farm/study.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if s := read(t, string(text)); s.Points() != 320 || s.Name != "chat on a budget" {
		t.Errorf("%d questions of %s", s.Points(), s.Name)
	}
}
