package detect

import (
	"fmt"
	"regexp"
	"strings"
)

// topology is the matrix of nvidia-smi topo -m: how GPU i reaches GPU j, "NV12", "PHB", "SYS" and so on.
type topology [][]string

// link is what lies between the devices of a machine.
type link struct {
	kind string // "nvlink" between all, "pairs" of nvlink, "pcie"; "" where nothing is known
	text string // for people
}

// escapes are the sequences by which nvidia-smi underlines its first line.
var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// topoMatrix reads the rows of the GPUs. Columns are parted by tabs, or by spaces where somebody pasted them.
func topoMatrix(text string) topology {
	var t topology
	n := 0
	for line := range strings.Lines(escapes.ReplaceAllString(text, "")) {
		cells := strings.Fields(line)
		switch {
		case len(cells) == 0:
		case n == 0:
			for n < len(cells) && cells[n] == fmt.Sprintf("GPU%d", n) {
				n++
			}
			if n < 2 || n > maxGPUs || len(cells) > n && strings.HasPrefix(cells[n], "GPU") {
				n = 0
			}
		case cells[0] == fmt.Sprintf("GPU%d", len(t)) && len(t) < n && len(cells) > n:
			t = append(t, cells[1:n+1])
		}
	}
	if len(t) != n || !t.square() {
		return nil
	}
	return t
}

// square: every device reaches itself, and each other one by a way that is known.
func (t topology) square() bool {
	for i, row := range t {
		for j, way := range row {
			if (i == j) != (way == "X") || i != j && rank(way) < 0 {
				return false
			}
		}
	}
	return true
}

// ways through PCI Express, the shortest first.
var ways = []string{"PIX", "PXB", "PHB", "NODE", "SYS"}

// rank of a way: 0 for NVLink, more the longer it is, -1 for what is none.
func rank(way string) int {
	if n, ok := strings.CutPrefix(way, "NV"); ok {
		if _, ok := small(n); ok {
			return 0
		}
		return -1
	}
	for i, w := range ways {
		if w == way {
			return i + 1
		}
	}
	return -1
}

// among says what lies between some of the devices.
func (t topology) among(at []int) link {
	var joined []string
	worst, bonds, all := "", "", 0
	for k, i := range at {
		for _, j := range at[k+1:] {
			if i >= len(t) || j >= len(t) {
				return link{}
			}
			way := t[i][j]
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
		return link{}
	case len(joined) == all:
		return link{kind: "nvlink", text: bonds + " between all"}
	case len(joined) > 0:
		return link{kind: "pairs", text: fmt.Sprintf("%s between %s, %s between the others", bonds,
			strings.Join(joined[:min(8, len(joined))], ", "), worst)}
	}
	return link{kind: "pcie", text: "PCI Express, " + wayText[worst]}
}

// wayText says where the longest way between two devices leads, after nvidia-smi's own legend.
var wayText = map[string]string{
	"PIX": "through one bridge (PIX)", "PXB": "through several bridges (PXB)", "PHB": "through the processor (PHB)",
	"NODE": "through the host bridges of a node (NODE)", "SYS": "from socket to socket (SYS)",
}
