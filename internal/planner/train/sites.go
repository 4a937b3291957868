package train

import (
	"fmt"
	"slices"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/planner"
	"github.com/memwall/memwall/internal/planner/change"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/training"
	"github.com/memwall/memwall/unit"
)

// trainSite is a machine to train on.
type trainSite struct {
	hardware string
	count    int64 // that goes with the name; 0 where the name says it
	machine  hardware.Machine
	devices  int64
	perNode  int64
	capacity unit.Bytes
	perHour  *float64 // what it rents for
	peak     float64  // operations a second of all devices, in 16 bits; 0 where unknown
}

// mostOffered devices of a plan, where any hardware will do and nobody bounds it.
const mostOffered = 64

// mostSites bounds a search.
const mostSites = 256

// machines reads what to train on: what is named, each of a list, or what is offered.
func (s *trainSearch) machines() error {
	r := s.original
	if r.MaxDevices < 0 {
		return &api.Error{Code: api.BadField, Field: "max_devices", Value: fmt.Sprint(r.MaxDevices),
			Message: fmt.Sprintf("max_devices = %d is no number of devices", r.MaxDevices), Hint: "1 or more"}
	}
	names := hardware.List(r.Hardware)
	var err error
	switch {
	case len(names) == 0:
		return &api.Error{Code: api.BadField, Field: "hardware",
			Message: "hardware is missing: a search for plans of training needs devices",
			Hint:    "memwall plan " + r.Model + " --train --on 8xh100; --on any searches what is offered"}
	case slices.Equal(names, []string{api.AnyHardware}):
		err = s.anySites()
	default:
		err = s.namedSites(names)
	}
	if err != nil {
		return err
	}
	return s.bounded()
}

// anySites are all kinds of devices that are offered, 1, 2, 4, … of each.
func (s *trainSearch) anySites() error {
	most := int64(s.original.MaxDevices)
	if most == 0 {
		most = mostOffered
		s.note("default_used", "info", "max_devices", "max_devices = %d by default", most)
	}
	for _, id := range planner.Offered {
		for n := int64(1); n <= most; n *= 2 {
			if !s.counts(n) || !s.offered(id, n) {
				continue
			}
			if err := s.addSite(id, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// counts reports whether so many devices may be tried.
func (s *trainSearch) counts(n int64) bool {
	if list := s.numbers("devices"); list != nil {
		return slices.Contains(list, n)
	}
	return s.original.Devices == 0 || n == s.original.Devices
}

// offered together are devices of one node, and of several where they are made for that: cards of a workstation have no
// fabric.
func (s *trainSearch) offered(id string, n int64) bool {
	m, _, err := s.env.Find(id, int(n))
	if err != nil || m.CPUOnly || len(m.Groups) == 0 {
		return false
	}
	form := m.Groups[0].Device.Form
	return m.Nodes == 1 || form == "SXM" || form == "OAM"
}

// namedSites are the machines of a list. One that states no number is searched up to the most that there may be.
func (s *trainSearch) namedSites(names []string) error {
	for _, name := range names {
		if list := s.numbers("devices"); list != nil {
			for _, n := range list {
				if err := s.addSite(name, n); err != nil {
					return err
				}
			}
			continue
		}
		if err := s.addSite(name, s.original.Devices); err != nil {
			return err
		}
		x := s.sites[len(s.sites)-1]
		if s.original.Devices > 0 {
			continue
		}
		for n := 2 * x.devices; n <= int64(s.original.MaxDevices); n *= 2 {
			if m, _, err := s.env.Find(name, int(n)); err != nil || int64(m.Devices()) != n {
				break // the name states how many
			}
			if err := s.addSite(name, n); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *trainSearch) addSite(name string, count int64) error {
	m, _, err := s.env.Find(name, int(count))
	if err != nil {
		return err
	}
	switch {
	case m.Local:
		return question.LocalHardwareError()
	case m.CPUOnly:
		return training.NoAcceleratorError(name)
	case len(s.sites) == mostSites:
		return &api.Error{Code: api.Limit, Field: "hardware",
			Message: fmt.Sprintf("hardware and max_devices make more than %d machines", mostSites),
			Hint:    "name fewer, or a smaller max_devices"}
	}
	x := trainSite{hardware: name, count: count, machine: m, devices: int64(m.Devices()), perNode: int64(max(1, m.PerNode)),
		capacity: m.Memory(), perHour: s.env.PerHour(&m)}
	for i := range m.Groups {
		g := &m.Groups[i]
		x.peak += float64(g.Device.Peaks.At("bf16").Value) * float64(g.Count)
	}
	s.sites = append(s.sites, x)
	return nil
}

// bounded leaves machines of no more devices than may be.
func (s *trainSearch) bounded() error {
	most := int64(s.original.MaxDevices)
	if most == 0 {
		return nil
	}
	least := slices.MinFunc(s.sites, func(a, b trainSite) int { return int(a.devices - b.devices) })
	s.sites = slices.DeleteFunc(s.sites, func(x trainSite) bool { return x.devices > most })
	if len(s.sites) == 0 {
		return &api.Error{Code: api.ImpossiblePlan, Field: "max_devices", Value: fmt.Sprint(most),
			Message: fmt.Sprintf("%s has %d devices, and max_devices = %d", least.hardware, least.devices, most),
			Hint:    fmt.Sprintf("--max-devices %d, or fewer devices", least.devices)}
	}
	return nil
}

// set names the machine in a request.
func (x *trainSite) set(r *api.Request) { r.Hardware, r.Devices = x.hardware, x.count }

// words name the machine.
func (x *trainSite) words() string {
	if x.count == 0 {
		return x.hardware
	}
	return change.HardwareName(int(x.count), x.hardware)
}

// peakPerDollar is operations for a dollar at the peak; 0 where price or peak are not known.
func (x *trainSite) peakPerDollar() float64 {
	if x.perHour == nil || *x.perHour <= 0 {
		return 0
	}
	return x.peak * 3600 / *x.perHour
}
