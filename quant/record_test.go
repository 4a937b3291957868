package quant

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"testing"
)

// TestRecord: what was measured comes back the same; a line that was cut off is measured again, and so is a tensor of
// which another format is asked.
func TestRecord(t *testing.T) {
	formats := []*Format{find(t, "q8_0"), find(t, "nf4")}
	x := normal(64*256, 1)
	broken := append([]float32(nil), x...)
	broken[5] = float32(math.Inf(1))
	tensors := []*Tensor{brain("a", x, 1, 64, 256), brain("b", broken, 1, 64, 256), brain("c", x, 1, 64, 256)}
	var b bytes.Buffer
	var all []*Measured
	for _, tensor := range tensors {
		m, err := (&Work{Formats: formats}).Measure(tensor)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
		line, err := json.Marshal(m.Record())
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	b.Truncate(b.Len() - 20)
	r := ReadRecords(&b)
	back := r.Of(tensors[0], formats, Nothing)
	if back == nil || !reflect.DeepEqual(back.Tried, all[0].Tried) || back.Survey.Squares != all[0].Survey.Squares ||
		back.Survey.Magnitudes != all[0].Survey.Magnitudes {
		t.Errorf("%+v, want %+v", back, all[0])
	}
	if back := r.Of(tensors[1], formats, Nothing); back == nil || back.Kept != all[1].Kept {
		t.Errorf("%+v", back)
	}
	if r.Of(tensors[2], formats, Nothing) != nil {
		t.Error("a line that was cut off is read")
	}
	if r.Of(tensors[0], Formats(), Nothing) != nil {
		t.Error("formats that were not tried are known")
	}
	if r.Of(tensors[0], formats[:1], Nothing) == nil {
		t.Error("fewer formats are not known")
	}
}
