package card_test

import (
	"strings"
	"testing"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/card"
)

// TestTiersOfEveryDevice: each has its own memory, levels come nearest first, and no row is empty.
func TestTiersOfEveryDevice(t *testing.T) {
	order := map[string]int{"register": 0, "smem": 1, "l1": 2, "l2": 3, "device": 4, "c2c": 5, "link": 6, "pcie": 7, "host": 8, "nvme": 9,
		"cxl": 10}
	for _, d := range hardware.All() {
		got, err := card.TiersOf(d.ID)
		if err != nil {
			t.Fatalf("%s: %v", d.ID, err)
		}
		last := 0
		for _, r := range got.Tiers {
			if order[r.Level] < last {
				t.Errorf("%s: %s stands behind a level further away", d.ID, r.Level)
			}
			last = order[r.Level]
			if r.Size == nil && r.Latency == nil && r.Cycles == nil && r.Bandwidth == nil && r.Note == "" {
				t.Errorf("%s: an empty row of %s", d.ID, r.Level)
			}
		}
	}
}

// TestTiersOfOwnDevice: what is given beside a device of one's own is a level of its memory, and nothing plugs into a device
// whose memory is the system's.
func TestTiersOfOwnDevice(t *testing.T) {
	got, err := card.TiersOf("name=x,memory=80GiB,bandwidth=3TB/s,host=512GiB@300GB/s,nvme=4TB@7GB/s,pool=2TB@64GB/s")
	if err != nil {
		t.Fatal(err)
	}
	rates := map[string]float64{}
	for _, r := range got.Tiers {
		if r.Bandwidth != nil {
			rates[r.Level] = r.Bandwidth.Value
		}
	}
	if rates["device"] != 3e12 || rates["host"] != 300e9 || rates["nvme"] != 7e9 || rates["cxl"] != 64e9 {
		t.Errorf("rates %v", rates)
	}
	mac, err := card.TiersOf("m4-max-40-core")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range mac.Beyond {
		if r.Level == "cxl" {
			t.Errorf("a pool behind a Mac: %+v", r)
		}
	}
}

// TestTiersOfOneLevelAreOneRow: size, latency in cycles and in seconds, and rate of an A100's L2 are said in
// four rows of the table (te42kyfo/gpu-benches).
func TestTiersOfOneLevelAreOneRow(t *testing.T) {
	got, err := card.TiersOf("a100-sxm-80gb")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, r := range got.Tiers {
		if r.Level == "l2" {
			rows++
			if r.Size == nil || r.Latency == nil || r.Cycles == nil || r.Bandwidth == nil {
				t.Errorf("L2: %+v", r)
			}
		}
	}
	if rows != 1 {
		t.Errorf("%d rows of L2", rows)
	}
}

// TestLatenciesOfKin: an H100 SXM's latencies, which nobody published, are those of the PCIe card with the same chip, and say so; one that
// was measured itself keeps its own, and another generation takes none of them.
func TestLatenciesOfKin(t *testing.T) {
	cycles := func(id string) map[string]card.Tier {
		got, err := card.TiersOf(id)
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]card.Tier{}
		for _, r := range got.Tiers {
			if r.Cycles != nil || r.Level == "register" {
				out[r.Level] = r
			}
		}
		return out
	}
	sxm, pcie := cycles("h100-sxm-80gb"), cycles("h100-pcie-80gb")
	for _, level := range []string{"l1", "l2", "device"} {
		if sxm[level].Cycles == nil || sxm[level].Cycles.Value != pcie[level].Cycles.Value || !strings.Contains(sxm[level].Note, "H100 PCIe 80GB") {
			t.Errorf("%s: %+v beside %+v", level, sxm[level], pcie[level])
		}
		if strings.Contains(pcie[level].Note, "latency of") {
			t.Errorf("%s of the card that was measured: %s", level, pcie[level].Note)
		}
	}
	if r := sxm["register"]; r.Size == nil || r.Size.Value != 256<<10 {
		t.Errorf("registers %+v", r)
	}
	for level, r := range cycles("b200-sxm") {
		if strings.Contains(r.Note, "H100") {
			t.Errorf("%s of a B200: %s", level, r.Note)
		}
	}
}
