package detect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memwall/memwall/internal/render/tui"
	"github.com/memwall/memwall/internal/term"
)

// TestScreens: what memwall hardware local shows of recorded machines.
func TestScreens(t *testing.T) {
	for name, machine := range map[string]recorded{
		"desktop": nvidiaBox(t, "nvidia-smi-rtx-3080-v12.xml"),
		"two-bridged": with(nvidiaBox(t, "nvidia-smi-dual-a5000-v13.xml"), func(r *recorded) {
			r.programs[topo] = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV4\t0-15\nGPU1\tNV4\t X \t0-15\n"
			r.files["proc/cpuinfo"], r.files["sys/devices/system/cpu/online"] = genoa, "0-191\n"
		}),
		"slice":    nvidiaBox(t, "nvidia-smi-a100-sxm4-v12.xml"),
		"four-amd": amdBox(t, mi100, mi100, mi100, mi100),
		"mac": {os: "darwin", programs: map[string]string{sysctl: macMax + "iogpu.wired_limit_mb: 114688\n",
			ioreg: "\"gpu-core-count\" = 40\n"}},
		"container": {files: map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n",
			"sys/fs/cgroup/memory.max": "8589934592\n", "sys/fs/cgroup/memory.current": "3221225472\n",
			"sys/fs/cgroup/memory.stat": "inactive_file 1073741824\n"}},
		"asleep": {files: map[string]string{
			driver: "NVRM", "proc/meminfo": meminfo,
			"proc/driver/nvidia/gpus/0000:01:00.0/information": "Model: \t\t NVIDIA GeForce RTX 4090\n",
		}},
	} {
		got := tui.Local(machine.machine().Look(), term.Style{Width: 80})
		for line := range strings.Lines(got) {
			if len([]rune(strings.TrimRight(line, "\n"))) > 80 {
				t.Errorf("%s: wider than 80: %s", name, line)
			}
		}
		path := filepath.Join("testdata", name+".golden")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(path); err != nil || got != string(want) {
			t.Errorf("%s differs (%v); -update writes it:\n%s", name, err, got)
		}
	}
}
