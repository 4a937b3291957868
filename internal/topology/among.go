package topology

import (
	"fmt"
	"strings"
)

// Link is what lies between the devices of a machine.
type Link struct {
	Kind string // "nvlink" between all, "pairs" of nvlink, "pcie"; "" where nothing is known
	Text string // for people
}

// Among says what lies between some of the devices.
func (m Matrix) Among(at []int) Link {
	var joined []string
	worst, bonds, all := "", "", 0
	for k, i := range at {
		for _, j := range at[k+1:] {
			if i >= len(m) || j >= len(m) {
				return Link{}
			}
			way := m[i][j]
			all++
			if rank(way) == 0 {
				joined, bonds = append(joined, fmt.Sprintf("%d–%d", i, j)), way
			}
			if worst == "" || rank(way) > rank(worst) {
				worst = way
			}
		}
	}
	switch {
	case all == 0:
		return Link{}
	case len(joined) == all:
		return Link{Kind: "nvlink", Text: bonds + " between all"}
	case len(joined) > 0:
		return Link{Kind: "pairs", Text: fmt.Sprintf("%s between %s, %s between the others", bonds,
			strings.Join(joined[:min(8, len(joined))], ", "), worst)}
	}
	return Link{Kind: "pcie", Text: WayText(worst)}
}
