package detect

import (
	"context"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/unit"
)

var update = flag.Bool("update", false, "write the golden files")

// recorded is a machine whose files and programs answer as recorded; what is not recorded is not there.
type recorded struct {
	os       string
	files    map[string]string
	programs map[string]string // by command line
	env      map[string]string
}

func (r recorded) machine() Machine {
	files := fstest.MapFS{}
	for name, text := range r.files {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	system := r.os
	if system == "" {
		system = "linux"
	}
	return Machine{
		OS: system, Files: files, Patience: 2 * time.Second,
		Env: func(name string) (string, bool) { v, ok := r.env[name]; return v, ok },
		Run: func(_ context.Context, name string, args ...string) ([]byte, error) {
			if out, ok := r.programs[strings.Join(append([]string{name}, args...), " ")]; ok {
				return []byte(out), nil
			}
			return nil, errors.New("executable file not found in $PATH")
		},
	}
}

func fixture(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const (
	driver  = "proc/driver/nvidia/version"
	smi     = "nvidia-smi -q -x"
	topo    = "nvidia-smi topo -m"
	meminfo = "MemTotal:       65768308 kB\nMemFree:         2127188 kB\nMemAvailable:   52428800 kB\n"
)

// nvidiaBox is a machine with NVIDIA cards.
func nvidiaBox(t testing.TB, xml string) recorded {
	return recorded{files: map[string]string{driver: "NVRM version: NVIDIA UNIX x86_64 Kernel Module", "proc/meminfo": meminfo},
		programs: map[string]string{smi: fixture(t, xml)}}
}

func with(r recorded, change func(*recorded)) recorded {
	if r.env == nil {
		r.env = map[string]string{}
	}
	change(&r)
	return r
}

// amdBox has cards as amdgpu shows them in /sys.
func amdBox(t testing.TB, cards ...map[string]string) recorded {
	r := recorded{files: map[string]string{"proc/meminfo": meminfo, "usr/share/libdrm/amdgpu.ids": fixture(t, "amdgpu.ids")},
		programs: map[string]string{}}
	for i, c := range cards {
		for name, text := range c {
			r.files["sys/class/drm/card"+string(rune('0'+i))+"/device/"+name] = text + "\n"
		}
		r.files["sys/class/drm/card"+string(rune('0'+i))+"-HDMI-A-1/status"] = "connected\n"
	}
	return r
}

// Figures of rocm-smi's records of such cards in testdata, as the kernel's files print them.
var (
	mi100 = map[string]string{"vendor": "0x1002", "device": "0x738c", "revision": "0x01", "mem_info_vram_total": "34342961152",
		"mem_info_vram_used": "6750208", "mem_info_gtt_total": "135138402304", "mem_info_gtt_used": "11354112",
		"max_link_speed": "16.0 GT/s PCIe", "current_link_width": "16"}
	rx6700 = map[string]string{"vendor": "0x1002", "device": "0x73df", "revision": "0xc1", "mem_info_vram_total": "12868124672",
		"mem_info_vram_used": "1572745216", "mem_info_gtt_total": "16792432640", "mem_info_gtt_used": "242036736",
		"uevent": "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:07:00.0"}
	raphael = map[string]string{"vendor": "0x1002", "device": "0x164e", "revision": "0xc1", "mem_info_vram_total": "536870912",
		"mem_info_vram_used": "20000000", "mem_info_gtt_total": "33000000000"}
	halo = map[string]string{"vendor": "0x1002", "device": "0x1586", "revision": "0xc1", "mem_info_vram_total": "536870912",
		"mem_info_vram_used": "200000000", "mem_info_gtt_total": "67073081344", "mem_info_gtt_used": "300000000"}
)

const haloCPU = "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD RYZEN AI MAX+ 395 w/ Radeon 8060S\nsiblings\t: 32\ncpu " +
	"cores\t: 16\nflags\t\t: fma avx2 avx512f avx512_bf16\n\nprocessor\t: 1\n"

const genoa = "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC 9654 96-Core Processor\nsiblings\t: 192\ncpu cores\t: " +
	"96\nflags\t\t: fpu fma avx2 avx512f avx512_vnni avx512_bf16\n\nprocessor\t: 1\n"

const macMax = "machdep.cpu.brand_string: Apple M3 Max\nhw.memsize: 137438953472\nhw.physicalcpu: 16\n"

const sysctl = "sysctl machdep.cpu.brand_string hw.memsize hw.physicalcpu iogpu.wired_limit_mb"

const ioreg = "ioreg -r -d 1 -c AGXAccelerator"

// TestWords: what recorded machines are in words that --on takes, and what is kept free of them for others.
func TestWords(t *testing.T) {
	for _, c := range []struct {
		name     string
		machine  recorded
		want     string
		devices  int
		reserved unit.Bytes
		says     string // of notes and of what is in use
	}{
		{"a desktop", nvidiaBox(t, "nvidia-smi-rtx-3080-v12.xml"), "rtx-3080-10gb,usable=10067MiB,host=50GiB", 1, 1128 * unit.MiB,
			"1.1 of 10.0 GiB by Xorg (pid 835, 0.54 GiB), firefox (pid 4044, 0.53 GiB), code"},
		{"a newer driver", nvidiaBox(t, "nvidia-smi-rtx-3080-v13.xml"), "rtx-3080-10gb,usable=9843MiB,host=50GiB", 1, 9184 * unit.MiB, ""},
		{"12 GB of that name", nvidiaBox(t, "nvidia-smi-rtx-3060-v12.xml"), "rtx-3060-12gb,host=50GiB", 1, 116 * unit.MiB, ""},
		{"a slot of eight lanes", nvidiaBox(t, "nvidia-smi-tesla-t4.xml"), "t4,pcie=3x8,host=50GiB", 1, 1032 * unit.MiB, "python (pid "},
		{"memory that the card does not have", nvidiaBox(t, "nvidia-smi-gtx-1070-ti.xml"),
			"name=GeForce GTX 1070 Ti,vendor=nvidia,memory=4096MiB,host=50GiB", 1, 0, ""},
		{"a slice", nvidiaBox(t, "nvidia-smi-a100-sxm4-v12.xml"),
			"name=NVIDIA A100-SXM4-80GB MIG 20GB,vendor=nvidia,memory=19968MiB,bandwidth=510GB/s,bf16=40.44TFLOPS,arch=ampere,host=50GiB",
			1, 0, "4 MIG instances"},
		{"two cards without a matrix", nvidiaBox(t, "nvidia-smi-dual-a5000-v13.xml"), "2xrtx-a5000,host=50GiB", 2, 22437 * unit.MiB,
			"the links between the devices"},
		{"two on a bridge", with(nvidiaBox(t, "nvidia-smi-dual-a5000-v13.xml"), func(r *recorded) {
			r.programs[topo] = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV4\t0-15\nGPU1\tNV4\t X \t0-15\n"
		}), "2xrtx-a5000,link=nvlink:112.5GB/s,host=50GiB", 2, 22437 * unit.MiB, "device 1: 16.8 of 24.0 GiB by llama-server"},
		{"one left visible", with(nvidiaBox(t, "nvidia-smi-dual-a5000-v13.xml"), func(r *recorded) { r.env["CUDA_VISIBLE_DEVICES"] = "1" }), "rtx-a5000,host=50GiB", 1, 17253 * unit.MiB, `CUDA_VISIBLE_DEVICES = "1" leaves 1 of 2`},
		{"by its UUID", with(nvidiaBox(t, "nvidia-smi-dual-a5000-v13.xml"), func(r *recorded) {
			r.env["CUDA_VISIBLE_DEVICES"] = "GPU-00000000-0000-0000-0000-000000000002"
		}), "rtx-a5000,host=50GiB", 1, 17253 * unit.MiB, ""},
		{"none left visible", with(nvidiaBox(t, "nvidia-smi-dual-a5000-v13.xml"), func(r *recorded) { r.env["CUDA_VISIBLE_DEVICES"] = "" }),
			"cpu,host=50GiB", 0, 0, "leaves 0 of 2"},
		{"one that is not there", with(nvidiaBox(t, "nvidia-smi-dual-a5000-v13.xml"),
			func(r *recorded) { r.env["CUDA_VISIBLE_DEVICES"] = "7" }), "2xrtx-a5000,host=50GiB", 2, 22437 * unit.MiB,
			"names a device that is not seen"},
		{"a driver whose program is gone", recorded{files: map[string]string{
			driver: "NVRM", "proc/meminfo": meminfo,
			"proc/driver/nvidia/gpus/0000:01:00.0/information": "Model: \t\t NVIDIA GeForce RTX 4090\nIRQ:   \t\t 134\nGPU UUID: \t " +
				"GPU-????????\n",
		}}, "rtx-4090,host=50GiB", 1, 0, "nvidia-smi failed: executable file not found in $PATH: devices are known by name alone"},
		{"a driver without cards", recorded{files: map[string]string{driver: "NVRM", "proc/meminfo": meminfo},
			programs: map[string]string{smi: "No devices were found\n"}}, "cpu,host=50GiB", 0, 0, "no NVIDIA device is known"},
		{"a program without a driver", recorded{files: map[string]string{"proc/meminfo": meminfo},
			programs: map[string]string{smi: fixture(t, "nvidia-smi-rtx-3080-v12.xml")}}, "cpu,host=50GiB", 0, 0, ""},
		{"Windows", recorded{os: "windows", files: map[string]string{"Windows/System32/nvidia-smi.exe": ""},
			programs: map[string]string{smi: fixture(t, "nvidia-smi-rtx-3060-v12.xml")}}, "rtx-3060-12gb", 1, 116 * unit.MiB, ""},

		{"a chip that shares its memory with NVIDIA's", recorded{
			files: map[string]string{driver: "NVRM",
				"proc/meminfo": "MemTotal: 125506224 kB\nMemAvailable: 117117616 kB\n"}, // the total that CUDA shows of a DGX Spark
			programs: map[string]string{smi: "<nvidia_smi_log><attached_gpus>1</attached_gpus><gpu><product_name>NVIDIA " +
				"GB10</product_name><fb_memory_usage><total>N/A</total><used>N/A</used></fb_memory_usage></gpu></nvidia_smi_log>"},
		}, "gb10,usable=128518373376", 1, 8 * unit.GiB, "8.0 of 119.7 GiB"},
		{"a card that is full", with(nvidiaBox(t, "nvidia-smi-rtx-3080-v13.xml"), func(r *recorded) {
			r.programs[smi] = strings.Replace(r.programs[smi], "9184 MiB", "10240 MiB", 1)
		}), "rtx-3080-10gb,usable=9843MiB,host=50GiB", 1, 9843 * unit.MiB, "10.0 of 10.0 GiB"},
		{"two makers", with(amdBox(t, rx6700), func(r *recorded) {
			r.files[driver], r.programs[smi] = "NVRM", fixture(t, "nvidia-smi-dual-a5000-v13.xml")
		}), "2xrtx-a5000,host=50GiB", 2, 22437 * unit.MiB, "engines use devices of one maker, here NVIDIA"},
		{"cards of two kinds", with(nvidiaBox(t, "nvidia-smi-rtx-3060-v12.xml"), func(r *recorded) {
			r.programs[smi] = strings.Replace(fixture(t, "nvidia-smi-tesla-t4.xml"), "</gpu>",
				"</gpu><gpu><product_name>NVIDIA GeForce RTX 3060</product_name><fb_memory_usage><total>12288 MiB</total><reserved>368 "+
					"MiB</reserved><used>116 MiB</used></fb_memory_usage></gpu>", 1)
		}), "t4+rtx-3060-12gb,host=50GiB", 2, 1032 * unit.MiB, "Tesla T4 has pcie=3x8 here"},
		{"four of AMD's", amdBox(t, mi100, mi100, mi100, mi100), "4xmi100,host=50GiB", 4, 0, ""},
		{"a desktop of AMD's", with(amdBox(t, rx6700), func(r *recorded) {
			r.files["sys/class/kfd/kfd/proc/4242/vram_51339"] = "1073741824\n"
			r.files["proc/4242/comm"] = "ollama\n"
			r.files["sys/class/kfd/kfd/topology/nodes/1/gpu_id"] = "51339\n"
			r.files["sys/class/kfd/kfd/topology/nodes/1/properties"] = "cpu_cores_count 0\nlocation_id 1792\ndomain 0\n"
		}), "rx-6700-xt,host=50GiB", 1, 1572745216, "1.5 of 12.0 GiB by ollama (pid 4242, 1.00 GiB)"},
		{"a card beside graphics of the processor", amdBox(t, rx6700, raphael), "rx-6700-xt,host=50GiB", 1, 1572745216, ""},
		{"graphics alone", amdBox(t, raphael), "cpu,host=50GiB", 0, 0, "the graphics of the processor (AMD) are left out"},
		{"a chip that shares its memory", with(amdBox(t, halo), func(r *recorded) { r.files["proc/cpuinfo"] = haloCPU }),
			"ryzen-ai-max-395,usable=67073081344", 1, 500000000, ""},
		{"no table of chips", with(amdBox(t, mi100), func(r *recorded) {
			delete(r.files, "usr/share/libdrm/amdgpu.ids")
			r.programs["rocm-smi --showproductname --json"] = `{"card0": {"Card series": "Arcturus GL-XL [Instinct MI100]"}, "system": {}}`
		}), "mi100,host=50GiB", 1, 0, ""},
		{"nobody names the chip", with(amdBox(t, mi100), func(r *recorded) { delete(r.files, "usr/share/libdrm/amdgpu.ids") }),
			"name=device,vendor=amd,memory=32752MiB,host=50GiB", 1, 0, "known by their numbers alone"},
		{"one of four", with(amdBox(t, mi100, mi100, mi100, mi100), func(r *recorded) { r.env["ROCR_VISIBLE_DEVICES"] = "2" }),
			"mi100,host=50GiB", 1, 0, "leaves 1 of 4"},

		{"one of Intel's", recorded{files: map[string]string{"proc/meminfo": meminfo, "sys/class/drm/card1/device/vendor": "0x8086\n",
			"sys/class/drm/card1/device/device": "0xe20b\n"}}, "arc-b580,host=50GiB", 1, 0, "do not say here what others hold"},
		{"graphics of Intel's", recorded{files: map[string]string{"proc/meminfo": meminfo, "sys/class/drm/card0/device/vendor": "0x8086\n",
			"sys/class/drm/card0/device/device": "0xa780\n", "sys/class/drm/card0/device/uevent": "PCI_SLOT_NAME=0000:00:02.0\n"}},
			"cpu,host=50GiB", 0, 0, ""},
		{"one that only xpu-smi knows",
			recorded{files: map[string]string{"proc/meminfo": meminfo, "sys/class/drm/card3/device/vendor": "0x8086\n",
				"sys/class/drm/card3/device/device": "0xffff\n"},
				programs: map[string]string{"xpu-smi discovery -j": fixture(t, "xpu-smi-discovery-2-b70.json")}},
			"2xarc-pro-b70,host=50GiB", 2, 0, ""},

		{"a Mac",
			recorded{os: "darwin", programs: map[string]string{sysctl: macMax + "iogpu.wired_limit_mb: 0\n",
				ioreg: "+-o AGXAcceleratorG15C\n    {\n      \"gpu-core-count\" = 40\n    }\n"}}, "Apple M3 Max 40-core GPU 128GB", 1, 0,
			"macOS decides"},
		{"a Mac whose limit is raised", recorded{os: "darwin",
			programs: map[string]string{sysctl: macMax + "iogpu.wired_limit_mb: 114688\n"}}, "Apple M3 Max 128GB,usable=114688MiB", 1, 0,
			"ioreg does not say"},
		{"an Intel Mac",
			recorded{os: "darwin", programs: map[string]string{sysctl: "machdep.cpu.brand_string: Intel(R) Core(TM) i7-9750H CPU @ " +
				"2.60GHz\nhw.memsize: 17179869184\n"}}, "cpu,host=16GiB", 0, 0, ""},
		{"a Mac that says nothing", recorded{os: "darwin"}, "", 0, 0, "neither chip nor memory is known"},

		{"two sockets",
			recorded{files: map[string]string{"proc/meminfo": meminfo, "proc/cpuinfo": genoa, "sys/devices/system/cpu/online": "0-383\n"}},
			"2xepyc-9654,host=50GiB", 0, 0, "12.7 GiB of the host's 62.7"},
		{"a part of one",
			recorded{files: map[string]string{"proc/meminfo": meminfo,
				"proc/cpuinfo":                  strings.ReplaceAll(strings.ReplaceAll(genoa, "192", "16"), ": 96\n", ": 8\n"),
				"sys/devices/system/cpu/online": "0-15\n"}}, "cpu,cores=8,host=50GiB", 0, 0, ""},
		{"a card and a socket", with(nvidiaBox(t, "nvidia-smi-rtx-3060-v12.xml"), func(r *recorded) {
			r.files["proc/cpuinfo"], r.files["sys/devices/system/cpu/online"] = genoa, "0-191\n"
		}), "rtx-3060-12gb+epyc-9654,host=50GiB", 1, 116 * unit.MiB, ""},
		{"a container",
			recorded{files: map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n",
				"sys/fs/cgroup/memory.max": "8589934592\n", "sys/fs/cgroup/memory.current": "3221225472\n",
				"sys/fs/cgroup/memory.stat": "anon 1073741824\ninactive_file 1073741824\n"}}, "cpu,host=6GiB", 0, 0,
			"2.0 GiB of the host's 8.0"},
		{"a container of version 1",
			recorded{files: map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory:/docker/0123\n1:cpu:/\n",
				"sys/fs/cgroup/memory/memory.limit_in_bytes": "8589934592\n", "sys/fs/cgroup/memory/memory.usage_in_bytes": "1048576\n"}},
			"cpu,host=7GiB", 0, 0, ""},
		{"a group without a limit",
			recorded{files: map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory:/a\n",
				"sys/fs/cgroup/memory/a/memory.limit_in_bytes": "9223372036854771712\n"}}, "cpu,host=50GiB", 0, 0, ""},
		{"nothing", recorded{}, "", 0, 0, "/proc/meminfo says nothing"},
		{"broken figures", recorded{files: map[string]string{"proc/meminfo": "MemTotal: much kB\n"}}, "", 0, 0,
			"/proc/meminfo says nothing"},
	} {
		got := c.machine.machine().Look()
		if got.Words != c.want || got.Reserved != c.reserved {
			t.Errorf("%s: %q with %d reserved, want %q with %d", c.name, got.Words, got.Reserved, c.want, c.reserved)
		}
		if said := got.InUse + "\n" + strings.Join(got.Notes, "\n"); !strings.Contains(said, c.says) {
			t.Errorf("%s: says %q, not %q", c.name, said, c.says)
		}
		readBack(t, c.name, got, c.devices)
	}
}

