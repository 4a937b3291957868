package workload

import (
	"strings"
	"testing"
)

// BenchmarkGenerate makes requests with lognormal lengths.
func BenchmarkGenerate(b *testing.B) {
	s := described()
	s.Requests = MaxRequests
	for _, c := range []struct {
		name   string
		change func(*Spec)
	}{
		{"poisson", func(*Spec) {}},
		{"gamma", func(s *Spec) { x := 2.; s.Arrivals, s.CV = "gamma", &x }},
		{"prefix", func(s *Spec) { s.SharedPrefix = 1 }},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := s
			c.change(&s)
			src := source(b, s)
			b.ReportAllocs()
			for b.Loop() {
				if _, ok, err := src.Next(); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		})
	}
}

// BenchmarkRead reads ten thousand requests of each format.
func BenchmarkRead(b *testing.B) {
	for _, name := range []string{"azure.csv", "burstgpt.csv", "engine.csv", "own.jsonl", "mooncake.jsonl"} {
		head, line := sample(file(b, name))
		if name == "mooncake.jsonl" {
			line = `{"timestamp": 27482, "input_length": 9700, "output_length": 500, "hash_ids": [0, 14, 15, 16, 17, 18, 1900, 2000, 21000, 22000, 23000, 24000, 25000, 26000, 27000, 28000, 29000, 3000, 3100]}` + "\n"
		}
		text := head + strings.Repeat(line, 10_000)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				tr, err := Open(strings.NewReader(text), ReadOptions{})
				for ok := true; ok && err == nil; {
					_, ok, err = tr.Next()
				}
				if err != nil || tr.Requests() != 10_000 {
					b.Fatal(err)
				}
			}
		})
	}
}

// sample is the header of a file, if it has one, and its first request.
func sample(text string) (head, line string) {
	rows := strings.SplitAfter(text, "\n")
	if strings.HasPrefix(text, "{") {
		return "", rows[0]
	}
	return rows[0], rows[1]
}

// BenchmarkSurvey sums up requests.
func BenchmarkSurvey(b *testing.B) {
	var l Lengths
	r := Request{Prompt: 1000, Output: 100}
	for b.Loop() {
		r.Arrival += 1_000_000
		l.Add(&r)
	}
}
