package launch

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/plan"
)

// DevicesOfText settles hardware that somebody names beside a text whose server has so many devices: these are of that kind, a part
// of a machine or several. A text that says a layout alone takes as many as that, over several nodes, where it is more than
// are named. It changes the request and says so; where the numbers agree, or one is open, it does nothing.
func DevicesOfText(r *api.Request) []api.Note {
	if r.Devices == 0 {
		return nodesOfText(r)
	}
	device, keys, _ := strings.Cut(r.Hardware, ",")
	for _, way := range []func(string) (int, string, bool){hardware.CountOf, hardware.CountBehind} {
		n, kind, ok := way(device)
		if !ok || int64(n) == r.Devices {
			continue
		}
		r.Hardware = strings.TrimSuffix(kind+","+keys, ",")
		return []api.Note{{Code: "devices_of_text", Severity: "info", Field: "devices",
			Text: fmt.Sprintf("%d × %s, as the text gives its server, and not %d", r.Devices, kind, n)}}
	}
	return nil
}

// DevicesOfRun settles the hardware of a training run whose files give devices and which somebody names beside it: a number that is named
// counts, replicas and passes follow from it, and the groups of the files stay. Without one there are as many as the groups take.
func DevicesOfRun(r *api.Request) []api.Note {
	device, _, _ := strings.Cut(r.Hardware, ",")
	n, kind, counted := hardware.CountOf(device)
	switch {
	case counted && r.Devices == 0:
		return nodesOfText(r)
	case counted && int64(n) != r.Devices:
		return append(named(r, n, kind), nodesOfText(r)...)
	case !counted && r.Hardware != "" && r.Plan.Ranks() > max(1, r.Devices) && r.Plan.Ranks() <= plan.MaxRanks:
		note := api.Note{Code: "devices_of_text", Severity: "info", Field: "devices",
			Text: fmt.Sprintf("%d devices, as the groups of the files take", r.Plan.Ranks())}
		r.Devices = r.Plan.Ranks()
		return []api.Note{note}
	}
	return nil
}

// named leaves to the plan what the files had for another number of devices.
func named(r *api.Request, n int, kind string) []api.Note {
	note := api.Note{Code: "devices_named", Severity: "info", Field: "devices",
		Text: fmt.Sprintf("%d × %s, as named, and not the %d of the files: replicas follow", n, kind, r.Devices)}
	r.Devices, r.DP = 0, 0
	if r.GlobalBatch > 0 {
		r.Accumulation = 0
	}
	return []api.Note{note}
}

// nodesOfText: a layout that takes several times the devices that are named runs on as many nodes.
func nodesOfText(r *api.Request) []api.Note {
	device, keys, _ := strings.Cut(r.Hardware, ",")
	n, kind, ok := hardware.CountOf(device)
	ranks := r.Plan.Ranks()
	if !ok || n < 1 || ranks <= int64(n) || ranks%int64(n) != 0 || ranks > mostNodes*int64(n) {
		return nil
	}
	r.Hardware = strings.TrimSuffix(fmt.Sprintf("%dx%s,%s", ranks, kind, keys), ",")
	return []api.Note{{Code: "devices_of_text", Severity: "info", Field: "devices",
		Text: fmt.Sprintf("%d × %s: %d times the %d that are named, as the text's layout takes", ranks, kind, ranks/int64(n), n)}}
}

// mostNodes that a pasted layout may ask for.
const mostNodes = 64
