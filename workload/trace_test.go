package workload

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memwall/memwall/fault"
	"github.com/memwall/memwall/plan"
)

// read all requests of a text.
func read(text string, o ReadOptions) (out []Request, t *Trace, err error) {
	if t, err = Open(strings.NewReader(text), o); err != nil {
		return nil, nil, err
	}
	for {
		r, ok, err := t.Next()
		if err != nil || !ok {
			return out, t, err
		}
		out = append(out, r)
	}
}

func file(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestFormats: what each sample means.
func TestFormats(t *testing.T) {
	anna, support := named([]byte("anna")), named([]byte("support"))
	for _, c := range []struct {
		file, format   string
		failed, unread int
		want           []Request
	}{
		{"azure.csv", "azure", 1, 0, []Request{
			{Prompt: 310, Output: 44}, {Arrival: 223456700, Prompt: 1200, Output: 9},
			{Arrival: 24*time.Hour + 100*time.Millisecond, Prompt: 15, Output: 300},
			{Arrival: 24*time.Hour + 2350*time.Millisecond, Prompt: 78, Output: 6},
		}},
		{"mooncake.jsonl", "mooncake", 0, 0, []Request{
			{Prompt: 1030, Output: 50, Spans: []Span{{0, 512}, {1, 512}, {2, 6}}},
			{Arrival: 27 * time.Millisecond, Prompt: 700, Output: 5, Spans: []Span{{0, 512}, {3, 188}}},
			{Arrival: 3027500 * time.Microsecond, Prompt: 512, Output: 1, Spans: []Span{{0, 512}}},
			{Arrival: 4 * time.Second, Prompt: 30, Output: 2},
		}},
		{"burstgpt.csv", "burstgpt", 1, 0, []Request{{Prompt: 100, Output: 20}, {Arrival: 5 * time.Second, Prompt: 310, Output: 3}}},
		{"burstgpt-sessions.csv", "burstgpt", 0, 0, []Request{
			{Prompt: 100, Output: 20, User: 71}, {Arrival: 4500 * time.Millisecond, Prompt: 40, Output: 3},
			{Arrival: 6 * time.Second, Prompt: 160, Output: 31, User: 71},
		}},
		{"engine.csv", "engine", 0, 0, []Request{{Prompt: 900, Output: 31}, {Arrival: 10 * time.Microsecond, Prompt: 40, Output: 7},
			{Arrival: 265091 * time.Microsecond, Prompt: 1500, Output: 2}}},
		{"own.jsonl", "memwall", 0, 1, []Request{
			{Arrival: 120 * time.Millisecond, Prompt: 900, Output: 210, Spans: []Span{{support, 512}}},
			{Arrival: 500 * time.Millisecond, Prompt: 800, Output: 10, Spans: []Span{{support, 512}}, User: anna, Priority: -1, Adapter: 3,
				Patience: 2500 * time.Millisecond, Own: 7},
			{Arrival: time.Second, Prompt: 2000, Output: 33, Spans: []Span{{support, 512}, {7, 298}}},
			{Arrival: time.Second + 1, Prompt: 1, Output: 1},
		}},
	} {
		for i := range c.want {
			c.want[i].ID = int64(i)
		}
		for _, text := range []string{file(t, c.file), zipped(file(t, c.file)),
			"\ufeff" + strings.ReplaceAll(file(t, c.file), "\n", "\r\n"), "\n" + strings.TrimSpace(file(t, c.file))} {
			got, tr, err := read(text, ReadOptions{})
			if err != nil {
				t.Fatalf("%s: %v", c.file, err)
			}
			if d := cmp.Diff(c.want, got); d != "" || tr.Format != c.format || int(tr.Failed) != c.failed || len(tr.Unread()) != c.unread {
				t.Errorf("%s, format %s, %d failed, unread %v: %s", c.file, tr.Format, tr.Failed, tr.Unread(), d)
			}
		}
	}
}

func zipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, text)
	z.Close()
	return b.String()
}

const (
	csvHead = "request,input_tokens,output_tokens,arrival_s\n"
	first   = `{"arrival_s":1,"prompt_tokens":9,"output_tokens":1}` + "\n"
)