// readBack: all words are read by the catalog, as so many devices.
func readBack(t *testing.T, name string, l *card.Local, devices int) {
	t.Helper()
	for _, words := range []string{l.Words, l.Idle} {
		if words == "" {
			continue
		}
		m, _, err := hardware.Parse(words, 0)
		if err != nil || m.Devices() != devices {
			t.Errorf("%s: %q is read as %d devices (%v)", name, words, m.Devices(), err)
		}
	}
}

// TestFaults: programs that hang, print rubbish, break off or never stop are notes, and the rest is known.
func TestFaults(t *testing.T) {
	good := fixture(t, "nvidia-smi-dual-a5000-v13.xml")
	second := strings.Index(good, "C1:00.0") + 200
	for _, c := range []struct {
		name string
		run  Runner
		want string
		says string
	}{
		{"hangs", func(ctx context.Context, _ string, _ ...string) ([]byte, error) { <-ctx.Done(); return nil, ctx.Err() },
			"rtx-4090,host=50GiB", "nvidia-smi gave no answer in time"},
		{"hangs after half", func(ctx context.Context, _ string, a ...string) ([]byte, error) {
			<-ctx.Done()
			return []byte(good[:second]), errors.New("signal: killed")
		}, "rtx-a5000,host=50GiB", "broke off: 1 of 2"},
		{"deaf to the end of its time", func(context.Context, string, ...string) ([]byte, error) { select {} }, "cpu,host=50GiB",
			"NVIDIA devices gave no answer in time"},
		{"rubbish", func(context.Context, string, ...string) ([]byte, error) { return []byte("\x00\xff<gpu><<"), nil },
			"rtx-4090,host=50GiB", "printed what cannot be read"},
		{"a message", func(context.Context, string, ...string) ([]byte, error) {
			return []byte("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."), errors.New("exit status 9")
		}, "rtx-4090,host=50GiB", "nvidia-smi failed: exit status 9"},
		{"one of two", func(context.Context, string, ...string) ([]byte, error) { return []byte(good[:second]), nil },
			"rtx-a5000,host=50GiB", "1 of 2 NVIDIA devices are known"},
		{"control characters", func(context.Context, string, ...string) ([]byte, error) {
			return []byte("<nvidia_smi_log><gpu><product_name>Quadro &#x9B;31m K2000 (rev. 2)</product_name><fb_memory_usage><total>1999 " +
				"MiB</total></fb_memory_usage></gpu></nvidia_smi_log>"), nil
		}, "name=Quadro 31m K2000 rev. 2,vendor=nvidia,memory=1999MiB,host=50GiB", ""},
	} {
		m := recorded{files: map[string]string{driver: "NVRM", "proc/meminfo": meminfo,
			"proc/driver/nvidia/gpus/0000:01:00.0/information": "Model: \t\t NVIDIA GeForce RTX 4090\n"}}.machine()
		m.Run, m.Patience = c.run, 20*time.Millisecond
		got := m.Look()
		if said := strings.Join(got.Notes, "\n"); got.Words != c.want || !strings.Contains(said, c.says) {
			t.Errorf("%s: %q (%s), want %q (%s)", c.name, got.Words, said, c.want, c.says)
		}
	}
}

