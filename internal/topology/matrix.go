// Package topology parses how the GPUs of a machine are connected, from nvidia-smi topo -m and rocm-smi --showtopo, and
// recommends which of them to use for a tensor parallel group, with the resulting cost. It does no I/O: the caller runs
// the tools.
package topology

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall/api"
)

// Matrix is how GPU i reaches GPU j: "NV12", "PHB", "SYS" and so on, or "XGMI" and "PCIE".
type Matrix [][]string

// most GPUs of one machine.
const most = 64

// escapes are the sequences by which nvidia-smi underlines its first line.
var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Read reads the rows of the GPUs. Columns are parted by tabs, or by spaces where somebody pasted them; those of network
// cards are passed over. The error is an *api.Error that names the row.
func Read(text string) (Matrix, error) {
	lines := strings.Split(escapes.ReplaceAllString(text, ""), "\n")
	if at := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "Link Type between two GPUs") }); at >= 0 {
		lines = lines[at+1:]
	}
	at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(strings.TrimSpace(l), gpu(0)) })
	if at < 0 {
		return nil, wrong("", "no matrix of GPUs: the line with GPU0 GPU1 … is missing")
	}
	n, next := header(strings.Fields(lines[at]))
	switch {
	case next != "":
		return nil, wrong(next, fmt.Sprintf("the line of names has %s where GPU%d is due", api.Shorten(next), n))
	case n < 2:
		return nil, wrong("GPU0", "the matrix has one GPU, and nothing lies between it and another")
	case n > most:
		return nil, wrong("", fmt.Sprintf("the matrix has more than %d GPUs", most))
	}
	return rows(lines[at+1:], n)
}

// header counts the GPUs that a line names from GPU0 on, one after another and before anything else; next is one that is out
// of turn.
func header(cells []string) (n int, next string) {
	for n < len(cells) && cells[n] == gpu(n) {
		n++
	}
	if n < len(cells) && strings.HasPrefix(cells[n], "GPU") && cells[n] != "GPU" {
		return n, cells[n]
	}
	return n, ""
}

func gpu(i int) string { return "GPU" + strconv.Itoa(i) }

// rows of n GPUs: each says how it reaches every other, as that one says of it.
func rows(lines []string, n int) (Matrix, error) {
	var m Matrix
	for _, line := range lines {
		if cells := strings.Fields(line); len(m) < n && len(cells) > 0 && cells[0] == gpu(len(m)) {
			if len(cells) <= n {
				return nil, wrong(cells[0], fmt.Sprintf("row %s has %d columns, and the matrix %d GPUs", cells[0], len(cells)-1, n))
			}
			m = append(m, cells[1:n+1])
		}
	}
	if len(m) < n {
		return nil, wrong(gpu(len(m)), fmt.Sprintf("row %s is missing: the matrix has %d GPUs", gpu(len(m)), n))
	}
	return m, m.check()
}

// check that each GPU is itself, reaches each other by a way that is known, and is reached by the same.
func (m Matrix) check() error {
	for i, row := range m {
		for j, way := range row {
			at := gpu(i) + ", " + gpu(j)
			switch {
			case i == j && way != "X" && way != "0":
				return wrong(way, fmt.Sprintf("row %s says %q of itself, and not X", gpu(i), api.Shorten(way)))
			case i != j && rank(way) < 0:
				return wrong(way, fmt.Sprintf("%s: %q is not a way: NV#, XGMI, %s", at, api.Shorten(way), strings.Join(ways, ", ")))
			case i != j && way != m[j][i]:
				return wrong(way, fmt.Sprintf("%s: %s, and back %s", at, way, api.Shorten(m[j][i])))
			}
		}
	}
	return nil
}

func wrong(value, message string) error {
	return &api.Error{Code: api.BadFile, Field: "topo", Value: value, Message: message,
		Hint: "the whole of what nvidia-smi topo -m or rocm-smi --showtopo prints"}
}

// ways through PCI Express, the shortest first; ROCm does not say which.
var ways = []string{"PIX", "PXB", "PHB", "NODE", "PCIE", "SYS"}

// rank of a way: 0 for links of GPUs' own, more the longer it is, -1 for what is none.
func rank(way string) int {
	if links(way) > 0 || way == "XGMI" {
		return 0
	}
	if i := slices.Index(ways, way); i >= 0 {
		return i + 1
	}
	return -1
}

// links is how many NVLinks a way has.
func links(way string) int {
	text, ok := strings.CutPrefix(way, "NV")
	n, err := strconv.Atoi(text)
	if !ok || err != nil || n < 1 || n > 1<<10 {
		return 0
	}
	return n
}

// WayText says where the longest way between two devices leads, after nvidia-smi's own legend.
func WayText(way string) string {
	switch n := links(way); {
	case n > 0:
		return fmt.Sprintf("NVLink (%s)", way)
	case way == "XGMI":
		return "XGMI"
	case way == "PCIE":
		return "PCI Express"
	}
	return "PCI Express, " + wayText[way]
}

var wayText = map[string]string{
	"PIX": "through one bridge (PIX)", "PXB": "through several bridges (PXB)", "PHB": "through the processor (PHB)",
	"NODE": "through the host bridges of a node (NODE)", "SYS": "from socket to socket (SYS)",
}
