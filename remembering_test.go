package memwall

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/memwall/memwall/model/catalog"
)

// TestRememberingAnswersAlike: an asker that keeps what its questions share answers each as one that is asked nothing
// else.
func TestRememberingAnswersAlike(t *testing.T) {
	const seeds = 400
	models := []string{"qwen3-32b", "llama-3.1-8b", "deepseek-v3", "qwen3-30b-a3b", "gemma-3-27b", "qwen3-next-80b-a3b"}
	one := asker().Remembering()
	random := rand.New(rand.NewPCG(11, 12))
	for range seeds {
		r := randomRequest(random, models)
		if random.IntN(2) == 0 {
			r.Engine = []string{"llama.cpp", "llama.cpp@b5200", "llama.cpp@b7500", "ollama"}[random.IntN(4)]
		}
		together, _ := one.Ask(r)
		alone, _ := asker().Ask(r)
		if d := cmp.Diff(text(t, alone), text(t, together)); d != "" {
			t.Fatalf("%s: %s", text(t, r), d)
		}
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestOlderBuilds: every model is answered, or refused, for builds that are older than it.
func TestOlderBuilds(t *testing.T) {
	for _, e := range catalog.All() {
		a := asker().Remembering()
		for _, build := range []string{"b1500", "b5200", "b7500"} {
			r := &Request{Ask: "fit", Model: e.ID, Hardware: "8xh200"}
			r.Engine, r.Weights = "llama.cpp@"+build, "q4_k_m"
			_, err := a.Size(r)
			var x *Error
			if errors.As(err, &x) && x.Code == Internal {
				t.Errorf("%s with %s: %v", e.ID, build, err)
			}
		}
	}
}
