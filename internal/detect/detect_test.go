package detect_test

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/detect"
)

const meminfo = "MemTotal:       65768308 kB\nMemFree:         2127188 kB\n"

// machine answers as recorded; what is not recorded is not there.
func machine(os string, answers map[string]string) detect.Machine {
	get := func(name string) ([]byte, error) {
		if s, ok := answers[name]; ok {
			return []byte(s), nil
		}
		return nil, errors.New("not found")
	}
	return detect.Machine{OS: os, Run: func(name string, _ ...string) ([]byte, error) { return get(name) },
		ReadFile: func(name string) ([]byte, error) {
			if b, err := get(name); err == nil {
				return b, nil
			}
			return nil, fs.ErrNotExist
		}}
}

// TestHardware: what nvidia-smi 535 to 570, /proc/meminfo and sysctl print, and the words made of it. All words are
// read back by the catalog.
func TestHardware(t *testing.T) {
	for _, c := range []struct {
		name, os string
		answers  map[string]string
		want     string
		devices  int
	}{
		{"one card", "linux", map[string]string{"nvidia-smi": "NVIDIA GeForce RTX 4090, 24564\n", "/proc/meminfo": meminfo}, "rtx-4090,host=62GiB", 1},
		{"a server", "linux", map[string]string{"nvidia-smi": "NVIDIA H100 80GB HBM3, 81559\nNVIDIA H100 80GB HBM3, 81559\n"}, "2xh100-sxm-80gb", 2},
		{"two kinds", "linux", map[string]string{"nvidia-smi": "NVIDIA GeForce RTX 4090, 24564\nNVIDIA GeForce RTX 3060, 12288\n"}, "rtx-4090+rtx-3060-12gb", 2},
		{"windows", "windows", map[string]string{"nvidia-smi": "NVIDIA GeForce RTX 4090, 24564\r\n"}, "rtx-4090", 1},
		{"a card of no catalog", "linux", map[string]string{"nvidia-smi": "Quadro K2000 (rev. 2), 1999\n", "/proc/meminfo": meminfo}, "name=Quadro K2000 rev. 2,memory=1999MiB,host=62GiB", 1},
		{"no card", "linux", map[string]string{"/proc/meminfo": meminfo}, "cpu,host=62GiB", 0},
		{"a driver that fails", "linux", map[string]string{"nvidia-smi": "", "/proc/meminfo": meminfo}, "cpu,host=62GiB", 0},
		{"a Mac", "darwin", map[string]string{"sysctl": "Apple M3 Max\n137438953472\n"}, "Apple M3 Max 128GB", 1},
		{"nothing", "linux", nil, "", 0},
		{"an Intel Mac", "darwin", map[string]string{"sysctl": "Intel(R) Core(TM) i7\n17179869184\n"}, "", 0},
		{"broken figures", "linux", map[string]string{"/proc/meminfo": "MemTotal: much kB\n"}, "", 0},
	} {
		got, ok := machine(c.os, c.answers).Hardware()
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
			continue
		}
		if c.want == "" {
			continue
		}
		m, _, err := hardware.Parse(got, 0)
		if err != nil || m.Devices() != c.devices {
			t.Errorf("%s: %q is read as %d devices (%v)", c.name, got, m.Devices(), err)
		}
	}
}

// TestHere looks at the machine of the test: whatever it says is read back.
func TestHere(t *testing.T) {
	words, ok := detect.Here().Hardware()
	if !ok {
		return
	}
	if _, _, err := hardware.Parse(words, 0); err != nil {
		t.Errorf("%q: %v", words, err)
	}
}
