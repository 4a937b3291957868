package diagnose

import (
	"strings"

	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/unit"
)

// amount returns the field of a figure in bytes; nil for counts.
func (f *Finding) amount(w what) *Amount {
	switch w {
	case requested:
		return &f.Requested
	case free:
		return &f.Free
	case capacity:
		return &f.Capacity
	case allocated:
		return &f.Allocated
	case inUse:
		return &f.InUse
	case unallocated:
		return &f.Unallocated
	case reserved:
		return &f.reserved
	case pools:
		return &f.Pools
	case limit:
		return &f.Limit
	case others:
		return &f.Others
	case beside:
		return &f.Beside
	}
	return nil
}

// rank returns the priority of a finding: after failures come refused page-locked memory, since a program that failed
// elsewhere continued without it, and repetitions.
func (f *Finding) rank() int {
	if f.Kind == PinnedMemory || f.rule != nil && f.rule.early {
		return 2*int(Failure) + 1
	}
	return 2 * int(f.Kind.Weight())
}

// count parses a number of tokens, or a fraction.
func (g *figure) count(f *Finding, text string) {
	rest, ok := after(text, g.after)
	if !ok {
		return
	}
	word, value, digits, _ := startup.Number(strings.TrimLeft(rest, "( `"))
	if word == "" || value < 0 || value > 1<<53 {
		return
	}
	n := int64(value)
	switch {
	case g.what == share && f.Share == 0 && value <= 1:
		f.Share = value
	case digits > 0:
	case g.what == needed && f.Needed == 0:
		f.Needed = n
	case g.what == available && f.Available == 0:
		f.Available = n
	case g.what == longest && f.Longest == 0:
		f.Longest = n
	}
}

// settle derives figures from the printed ones.
func (f *Finding) settle() {
	if !f.Unallocated.Known && f.reserved.Known && f.Allocated.Known {
		f.Unallocated = Amount{max(0, f.reserved.Bytes-f.Allocated.Bytes), f.reserved.Half + f.Allocated.Half, true}
	}
	if f.Requested.Bytes == 0 {
		f.Requested = Amount{} // rounded to zero, or not stated
	}
	f.Overflowed = f.Overflowed || strings.Contains(f.Text, beyondAny)
	f.others()
	f.leftOver()
	if f.Device == "" {
		f.Device = deviceIn(f.Text)
	}
}

// others sums "Process N has X memory in use", excluding the process itself, which is listed if the message lacks "this
// process has".
func (f *Finding) others() {
	listed := f.processes()
	if len(listed) == 0 {
		return
	}
	var sum Amount
	for _, a := range listed {
		sum = Amount{sum.Bytes + a.Bytes, sum.Half + a.Half, true}
	}
	if !f.InUse.Known && f.Allocated.Known && f.Allocated.Bytes > 0 {
		f.InUse = f.own(listed)
		sum.Bytes -= f.InUse.Bytes
	}
	f.Others = sum
}

// own returns the smallest listed amount that covers what the process says it has; otherwise the last.
func (f *Finding) own(listed []Amount) Amount {
	own, holds := listed[len(listed)-1], f.Allocated.Bytes+f.Unallocated.Bytes
	for _, a := range listed {
		if a.Bytes >= holds && (own.Bytes < holds || a.Bytes < own.Bytes) {
			own = a
		}
	}
	return own
}

// processes returns the amounts in "Process N has X memory in use".
func (f *Finding) processes() (out []Amount) {
	text, more := after(f.Text, "Process ")
	for more {
		if pid, rest, ok := strings.Cut(text, " has "); ok && len(pid) <= 12 {
			if a, _, ok := amount(rest, false); ok {
				out = append(out, a)
			}
		}
		text, more = after(text, "Process ")
	}
	return out
}

// beyondAny is what PyTorch prints instead of an impossible size (c10/cuda/CUDACachingAllocator.cpp).
const beyondAny = "Tried to allocate more than 1EB"

// ownContext is the driver's memory for the process itself, beyond its allocator: 0.3 to 0.6 GiB.
const ownContext = unit.GiB / 2

// leftOver attributes what the process does not hold and is not free to others, if the message states both and lists no
// processes: until 2.1, and on HIP. What cudaMallocAsync caches is unknown: PyTorch configures it never to release
// memory (c10/cuda/CUDAMallocAsyncAllocator.cpp, cudaMemPoolAttrReleaseThreshold).
func (f *Finding) leftOver() {
	kept := f.reserved
	switch {
	case strings.Contains(f.Text, "this process has "): // the driver did not report it, as under WSL
		return
	case f.Others.Known, f.InUse.Known, !f.Free.Known, !f.Capacity.Known, !f.Allocated.Known:
		return
	case f.Unallocated.Known && !kept.Known:
		kept = Amount{f.Allocated.Bytes + f.Unallocated.Bytes, f.Allocated.Half + f.Unallocated.Half, true}
	case !kept.Known:
		return
	}
	if left := f.Capacity.Bytes - kept.Bytes - f.Free.Bytes - ownContext; left*10 >= f.Capacity.Bytes && f.Free.Bytes < f.Capacity.Bytes {
		f.Others = Amount{left, kept.Half + f.Free.Half + f.Capacity.Half, true}
	}
}

// devices are ways to name a device; the first match wins.
var devices = []struct{ before, name string }{
	{"GPU ", "GPU "}, {"on device ", "device "}, {"cuda:", "GPU "}, {"NC ", "NC "}, {"NPU ", "NPU "}, {"XPU ", "XPU "},
	{"current device: ", "device "}, {"Allocator (GPU_", "GPU "}, {"Allocation on device ", "GPU "},
}

// deviceIn returns the device that a message names.
func deviceIn(text string) string {
	if rest, ok := after(text, "failed to allocate "); ok {
		if name, _, ok := strings.Cut(rest, " buffer of size"); ok && len(name) < 32 && !strings.Contains(name, " ") {
			return name
		}
	}
	for _, d := range devices {
		for rest, ok := after(text, d.before); ok; rest, ok = after(rest, d.before) {
			if n := leading(rest); n != "" {
				return d.name + n
			}
		}
	}
	return ""
}

func leading(s string) string {
	i := 0
	for i < len(s) && i < 4 && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return s[:i]
}
