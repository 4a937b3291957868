package serve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/planner"
	"github.com/memwall/memwall/internal/planner/change"
)

// machineChoice is hardware for one replica, and how many devices of the kind are available.
type machineChoice struct {
	kind, name string
	devices    int64
	have       int64 // 0 if unknown
	whole      bool  // a node or mixed devices: nothing smaller can be rented
	shared     bool  // more devices than a replica needs: data-parallel attention with shared experts
	split      bool  // a number that only disaggregated workers divide evenly
}

// replicaSizes are the numbers of devices of one kind to try per replica; those beyond the usual are for models that nothing
// smaller holds.
var replicaSizes = []int64{1, 2, 4, 8, 16, 32, 64}

const usualSize = 16

// splitSizes are numbers of devices for one prefill and two decode workers, or the reverse.
var splitSizes = []int64{3, 6, 12}

// replicaSizes returns the sizes to try: those listed, else the usual ones.
func (t *task) replicaSizes() (out []int64) {
	for _, n := range t.original.Among["devices"] {
		out = append(out, int64(n))
	}
	if out == nil {
		return replicaSizes
	}
	return out
}

// machines returns the machines to try, kind by kind, and how their names were interpreted.
func (t *task) machines() (out []machineChoice, said notes, err error) {
	names := hardware.List(t.asked.Hardware)
	if t.asked.Hardware == "" || t.asked.Hardware == api.AnyHardware {
		names = planner.Offered
	}
	for _, name := range names {
		m, read, err := t.env.Find(name, int(t.asked.Devices))
		if err != nil {
			return nil, nil, api.AsError(err)
		}
		for _, n := range read {
			said.add(n.Code, "info", "hardware", n.Text)
		}
		out = append(out, t.sizes(name, &m)...)
	}
	return out, said, t.onePrice(out)
}

// onePrice rejects a price per device if there are several kinds of devices.
func (t *task) onePrice(of []machineChoice) error {
	o := t.goal.Own
	if o == nil || o.Purchase == 0 || len(of) == 0 {
		return nil
	}
	other := slices.IndexFunc(of, func(m machineChoice) bool { return m.kind != of[0].kind })
	if other < 0 {
		return nil
	}
	return &api.Error{Code: api.BadField, Field: "goal.own.usd_per_device", Value: fmt.Sprint(o.Purchase),
		Message: fmt.Sprintf("goal.own.usd_per_device = %g is the price of one kind of device, and %s and %s are looked at", o.Purchase,
			of[0].kind, of[other].kind), Hint: "one kind at a time, or leave it out: the catalog has prices of many"}
}

// kindsOf counts the kinds of hardware among machines.
func kindsOf(all []machineChoice) int {
	seen := map[string]bool{}
	for i := range all {
		seen[all[i].kind] = true
	}
	return len(seen)
}

// sizes returns the sizes of a replica on a machine. A catalog device named without a number is available in any number.
func (t *task) sizes(name string, m *hardware.Machine) (out []machineChoice) {
	if len(m.Groups) != 1 || m.Node != "" || m.CPUOnly {
		one := machineChoice{kind: name, name: name, devices: max(1, int64(m.Devices())), whole: true}
		if m.CPUOnly || t.goal.MostUsers {
			one.have = one.devices // this machine only
		}
		return []machineChoice{one}
	}
	base, counted := name, false
	if _, rest, ok := hardware.CountOf(name); ok {
		base, counted = rest, true
	}
	have := int64(0)
	if counted || t.asked.Devices > 0 || t.goal.MostUsers {
		have = int64(m.Devices())
	}
	d := &m.Groups[0].Device
	add := func(n int64, split bool) {
		beyond := func(most int64) bool { return most > 0 && n > most }
		if alone := d.PerNode.Known && d.PerNode.Value == 1; beyond(int64(t.original.MaxDevices)) || beyond(have) || n > 1 && alone {
			return
		}
		out = append(out, machineChoice{kind: d.ID, name: change.HardwareName(int(n), base), devices: n, have: have, split: split})
	}
	for _, n := range t.replicaSizes() {
		add(n, false)
	}
	if t.splits(d) {
		for _, n := range splitSizes {
			add(n, true)
		}
	}
	return out
}

// splits reports whether servers on a device may be disaggregated into prefill and decode workers.
func (t *task) splits(d *hardware.Device) bool {
	r := &t.asked
	return r.Disaggregated == nil && r.PP == 0 && r.DP == 0 && r.EP == 0 && t.original.Among == nil && strings.HasPrefix(d.Kind, "HBM")
}

// mostReplicas returns the most replicas that a machine holds.
func (t *task) mostReplicas(m *machineChoice) int64 {
	bound := int64(t.original.MaxDevices)
	if m.have > 0 && (bound == 0 || m.have < bound) {
		bound = m.have
	}
	if bound == 0 {
		return 0
	}
	return bound / m.devices
}