// TestSlowMatrix: cards are known though the program that tells how they are joined hangs.
func TestSlowMatrix(t *testing.T) {
	m := nvidiaBox(t, "nvidia-smi-dual-a5000-v13.xml").machine()
	answer := m.Run
	m.Patience = 20 * time.Millisecond
	m.Run = func(ctx context.Context, name string, args ...string) ([]byte, error) {
		if args[0] == "topo" {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return answer(ctx, name, args...)
	}
	if got := m.Look(); got.Words != "2xrtx-a5000,host=50GiB" ||
		!strings.Contains(strings.Join(got.Notes, "\n"), "topo -m gave no answer in time") {
		t.Errorf("%q %q", got.Words, got.Notes)
	}
}

// stuck is a folder of files that never open, as those of a driver that hangs.
type stuck struct{}

func (stuck) Open(string) (fs.File, error) { select {} }

// TestStuckFiles: files that hang are left out.
func TestStuckFiles(t *testing.T) {
	got := Machine{OS: "linux", Files: stuck{}, Patience: 10 * time.Millisecond}.Look()
	if got.Words != "" || len(got.Notes) != 4 {
		t.Errorf("%+v", got)
	}
}

// TestNoProgramWithoutDevice: a machine whose files show no device runs nothing.
func TestNoProgramWithoutDevice(t *testing.T) {
	m := recorded{files: map[string]string{"proc/meminfo": meminfo, "proc/cpuinfo": genoa}}.machine()
	m.Run = func(_ context.Context, name string, _ ...string) ([]byte, error) {
		t.Errorf("%s is run", name)
		return nil, fs.ErrNotExist
	}
	m.Look()
}

// TestHere looks at the machine of the test: whatever it says is read back.
func TestHere(t *testing.T) {
	l := Here().Look()
	t.Logf("%s, %d reserved; %s; %q", l.Words, l.Reserved, l.InUse, l.Notes)
	for _, words := range []string{l.Words, l.Idle} {
		if _, _, err := hardware.Parse(words, 0); words != "" && err != nil {
			t.Errorf("%q: %v", words, err)
		}
	}
}

func BenchmarkLook(b *testing.B) {
	for b.Loop() {
		Here().Look()
	}
}
