package pack

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/memwall/memwall"
)

func plans(t *testing.T, texts ...string) []Plan {
	t.Helper()
	out, err := Plans(texts, func(text string) (*Plan, error) {
		r := &memwall.Request{}
		for i, w := range strings.Fields(text) {
			name, value, _ := strings.Cut(w, "=")
			switch {
			case i == 0:
				r.Model = w
			case name == "ctx":
				r.Context = 16384
			case name == "weights":
				r.Weights = value
			case name == "tp":
				r.TP = 2
			case name == "on":
				r.Hardware = value
			}
		}
		return &Plan{Text: text, Request: r}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func packed(t *testing.T, pool string, mig bool, texts ...string) *Packing {
	t.Helper()
	out, err := Pack(context.Background(), (&memwall.Asker{}).AskContext, pool, mig, plans(t, texts...))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Every model lies once, devices are not taken twice, and what lies on a device is what its ledgers together hold.
func TestPackingHolds(t *testing.T) {
	out := packed(t, "4xh100", false, "llama-3.1-70b weights=fp8 tp=2", "3x qwen3-8b ctx=16k", "llama-3.1-8b")
	n, next := 0, 0
	for i := range out.Bins {
		b := &out.Bins[i]
		if b.First != next || b.Needed > b.Usable || b.Count != 1 && len(b.Lies) != 1 {
			t.Errorf("%+v", b)
		}
		next += b.Count
		n += len(b.Lies)
		if len(b.all) < 2 {
			continue
		}
		r := *b.all[0]
		for _, o := range b.all[1:] {
			other := *o
			other.Hardware, other.Devices = "", 0
			r.Also = append(r.Also, other)
		}
		if a, err := memwall.Ask(&r); err != nil || a.Verdict == memwall.DoesNotFit {
			t.Errorf("%v lie on a device and do not fit: %v", b.Lies, err)
		}
	}
	if n != 5 || next != out.Used || out.Used > 4 || out.Least > out.Used || len(out.Unplaced) > 0 {
		t.Errorf("%d models on %d of %d devices, %d at the least; %v", n, out.Used, out.Devices, out.Least, out.Unplaced)
	}
}

func TestOrderIsNoMatter(t *testing.T) {
	texts := []string{"qwen3-8b", "llama-3.1-8b", "qwen3-32b weights=fp8", "llama-3.1-8b weights=fp8"}
	first := packed(t, "3xh100", false, texts...)
	slices.Reverse(texts)
	if again := packed(t, "3xh100", false, texts...); again.Used != first.Used {
		t.Errorf("%d devices, and %d in another order", first.Used, again.Used)
	}
}

// Parts of a device do not overlap, begin where they may, and have no more processors than there are.
func TestPartsLieAsDriversAllow(t *testing.T) {
	for _, texts := range [][]string{{"4x llama-3.1-8b weights=fp8", "qwen3-32b weights=awq"}, {"9x llama-3.2-1b"}, {"3x qwen3-32b weights=awq"}} {
		out := packed(t, "4xh100", true, texts...)
		for _, b := range out.Bins {
			taken, compute := [8]bool{}, 0
			for _, l := range b.Lies {
				slices := map[string][2]int{"1g.10gb": {1, 1}, "1g.20gb": {1, 2}, "2g.20gb": {2, 2}, "3g.40gb": {3, 4}, "4g.40gb": {4, 4}, "7g.80gb": {7, 8}}[l.Part]
				if slices[1] == 0 || l.Slot%slices[1] != 0 || l.Slot+slices[0] > 7 {
					t.Errorf("%s begins at %d", l.Part, l.Slot)
				}
				for i := range slices[1] {
					if taken[l.Slot+i] {
						t.Errorf("%v overlap", b.Lies)
					}
					taken[l.Slot+i] = true
				}
				compute += slices[0]
			}
			if compute > 7 {
				t.Errorf("%v have %d of 7 processors", b.Lies, compute)
			}
		}
		if len(out.Unplaced) > 0 {
			t.Errorf("%v: %v", texts, out.Unplaced)
		}
	}
}

func TestWhatFindsNoRoomIsSaid(t *testing.T) {
	out := packed(t, "1xh100", false, "llama-3.1-70b", "4x qwen3-32b weights=fp8", "llama-3.1-8b tp=2")
	if len(out.Unplaced) != 4 || !strings.Contains(out.Unplaced[0].Why+out.Unplaced[1].Why, "short") || out.Used != 1 {
		t.Errorf("%+v", out)
	}
	for _, u := range out.Unplaced {
		if u.Why == "" {
			t.Errorf("%s: no reason", u.Plan)
		}
	}
}

func TestBadPools(t *testing.T) {
	for pool, says := range map[string]string{"": "", "nonsense": "not in the catalog", "cpu": "one kind", "h100+a100": "one kind", "9999xh100": "", "local": "one kind"} {
		_, err := Pack(context.Background(), (&memwall.Asker{}).AskContext, pool, false, plans(t, "qwen3-8b"))
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, where %q was expected", pool, err, says)
		}
	}
	if _, err := Pack(context.Background(), (&memwall.Asker{}).AskContext, "2xrtx-4090", true, plans(t, "qwen3-8b")); err == nil {
		t.Error("an RTX 4090 is cut into parts")
	}
	if _, err := Pack(context.Background(), (&memwall.Asker{}).AskContext, "2xh100", true, nil); err == nil {
		t.Error("nothing is packed")
	}
	read := func(text string) (*Plan, error) {
		model, hw, _ := strings.Cut(text, "@")
		return &Plan{Text: text, Request: &memwall.Request{Model: model, Hardware: hw}}, nil
	}
	for _, bad := range []string{"0x a", "1000000000x a", "-1x a", "", "a@h100"} {
		if out, err := Plans([]string{bad}, read); err == nil {
			t.Errorf("%q: %d plans", bad, len(out))
		}
	}
}
