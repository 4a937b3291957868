package topology

import (
	"fmt"
	"math"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/unit"
)

// Rates of one NVLink each way, by generation: NVIDIA's white papers on GP100 (20 GB/s), GV100, GA100 and GH100 (25), and
// Blackwell (50); GA102's (appendix A) has four links of 14.0625 GB/s, of which its workstation cards are made too.
var perLink = map[string]unit.ByteRate{"NVLink1": 20e9, "NVLink2": 25e9, "NVLink3": 25e9, "NVLink4": 25e9, "NVLink5": 50e9}

// linkRate of a device's NVLink; 0 where its generation is not known.
func linkRate(d *hardware.Device) unit.ByteRate {
	if d.Capability == "8.6" {
		return 14.0625e9
	}
	generation, _, _ := strings.Cut(d.Link.Name, " ")
	return perLink[generation]
}

// Fits refuses a matrix of other devices: with links that these do not have, or more of them.
func (m Matrix) Fits(d *hardware.Device) error {
	for i, row := range m {
		for j, way := range row[:i] {
			why := misfit(way, d)
			if why == "" {
				continue
			}
			return &api.Error{Code: api.BadField, Field: "topo", Value: way, Hint: "the device that the matrix is of",
				Message: fmt.Sprintf("%s, %s: %s, and %s %s", gpu(j), gpu(i), way, d.Name, why)}
		}
	}
	return nil
}

// misfit says why a device cannot have a way; "" where it can.
func misfit(way string, d *hardware.Device) string {
	n, rate := links(way), linkRate(d)
	switch own := strings.HasPrefix(d.Link.Name, "NVLink"); {
	case (way == "XGMI" || way == "PCIE") && d.Vendor != "AMD":
		return "is none of AMD's"
	case way != "XGMI" && way != "PCIE" && d.Vendor == "AMD":
		return "is AMD's, whose ways are XGMI and PCIE"
	case n > 0 && !own:
		return "has no NVLink that the catalog knows of"
	case n > 0 && rate > 0 && float64(n) > math.Round(float64(d.Link.EachWay.Value/rate)):
		return fmt.Sprintf("has %.0f links", float64(d.Link.EachWay.Value/rate))
	}
	return ""
}

// EachWay is the rate between devices of a group; false where nobody says.
func (g *Group) EachWay(d *hardware.Device) (unit.ByteRate, bool) {
	full := d.Link.EachWay
	switch {
	case rank(g.Way) > 0:
		return d.PCIe.EachWay.Value, d.PCIe.EachWay.Known
	case g.Links > 0 && full.Known && linkRate(d) > 0:
		return min(full.Value, unit.ByteRate(g.Links)*linkRate(d)), true
	}
	return full.Value, full.Known
}

// words of a machine that is the group alone; "" where the rate of its links is not known.
func (g *Group) words(d *hardware.Device) string {
	rate, known := g.EachWay(d)
	if !known {
		return ""
	}
	head := fmt.Sprintf("%dx%s", len(g.GPUs), d.ID)
	usual := d.Link.EachWay.Known && !strings.Contains(d.Link.Name, "bridge")
	switch {
	case rank(g.Way) == 0 && usual && rate == d.Link.EachWay.Value, rank(g.Way) > 0 && !usual:
		return head
	case rank(g.Way) > 0:
		return fmt.Sprintf("%s,link=pcie:%gGB/s", head, 2*float64(rate)/1e9)
	}
	return fmt.Sprintf("%s,link=nvlink:%gGB/s", head, 2*float64(rate)/1e9)
}
