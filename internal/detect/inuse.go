package detect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/unit"
)

// trifle is less than any program using a device takes: drivers report some MiB on an idle card.
const trifle = 64 * unit.MiB

// maxUsers is the number of programs named; the rest is counted.
const maxUsers = 3

// inUse returns what other processes hold of the devices: the maximum over devices, and a sentence. For machines without devices it
// is what they hold of the host.
func inUse(devices []known, host *card.LocalHost) (reserved unit.Bytes, text string) {
	var parts []string
	same := true
	for i := range devices {
		d := &devices[i]
		if d.used < trifle {
			same = same && reserved == 0
			continue
		}
		same = same && (i == 0 || d.taken() == reserved)
		reserved = max(reserved, d.taken())
		parts = append(parts, d.usedByOthers(len(devices) > 1))
	}
	text = strings.Join(parts, "; ")
	if reserved > 0 && len(devices) > 1 && !same {
		text += ". The most of them is kept free on each device"
	}
	if host != nil && host.Used >= unit.GiB && !unified(devices) {
		if text != "" {
			text += "; "
		}
		text += fmt.Sprintf("%s GiB of the host's %s", unit.Fixed(host.Used.GiB(), 1), unit.Fixed(bound(host).GiB(), 1))
	}
	return reserved, text
}

// taken returns what others hold of a device's usable memory; the driver's count may slightly exceed it.
func (k *known) taken() unit.Bytes {
	switch {
	case k.usable > 0:
		return min(k.used, k.usable)
	case k.row != nil && k.row.Usable.Known:
		return min(k.used, k.row.Usable.Value)
	}
	return min(k.used, k.memory)
}

// usedByOthers describes what others hold of one device.
func (k *known) usedByOthers(numbered bool) string {
	text := fmt.Sprintf("%s of %s GiB", unit.Fixed(k.used.GiB(), 1), unit.Fixed(k.memory.GiB(), 1))
	if numbered {
		text = fmt.Sprintf("device %d: %s", k.index, text)
	}
	var names []string
	users := biggest(k.users)
	for _, u := range users[:min(len(users), maxUsers)] {
		names = append(names, describeUser(u))
	}
	if more := len(users) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	if len(names) > 0 {
		text += " by " + strings.Join(names, ", ")
	}
	return text
}

// describeUser describes a program with its PID: "Xorg (pid 835, 550 MiB)".
func describeUser(u card.User) string {
	var facts []string
	if u.PID > 0 {
		facts = append(facts, fmt.Sprintf("pid %d", u.PID))
	}
	if u.Bytes > 0 {
		facts = append(facts, u.Bytes.String())
	}
	name := u.Name
	if name == "" {
		name = "a program"
	}
	if len(facts) == 0 {
		return name
	}
	return name + " (" + strings.Join(facts, ", ") + ")"
}

// biggest sorts programs by what they hold.
func biggest(users []card.User) []card.User {
	out := slices.Clone(users)
	stable.Sort(out, func(a, b card.User) int { return int(max(-1, min(1, b.Bytes-a.Bytes))) })
	return out
}
