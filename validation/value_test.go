package validation

import (
	"encoding/json"
	"testing"
)

func TestValue(t *testing.T) {
	for _, c := range []struct {
		text      string
		mid, half float64
	}{
		{`123`, 123, 0},
		{`"7.09 GiB"`, 7.09 * (1 << 30), 0.005 * (1 << 30)},
		{`"33.47"`, 33.47, 0.005},
		{`"256 MiB"`, 256 << 20, 0.5 * (1 << 20)},
		{`"-2.14 GiB"`, -2.14 * (1 << 30), 0.005 * (1 << 30)},
	} {
		var v Value
		if err := json.Unmarshal([]byte(c.text), &v); err != nil {
			t.Errorf("%s: %v", c.text, err)
		} else if !near(v.Mid, c.mid) || !near(v.Half, c.half) {
			t.Errorf("%s: %g ± %g, want %g ± %g", c.text, v.Mid, v.Half, c.mid, c.half)
		}
	}
	for _, bad := range []string{`"x GiB"`, `"3 parsecs"`, `true`} {
		if err := json.Unmarshal([]byte(bad), new(Value)); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
}

func near(a, b float64) bool { return a-b < 1e-6 && b-a < 1e-6 }

// TestMerge: a row's own fields win over those of its set, and a field twice is refused.
func TestParse(t *testing.T) {
	const header = `{"about":"x","source":"s","ask":{"engine":"generic","hardware":"h100"}}` + "\n"
	s, err := parse("x", []byte(header+`{"ask":{"model":"llama-3.1-8b","hardware":"h200"},"got":{"weights":1}}`))
	if err != nil || len(s.Rows) != 1 || s.Rows[0].Ask.Hardware != "h200" || s.Rows[0].Ask.Engine != "generic" || s.Rows[0].Source != "s" {
		t.Errorf("%+v, %v", s, err)
	}
	for _, bad := range []string{`{"ask":{"modell":"x"},"got":{}}`, `{"axis":1}`, `{"got":{"weights":"much"}}`, `[]`} {
		if _, err := parse("x", []byte(header+bad)); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
}
