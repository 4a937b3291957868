package hardware

import (
	"reflect"
	"testing"
)

// TestByID: it is the device that Find gives for the id, and no other spelling names one.
func TestByID(t *testing.T) {
	for _, id := range devices.ids() {
		d, _, err := Find(id)
		if err != nil {
			t.Fatal(err)
		}
		if got := ByID(id); got == nil || got.ID != id || !reflect.DeepEqual(got, ByID(id)) {
			t.Errorf("%s: %+v", id, got)
		} else if d.ID == id && !reflect.DeepEqual(*got, *d) {
			t.Errorf("%s: ByID %+v, Find %+v", id, got, d)
		}
	}
	for _, other := range []string{"", "RTX 4090", "H100", "\x00"} {
		if d := ByID(other); d != nil {
			t.Errorf("%q: %s", other, d.ID)
		}
	}
}
