package llamacpp

import (
	"strconv"
	"strings"

	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/plan"
)

// Lines that name devices, and what lies on them.

func (r *LogReader) offloaded(_ *startup.Line, rest string) {
	if n, ok := startup.Integer(rest); ok && strings.Contains(rest, "layers to GPU") && r.log.Plan.GPULayers == nil && n < 1<<16 {
		v := plan.Int(n)
		r.log.Plan.GPULayers = &v
		r.log.Signs++
	}
}

func (r *LogReader) mapped(_ *startup.Line, rest string) {
	v := strings.HasPrefix(strings.TrimSpace(rest), "true")
	if r.log.Plan.Mmap == nil {
		r.log.Plan.Mmap = &v
	}
}

func (r *LogReader) cachePlace(_ *startup.Line, rest string) {
	if n, ok := startup.Integer(rest); ok && n == 0 && r.log.Plan.KVOffload == nil {
		r.log.Plan.KVOffload = new(bool)
	}
}

// assigned: verbose logs say where every layer lies; the split of several devices follows from it.
func (r *LogReader) assigned(l *startup.Line, rest string) {
	name, _, _ := strings.Cut(rest, ",")
	name = strings.TrimSpace(name)
	if r.layersAt == nil {
		r.layersAt = map[string]int{}
	}
	if strings.Contains(l.Text, "layer") && len(name) < 32 && len(r.layersAt) < maxDevices {
		r.layersAt[name]++
	}
}

// device: "using device CUDA0 (NVIDIA GeForce RTX 3090) (0000:01:00.0) - 23306 MiB free".
func (r *LogReader) device(_ *startup.Line, rest string) {
	slot, after, ok := strings.Cut(rest, " (")
	if !ok || strings.ContainsAny(slot, " \t") || len(r.used) >= maxDevices {
		return
	}
	name := balanced(after)
	d := startup.Device{Slot: slot, Name: deviceName(name)}
	if i := strings.LastIndex(after, " - "); i >= 0 {
		_, d.MiB, _, _ = startup.Number(after[i+3:])
	}
	for _, have := range r.used {
		if have.Slot == slot {
			return
		}
	}
	r.used = append(r.used, d)
}

// balanced is the text up to the bracket that closes it.
func balanced(s string) string {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth == 0 {
				return s[:i]
			}
			depth--
		}
	}
	return s
}

// deviceName leaves out trademarks and the names of drivers: "Intel(R) Arc(TM) A770 Graphics", "AMD Radeon
// RX 7900 XTX (RADV NAVI31)".
func deviceName(s string) string {
	s = strings.NewReplacer("(R)", "", "(TM)", "", "(tm)", "").Replace(s)
	s, _, _ = strings.Cut(s, " (")
	return strings.Join(strings.Fields(s), " ")
}

func (r *LogReader) found(_ *startup.Line, rest string) {
	r.kind = "CUDA"
	if strings.Contains(rest, "ROCm") {
		r.kind = "ROCm"
	}
}

// listed: "  Device 0: NVIDIA GeForce RTX 4090, compute capability 8.9, VMM: yes, VRAM: 24077 MiB".
func (r *LogReader) listed(_ *startup.Line, rest string) {
	number, after, ok := strings.Cut(rest, ": ")
	if _, err := strconv.ParseUint(number, 10, 16); !ok || err != nil || r.kind == "" {
		return
	}
	name, _, _ := strings.Cut(after, ",")
	d := startup.Device{Slot: r.kind + number, Name: deviceName(name)}
	if rest, ok := startup.After(after, "VRAM:"); ok {
		_, d.MiB, _, _ = startup.Number(rest)
	}
	r.log.Seen(d)
}

func (r *LogReader) apple(l *startup.Line, rest string) {
	name := deviceName(strings.TrimSpace(rest))
	if strings.HasPrefix(name, "Apple") && len(name) < 64 {
		r.log.Seen(startup.Device{Slot: "Metal", Name: name})
	}
}

// vulkan: "ggml_vulkan: 0 = AMD Radeon RX 7900 XTX (RADV NAVI31) (radv) | uma: 0 | …".
func (r *LogReader) vulkan(_ *startup.Line, rest string) {
	number, after, ok := strings.Cut(rest, " = ")
	if _, err := strconv.ParseUint(strings.TrimSpace(number), 10, 16); ok && err == nil {
		r.log.Seen(startup.Device{Slot: "Vulkan" + strings.TrimSpace(number), Name: deviceName(after)})
	}
}
