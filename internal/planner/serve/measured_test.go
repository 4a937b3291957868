package serve

import "testing"

// TestMeasuredComeFirst: each fleet says how many measured runs stand behind it, and one without any comes before one with some only
// where it is no dearer at its slow edge.
func TestMeasuredComeFirst(t *testing.T) {
	unmeasured := 0
	for _, c := range []struct {
		on           string
		users        int64
		first, token float64
	}{{"h100,l40s", 40, 1000, 30}, {"h100,l40s", 80, 1000, 45}, {"h200,a100-sxm-80gb,l4", 60, 2000, 60}} {
		r := forUsers("llama-3.1-8b", c.on, c.users, c.first, c.token)
		r.Workload.Requests = 400
		a := goalOf(t, r)
		for i := range a.Candidates {
			f := a.Candidates[i].Fleet
			if f.Runs > 0 {
				continue
			}
			unmeasured++
			for j := i + 1; j < len(a.Candidates); j++ {
				m := a.Candidates[j].Fleet
				if m.Runs == 0 {
					continue
				}
				if f.Sure == nil || float64(*f.Sure)/float64(f.Replicas)**f.USDPerHour > *m.USDPerHour*1.0001 {
					t.Errorf("%s, which nobody measured ($%g, sure with %v), comes before %s ($%g, %d runs)", a.Candidates[i].Change,
						*f.USDPerHour, f.Sure, a.Candidates[j].Change, *m.USDPerHour, m.Runs)
				}
			}
		}
	}
	if unmeasured == 0 {
		t.Error("all fleets are of measured kinds: nothing was compared")
	}
}

// TestRunsOf: the count is of the device, the engine and the layout together; of llama.cpp's kin of one device.
func TestRunsOf(t *testing.T) {
	for _, c := range []struct {
		on, engine string
		tp         int64
		some       bool
	}{{"h100-sxm-80gb", "vllm", 2, true}, {"h100-sxm-80gb", "tensorrt-llm", 1, true}, {"l4", "vllm", 1, false},
		{"rtx-4090", "llama-server", 0, true}} {
		r := forUsers("llama-3.1-8b", c.on, 4, 8000, 180)
		r.Engine, r.TP, r.Workload.Requests = c.engine, c.tp, 100
		if c.tp == 1 {
			r.PP = 1
		}
		a := goalOf(t, r)
		if a.Best == nil {
			t.Errorf("%+v: no fleet", c)
			continue
		}
		if f := a.Best.Fleet; (f.Runs > 0) != c.some {
			t.Errorf("%+v: %d runs", c, f.Runs)
		}
	}
}
