package validation

import (
	"strings"
	"testing"
)

// TestDiagnoses: messages are read as they stand, and ordinary logs hold no failure.
func TestDiagnoses(t *testing.T) {
	sets, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	d, err := Diagnose(sets)
	if err != nil {
		t.Fatal(err)
	}
	if d.Messages < 80 || d.Ordinary < 200 {
		t.Errorf("only %d messages and %d ordinary logs", d.Messages, d.Ordinary)
	}
	if !d.Met() {
		t.Errorf("%.3f right, %d alarms", d.Right(), d.Alarms)
	}
	t.Logf("%d messages: kind %d, engine %d, figures %d, all %d; %d ordinary logs, %d alarms", d.Messages, d.Kind, d.Engine, d.Figures, d.All, d.Ordinary, d.Alarms)
	for _, w := range d.Wrong {
		t.Log(w)
	}
}

// TestDiagnosesCanFail: a message that says another thing, and an ordinary log with a failure in it, are counted.
func TestDiagnosesCanFail(t *testing.T) {
	d := &Diagnoses{Messages: 1}
	d.message(&Message{Text: "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB", Kind: "device_memory", Engine: "pytorch", Figures: map[string]string{"requested": "3.00 GiB"}})
	d.log("INFO ready\nRuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB")
	if d.All != 0 || d.Kind != 1 || d.Figures != 0 || d.Alarms != 1 || d.Met() || !strings.Contains(strings.Join(d.Wrong, " "), "requested") {
		t.Errorf("%+v", d)
	}
}
