package workload

import (
	"testing"
	"time"
)

// TestSampled: so many requests to a prompt, at its moment, that begin alike and like no others.
func TestSampled(t *testing.T) {
	src, err := Spec{Arrivals: "poisson", Rate: 4, Requests: 3, Prompt: Law{Law: "fixed", Mean: 100}, Output: Law{Law: "fixed", Mean: 10}, SharedPrefix: 30}.Source()
	if err != nil {
		t.Fatal(err)
	}
	src = Sampled(src, 4)
	names := map[uint64]int{}
	var first Request
	for i := range 12 {
		r, ok, err := src.Next()
		if err != nil || !ok {
			t.Fatalf("request %d: %v, %v", i, ok, err)
		}
		if i%4 == 0 {
			first = r
		}
		if r.ID != int64(i) || r.Arrival != first.Arrival || r.Shared() != 100 || r.Prompt != 100 || r.Own != 0 {
			t.Errorf("request %d is %+v", i, r)
		}
		names[r.Spans[len(r.Spans)-1].ID]++
	}
	if _, ok, _ := src.Next(); ok || len(names) != 3 {
		t.Errorf("more than 12 requests, or %d names of 3 prompts", len(names))
	}
}

// TestSampledLoop: in a closed loop the next prompt comes with the last answer to the one before, and brings all of its answers.
func TestSampledLoop(t *testing.T) {
	src, err := Spec{Arrivals: "closed", Concurrency: 1, Requests: 2, Prompt: Law{Law: "fixed", Mean: 8}, Output: Law{Law: "fixed", Mean: 2}}.Source()
	if err != nil {
		t.Fatal(err)
	}
	src = Sampled(src, 3)
	var asked []Request
	for range 3 {
		r, _, _ := src.Next()
		asked = append(asked, r)
	}
	for i := range asked[:2] {
		if _, ok := src.After(&asked[i], time.Second); ok {
			t.Fatal("the next prompt came before the last answer")
		}
	}
	r, ok := src.After(&asked[2], 2*time.Second)
	next := int64(0)
	for ; ok; r, ok = src.(Several).Rest() {
		if r.ID != 3+next || r.Arrival != 2*time.Second {
			t.Errorf("answer %d is %+v", next, r)
		}
		next++
	}
	if next != 3 {
		t.Errorf("%d answers to the second prompt, want 3", next)
	}
}

// TestSampledOnce: one answer to each prompt is the source itself.
func TestSampledOnce(t *testing.T) {
	src := &generated{}
	if Sampled(src, 1) != Source(src) {
		t.Error("one answer is another source")
	}
}
