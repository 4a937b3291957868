package catalog

import "testing"

// TestLines: every row is written as it stands.
func TestLines(t *testing.T) {
	lines(func(line []byte) bool {
		e, err := parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := e.Line(); err != nil || got != string(line) {
			t.Errorf("%s\nis written %s, %v", line, got, err)
		}
		return true
	})
}

func TestNamed(t *testing.T) {
	for _, c := range []struct{ hub, id, name string }{
		{"mistralai/Ministral-8B-Instruct-2410", "ministral-8b-2410", "Ministral 8B 2410"},
		{"Qwen/Qwen3-30B-A3B-FP8", "qwen3-30b-a3b", "Qwen3 30B A3B"},
		{"", "", ""},
	} {
		if e := Named(c.hub, nil); e.ID != c.id || e.Name != c.name || e.Hub != c.hub || (e.Source == "") != (c.hub == "") {
			t.Errorf("%q: %+v", c.hub, e)
		}
	}
}

// TestSame: each row finds one of its shape, a wider one none.
func TestSame(t *testing.T) {
	e, err := Find("llama-3.1-8b")
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Spec()
	if err != nil {
		t.Fatal(err)
	}
	if got := Same(s, ""); got == nil || got.ID != e.ID {
		t.Errorf("llama-3.1-8b is the same as %+v", got)
	}
	if got := Same(s, "fp8"); got != nil {
		t.Errorf("and in fp8 as %s", got.ID)
	}
	s.Hidden++
	if got := Same(s, ""); got != nil {
		t.Errorf("a wider one as %s", got.ID)
	}
}
