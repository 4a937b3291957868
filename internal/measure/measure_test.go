package measure

import (
	"context"
	"testing"

	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/unit"
)

// TestKernels: what each kernel says it did, it did.
func TestKernels(t *testing.T) {
	w := newWorkers(2, 96*unit.KiB)
	if n := w.read(0); n != 48<<10 {
		t.Errorf("read %v bytes", n)
	}
	if n := w.copy(1); n != 48<<10 {
		t.Errorf("copied %v bytes", n)
	}
	if n := w.triad(0); n != 48<<10 || w.numbers[0][0] != 4 || w.numbers[0][2047] != 4 || w.numbers[0][2048] != 1 {
		t.Errorf("triad of %v bytes: %v", n, w.numbers[0][:2])
	}
	if n := w.fma(1); n != 64e6 || w.sums[1] <= 0 || w.sums[1] >= 36 {
		t.Errorf("%v operations, sum %v", n, w.sums[1])
	}
}

// TestRun: best and worst are in order, and a measurement that is ended gives what it has.
func TestRun(t *testing.T) {
	l := &card.Local{Processor: &card.Processor{Name: "x"}, Host: &card.LocalHost{Free: 8 * unit.MiB}}
	m := Run(context.Background(), l)
	for name, b := range map[string]card.Best{"read": m.Read, "copy": m.Copy, "triad": m.Triad, "fma": m.FMA} {
		if !(0 < b.Worst && b.Worst <= b.Best) {
			t.Errorf("%s: %+v", name, b)
		}
	}
	if m.Processor != "x" || m.Buffer != 2*unit.MiB || m.Rounds < leastRounds || m.Rounds > mostRounds || m.Rate() == "" {
		t.Errorf("%+v", m)
	}
	ended, stop := context.WithCancel(context.Background())
	stop()
	if m := Run(ended, l); m.Rounds != 0 || m.Rate() != "" {
		t.Errorf("ended: %+v", m)
	}
}

func TestBuffer(t *testing.T) {
	for _, c := range []struct{ cache, free, want unit.Bytes }{
		{32 * unit.MiB, 64 * unit.GiB, 256 * unit.MiB}, {768 * unit.MiB, 512 * unit.GiB, 3 * unit.GiB},
		{768 * unit.MiB, 4 * unit.GiB, unit.GiB}, {0, 1, unit.MiB},
	} {
		if got := buffer(&card.Local{Processor: &card.Processor{Cache: c.cache}, Host: &card.LocalHost{Free: c.free}}); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
