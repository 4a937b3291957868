package serving

import (
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/speed"
)

// device are the rates of an accelerator that kernels are measured against: bytes and operations a second.
type device struct {
	id, family string
	bandwidth  float64
	l2         float64 // bytes
	sms        float64
	hw         *hardware.Device
}

func newDevice(d *hardware.Device) device {
	share := 1.0
	if d.Dies > 1 { // the figures are the board's, a rank runs on one die
		share = 1 / float64(d.Dies)
	}
	return device{id: d.ID, family: Family(d), bandwidth: share * float64(d.Bandwidth.Value), l2: share * float64(d.L2.Value), sms: share * float64(d.SMs.Value), hw: d}
}

// Family are devices whose kernels behave alike: one architecture with one kind of memory. Blackwell cards with
// GDDR7 and Blackwell boards with HBM3e have little in common but the name.
func Family(d *hardware.Device) string {
	kind := "other"
	for _, k := range []string{"HBM", "GDDR", "LPDDR"} {
		if strings.HasPrefix(d.Kind, k) {
			kind = strings.ToLower(k)
		}
	}
	return d.Architecture + "-" + kind
}

// arithmetic is the rate of products with weights of a scheme, and the bytes of an activation that goes in.
func (d *device) arithmetic(s *dtype.Scheme) (peak, actBytes float64) {
	format, p := speed.Arithmetic(d.hw, s)
	peak = float64(p.Value)
	if d.hw.Dies > 1 {
		peak /= float64(d.hw.Dies)
	}
	switch format {
	case "fp4":
		return peak, 0.5625 // e2m1 with an e4m3 scale for 16
	case "fp8", "int8":
		return peak, 1
	}
	return peak, 2
}

// memory is the kind of it: "hbm", "gddr".
func (d *device) memory() string { return d.family[strings.LastIndexByte(d.family, '-')+1:] }

// peak of a format, in operations a second; 16 bits where the device lacks it.
func (d *device) peak(format string) float64 {
	p := d.hw.Peaks.At(format)
	if !p.Known {
		_, p = speed.Arithmetic(d.hw, nil)
	}
	share := 1.0
	if d.hw.Dies > 1 {
		share = 1 / float64(d.hw.Dies)
	}
	return share * float64(p.Value)
}

// peers is the link between devices of a node.
func (d *device) peers() (name string, rate float64) {
	if l := d.hw.Link; l.EachWay.Known && !strings.Contains(l.Name, "bridge") {
		return l.Name, float64(l.EachWay.Value)
	}
	return "PCIe", float64(d.hw.PCIe.EachWay.Value)
}
