package hardware

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// Spellings in use: ids, shop names, what nvidia-smi and rocm-smi print, and how benchmarks write them.
var spellings = []struct{ name, id string }{
	{"rtx-4090", "rtx-4090"}, {"4090", "rtx-4090"}, {"RTX 4090 24GB", "rtx-4090"}, {"NVIDIA GeForce RTX 4090", "rtx-4090"},
	{"RTX4090-24GB", "rtx-4090"},
	{"RTX 4090 D", "rtx-4090-d"}, {"NVIDIA GeForce RTX 4090 Laptop GPU", "rtx-4090-laptop"}, {"RTX 4060 Mobile", "rtx-4060-laptop"},
	{"4070 Ti Super", "rtx-4070-ti-super"}, {"4070ti", "rtx-4070-ti"}, {"NVIDIA GeForce RTX 2080 Ti", "rtx-2080-ti"},
	{"GTX 1660 SUPER", "gtx-1660-super"},
	{"h100", "h100-sxm-80gb"}, {"H100", "h100-sxm-80gb"}, {"h100_sxm", "h100-sxm-80gb"}, {"h200_sxm", "h200-sxm-141gb"},
	{"b200_sxm", "b200-sxm-180gb"}, {"b300_sxm", "b300-sxm-270gb"},
	{"NVIDIA H100 80GB HBM3", "h100-sxm-80gb"}, {"NVIDIA H100 PCIe", "h100-pcie-80gb"}, {"NVIDIA H100 NVL", "h100-nvl-94gb"},
	{"NVIDIA H100-NVL-94GB", "h100-nvl-94gb"},
	{"H100-96GB-HBM2e-500W", "h100-sxm-96gb"}, {"NVIDIA H200", "h200-sxm-141gb"}, {"NVIDIA H20", "h20-96gb"},
	{"NVIDIA H20-3e", "h20-141gb"}, {"NVIDIA H800", "h800-sxm-80gb"},
	{"NVIDIA GH200 480GB", "gh200-96gb"}, {"NVIDIA GH200 Grace Hopper Superchip 144GB", "gh200-144gb"}, {"NVIDIA GB200 192GB", "gb200"},
	{"NVIDIA B200-SXM-180GB", "b200-sxm-180gb"}, {"B200 192GB", "b200-sxm-180gb"},
	{"a100", "a100-sxm-80gb"}, {"A100-40GB", "a100-sxm-40gb"}, {"NVIDIA A100-SXM4-80GB", "a100-sxm-80gb"},
	{"NVIDIA A100-SXM4-40GB", "a100-sxm-40gb"}, {"NVIDIA A100 80GB PCIe", "a100-pcie-80gb"}, {"NVIDIA A100-PCIE-40GB", "a100-pcie-40gb"},
	{"A100 PCIe", "a100-pcie-80gb"},
	{"Tesla V100-SXM2-32GB", "v100-sxm-32gb"}, {"Tesla V100-PCIE-16GB", "v100-pcie-16gb"}, {"V100-32GB", "v100-sxm-32gb"},
	{"Tesla P100-PCIE-16GB", "p100-pcie-16gb"}, {"Tesla T4", "t4"}, {"NVIDIA L4", "l4"}, {"NVIDIA A10G", "a10g"}, {"NVIDIA A30", "a30"},
	{"NVIDIA L40S", "l40s"},
	{"RTX A6000", "rtx-a6000"}, {"A6000", "rtx-a6000"}, {"NVIDIA RTX 6000 Ada Generation", "rtx-6000-ada"},
	{"A6000-Ada-48GB", "rtx-6000-ada"}, {"RTX 4000 Ada 20GB", "rtx-4000-ada"}, {"Quadro RTX 8000", "quadro-rtx-8000"},
	{"NVIDIA TITAN RTX", "titan-rtx"},
	{"NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "rtx-pro-6000-workstation"},
	{"NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", "rtx-pro-6000-max-q"},
	{"NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtx-pro-6000-server"}, {"RTXPRO6000", "rtx-pro-6000-workstation"},
	{"NVIDIA RTX 6000 Pro Blackwell Server", "rtx-pro-6000-server"},
	{"NVIDIA GB10", "gb10"}, {"NVIDIA DGX Spark (GB10)", "gb10"}, {"Dell Pro Max with GB10 (Nvidia Spark)", "gb10"},
	{"NVIDIA Thor", "jetson-thor-t5000-128gb"},
	{"rtx-3060", "rtx-3060-12gb"}, {"RTX 3080", "rtx-3080-10gb"}, {"RTX 3080 12GB", "rtx-3080-12gb"}, {"4060 Ti 16GB", "rtx-4060-ti-16gb"},
	{"RTX A2000", "rtx-a2000-6gb"},
	{"mi300x", "mi300x"}, {"AMD MI300X GPU", "mi300x"}, {"AMD Instinct MI300X-NPS1-SPX-192GB-750W", "mi300x"},
	{"AMD Instinct MI325X 256GB HBM3e", "mi325x"}, {"AMD MI250", "mi250"}, {"AMD Instinct MI60", "mi60"},
	{"7900 XTX", "rx-7900-xtx"}, {"AMD Radeon RX 7900 XT (20GB)", "rx-7900-xt"}, {"AMD Radeon AI PRO R9700 32GB", "r9700"},
	{"AMD AI Pro R9700", "r9700"}, {"AMD Pro W7700", "w7700"},
	{"AMD Ryzen AI Max+ 395 (Strix Halo 128GB)", "ryzen-ai-max-395"}, {"Ryzen AI Max+ 395", "ryzen-ai-max-395"},
	{"AMD Ryzen AI Max+ 395 (Strix Halo, 256 GB/s theoretical)", "ryzen-ai-max-395"}, {"strix-halo-64gb", "ryzen-ai-max-395-64gb"},
	{"m3-max", "m3-max-40-core"}, {"M4 Max 128GB", "m4-max-40-core"}, {"Apple M4 Max 36GB", "m4-max-32-core"},
	{"Apple M3 Max 40‑Core GPU 64GB", "m3-max-40-core-64gb"}, {"Apple M3 Max 12P+4E+40GPU", "m3-max-40-core"},
	{"Apple M2 Max 30-core GPU (MacBook Pro 32GB)", "m2-max-30-core-32gb"}, {"Apple M1 7-core GPU (MacBook Air 16GB)", "m1-7-core"},
	{"M1 Ultra (48 GPU Core) 64GB", "m1-ultra-48-core-64gb"}, {"M1 Max Mac Studio (10 core - 64GB)", "m1-max"},
	{"Mac Studio (M3 Ultra 512GB)", "m3-ultra-80-core"}, {"M4 Mac mini (10 core - 32GB)", "m4"},
	{"Intel® Gaudi® 2 AI Accelerator", "gaudi-2"}, {"Habana Gaudi2", "gaudi-2"}, {"Intel Max 1550", "max-1550"}, {"Intel PVC", "max-1550"},
	{"Intel Arc B580", "arc-b580"}, {"Arc A770", "arc-a770-16gb"}, {"Intel Core Ultra 7 258V Lunar Lake 32GB (Arc 140V)", "arc-140v"},
	{"TPU v5e", "tpu-v5e"}, {"Trillium", "tpu-v6e"}, {"trn2", "trainium2"}, {"Ascend 910B", "ascend-910b1"}, {"SambaNova SN40L", "sn40l"},
	{"EPYC 9654", "epyc-9654"}, {"AMD EPYC 9654 (Genoa)", "epyc-9654"}, {"Xeon Platinum 8480+", "xeon-8480"},
	{"AmpereOne A192-32X (512GB)", "ampereone-a192-512gb"},
	{"Intel 265K Custom PC (Nvidia RTX 4070 Ti)", "rtx-4070-ti"}, {"Intel 13900K (Nvidia 5090)", "rtx-5090"},
	{"Pi CM5 - 16GB (Nvidia RTX 40901)", "rtx-4090"}, {"Pi 5 - 8GB (AMD RX 6700 XT1) 12GB", "rx-6700-xt"},
	{"NVIDIA H100 SXM 80GB (Azure ND H100 v5)", "h100-sxm-80gb"}, {"B200-180GB(power limited)", "b200-sxm-180gb"},
}

func TestNames(t *testing.T) {
	for _, s := range spellings {
		d, _, err := Find(s.name)
		if err != nil {
			t.Errorf("Find(%q): %v", s.name, err)
		} else if d.ID != s.id {
			t.Errorf("Find(%q) is %s, not %s", s.name, d.ID, s.id)
		}
	}
}

// Names that mean something else than what they resemble, or several things.
func TestNamesRefused(t *testing.T) {
	for _, c := range []struct{ name, candidate, says string }{
		{"rtx-4091", "rtx-4090", "did you mean"},
		{"RTX 4000", "rtx-4000-ada", "did you mean"},
		{"RTX 4000", "quadro-rtx-4000", "did you mean"},
		{"RTX 4070 Ti Supper", "rtx-4070-ti-super", "did you mean"},
		{"AMD Radeon RX 7900 XT (16GB)", "rx-7900-xt", "states what"},
		{"A100 60GB", "a100-sxm-80gb", "states what"},
		{"H100 SXM 350W", "h100-sxm-80gb", "states what"},
		{"M4 Max 96GB", "m4-max-40-core", "not sold with"},
		{"Apple M2 Max (CPU only, ARM_NEON)", "", "processor"},
		{"MS-Intel Arc Pro B60 Dual 48G Turbo", "", ""},
		{"AMD Instinct MI300X 192GB HBM3 (x32), AMD Instinct MI325X 256GB HBM3e (x16)", "", ""},
		{"RTX 4090 (RTX 3060)", "rtx-3060-12gb", "several"},
		{"MI300X-NPS4", "", ""},
		{"unspecified(80GB class)", "", ""}, {"compute capability 8.0", "", ""}, {"TPU", "tpu-v4", "did you mean"},
		{"NVIDIA", "", ""}, {"80GB", "", ""}, {"()", "", ""}, {"(((((((", "", ""}, {"", "", ""}, {"\x00\xff", "", ""},
		{strings.Repeat("h100 ", 100), "", "too long"},
	} {
		d, _, err := Find(c.name)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("Find(%q) is %v", c.name, d.ID)
			continue
		}
		if c.candidate != "" && !slices.Contains(e.Candidates, c.candidate) {
			t.Errorf("Find(%q): %v does not offer %s", c.name, e.Candidates, c.candidate)
		}
		if !strings.Contains(err.Error(), c.says) || e.Code != UnknownHardware || e.Fix == "" && c.says != "processor" &&
			c.says != "too long" {
			t.Errorf("Find(%q): %q (%s), which does not say %q", c.name, err, e.Code, c.says)
		}
		if len(err.Error()) > 500 {
			t.Errorf("Find(%q): an error of %d bytes", c.name, len(err.Error()))
		}
	}
}

