package stream

import (
	"fmt"
	"math"
	"strings"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/unit"
)

// stage is a Stage with its rates.
type stage struct {
	Stage
	bandwidth float64 // bytes per second
	peak      float64 // operations per second that prompts could reach
	alu       float64 // elements per second that can be unpacked, in the processor's own terms
	link      float64 // bytes per second from the host
	// power compares the watts that an operation may take, cores the operations of a multiprocessor, with common ones,
	// in logarithms; 0 where they are not known.
	power, cores float64
	family       string
	laptop       bool
	lends        int // the stage that multiplies prompts with what lies here, -1 for itself
}

func newStage(s Stage) (stage, error) {
	d := s.Device
	out := stage{Stage: s, family: Family(d), laptop: d.Form == "laptop"}
	if !d.Bandwidth.Known {
		return out, fmt.Errorf("the memory rate of %s is not known", d.ID)
	}
	out.bandwidth = float64(d.Bandwidth.Value)
	if s.Backend == "cpu" {
		return out.processor()
	}
	if !d.Peaks.FP32.Known && !d.Peaks.FP16.Known && !d.Peaks.BF16.Known {
		return out, fmt.Errorf("no rate of arithmetic is known of %s", d.ID)
	}
	out.peak, out.link = peak(d), fromHost(d)
	out.alu = vector(d)
	if d.TDP.Known {
		out.power = math.Log(float64(d.TDP.Value) / (out.peak / 1e12))
	}
	if d.SMs.Known {
		out.cores = math.Log(float64(d.SMs.Value) / 64)
	}
	return out, nil
}

// perCore is what a core multiplies and adds a second, in numbers of 32 bits: four units of 8 at 4 GHz. It only
// sets the scale of what is fitted.
const perCore = 2 * 4 * 8 * 4e9

// perThread is what a core reads from memory a second, at most: 28 to 41 GB/s were measured of an M2 Max and a Ryzen 9 7950X with two to
// four threads (ikawrakow/ik_llama.cpp, discussion 164), far from what all of their cores reach together.
const perThread = 45e9

// defaultThreads is how many threads compute where nobody says: the large cores of a common processor.
const defaultThreads = 8

func (s stage) processor() (stage, error) {
	threads := s.Threads
	if threads == 0 && s.Device.IsCPU() && s.Device.SMs.Known {
		threads = float64(s.Device.SMs.Value)
	}
	if threads == 0 {
		threads = defaultThreads
	}
	s.peak, s.alu = threads*perCore, threads*perCore
	s.Threads = threads
	s.bandwidth = min(s.bandwidth, threads*perThread)
	return s, nil
}

// peak is the rate of the kernels that multiply prompts, in operations a second. On NVIDIA cards with tensor
// cores it is the rate of 8-bit integers, which is not halved on GeForce cards and is twice that of 16 bits with
// 16-bit sums; on those before, of dot products of four 8-bit integers (dp4a, capability 6.1) or of numbers of
// 32 or 16 bits. AMD, Intel and Apple chips multiply in 16 bits.
func peak(d *hardware.Device) float64 {
	fp32, fp16 := float64(d.Peaks.FP32.Value), float64(either(d.Peaks.FP16, d.Peaks.BF16))
	if d.Vendor != "NVIDIA" {
		return max(fp32, fp16)
	}
	int8 := float64(d.Peaks.INT8.Value)
	switch c := d.Capability; {
	case int8 > 0:
		return max(int8, fp16)
	case strings.HasPrefix(c, "8.") || strings.HasPrefix(c, "9.") || strings.HasPrefix(c, "1"):
		return 8 * fp32
	case c == "6.1" || c == "7.5":
		return 4 * fp32
	}
	return max(fp32, fp16)
}

// usualLink is PCI Express 4.0 with 16 lanes, which most cards of the years measured have.
const usualLink = 31.5e9

// fromHost is the rate at which a device reads the host's memory: its own where they are the same.
func fromHost(d *hardware.Device) float64 {
	switch {
	case d.Unified != nil:
		return float64(d.Bandwidth.Value)
	case d.PCIe.EachWay.Known:
		return float64(d.PCIe.EachWay.Value)
	}
	return usualLink
}

// vector is the rate of arithmetic outside of matrix units, in 32 bits.
func vector(d *hardware.Device) float64 {
	if d.Peaks.FP32.Known {
		return float64(d.Peaks.FP32.Value)
	}
	return float64(either(d.Peaks.FP16, d.Peaks.BF16)) / 8
}

// Family returns the group of devices that behave alike: the architecture, with a suffix for what sets some chips apart: compute
// capability (an A100 is not a GeForce), two dies in one (Ultra), graphics sharing a processor's memory, cards without tensor
// cores.
func Family(d *hardware.Device) string {
	f := d.Architecture
	switch {
	case d.Vendor == "NVIDIA" && d.Capability == "7.5" && !d.Peaks.INT8.Known:
		return f + "-gtx"
	case d.Vendor == "NVIDIA" && d.Capability != "":
		return f + "-" + d.Capability
	case d.Vendor == "Apple" && strings.Contains(d.ID, "ultra"):
		return f + "-ultra"
	case d.Vendor == "Intel" && d.Form == "SoC":
		return f + "-soc"
	}
	return f
}

func either(a, b hardware.Fact[unit.FLOPRate]) unit.FLOPRate {
	if a.Known {
		return a.Value
	}
	return b.Value
}
