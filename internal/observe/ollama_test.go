package observe

import "testing"

// TestOllama: the list of models in memory, largest first, and pages that are none.
func TestOllama(t *testing.T) {
	got, err := ReadOllama([]byte(`{"models":[{"name":"a:1b","size":5,"size_vram":3},{"name":"b:8b","size":9,"size_vram":-2,"context_length":4096}]}`))
	if err != nil || len(got) != 2 || got[0] != (Loaded{"b:8b", 9, 0, 4096}) || got[1] != (Loaded{"a:1b", 5, 3, 0}) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range []string{"", "<html>", "{}", "[]", `{"models":{}}`, "vllm:x 1"} {
		if _, err := ReadOllama([]byte(text)); err == nil {
			t.Errorf("%q is read", text)
		}
	}
	if got, err := ReadOllama([]byte(`{"models":[]}`)); err != nil || len(got) != 0 {
		t.Error(got, err)
	}
}

func FuzzOllama(f *testing.F) {
	f.Add([]byte(`{"models":[{"name":"a","size":1}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := ReadOllama(text)
		for _, m := range list {
			if err != nil || m.Bytes < 0 || m.OnDevice < 0 || m.Context < 0 {
				t.Errorf("%+v, %v", m, err)
			}
		}
	})
}
