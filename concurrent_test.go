package memwall

import (
	"encoding/json"
	"sync"
	"testing"
)

// TestConcurrentAnswers: answers asked for at once by many goroutines are those asked for one by one.
// Run with -race, it also shows that questions share nothing that they write.
func TestConcurrentAnswers(t *testing.T) {
	var requests []Request
	for _, id := range []string{"deepseek-v3", "qwen3-next-80b-a3b"} {
		for j, r := range grid(id) {
			if chosen(0, j, true) {
				requests = append(requests, r)
			}
		}
	}
	asker := &Asker{}
	const workers = 4
	answers := make([][]string, workers)
	var wg sync.WaitGroup
	for w := range answers {
		wg.Go(func() { answers[w] = texts(asker, requests) })
	}
	wg.Wait()
	alone := texts(&Asker{}, requests)
	answered := 0
	for i := range alone {
		if alone[i][0] == '{' {
			answered++
		}
		for w := range answers {
			if answers[w][i] != alone[i] {
				t.Errorf("%s with %s on %s: goroutine %d was told\n%s\nalone\n%s", requests[i].Model, requests[i].Engine,
					requests[i].Hardware, w, answers[w][i], alone[i])
			}
		}
	}
	if answered < len(requests)/3 {
		t.Errorf("only %d of %d requests were answered", answered, len(requests))
	}
}

// texts are the answers, or what was wrong, as JSON.
func texts(a *Asker, requests []Request) (out []string) {
	for _, r := range requests {
		answer, err := a.Ask(&r)
		if err != nil {
			out = append(out, err.Error())
			continue
		}
		b, err := json.Marshal(answer)
		if err != nil {
			b = []byte(err.Error())
		}
		out = append(out, string(b))
	}
	return out
}
