package serving

import (
	"math"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/speed"
)

// device holds the rates of an accelerator that kernels are measured against: bytes and operations per second.
type device struct {
	id, family string
	bandwidth  float64
	sms        float64
	tile       float64 // rows of a tile of attention
	hw         *hardware.Device
}

func newDevice(d *hardware.Device) device {
	out := device{id: d.ID, family: Family(d), hw: d}
	share := out.share()
	out.tile = tileOf(out.family)
	out.bandwidth, out.sms = share*float64(d.Bandwidth.Value), share*multiprocessors(d)
	return out
}

// tileOf returns the tile rows of prefill attention: 128 if a multiprocessor has room for them (FlashAttention 3 and similar, on
// Hopper and Blackwell with HBM), else 64 (FlashAttention 2 with a paged cache: run_mha_fwd_splitkv_dispatch, kBlockM).
func tileOf(family string) float64 {
	switch family {
	case "hopper-hbm", "blackwell-hbm":
		return 128
	}
	return 64
}

// perMultiprocessor is the 16-bit rate of one Hopper multiprocessor: 989 TFLOP/s over 132.
const perMultiprocessor = 7.5e12

// multiprocessors of a device; of one whose number nobody gives, as many of Hopper's as have its peak.
func multiprocessors(d *hardware.Device) float64 {
	if d.SMs.Known {
		return float64(d.SMs.Value)
	}
	_, peak := speed.Arithmetic(d, nil)
	return math.Max(1, math.Round(float64(peak.Value)/perMultiprocessor))
}

// Family returns the device family, whose kernels behave alike: one architecture with one kind of memory. Blackwell
// cards with GDDR7 and Blackwell boards with HBM3e have little in common but the name.
func Family(d *hardware.Device) string {
	kind := "other"
	for _, k := range []string{"HBM", "GDDR", "LPDDR"} {
		if strings.HasPrefix(d.Kind, k) {
			kind = strings.ToLower(k)
		}
	}
	return d.Architecture + "-" + kind
}

// arithmetic is the format that products with weights of a scheme are computed in, its rate, and the bytes of an
// activation that goes in.
type arithmetic struct {
	format   string
	peak, in float64
}

// arithmetic of a scheme.
func (d *device) arithmetic(s *dtype.Scheme) arithmetic {
	format, p := speed.Arithmetic(d.hw, s)
	a := arithmetic{format: format, peak: d.share() * float64(p.Value), in: 2}
	switch format {
	case "fp4":
		a.in = 0.5625 // e2m1 with an e4m3 scale for 16
	case "fp8", "int8":
		a.in = 1
	}
	return a
}

// share returns a rank's fraction of the board's figures: programs see each die as a device.
func (d *device) share() float64 {
	if d.hw.Dies > 1 {
		return 1 / float64(d.hw.Dies)
	}
	return 1
}

// memory returns the kind of memory: "hbm", "gddr".
func (d *device) memory() string { return d.family[strings.LastIndexByte(d.family, '-')+1:] }

// peak of a format, in operations a second; 16 bits where the device lacks it.
func (d *device) peak(format string) float64 {
	p := d.hw.Peaks.At(format)
	if !p.Known {
		_, p = speed.Arithmetic(d.hw, nil)
	}
	return d.share() * float64(p.Value)
}

// peers is the link between devices of a node.
func (d *device) peers() (name string, rate float64) {
	if l := d.hw.Link; l.EachWay.Known && !strings.Contains(l.Name, "bridge") {
		return l.Name, float64(l.EachWay.Value)
	}
	return "PCIe", float64(d.hw.PCIe.EachWay.Value)
}
