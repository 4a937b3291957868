package hardware

import (
	"fmt"
	"testing"
)

// TestLately: what is kept is the caller's to change, and a name too many forgets the others.
func TestLately(t *testing.T) {
	f := found{most: 3}
	kept, _, _ := Find("rtx-3060")
	f.store("a", *kept, []Note{{Code: "x"}})
	d, notes, ok := f.load("a")
	if !ok || d.ID != kept.ID || len(notes) != 1 {
		t.Fatalf("%v %v %v", d.ID, notes, ok)
	}
	if len(d.Options) > 0 {
		d.Options[0] = 1
	}
	notes[0].Code = "y"
	if again, notes, _ := f.load("a"); notes[0].Code != "x" || len(again.Options) > 0 && again.Options[0] == 1 {
		t.Error("a caller changed what is kept")
	}
	for n := range 10 {
		f.store(fmt.Sprint(n), *kept, nil)
		if len(f.names) > 3 {
			t.Fatalf("%d names are kept", len(f.names))
		}
	}
	if _, _, ok := f.load("9"); !ok {
		t.Error("the last one is forgotten")
	}
}
