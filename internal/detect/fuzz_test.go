package detect

import (
	"testing"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/topology"
	"github.com/memwall/memwall/unit"
)

// FuzzReaders: whatever drivers print, the readers end, and what is made of it is read back by the catalog.
func FuzzReaders(f *testing.F) {
	for _, name := range []string{
		"nvidia-smi-a100-sxm4-v12.xml", "nvidia-smi-dual-a5000-v13.xml", "nvidia-smi-gtx-1070-ti.xml",
		"amdgpu.ids", "amd-smi-static-mi210.json", "rocm-smi-rx6700xt_rocm612.json", "xpu-smi-discovery-2-b70.json",
	} {
		f.Add([]byte(fixture(f, name)))
	}
	f.Add([]byte(genoa))
	f.Add([]byte(meminfo))
	f.Add([]byte(macMax + "iogpu.wired_limit_mb: 114688\n"))
	f.Add([]byte("0::/a/b\n4:memory:/docker/0123\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := seen{host: &card.LocalHost{Total: 64 * unit.GiB, Free: 8 * unit.GiB, Used: 56 * unit.GiB}, cpu: cpuinfo(string(text))}
		gpus, _, _ := smiXML(text)
		for _, g := range gpus {
			s.devices = append(s.devices, g.device())
		}
		s.devices = append(s.devices, xpuSMI(text)...)
		if m, err := topology.Read(string(text)); err == nil {
			s.link = m.Among([]int{0, 1, 2})
		}
		for _, n := range append(amdSMI(text), rocmSMI(text)...) {
			s.devices = append(s.devices, device{vendor: "AMD", name: n, memory: 32 * unit.GiB})
		}
		amdName(string(text), "744c c8")
		amounts(string(text))
		groupFolders(string(text))
		appleMemory(string(text))
		wiredLimit(string(text))
		gpuCores(string(text))
		countList(string(text))
		chosen(s.devices, string(text))
		l := local(&s)
		for _, words := range []string{l.Words, l.Idle} {
			if _, _, err := hardware.Parse(words, 0); err != nil && len(words) <= 2000 && len(s.devices) <= 16 {
				t.Errorf("%q: %v", words, err)
			}
		}
	})
}