func TestFindSaysWhatItTook(t *testing.T) {
	for _, c := range []struct{ name, code, says string }{
		{"h100", "default_used", "h100 read as h100-sxm-80gb"},
		{"a100", "default_used", "a100 read as a100-sxm-80gb"},
		{"RTX 3060", "default_used", "rtx-3060-12gb"},
		{"rx 9060 xt", "default_used", "rx-9060-xt-16gb"},
		{"m4-pro", "memory_default", "64 GB"},
		{"Intel 265K Custom PC (Nvidia RTX 4070 Ti)", "name_unread", "Intel 265K Custom PC"},
		{"RTX 40901 (RTX 40901)", "name_unread", "footnote"},
		{"M1 Max Mac Studio (10 core - 64GB)", "name_unread", "10core"},
	} {
		_, notes, err := Find(c.name)
		if err != nil || !slices.ContainsFunc(notes, func(n Note) bool { return n.Code == c.code && strings.Contains(n.Text, c.says) }) {
			t.Errorf("Find(%q): %v, %v", c.name, notes, err)
		}
	}
	for _, name := range []string{"rtx-4090", "NVIDIA H100 80GB HBM3", "mi300x", "M4 Max 40-core 128GB", "NVIDIA H200"} {
		if _, notes, err := Find(name); err != nil || len(notes) > 0 {
			t.Errorf("Find(%q) is plain and has notes %v, %v", name, notes, err)
		}
	}
}

