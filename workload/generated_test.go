package workload

import "testing"

func described() Spec {
	return Spec{Arrivals: "poisson", Rate: 4, Requests: 1 << 40 >> 20, Prompt: Law{Law: "lognormal", Mean: 1024, CV: 0.5}, Output: Law{Law: "lognormal", Mean: 256, CV: 0.8}}
}

func BenchmarkGenerate(b *testing.B) {
	s := described()
	s.Requests = MaxRequests
	src, err := s.Source()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, ok, err := src.Next(); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}
