package train

import "testing"

// idle is how long each stage waits between its first and its last pass, and span is when the last pass of all ends.
func idle(all []Slot, stages int64) (waits []int64, span int64) {
	first, last, work := make([]int64, stages), make([]int64, stages), make([]int64, stages)
	for i := range first {
		first[i] = 1 << 40
	}
	for _, s := range all {
		first[s.Stage], last[s.Stage] = min(first[s.Stage], s.From), max(last[s.Stage], s.To)
		work[s.Stage] += s.To - s.From
		span = max(span, s.To)
	}
	for i := range first {
		waits = append(waits, last[i]-first[i]-work[i])
	}
	return waits, span
}

// held is the most micro-batches, in whole stages, that a stage has begun and not yet let go.
func held(all []Slot, stage, chunks int64, end Pass) float64 {
	most := 0
	for _, at := range all {
		n := 0
		for _, s := range all {
			if s.Stage != stage {
				continue
			}
			if s.Pass == Forward && s.From <= at.From {
				n++
			}
			if s.Pass == end && s.To <= at.From {
				n--
			}
		}
		most = max(most, n)
	}
	return float64(most) / float64(chunks)
}

// TestTimeline: each schedule has the bubble and holds the micro-batches that its paper says, which the formulas of a step
// and of its memory say too.
func TestTimeline(t *testing.T) {
	for _, c := range []struct {
		schedule              string
		stages, chunks, micro int64
		span                  int64 // in forward passes of a chunk
	}{
		{"gpipe", 4, 1, 8, 3 * (8 + 3)}, {"1f1b", 4, 1, 8, 3 * (8 + 3)}, {"1f1b", 8, 1, 32, 3 * (32 + 7)}, {"1f1b", 1, 1, 3, 9},
		{"interleaved", 4, 2, 8, 3 * (2*8 + 3)}, {"interleaved", 4, 4, 16, 3 * (4*16 + 3)}, {"interleaved", 2, 3, 4, 3 * (3*4 + 1)},
		{"zb-h1", 4, 1, 8, 3*8 + 3}, {"zb-h1", 8, 1, 32, 3*32 + 7}, {"zb-h2", 4, 1, 12, 3*12 + 3}, {"zb-h2", 8, 1, 32, 3*32 + 7},
	} {
		all := Timeline(c.schedule, c.stages, c.chunks, c.micro)
		waits, span := idle(all, c.stages)
		if span != c.span {
			t.Errorf("%s, %d stages, %d chunks, %d micro-batches: %d, want %d", c.schedule, c.stages, c.chunks, c.micro, span, c.span)
		}
		parted := c.schedule == "zb-h1" || c.schedule == "zb-h2"
		for s := range c.stages {
			end, of := Backward, s
			if parted { // later stages may hold as many as the first until their gradients of weights are done
				end, of = Weights, 0
			}
			if got, want := held(all, s, c.chunks, end), inFlight(c.schedule, of, c.stages, c.chunks, c.micro); got > want || !parted && got != want {
				t.Errorf("%s: stage %d holds %g micro-batches, want %g", c.schedule, s, got, want)
			}
			if c.schedule == "zb-h2" && waits[s] != 0 {
				t.Errorf("stage %d of zb-h2 waits for %d", s, waits[s])
			}
		}
		valid(t, all, c.stages, c.chunks, c.micro)
	}
	for _, schedule := range []string{"zbv", "nosuch"} {
		if Timeline(schedule, 4, 2, 8) != nil {
			t.Errorf("%s is laid out", schedule)
		}
	}
	if Timeline("1f1b", 1<<20, 1, 1<<20) != nil || Timeline("1f1b", 0, 1, 1) != nil || Timeline("interleaved", 4, 2, 7) != nil {
		t.Error("what cannot be laid out is")
	}
}

// valid: no stage does two things at once, every pass is done once, and none before what it needs.
func valid(t *testing.T, all []Slot, stages, chunks, micro int64) {
	t.Helper()
	ends := map[Slot]int64{}
	for i, s := range all {
		for _, o := range all[:i] {
			if o.Stage == s.Stage && o.From < s.To && s.From < o.To {
				t.Fatalf("stage %d does two passes at once", s.Stage)
			}
		}
		ends[Slot{Stage: s.Stage, Micro: s.Micro, Chunk: s.Chunk, Pass: s.Pass}] = s.To
	}
	if int64(len(ends)) != int64(len(all)) || len(all) == 0 || int64(len(all))%(stages*chunks*micro) != 0 {
		t.Fatalf("%d passes, %d of them different", len(all), len(ends))
	}
	for _, s := range all {
		if s.Pass == Forward && s.Stage > 0 && ends[Slot{Stage: s.Stage - 1, Micro: s.Micro, Chunk: s.Chunk}] > s.From {
			t.Fatal("a pass begins before its input is there")
		}
		if s.Pass == Backward && s.Stage < stages-1 && ends[Slot{Stage: s.Stage + 1, Micro: s.Micro, Chunk: s.Chunk, Pass: Backward}] > s.From {
			t.Fatal("a backward pass begins before its gradient is there")
		}
	}
}