// TestFaults: a trace that is wrong is refused with the line, the field, what is wrong, and what to do.
func TestFaults(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{"", "line 1: file holds no request"},
		{"\n\n", "line 1: file holds no request"},
		{"a,b\n1,2\n", "line 1: first line = a,b is not of the format"},
		{"{\"a\":1}\n", "line 1: first line = {\"a\":1} is not of the format"},
		{csvHead, "file = 0 failed, 0 skipped holds no request"},
		{csvHead + "0,5,1,0\n1,-4,1,0\n", "line 3: input_tokens = -4 is negative"},
		{csvHead + "0,5,1,2\n1,4,1,1.5\n", "line 3: arrival_s = 1.5s is before that of the request above"},
		{csvHead + "0,5,1,2\n1,4,,3\n", "line 3: output_tokens is missing"},
		{csvHead + "0,5,1,2\n1,4\n", "line 3: row = 1,4 is cut off"},
		{csvHead + "0,5,1,2,3\n", "line 2: row = 0,5,1,2,3 is not of the format"},
		{csvHead + "0,nan,1,2\n", "line 2: input_tokens = nan is not a number"},
		{csvHead + "0,4.5,1,2\n", "line 2: input_tokens = 4.5 is not a whole number"},
		{csvHead + "0,100000001,1,2\n", "line 2: input_tokens = 100000001 is absurdly large"},
		{csvHead + "0,1e30,1,2\n", "line 2: input_tokens = 1e30 is absurdly large"},
		{csvHead + "0,99999999999999999999,1,2\n", "is absurdly large"},
		{csvHead + "0,0,1,2\n", "line 2: input_tokens = 0 is zero"},
		{csvHead + "0,9,1,-2\n", "line 2: arrival_s = -2 is negative"},
		{csvHead + "0,9,1,inf\n", "line 2: arrival_s = inf is not a number"},
		{csvHead + "0,9,1,1700000000.5\n", "line 2: arrival_s = 1700000000.5 is absurdly large"},
		{csvHead + "0,9,1,0x1p3\n", "line 2: arrival_s = 0x1p3 is not a number"},
		{"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-13-16 18:17:03.9,1,1\n",
			"line 2: TIMESTAMP = 2023-13-16 18:17:03.9 is not a number"},
		{"TIMESTAMP,ContextTokens,GeneratedTokens\n18:17,1,1\n", "line 2: TIMESTAMP = 18:17 is not a number"},
		{first + "{\"arrival_s\":2,\"prompt_to", "line 2: line = {\"arrival_s\":2,\"prompt_to is cut off"},
		{first + "{\"arrival_s\":2 \"prompt_tokens\":1}", "is not of the format"},
		{first + "[1]", "line 2: line = [1] is not of the format"},
		{first + first[:len(first)-1] + "x", "is not of the format"},
		{first + `{"arrival_s":2,"prompt_tokens":9}`, "line 2: output_tokens is missing"},
		{first + `{"prompt_tokens":9,"output_tokens":1}`, "line 2: arrival_s is missing"},
		{first + `{"arrival_s":2,"prompt_tokens":9,"output_tokens":0}`, "line 2: output_tokens = 0 is zero"},
		{first + `{"arrival_s":2,"prompt_tokens":"9","output_tokens":1}`, `line 2: prompt_tokens = "9" is not a number`},
		{first + `{"arrival_s":null,"prompt_tokens":9,"output_tokens":1}`, "line 2: arrival_s = null is not a number"},
		{first + `{"arrival_s":NaN,"prompt_tokens":9,"output_tokens":1}`, "line 2: arrival_s = NaN is not a number"},
		{first + `{"arrival_s":2,"arrival_s":2,"prompt_tokens":9,"output_tokens":1}`, "line 2: arrival_s = 2 stands twice"},
		{first + `{"arrival_s":2,"prompt_tokens":9,"output_tokens":1,"prefix_id":"a","prefix_tokens":10}`, "line 2: prefix_tokens = 10 does not fit"},
		{first + `{"arrival_s":2,"prompt_tokens":9,"output_tokens":1,"prefix_id":"a"}`, "line 2: prefix_tokens is missing"},
		{first + `{"arrival_s":2,"prompt_tokens":9,"output_tokens":1,"prefix_id":["a"]}`, "line 2: prefix_id"},
		{first + `{"arrival_s":2,"prompt_tokens":9,"output_tokens":1,"spans":[["a",5],["b",5]]}`, "does not fit the length"},
		{first + `{"arrival_s":2,"prompt_tokens":9,"output_tokens":1,"spans":["a",5]}`, "line 2: spans"},
		{first + `{"arrival_s":2,"prompt_tokens":9,"output_tokens":1,"priority":1.5}`, "line 2: priority = 1.5 is not a whole number"},
		{first + "{\"a\":\"" + strings.Repeat("x", maxLine) + "\"}\n", "line 2: line is too long"},
		{`{"timestamp":0,"input_length":600,"output_length":1,"hash_ids":[1,2,3]}`, "line 1: hash_ids = 3 does not fit the length of the prompt"},
		{`{"timestamp":0,"input_length":600,"output_length":1,"hash_ids":[1,"a"]}`, "line 1: hash_ids"},
		{`{"timestamp":0,"input_length":600,"output_length":1,"hash_ids":7}`, "line 1: hash_ids = 7 is not text, a number or a list"},
		{zipped(first)[:30], "is cut off"},
		{zipped(first)[:12] + "xxxx" + zipped(first)[16:], "is not of the format"},
		{zipped(first)[:len(zipped(first))-1] + "x", "gzip: invalid checksum is not of the format"},
		{csvHead + "\"0\",\"5\",1,2\n\"1\",\"-5\",1,3\n", "line 3: input_tokens = -5 is negative"},
		{csvHead + "0,\x00\xff,1,2\n", `line 2: input_tokens = "\x00\xff" is not a number`},
		{csvHead + "0,9,1,2e9\n", "line 2: arrival_s = 2e9 is absurdly large"},
		{csvHead + "0,9,1,1500000000000\n", "is absurdly large"},
		{"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03+1,1,1\n",
			"line 2: TIMESTAMP = 2023-11-16 18:17:03+1 is not a number"},
		{"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03-01:00,1,1\n2023-11-16 18:17:04,1,1\n",
			"line 3: TIMESTAMP = -59m59s is before"},
		{`[{"conversations":[{"from":"human","value":"a`, "line 1: file is cut off"},
		{`[{"conversations":"a"}]`, "line 1: conversations = \"a\" is not text, a number or a list"},
		{`[{"conversations":[{"value":7}]}]`, "is not text, a number or a list"},
		{`[{"conversations":[{"value":"a"} {"value":"b"}]}]`, "is not of the format"},
		{"[\n{\"conversations\":[]}\n]", "file = 1 failed, 0 skipped holds no request"},
		{"[7]", "line 1: file = 7 is not of the format"},
		{"\x1f\x8b", "is cut off"},
	} {
		_, _, err := read(c.text, ReadOptions{PerToken: 4})
		var f *fault.Error
		if !errors.As(err, &f) || !strings.Contains(f.Error(), c.says) || f.Fix == "" {
			t.Errorf("%.60q: %v, want %q", c.text, err, c.says)
		}
	}
}

