package scale

import (
	"strings"
	"testing"
)

func TestExpression(t *testing.T) {
	c := batched(t, Goal{First: 1.2})
	s := &Sight{At: 3600 * 7.5, Replicas: 3, Ready: []Seen{{10, 2, 0.5}, {20, 0, 0.7}}, Starting: 1, Rate: 11}
	for text, want := range map[string]int{
		"ceil(rate / 4)": 3, "1 + 2 * 3": 7, "(1 + 2) * 3": 9, "running / 10": 3, "in_flight - running": 2, "hour >= 7 && hour < 8 ? 5 : 1": 5,
		"kv > 0.59 ? replicas + 1 : replicas": 4, "max(2, min(ready, 9))": 2, "-3": 0, "7 % 4": 3, "abs(-2) + floor(1.9)": 3, "starting == 1": 1,
		"1e12": mostWanted, "waiting > 100 || ready != 2 ? 9 : 8": 8, "1 ? 2 ? 3 : 4 : 5": 3,
	} {
		e, err := Parse(text, c, 0.9)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := e.Decide(s); err != nil || got != want {
			t.Errorf("%s = %d, not %d (%v)", text, got, want, err)
		}
	}
	for text, says := range map[string]string{
		"": "a value is missing", "1 +": "a value is missing", "rate /": "a value is missing", "(1": "( without its )", "1 2": `"2" is not expected`,
		"while(1) 2": `"while" is neither a number nor`, "for": `"for" is neither a number nor`, "replicas = 3": "is not expected", "min(1)": "min takes 2", "ceil 1": "in ( )",
		"1 ? 2": "? without its :", "os.exit": `"os.exit" is neither a number nor`, "nan": `"nan" is neither a number nor`, "1;2": "is not expected",
		strings.Repeat("(", 100) + "1": "nested more than 64", strings.Repeat("-", 100) + "1": "nested more than 64",
		strings.Repeat("1+", 3000) + "1": "more than 4096",
	} {
		if _, err := Parse(text, c, 0.9); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.20s: %v, where %q was expected", text, err, says)
		}
	}
	e, _ := Parse("rate / (ready - 2)", c, 0.9)
	if _, err := e.Decide(s); err == nil || !strings.Contains(err.Error(), "divides by zero") || !strings.Contains(err.Error(), "07:30") {
		t.Errorf("a division by zero: %v", err)
	}
}

func FuzzExpression(f *testing.F) {
	for _, s := range []string{"ceil(rate / holds)", "1 ? 2 : 3", "-(-1)", "\xff", "min(1,2", "a&&b"} {
		f.Add(s)
	}
	c := batched(f, Goal{First: 1})
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Parse(text, c, 0.9)
		if err != nil {
			return
		}
		if n, err := e.Decide(&Sight{Replicas: 1, Ready: []Seen{{1, 1, 0.5}}}); err == nil && (n < 0 || n > mostWanted) {
			t.Errorf("%q gives %d replicas", text, n)
		}
	})
}
