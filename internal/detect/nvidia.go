package detect

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/memwall/memwall/internal/topology"
	"github.com/memwall/memwall/unit"
)

// nvidia queries nvidia-smi if the kernel has the driver, falling back to the driver's own files.
func (m Machine) nvidia(ctx context.Context) (s seen) {
	if !m.HasNVIDIA() {
		return s
	}
	wsl := m.has("dev/dxg") && !m.has("proc/driver/nvidia/version", "dev/nvidiactl")
	out, err := m.ask(ctx, "nvidia-smi", "-q", "-x")
	gpus, attached, broken := smiXML(out)
	switch {
	case len(gpus) == 0 && wsl:
		return s // graphics of any vendor on Windows
	case len(gpus) == 0:
		return m.nvidiaFiles(why(err, broken))
	case broken != nil || attached > len(gpus):
		s.note(fmt.Sprintf("nvidia-smi -q -x broke off: %d of %d NVIDIA devices are known", len(gpus), max(attached, len(gpus))))
	}
	for _, g := range gpus {
		s.devices = append(s.devices, g.device())
	}
	m.visibleNVIDIA(&s)
	for _, g := range gpus {
		s.notes = append(s.notes, g.remarks()...)
	}
	if len(s.devices) > 1 {
		m.topology(ctx, &s)
	}
	return s
}

// HasNVIDIA reports whether the kernel has NVIDIA's driver, or may have it under Windows.
func (m Machine) HasNVIDIA() bool {
	return m.has("proc/driver/nvidia/version", "dev/nvidiactl", "dev/nvidia0", "dev/dxg", "Windows/System32/nvidia-smi.exe",
		"Program Files/NVIDIA Corporation/NVSMI/nvidia-smi.exe")
}

// why returns why a program's answer is unusable.
func why(err, broken error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return "gave no answer in time"
	case err != nil:
		return "failed: " + printable(err.Error())
	case broken != nil:
		return "printed what cannot be read"
	}
	return "named no device"
}

// nvidiaFiles reads the names of the devices, which is all that the driver's files contain.
func (m Machine) nvidiaFiles(reason string) (s seen) {
	for _, folder := range m.list("proc/driver/nvidia/gpus", "") {
		if name := printable(keyed(m.read(folder+"/information"), "Model")); name != "" {
			s.devices = append(s.devices, device{vendor: "NVIDIA", name: name})
		}
	}
	switch {
	case len(s.devices) > 0:
		s.note("nvidia-smi " + reason + ": devices are known by name alone, and not what others hold of them")
		m.visibleNVIDIA(&s)
	default:
		s.note("nvidia-smi " + reason + ": its driver is loaded, and no NVIDIA device is known")
	}
	return s
}

// topology queries how the devices are connected.
func (m Machine) topology(ctx context.Context, s *seen) {
	out, err := m.ask(ctx, "nvidia-smi", "topo", "-m")
	t, broken := topology.Read(string(out))
	if broken != nil {
		s.note("nvidia-smi topo -m " + why(err, nil) + ": the links between the devices are those that the catalog takes")
		return
	}
	var at []int
	for _, d := range s.devices {
		at = append(at, d.index)
	}
	s.link = t.Among(at)
}

// device returns the device of a card; if it is partitioned with MIG, its largest instance.
func (g *smiGPU) device() device {
	d := device{
		vendor: "NVIDIA", name: printable(g.Name), uuid: strings.TrimSpace(g.UUID), index: g.index,
		memory: mib(g.Memory.Total), used: mib(g.Memory.Used), pcie: g.pcie(), told: strings.HasSuffix(g.Memory.Used, " MiB"),
	}
	if reserved := mib(g.Memory.Reserved); d.memory > 0 && reserved > 0 && reserved < d.memory {
		d.usable = d.memory - reserved
	}
	for _, p := range g.Processes {
		d.users = append(d.users, p.user())
	}
	if len(g.Instances) > 0 && g.Sliced == "Enabled" {
		d.slice = g.largest()
		d.memory, d.used, d.usable = mib(d.slice.Memory.Total), mib(d.slice.Memory.Used), 0
		d.users = usersOf(g, d.slice)
	}
	return d
}

// remarks returns remarks on one card.
func (g *smiGPU) remarks() (out []string) {
	name := printable(g.Name)
	switch n := len(g.Instances); {
	case g.Sliced == "Enabled" && n == 0:
		out = append(out, name+" is in MIG mode without an instance: no program can use it")
	case g.Sliced == "Enabled":
		out = append(out, fmt.Sprintf("%s is cut into %d MIG instances: a program has one, the largest is taken", name, n))
	}
	return out
}

// largest returns the largest instance of a card, of equal ones the first with the least in use.
func (g *smiGPU) largest() *smiInstance {
	best := &g.Instances[0]
	for i := range g.Instances {
		a, b := &g.Instances[i], best
		if mib(a.Memory.Total) > mib(b.Memory.Total) || mib(a.Memory.Total) == mib(b.Memory.Total) &&
			mib(a.Memory.Used) < mib(b.Memory.Used) {
			best = a
		}
	}
	return best
}

// pcie returns the generation supported by both card and slot, which an idle card does not run at, and the lanes in use.
func (g *smiGPU) pcie() string {
	gen, ok := small(strings.TrimSpace(g.Gen))
	lanes, wide := small(strings.TrimSuffix(strings.TrimSpace(g.Lanes), "x"))
	if !ok || !wide || lanes > 32 {
		return ""
	}
	if host, said := small(strings.TrimSpace(g.HostGen)); said {
		gen = min(gen, host)
	}
	if gen < 3 || gen > 6 {
		return ""
	}
	return fmt.Sprintf("%dx%d", gen, lanes)
}

// mib parses "24564 MiB"; 0 for "N/A" and the like.
func mib(s string) unit.Bytes {
	number, ok := strings.CutSuffix(strings.TrimSpace(s), " MiB")
	if !ok {
		return 0
	}
	n, ok := believedSize(number)
	if !ok || n > maxSize>>20 {
		return 0
	}
	return unit.Bytes(n) * unit.MiB
}
