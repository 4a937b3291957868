package detect

import (
	"reflect"
	"strings"
	"testing"

	"github.com/memwall/memwall/unit"
)

// TestNames: what AMD's and Intel's programs call their cards. rocm-smi: influxdata/telegraf
// plugins/inputs/amd_rocm_smi/testdata; amd-smi: a test of an exporter with an MI210; xpu-smi: a log of two Arc Pro B70.
func TestNames(t *testing.T) {
	if got := rocmSMI([]byte(fixture(t, "rocm-smi-mi100_rocm602.json"))); strings.Join(got, ",") != "Instinct MI100,Instinct "+
		"MI100,Instinct MI100,Instinct MI100" {
		t.Errorf("rocm-smi 6.0: %q", got)
	}
	if got := rocmSMI([]byte(fixture(t, "rocm-smi-rx6700xt_rocm612.json"))); strings.Join(got, ",") != "Radeon RX 6700/6700 XT / 6800M" {
		t.Errorf("rocm-smi 6.1: %q", got)
	}
	if got := amdSMI([]byte("Permission needed to access required GPU device node(s)\n\n" +
		fixture(t, "amd-smi-static-mi210.json"))); strings.Join(got, ",") != "AMD Instinct MI210" {
		t.Errorf("amd-smi: %q", got)
	}
	if got := xpuSMI([]byte(fixture(t, "xpu-smi-discovery-2-b70.json"))); len(got) != 2 ||
		got[1].name != "Intel(R) Arc(TM) Pro B70 Graphics" {
		t.Errorf("xpu-smi: %+v", got)
	}
	ids := fixture(t, "amdgpu.ids")
	for chip, want := range map[string]string{"744c c8": "AMD Radeon RX 7900 XTX", "744c cc": "AMD Radeon RX 7900 XT", "744c 00": "",
		"": ""} {
		if got := amdName(ids, chip); got != want {
			t.Errorf("chip %q is %q, want %q", chip, got, want)
		}
	}
}

func TestProcessor(t *testing.T) {
	r := recorded{files: map[string]string{
		"proc/cpuinfo": genoa, "sys/devices/system/cpu/online": "0-383\n",
		"sys/devices/system/edac/mc/mc0/dimm0/dimm_location": "channel 0 slot 0 \n", "sys/devices/system/edac/mc/mc0/dimm0/size": "65536\n",
		"sys/devices/system/edac/mc/mc0/dimm1/dimm_location": "channel 1 slot 0 \n", "sys/devices/system/edac/mc/mc0/dimm1/size": "65536\n",
		"sys/devices/system/edac/mc/mc0/dimm2/dimm_location": "channel 1 slot 1 \n", "sys/devices/system/edac/mc/mc0/dimm2/size": "65536\n",
		"sys/devices/system/edac/mc/mc0/dimm3/dimm_location": "channel 2 slot 0 \n", "sys/devices/system/edac/mc/mc0/dimm3/size": "0\n",
	}}
	c := r.machine().processor()
	if c.Sockets != 2 || c.Cores != 192 || c.Threads != 384 || c.Channels != 2 || c.ID != "epyc-9654" ||
		!reflect.DeepEqual(c.Vectors, []string{"avx512_bf16", "avx512_vnni", "avx512f", "avx2", "fma"}) {
		t.Errorf("%+v", c)
	}
	graviton := "processor\t: 0\nBogoMIPS\t: 2000.00\nFeatures\t: fp asimd asimddp sve i8mm bf16\nCPU implementer\t: 0x41\nCPU " +
		"part\t: 0xd4f\n"
	if c := cpuinfo(graviton); c.Name != "Neoverse V2" || len(c.Vectors) != 5 {
		t.Errorf("%+v", c)
	}
	for list, want := range map[string]int{"0-63,128-191": 128, "0": 1, "": 0, "3-1": 0, "x": 0, "0-99999999999999999999": 0} {
		if got := countList(list); got != want {
			t.Errorf("%q counts %d, want %d", list, got, want)
		}
	}
}

func TestMemory(t *testing.T) {
	for _, c := range []struct {
		text        string
		total, free unit.Bytes
		ok          bool
	}{
		{meminfo, 65768308 * unit.KiB, 50 * unit.GiB, true},
		{"MemTotal: 1024 kB\nMemFree: 100 kB\nCached: 200 kB\n", unit.MiB, 300 * unit.KiB, true},
		{"MemTotal: 1024 kB\n", unit.MiB, unit.MiB, true},
		{"MemTotal: -1 kB\n", 0, 0, false},
	} {
		if total, free, ok := amounts(c.text); total != c.total || free != c.free || ok != c.ok {
			t.Errorf("%q: %v, %v, %v", c.text, total, free, ok)
		}
	}
	want := []string{"sys/fs/cgroup/a/b", "sys/fs/cgroup/a", "sys/fs/cgroup", "sys/fs/cgroup/memory/c", "sys/fs/cgroup/memory"}
	if got := groupFolders("0::/a/b\n4:memory:/c\n7:cpu:/d\nrubbish\n"); !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}

// TestPrograms: command lines of drivers become names that a terminal may print.
func TestPrograms(t *testing.T) {
	for command, want := range map[string]string{
		"/usr/lib/Xorg": "Xorg", "/opt/microsoft/msedge/msedge --type=gpu-process": "msedge", `C:\Program Files\x\ollama.exe`: "ollama.exe",
		"[N/A]": "", "": "", "a\x1b[31mb": "a[31mb", "python3": "python3",
	} {
		if got := programOf(command); got != want {
			t.Errorf("%q is %q, want %q", command, got, want)
		}
	}
}