// same and key, and distance, against slow and obvious twins.
func TestNameTwins(t *testing.T) {
	words := []string{"", "a", "h100", "h100-sxm", "h-1 00_sxm", "rtx 4090", "rtx-4090-d", "kitten", "sitting", "ab-"}
	for _, a := range words {
		for _, b := range words {
			if got, want := same(a, key(b)), key(a) == key(b); got != want {
				t.Errorf("same(%q, %q) = %v", a, key(b), got)
			}
			for limit := range 4 {
				if got, want := distance(a, b, limit), min(slowDistance(a, b), limit+1); got != want {
					t.Errorf("distance(%q, %q, %d) = %d, not %d", a, b, limit, got, want)
				}
			}
		}
	}
}

func slowDistance(a, b string) int {
	switch {
	case a == "":
		return len(b)
	case b == "":
		return len(a)
	case a[0] == b[0]:
		return slowDistance(a[1:], b[1:])
	}
	return 1 + min(slowDistance(a[1:], b), slowDistance(a, b[1:]), slowDistance(a[1:], b[1:]))
}

func TestBare(t *testing.T) {
	for name, want := range map[string]string{"h100-sxm-80gb": "h100-sxm", "b200 192gb": "b200", "mi300x": "mi300x", "gb": "gb",
		"rtx-4090": "rtx-4090", "x-gb": "x-gb"} {
		if got := withoutMemory(name); got != want {
			t.Errorf("bare(%q) = %q", name, got)
		}
	}
}
