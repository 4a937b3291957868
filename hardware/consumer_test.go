package hardware

import "testing"

func TestConsumer(t *testing.T) {
	for id, want := range map[string]bool{
		"rtx-4090": true, "rtx-3060-12gb": true, "gtx-1080-ti": true, "rx-7900-xtx": true, "arc-b580": true, "m4-max-40-core": true,
		"rtx-4090-laptop": true, "ryzen-ai-max-395": true, "gb10": true,
		"h100-sxm-80gb": false, "rtx-a6000": false, "rtx-6000-ada": false, "rtx-4000-ada": false, "rtx-pro-6000-workstation": false,
		"l40s": false, "t4": false, "mi300x": false, "arc-pro-b60": false,
	} {
		d, _, err := Find(id)
		if err != nil || d.Consumer() != want {
			t.Errorf("%s: %v", id, err)
		}
	}
}
