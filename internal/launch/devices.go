package launch

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/plan"
)

// DevicesOfText reconciles the named hardware with a text that assigns its server a number of devices: part of a
// machine or several. A text that only states a layout may need more devices than named, on several nodes. It modifies
// the request and returns notes; if the numbers agree, or one is open, it does nothing.
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

// DevicesOfRun reconciles the named hardware with the devices in a training run's files: a stated number wins, replicas
// and passes follow from it, and the files' other groups stay. Without one, there are as many devices as the groups
// need.
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

// named leaves to the plan what the files set for another number of devices.
func named(r *api.Request, n int, kind string) []api.Note {
	note := api.Note{Code: "devices_named", Severity: "info", Field: "devices",
		Text: fmt.Sprintf("%d × %s, as named, and not the %d of the files: replicas follow", n, kind, r.Devices)}
	r.Devices, r.DP = 0, 0
	if r.GlobalBatch > 0 {
		r.Accumulation = 0
	}
	return []api.Note{note}
}

// nodesOfText spreads a layout that needs a multiple of the named devices over as many nodes.
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

// mostNodes is the maximum for a pasted layout.
const mostNodes = 64
