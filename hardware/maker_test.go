package hardware

import "testing"

func TestFindHeedsTheMaker(t *testing.T) {
	if d, _, err := Find("Mini PC (Intel N150)"); err == nil {
		t.Errorf("an Intel N150 is taken for %s", d.ID)
	}
	d, _, err := Find("Intel 265K Custom PC (Nvidia RTX 3060 12GB)")
	if err != nil || d.ID != "rtx-3060-12gb" {
		t.Errorf("the card in a computer: %v, %v", d, err)
	}
}
