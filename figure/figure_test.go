package figure

import (
	"encoding/json"
	"errors"
	"testing"
)

const answer = `{"verdict":"does_not_fit","devices":[{"usable_bytes":80,"ledger":[{"id":"weights","bytes":60},{"id":"kv_cache","bytes":20}]}],
"speed":{"tpot_ms":28,"bound":"memory"},"ttft_ms":{"p99":900},"kv":{"max_sequences":null}}`

func names(t *testing.T) Names {
	var v any
	if err := json.Unmarshal([]byte(answer), &v); err != nil {
		t.Fatal(err)
	}
	return func(name string) (any, error) {
		if name != "one" {
			return nil, errors.New("no " + name)
		}
		return v, nil
	}
}

func TestEval(t *testing.T) {
	n := names(t)
	for expr, want := range map[string]Value{
		"one.ledger.kv_cache.bytes":                   {Number: 20},
		"one.devices.0.ledger.0.bytes":                {Number: 60},
		"(one.usable - one.ledger.weights.bytes) × 2": {Number: 40},
		"one.tpot":               {Number: 0.028},
		"one.ttft_ms.p99 / 1000": {Number: 0.9},
		"one.verdict":            {Words: "does not fit"},
		"one.speed.bound":        {Words: "memory"},
		"max(one.ledger.weights.bytes, one.usable) + 1": {Number: 81},
	} {
		if got, err := n.Eval(expr); err != nil || got != want {
			t.Errorf("%s = %v (%v), want %v", expr, got, err, want)
		}
	}
}

func TestWhatCannotBeComputed(t *testing.T) {
	n := names(t)
	for _, expr := range []string{"two.usable", "one.devices", "one.usable +", "usable", "one.usable × (2"} {
		if v, err := n.Eval(expr); err == nil {
			t.Errorf("%s = %v, want an error", expr, v)
		}
	}
	for _, expr := range []string{"one.nothing", "one.users", "one.ledger.logits.bytes", "one.devices.1.usable_bytes"} {
		var missing *MissingError
		if _, err := n.Eval(expr); !errors.As(err, &missing) {
			t.Errorf("%s: %v, want a missing figure", expr, err)
		}
	}
}

func FuzzEval(f *testing.F) {
	f.Add("one.ledger.kv_cache.bytes / one.usable")
	f.Fuzz(func(t *testing.T, expr string) {
		if len(expr) < 200 {
			_, _ = names(t).Eval(expr)
		}
	})
}
