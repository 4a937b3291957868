package snapshot

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/memwall/memwall/fault"
)

func load(t testing.TB, name string) *Snapshot {
	t.Helper()
	f, err := os.Open("testdata/" + name + ".pickle")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, err := Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// report of the one device that has a record.
func report(t testing.TB, name string) Device {
	t.Helper()
	r := load(t, name).Report()
	if len(r.Devices) != 1 {
		t.Fatalf("%s: %d devices", name, len(r.Devices))
	}
	return r.Devices[0]
}

// TestSums: peaks and what is reserved are those that testdata/make.py kept count of, an allocator of its own.
func TestSums(t *testing.T) {
	for _, c := range []struct {
		name                        string
		peak, reserved, live, event int64
	}{
		{"training", 1224945664, 1312817152, 763494400, 478},
		{"leak", 1237530624, 1312817152, 776079360, 482},
		{"oom", 1224945664, 1312817152, 1090727936, 397},
		{"inference", 180375552, 197132288, 176181248, 179},
		{"bare", 1224945664, 1312817152, 763494400, 478},
	} {
		d := report(t, c.name)
		if d.Peak.Live != c.peak || d.PeakReserved != c.reserved || d.End.Live != c.live || int64(d.Events) != c.event {
			t.Errorf("%s: peak %d, reserved %d, live %d, %d events; not %+v", c.name, d.Peak.Live, d.PeakReserved, d.End.Live, d.Events, c)
		}
		sum := int64(0)
		for _, h := range d.Held {
			sum += h.Bytes
		}
		if sum != d.HeldAt.Live || c.name != "oom" && d.HeldAt != d.Peak {
			t.Errorf("%s: categories add up to %d, and %d were held", c.name, sum, d.HeldAt.Live)
		}
		s := d.Segments
		if s.Requested+s.Rounding+s.Pending+s.Whole+s.Between != s.Reserved || s.Reserved != d.End.Reserved {
			t.Errorf("%s: segments do not add up: %+v", c.name, s)
		}
		if d.Settings[0].Reserved != c.reserved {
			t.Errorf("%s: played as recorded it reserves %d", c.name, d.Settings[0].Reserved)
		}
	}
}

// TestForwardAlone: what a forward pass keeps waits for a backward pass, and is not a leak where the record ends before it; with one it is
// counted as what it is.
func TestForwardAlone(t *testing.T) {
	for name, want := range map[string]int64{"forward": 40*(30<<20+6*512) + (192+8)<<20 + 128<<10, "inference": 0, "training": 0, "leak": 0, "oom": 0} {
		d := report(t, name)
		if d.Awaiting != want {
			t.Errorf("%s: %d bytes of activations wait for a backward pass, not %d", name, d.Awaiting, want)
		}
		for _, g := range d.Growth {
			if g.Category == Activation {
				t.Errorf("%s: activations grow: %+v", name, g)
			}
		}
	}
}

// TestPrint shows a report; for eyes.
func TestPrint(t *testing.T) {
	for _, name := range strings.Split(os.Getenv("SHOW"), ",") {
		if name == "" {
			continue
		}
		d := report(t, name)
		d.Timeline = nil
		b, _ := json.MarshalIndent(d, "", " ")
		t.Logf("%s", b)
	}
}

// TestMutated: snapshots with a few bytes that are otherwise are read, or refused in their own words.
func TestMutated(t *testing.T) {
	for _, name := range []string{"training", "ring", "oom"} {
		data, err := os.ReadFile("testdata/" + name + ".pickle")
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(150) {
			r := rand.New(rand.NewPCG(seed, 1))
			broken := bytes.Clone(data)
			for range 1 + r.IntN(4) {
				broken[r.IntN(len(broken))] = byte(r.IntN(256))
			}
			s, err := Read(bytes.NewReader(broken))
			if _, ok := errors.AsType[*fault.Error](err); err != nil && !ok {
				t.Fatalf("%s, %d: %v is of type %T", name, seed, err, err)
			}
			if err == nil {
				s.Report()
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"training", "ring", "oom"} {
		data, err := os.ReadFile("testdata/" + name + ".pickle")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Read(bytes.NewReader(data))
		if err == nil {
			s.Report()
		}
	})
}
