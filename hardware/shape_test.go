package hardware

import (
	"strconv"
	"strings"
	"testing"
)

// TestShapes reads the clouds' names of machines, as their consoles, their command lines and their users write them.
func TestShapes(t *testing.T) {
	for text, want := range map[string]string{
		"BM.GPU.H100.8":                       "8xh100-sxm-80gb",
		"oracle BM.GPU.H100.8":                "8xh100-sxm-80gb",
		"2 x BM.GPU.H100.8":                   "16xh100-sxm-80gb",
		"OCI VM.GPU.A10.2":                    "2xa10",
		"a3-highgpu-4g":                       "4xh100-sxm-80gb",
		"gcp g2-standard-48":                  "4xl4",
		"Standard_NC48ads_A100_v4":            "2xa100-pcie-80gb",
		"azure NC48ads_A100_v4":               "2xa100-pcie-80gb",
		"gpu_8x_h100_sxm5":                    "8xh100-sxm-80gb",
		"aws ml.p5.48xlarge":                  "8xh100-sxm-80gb",
		"A600048GB x2":                        "2xrtx-a6000",
		"A100-80GB:8":                         "8xa100-sxm-80gb",
		"runpod 1x RTX 4090":                  "1xrtx-4090",
		"vast.ai 4x 3090":                     "4xrtx-3090",
		"kaggle 2x T4":                        "2xt4",
		"colab T4":                            "1xt4",
		"4070 super ti":                       "1xrtx-4070-ti-super",
		"RTX 4070 Super Ti 16GB":              "1xrtx-4070-ti-super",
		"framework desktop ai max+ 395 128gb": "1xryzen-ai-max-395",
		"framework desktop":                   "1xryzen-ai-max-395",
		"7900xtx x2":                          "2xrx-7900-xtx",
		"7900 XTX 24GBx2":                     "2xrx-7900-xtx",
		"2x 3090 nvlink":                      "2xrtx-3090",
		"two RTX 3090s with NVLink":           "2xrtx-3090",
		"jetson orin nano super 8gb":          "1xjetson-orin-nano-super-8gb",
		"NVIDIA Jetson Orin Nano Super":       "1xjetson-orin-nano-super-8gb",
	} {
		m, _, err := Parse(text, 0)
		if err != nil || len(m.Groups) != 1 || strconv.Itoa(m.Groups[0].Count)+"x"+m.Groups[0].Device.ID != want {
			t.Errorf("%q: %+v, %v; want %s", text, m.Groups, err, want)
		}
	}
}

// TestShapesThatAreNone would otherwise be machines of numbers that nobody sells or of none at all.
func TestShapesThatAreNone(t *testing.T) {
	for _, text := range []string{"BM.GPU.H100.", "BM.GPU.H100.x", "BM.GPU.H100.0", "BM.GPU.H100.1000", "BM.GPU.H100.-8", "gpu_x_a100",
		"a2-highgpu-g", "g2-standard-5", "oracle", "runpod", "aws gcp", strings.Repeat("b", 3000) + ".8"} {
		if m, _, err := Parse(text, 0); err == nil {
			t.Errorf("%.40q is a machine: %+v", text, m.Groups)
		}
	}
}

func TestShapesAreOfDevices(t *testing.T) {
	for r := range shapes.rows() {
		if _, ok := devices.row(r.second()); !ok {
			t.Errorf("%s: %q is not a device", r.id(), r.second())
		}
		if _, ok := sources.row(r.text("source")); !ok {
			t.Errorf("%s: no source %q", r.id(), r.text("source"))
		}
		if r.id() != strings.ToLower(r.id()) || strings.Contains(r.id(), "#") == (r.text("devices") != "") || strings.Count(r.id(), "#") > 1 {
			t.Errorf("%s: in small letters, with its number at # or in the column", r.id())
		}
	}
}

// TestNamesThatEndInX: the x of a name counts nothing.
func TestNamesThatEndInX(t *testing.T) {
	for text, want := range map[string][2]string{
		"RX 9070 XT 16gb + RX 6800": {"rx-9070-xt", "rx-6800"}, "RTX 5090 + RTX 3090": {"rtx-5090", "rtx-3090"}, "7900 XTX + RX 580": {"", ""},
	} {
		m, _, err := Parse(text, 0)
		if want[0] == "" && err != nil {
			continue
		}
		if err != nil || len(m.Groups) != 2 || m.Devices() != 2 || want[0] != "" && (m.Groups[0].Device.ID != want[0] ||
			m.Groups[1].Device.ID != want[1]) {
			t.Errorf("%s: %s, %v", text, shape(&m), err)
		}
	}
}

// TestLinkByName: "nvlink" alone is the catalog's link of the device, where it has one and where it joins all.
func TestLinkByName(t *testing.T) {
	m, _, err := Parse("2x3090,link=nvlink", 0)
	if d := m.Groups[0].Device; err != nil || m.Intra.EachWay.Value != d.Link.EachWay.Value || m.Intra.EachWay.Value == 0 {
		t.Errorf("%v %+v", err, m.Intra)
	}
	m, notes, err := Parse("4x3090,link=NVLink", 0)
	if err != nil || m.Intra.Name != "PCIe" || len(notes) == 0 || !strings.Contains(notes[len(notes)-1].Text, "joins two") {
		t.Errorf("%v %+v %v", err, m.Intra, notes)
	}
	for _, text := range []string{"2x4090,link=nvlink", "cpu,link=nvlink", "3090+a6000,link=nvlink", "2x3090,link=", "nvlink",
		"with nvlink"} {
		if m, _, err := Parse(text, 0); err == nil {
			t.Errorf("%s: %s", text, shape(&m))
		}
	}
}
