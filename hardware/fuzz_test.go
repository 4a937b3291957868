package hardware

import (
	"errors"
	"reflect"
	"testing"
)

// Whatever is typed, the answer is a sound machine or an *Error that says what to do, and the machine's
// figures keep their laws.
func FuzzParse(f *testing.F) {
	for _, s := range spellings {
		f.Add(s.name, 0)
	}
	for _, s := range []string{
		"8xh100", "2 x H100", "rtx-4090+rtx-3060", "2xp5.48xlarge", "cpu", "local", "cpu,host=64GiB@50GB/s",
		"16xh100,fabric=ib:100GB/s,per-node=4",
		"4xname=x,memory=24GiB,bandwidth=1TB/s,bf16=80TFLOPS,link=nvlink:900GB/s,host=128GiB@200GB/s,nvme=4TB@7GB/s,pool=2TB@64GB/s",
		"name=x,memory=1e-9GiB", "((((", "h100(", ")h100", "+++", ",,,", "=,=", "0x", "99999999x", "2x2x2xh100", "5p+6e+14gpu",
		"80gb80gb80gb", "1..2GB", "..gb",
	} {
		f.Add(s, 0)
		f.Add(s, 8)
	}
	f.Fuzz(func(t *testing.T, text string, devices int) {
		m, notes, err := Parse(text, devices)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Problem == "" || e.Code == "" || len(err.Error()) > 1000 {
				t.Fatalf("Parse(%q, %d): %v", text, devices, err)
			}
			if !reflect.DeepEqual(m, Machine{}) || notes != nil {
				t.Fatalf("Parse(%q, %d): an error and %+v", text, devices, m)
			}
			return
		}
		total := m.Devices()
		switch {
		case m.Local || m.CPUOnly:
			if total != 0 {
				t.Fatalf("Parse(%q, %d): %d devices", text, devices, total)
			}
		case total < 1 || total > MaxDevices || devices > 0 && total != devices && len(m.Groups) == 1 && m.Groups[0].Count != devices:
			t.Fatalf("Parse(%q, %d): %d devices", text, devices, total)
		case m.Nodes < 1 || m.PerNode < 1 || m.Nodes > total || m.Nodes*m.PerNode < total:
			t.Fatalf("Parse(%q, %d): %d devices in %d nodes of %d", text, devices, total, m.Nodes, m.PerNode)
		}
		checkFacts(t, text, m)
		for _, g := range m.Groups {
			if g.Count < 1 || g.Device.ID == "" || g.Device.Usable.Value <= 0 || g.Device.Usable.Value > g.Device.Memory.Value {
				t.Fatalf("Parse(%q, %d): %+v", text, devices, g)
			}
		}
	})
}

// Find gives a device whose id finds it again.
func FuzzFind(f *testing.F) {
	for _, s := range spellings {
		f.Add(s.name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		d, _, err := Find(name)
		if err != nil {
			return
		}
		again, _, err := Find(d.ID)
		if err != nil || !reflect.DeepEqual(again, d) {
			t.Fatalf("Find(%q) is %s, which finds %v, %v", name, d.ID, again, err)
		}
	})
}
