package snapshot

import (
	"maps"
	"testing"
)

// TestBeforeTheRecord: blocks from before a record are known by the sizes of the gradients that it makes: of each size as many are
// parameters, the others states of the optimizer, as are those of a copy of twice the bytes; what goes before the first gradient was one.
func TestBeforeTheRecord(t *testing.T) {
	g := gradients{of: map[int]map[int64]int{}, first: 1 << 30}
	for step := range 2 {
		for i, size := range []int64{4096, 4096, 1024} {
			g.add(&life{born: 100*step + 50 + i, size: size}, step)
		}
	}
	if g.first != 50 {
		t.Fatalf("the first gradient is at %d", g.first)
	}
	var older []life
	for i, b := range []struct {
		asked int64
		died  int
	}{
		{4096, 10}, {4096, 10}, {1024, 10}, {4096, never}, {4096, never}, {1024, never}, {4096, never}, {4096, 300}, {8192, never}, {640, never},
		{640, 20},
	} {
		older = append(older, life{born: -1, died: b.died, size: b.asked + 512, asked: b.asked, address: int64(i)})
	}
	want := map[int64]Category{
		0: Gradients, 1: Gradients, 2: Gradients, 3: Parameters, 4: Parameters, 5: Parameters, 6: Optimizer, 7: Optimizer, 8: Optimizer,
	}
	if got := g.recognise(older); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := (&gradients{}).recognise(older); len(got) > 0 {
		t.Errorf("without gradients %v", got)
	}
}
