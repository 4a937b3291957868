package autoscale

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	for text, want := range map[string]struct {
		part  float64
		rates string
	}{
		"07:30,3\n07:31,4\n07:32,5\n":     {60, "[3 4 5]"},
		"time,rate\n0,3\n60,4":            {60, "[3 4]"},
		"minute;requests_per_s\n0;3\n1;4": {60, "[3 4]"},
		"# a note\ntimestamp,requests,x\n2026-07-20T00:00:00Z,600,1\n2026-07-20T00:01:00Z,0,1\n": {60, "[10 0]"},
		"1\n2\n3\n4\n":                           {21600, "[1 2 3 4]"},
		"23:58,1\n23:59,2\n00:00,3\n00:01,4":     {60, "[1 2 3 4]"},
		"at_s,rps\n1790000000,1\n1790000015,2\n": {15, "[1 2]"},
	} {
		l, err := Table(strings.NewReader(text))
		if err != nil || l.Part != want.part || fmt.Sprint(l.Rates) != want.rates {
			t.Errorf("%q: %+v, %v", text, l, err)
		}
	}
	for text, says := range map[string]string{
		"":                                 "no line has a rate",
		"07:30,3\n":                        "one line with a time",
		"07:30,3\n07:30,4":                 "line 2: the same time as line 1: parts of 0 s",
		"07:30,3\n07:31,4\n07:10,5":        "line 3: the clock jumps back by 21 min",
		"07:30,3\n07:31,4\n09:00,5":        "line 3: the clock jumps by 89 min",
		"07:30,3\n07:31,-4":                "line 2: a rate of -4 is less than nothing",
		"07:30,3\n07:31,NaN":               `line 2: "NaN" is not a rate`,
		"07:30,3\nx,4":                     `line 2: "x" is not a time`,
		"a,b\n":                            "no line has a rate",
		"0,0\n60,0":                        "nobody asks at any time",
		"0,1\n0.5,2":                       "a part is a second at least",
		"0,1\n1e9,2":                       "all are a month at most",
		"0,1\n60":                          "line 2: 1 columns",
		"0,1e300\n60,1":                    "not a rate from 0 to a million",
		"1e300,1\n2e300,2":                 "is not a time",
		strings.Repeat("1", 70000):         "more than 65,536 bytes",
		strings.Repeat("1\n", mostParts+1): "more than 524288 lines",
	} {
		if _, err := Table(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.30q: %v, where %q was expected", text, err, says)
		}
	}
}

func FuzzTable(f *testing.F) {
	f.Add("07:30,3\n07:31,4")
	f.Add("time,rate\n1,2\n2,3")
	f.Add(",")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := Table(strings.NewReader(text))
		if err == nil && (l.Check() != nil || !(l.Part >= 1)) {
			t.Errorf("%q is read as %+v", text, l)
		}
	})
}

// recording of an engine at a number of tokens a second, by the second.
func recording(t *testing.T, moments string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "watch.jsonl")
	text := `{"recording":"memwall-watch/1","run":"a","at_s":1790000000}` + "\n"
	for line := range strings.FieldsSeq(moments) {
		at, rate, _ := strings.Cut(line, ":")
		text += `{"run":"a","moment":{"at_s":179000` + at + `,"engines":[{"name":"vllm","output_tokens_per_s":` + rate + `}]}}` + "\n"
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestRecording(t *testing.T) {
	l, err := Recording(recording(t, "0000:300 0030:600 0060:900 0200:1200"), 300)
	if err != nil || l.Part != 60 || fmt.Sprint(l.Rates) != "[1.5 3 3 4]" {
		t.Errorf("%+v, %v", l, err)
	}
	for moments, says := range map[string]string{
		"0000:1 3000:1":        "nothing is recorded for 50 min",
		"0000:1 0100:1 0050:1": "the clock jumps back by 50 s",
		"0000:0 0060:0":        "nobody asks",
	} {
		if _, err := Recording(recording(t, moments), 300); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, where %q was expected", moments, err, says)
		}
	}
}

func TestList(t *testing.T) {
	if l, err := List("1, 2,3e3,0"); err != nil || l.Part != 21600 || math.Abs(l.Peak()-3000) > 1e-9 {
		t.Errorf("%+v, %v", l, err)
	}
	for _, bad := range []string{"1,,2", "1,-2", "1,x"} {
		if l, err := List(bad); err == nil {
			t.Errorf("%s is read as %+v", bad, l)
		}
	}
}
