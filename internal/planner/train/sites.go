package train

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/planner"
	"github.com/memwall/memwall/internal/planner/change"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/training"
	"github.com/memwall/memwall/unit"
)

// site is a machine to train on.
type site struct {
	number   int // in search order
	hardware string
	count    int64 // goes with the name; 0 if the name states it
	machine  hardware.Machine
	devices  int64
	perNode  int64
	capacity unit.Bytes
	perHour  *float64 // rent
	peak     float64  // 16-bit operations per second of all devices; 0 if unknown
}

// mostOffered is the most devices of a plan if any hardware will do and no bound is given.
const mostOffered = 64

// mostSites bounds a search.
const mostSites = 256

// findSites returns the machines to train on: the one named, each of a list, or those offered.
func (t *task) findSites() (sites, error) {
	r := t.original
	if r.MaxDevices < 0 {
		return nil, &api.Error{Code: api.BadField, Field: "max_devices", Value: fmt.Sprint(r.MaxDevices),
			Message: fmt.Sprintf("max_devices = %d is not a number of devices", r.MaxDevices), Hint: "1 or more"}
	}
	names := hardware.List(r.Hardware)
	if len(names) == 0 {
		return nil, &api.Error{Code: api.BadField, Field: "hardware",
			Message: "hardware is missing: a search for plans of training needs devices",
			Hint:    "memwall plan " + r.Model + " --train --on 8xh100; --on any searches what is offered"}
	}
	find := t.namedSites
	if t.anyHardware() {
		find = t.offeredSites
	}
	all, err := find(names)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, t.offersNone()
	}
	return all.within(int64(r.MaxDevices))
}

// offersNone returns the error that no device is offered in the requested number.
func (t *task) offersNone() error {
	counts := strings.Trim(fmt.Sprint(t.offeredCounts()), "[]")
	return &api.Error{Code: api.ImpossiblePlan, Field: "devices", Value: counts,
		Message: fmt.Sprintf("devices = %s: no kind of device that is offered comes in such a number", counts),
		Hint:    "--max-devices 64 tries 1, 2, 4, … of each kind; --on 24xh100 names one"}
}

// anyHardware reports whether any offered hardware will do.
func (t *task) anyHardware() bool {
	return slices.Equal(hardware.List(t.original.Hardware), []string{api.AnyHardware})
}

// maxDevices returns the most devices of an offered machine.
func (t *task) maxDevices() int64 { return cmp.Or(int64(t.original.MaxDevices), mostOffered) }

// offeredSites returns all kinds of offered devices, in each number to try.
func (t *task) offeredSites([]string) (out sites, err error) {
	for _, id := range planner.Offered {
		for _, n := range t.offeredCounts() {
			if !t.offers(id, n) {
				continue
			}
			if out, err = t.addSite(out, id, n); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// offeredCounts returns the numbers of devices to try: those listed, the one given, or powers of two up to the most.
func (t *task) offeredCounts() (out []int64) {
	if list := t.numbers("devices"); list != nil {
		return list
	}
	if n := t.original.Devices; n > 0 {
		return []int64{n}
	}
	for n := int64(1); n <= t.maxDevices(); n *= 2 {
		out = append(out, n)
	}
	return out
}

// offers reports whether n devices are offered together: within one node, or on several if made for that. Workstation cards have no
// fabric.
func (t *task) offers(id string, n int64) bool {
	m, _, err := t.env.Find(id, int(n))
	if err != nil || m.CPUOnly || len(m.Groups) == 0 {
		return false
	}
	form := m.Groups[0].Device.Form
	return m.Nodes == 1 || form == "SXM" || form == "OAM"
}

// namedSites returns the machines of a list.
func (t *task) namedSites(names []string) (out sites, err error) {
	for _, name := range names {
		counts := t.numbers("devices")
		if counts == nil {
			if counts, err = t.counts(name); err != nil {
				return nil, err
			}
		}
		for _, n := range counts {
			if out, err = t.addSite(out, name, n); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// counts returns the numbers of a machine if none are listed: the number given, or doublings up to the most if the name states
// none.
func (t *task) counts(name string) ([]int64, error) {
	out := []int64{t.original.Devices}
	if t.original.Devices > 0 {
		return out, nil
	}
	m, _, err := t.env.Find(name, 0)
	if err != nil {
		return nil, err
	}
	for n := 2 * int64(m.Devices()); n > 0 && n <= int64(t.original.MaxDevices); n *= 2 {
		if m, _, err := t.env.Find(name, int(n)); err != nil || int64(m.Devices()) != n {
			break // the name states how many
		}
		out = append(out, n)
	}
	return out, nil
}

// addSite appends count machines of a name to a list.
func (t *task) addSite(to sites, name string, count int64) (sites, error) {
	m, _, err := t.env.Find(name, int(count))
	if err != nil {
		return nil, err
	}
	switch {
	case m.Local:
		return nil, question.LocalHardwareError()
	case m.CPUOnly:
		return nil, training.NoAcceleratorError(name)
	case len(to) == mostSites:
		return nil, &api.Error{Code: api.Limit, Field: "hardware",
			Message: fmt.Sprintf("hardware and max_devices make more than %d machines", mostSites),
			Hint:    "name fewer, or a smaller max_devices"}
	}
	x := site{hardware: name, count: count, machine: m, devices: int64(m.Devices()),
		perNode: int64(max(1, m.PerNode)), capacity: m.Memory(), perHour: t.env.PerHour(&m)}
	for i := range m.Groups {
		g := &m.Groups[i]
		x.peak += float64(g.Device.Peaks.At("bf16").Value) * float64(g.Count)
	}
	return append(to, x), nil
}

// sites are the machines of a search.
type sites []site

// within returns the machines with at most most devices (0 for no bound), numbered.
func (s sites) within(most int64) (sites, error) {
	if len(s) == 0 {
		return s, nil
	}
	least := slices.MinFunc(s, func(a, b site) int { return int(a.devices - b.devices) })
	if most > 0 {
		s = slices.DeleteFunc(s, func(x site) bool { return x.devices > most })
	}
	if len(s) == 0 {
		return nil, &api.Error{Code: api.ImpossiblePlan, Field: "max_devices", Value: fmt.Sprint(most),
			Message: fmt.Sprintf("%s has %d devices, and max_devices = %d", least.hardware, least.devices, most),
			Hint:    fmt.Sprintf("--max-devices %d, or fewer devices", least.devices)}
	}
	for i := range s {
		s[i].number = i
	}
	return s, nil
}

// set sets the machine in a request.
func (x *site) set(r *api.Request) { r.Hardware, r.Devices = x.hardware, x.count }

// words describes the machine.
func (x *site) words() string {
	if x.count == 0 {
		return x.hardware
	}
	return change.HardwareName(int(x.count), x.hardware)
}

// peakPerDollar returns peak operations per dollar; 0 if price or peak is unknown.
func (x *site) peakPerDollar() float64 {
	if x.perHour == nil || *x.perHour <= 0 {
		return 0
	}
	return x.peak * 3600 / *x.perHour
}