// TestSkipped: faults are counted by reason, and the requests around them stay.
func TestSkipped(t *testing.T) {
	text := csvHead + "0,5,1,1\n1,-5,1,2\n2,5,0,3\n3,5,1,0.5\n4,5,1\n5,x,1,4\n" + strings.Repeat("y", maxLine+1<<17) + "\n6,5,2,9\n"
	got, tr, err := read(text, ReadOptions{SkipBad: true})
	if err != nil {
		t.Fatal(err)
	}
	want := map[Reason]int64{Negative: 1, Unsorted: 1, CutOff: 1, NotNumber: 1, TooLong: 1}
	if d := cmp.Diff(want, tr.Skipped); d != "" || len(got) != 2 || got[1].Arrival != 9*time.Second || tr.Failed != 1 {
		t.Errorf("%v: %s", got, d)
	}
}

// TestFaultStays: a source that failed does not go on.
func TestFaultStays(t *testing.T) {
	tr, err := Open(strings.NewReader(csvHead+"0,5,1,1\n1,-5,1,2\n2,5,1,3\n"), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, _, none := tr.Next()
	_, _, one := tr.Next()
	_, _, two := tr.Next()
	if none != nil || one == nil || one != two {
		t.Error(none, one, two)
	}
}

// TestReadOptions: speed, cuts and blocks.
func TestReadOptions(t *testing.T) {
	got, tr, err := read(file(t, "mooncake.jsonl"), ReadOptions{Speed: 2, MaxPrompt: 600})
	want := []Request{
		{Prompt: 600, Output: 50, Spans: []Span{{0, 512}, {1, 88}}},
		{ID: 1, Arrival: 13500 * time.Microsecond, Prompt: 600, Output: 5, Spans: []Span{{0, 512}, {3, 88}}},
		{ID: 2, Arrival: 1513750 * time.Microsecond, Prompt: 512, Output: 1, Spans: []Span{{0, 512}}},
		{ID: 3, Arrival: 2 * time.Second, Prompt: 30, Output: 2},
	}
	if d := cmp.Diff(want, got); d != "" || err != nil || tr.Cut != 2 {
		t.Error(d, err, tr.Cut)
	}
	if got, _, err = read(`{"timestamp":0,"input_length":40,"output_length":1,"hash_ids":[7,8,9]}`, ReadOptions{Block: 16}); err != nil || got[0].Spans[2] != (Span{9, 8}) {
		t.Error(got, err)
	}
	if _, _, err = read(file(t, "mooncake.jsonl"), ReadOptions{Format: "azure"}); err == nil ||
		!strings.Contains(err.Error(), "first line") {
		t.Error(err)
	}
}

// TestReplay: as recorded, up to a number or a time; or at other times.
func TestReplay(t *testing.T) {
	text := file(t, "own.jsonl")
	times := func(s Spec) (out []string) {
		src, err := s.Replay(strings.NewReader(text))
		if err != nil {
			return []string{err.Error()}
		}
		for _, r := range served(t, src, second) {
			out = append(out, fmt.Sprint(r.ID, " ", r.Arrival, " ", r.Prompt))
		}
		return out
	}
	zero := 0.0
	for _, c := range []struct {
		spec Spec
		want []string
	}{
		{Spec{Arrivals: "trace", Requests: 2}, []string{"0 120ms 900", "1 500ms 800"}},
		{Spec{Arrivals: "trace", DurationS: 0.4, Reading: ReadOptions{Speed: 2}}, []string{"0 60ms 900", "1 250ms 800"}},
		{Spec{Arrivals: "gamma", Rate: 1, CV: &zero}, []string{"0 1s 900", "1 2s 800", "2 3s 2000", "3 4s 1"}},
		{Spec{Arrivals: "burst", Requests: 3}, []string{"0 0s 900", "1 0s 800", "2 0s 2000"}},
		{Spec{Arrivals: "closed", Concurrency: 3}, []string{"0 0s 900", "1 0s 800", "2 0s 2000", "3 1s 1"}},
		{Spec{Arrivals: "closed", Concurrency: 1, DurationS: 1.5}, []string{"0 0s 900", "1 1s 800"}},
		{Spec{Arrivals: "poisson"}, []string{"workload.rate is not given"}},
	} {
		if d := cmp.Diff(c.want, times(c.spec)); d != "" {
			t.Errorf("%+v: %s", c.spec, d)
		}
	}
}

// TestReplayFault: a closed loop tells a fault when it is asked again.
func TestReplayFault(t *testing.T) {
	src, err := Spec{Arrivals: "closed", Concurrency: 1}.Replay(strings.NewReader(first + "x\n"))
	if err != nil {
		t.Fatal(err)
	}
	r, _, _ := src.Next()
	if _, ok := src.After(&r, 0); ok {
		t.Fatal("a faulty line is a request")
	}
	if _, _, err := src.Next(); err == nil {
		t.Error("the fault is lost")
	}
}

// TestConversations are read by bytes, only when somebody says how many are a token, and have no times of their own.
func TestConversations(t *testing.T) {
	text := file(t, "sharegpt.json")
	var p *plan.Problem
	if _, err := Open(strings.NewReader(text), ReadOptions{}); !errors.As(err, &p) || p.Field != "workload.reading.bytes_per_token" {
		t.Error(err)
	}
	s := Spec{Arrivals: "trace", Reading: ReadOptions{PerToken: 4}}
	if _, err := s.Replay(strings.NewReader(text)); !errors.As(err, &p) || p.Field != "workload.arrivals" {
		t.Error(err)
	}
	s.Arrivals = "burst"
	src, err := s.Replay(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	got := served(t, src, second)
	want := []Request{{Prompt: 5, Output: 9}, {ID: 1, Prompt: 2, Output: 1}} // 18 and 34 bytes, 9 and 2
	if d := cmp.Diff(want, got); d != "" || src.(*replay).Failed != 1 {
		t.Error(d)
	}
}

// TestUnquoted: texts of JSON are as long as they are in UTF-8.
func TestUnquoted(t *testing.T) {
	for _, text := range []string{"", "a", "\n\t\"\\/", "ü", "߿", "ࠀ", "\u2028", "😀", "a\u0000b", "\ud7ff", "\ue000"} {
		plain, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, quoted := range []string{string(plain), strconv.QuoteToASCII(text)} {
			if strings.ContainsAny(quoted, "xU") {
				continue // not JSON
			}
			if n := unquoted([]byte(quoted[1 : len(quoted)-1])); n != int64(len(text)) {
				t.Errorf("%s: %d, want %d", quoted, n, len(text))
			}
		}
	}
	if n := unquoted([]byte(`\ud83d\ude00`)); n != 4 {
		t.Error(n)
	}
}
