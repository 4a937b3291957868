package plan

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/memwall/memwall/unit"
)

// numbers calls f for every whole-number field of a plan, with its name in JSON and a way to set it.
func numbers(f func(name string, set func(p *Plan, n int64))) {
	walk(reflect.TypeFor[Plan](), nil, func(at []int, field reflect.StructField) {
		t, pointer := field.Type, field.Type.Kind() == reflect.Pointer
		if pointer {
			t = t.Elem()
		}
		if t.Kind() != reflect.Int64 {
			return
		}
		f(jsonName(field), func(p *Plan, n int64) {
			v := reflect.ValueOf(p).Elem().FieldByIndex(at)
			if pointer {
				v.Set(reflect.New(t))
				v = v.Elem()
			}
			v.SetInt(n)
		})
	})
}

func walk(t reflect.Type, at []int, f func(at []int, field reflect.StructField)) {
	for i := range t.NumField() {
		here := append(append([]int(nil), at...), i)
		if t.Field(i).Anonymous {
			walk(t.Field(i).Type, here, f)
			continue
		}
		f(here, t.Field(i))
	}
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// TestEveryNumberIsBounded: no field takes a number below its least or one that work could grow with.
func TestEveryNumberIsBounded(t *testing.T) {
	seen := 0
	numbers(func(name string, set func(*Plan, int64)) {
		seen++
		for _, n := range []int64{-2, math.MinInt64, 1<<50 + 1, math.MaxInt64} {
			var p Plan
			set(&p, n)
			var e *Problem
			if err := p.Check(); !errors.As(err, &e) || e.Field != name || e.Fix == "" || e.Impossible || !strings.Contains(e.Message, name) {
				t.Errorf("%s = %d: %+v", name, n, err)
			}
		}
		for _, n := range []int64{0, 1, 2} {
			var p Plan
			if set(&p, n); p.Check() != nil {
				t.Errorf("%s = %d: %v", name, n, p.Check())
			}
		}
	})
	if seen < 20 {
		t.Errorf("only %d numbers are seen", seen)
	}
}

// TestEveryShareIsBounded: shares lie above 0 and up to 1.
func TestEveryShareIsBounded(t *testing.T) {
	seen := 0
	walk(reflect.TypeFor[Plan](), nil, func(at []int, field reflect.StructField) {
		if field.Type != reflect.TypeFor[*float64]() || jsonName(field) == "acceptance_length" {
			return
		}
		seen++
		multiple := jsonName(field) == "kv_host_ratio" // of a pool, and so above 1 too
		for x, good := range map[float64]bool{0.5: true, 1: true, math.SmallestNonzeroFloat64: true, 0: false, -0.1: false, 1.0001: multiple, 1e9: false, math.Inf(1): false, math.NaN(): false} {
			var p Plan
			reflect.ValueOf(&p).Elem().FieldByIndex(at).Set(reflect.ValueOf(&x))
			var e *Problem
			if err := p.Check(); (err == nil) != good || err != nil && (!errors.As(err, &e) || e.Field != jsonName(field) || e.Fix == "") {
				t.Errorf("%s = %g: %v", jsonName(field), x, err)
			}
		}
	})
	if seen < 4 {
		t.Errorf("only %d shares are seen", seen)
	}
}

// TestEveryWordIsChecked: a word from a list is one of the list.
func TestEveryWordIsChecked(t *testing.T) {
	for _, p := range []Plan{
		{Attention: "slow"}, {LlamaCpp: LlamaCpp{SplitMode: "diagonal"}}, {Offload: &Offload{Weights: "tape"}}, {Offload: &Offload{KV: "HOST"}}, {Offload: &Offload{Experts: " "}}, {Attention: "auto flash"},
	} {
		var e *Problem
		if err := p.Check(); !errors.As(err, &e) || e.Fix == "" || !strings.Contains(e.Message, "is not known") {
			t.Errorf("%+v: %v", p, err)
		}
	}
	if err := (&Plan{Attention: "eager", LlamaCpp: LlamaCpp{SplitMode: "row"}, Offload: &Offload{Weights: "none", KV: "nvme", Experts: "host"}}).Check(); err != nil {
		t.Error(err)
	}
}

// TestTokensAtOnce: context and sequences are bounded together too.
func TestTokensAtOnce(t *testing.T) {
	if err := (&Plan{Context: 1 << 20, Sequences: 1 << 20}).Check(); err != nil {
		t.Error(err)
	}
	if err := (&Plan{Context: 1 << 20, Sequences: 1<<20 + 1}).Check(); err == nil {
		t.Error("more than 2^40 tokens are taken")
	}
}

func TestRanks(t *testing.T) {
	for _, c := range []struct {
		p    Plan
		want int64
	}{{Plan{}, 1}, {Plan{TP: 8, PP: 2}, 16}, {Plan{TP: 2, DP: 3, CP: 5}, 30}, {Plan{EP: 8}, 1}} {
		if got := c.p.Ranks(); got != c.want {
			t.Errorf("%+v: %d ranks, want %d", c.p, got, c.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "8192": 8192, "-3": -3, "1e9": 1e9, "1.5e1": 15, "2.0": 2, "9223372036854775807": math.MaxInt64, "-9223372036854775808": math.MinInt64, "1E3": 1000, "0.0": 0, "9007199254740993": 9007199254740993} {
		var n Int
		if err := json.Unmarshal([]byte(text), &n); err != nil || int64(n) != want {
			t.Errorf("%s is %d, %v", text, n, err)
		}
	}
	for _, text := range []string{"0.5", "1e300", "9223372036854775808", "-1e19", `"8"`, "true", "[]", "{}", "1e-9", `""`} {
		var n Int
		if err := json.Unmarshal([]byte(text), &n); err == nil {
			t.Errorf("%s is %d", text, n)
		}
	}
	for text, want := range map[string]unit.Bytes{`"24GiB"`: 24 << 30, "1e9": 1e9, `"80 GB"`: 80e9, "1024": 1024, `"0"`: 0} {
		var s Size
		if err := json.Unmarshal([]byte(text), &s); err != nil || unit.Bytes(s) != want {
			t.Errorf("%s is %d, %v", text, s, err)
		}
	}
	for _, text := range []string{`"24"GiB`, `"-1GiB"`, `"lots"`, "0.5", "1e300", "true", `"1.3B"`, `"NaN"`} {
		var s Size
		if err := json.Unmarshal([]byte(text), &s); err == nil {
			t.Errorf("%s is %d", text, s)
		}
	}
}

// FuzzNumbers: a number that is read is written and read again as the same.
func FuzzNumbers(f *testing.F) {
	for _, s := range []string{"1e9", "-3", `"24GiB"`, "0.5", "9223372036854775807", "null", `"`, "1e-400"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var n, m Int
		if json.Unmarshal([]byte(text), &n) == nil {
			again, err := json.Marshal(n)
			if err != nil || json.Unmarshal(again, &m) != nil || m != n {
				t.Errorf("%s is %d, then %d", text, n, m)
			}
		}
		var s, u Size
		if json.Unmarshal([]byte(text), &s) == nil {
			again, err := json.Marshal(s)
			if err != nil || json.Unmarshal(again, &u) != nil || u != s {
				t.Errorf("%s is %d bytes, then %d", text, s, u)
			}
		}
	})
}
