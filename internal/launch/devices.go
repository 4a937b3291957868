package launch

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/hardware"
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
