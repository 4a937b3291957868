package launch

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/hardware"
)

// DevicesOfText settles hardware that somebody names beside a text whose server has so many devices: these are of that kind, a part
// of a machine or several. It changes the request and says so; where the numbers agree, or one is open, it does nothing.
func DevicesOfText(r *api.Request) []api.Note {
	device, keys, _ := strings.Cut(r.Hardware, ",")
	for _, way := range []func(string) (int, string, bool){hardware.CountOf, hardware.CountBehind} {
		n, kind, ok := way(device)
		if !ok || r.Devices == 0 || int64(n) == r.Devices {
			continue
		}
		r.Hardware = strings.TrimSuffix(kind+","+keys, ",")
		return []api.Note{{Code: "devices_of_text", Severity: "info", Field: "devices", Text: fmt.Sprintf("%d × %s, as the text gives its server, and not %d", r.Devices, kind, n)}}
	}
	return nil
}
