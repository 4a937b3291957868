package diagnose

import (
	"strings"

	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/unit"
)

// gauge is a memory figure that programs print repeatedly, following its words.
type gauge struct {
	words string
	unit  unit.Bytes // of a bare number; 0 if the unit is printed
	name  string     // defaults to the words
}

// gauges lists such figures, more specific words first.
var gauges = []gauge{
	// Megatron-LM (megatron/training/utils.py, report_memory), DeepSpeed (runtime/utils.py, see_memory_usage)
	{words: "memory (MB) | allocated:", unit: unit.MiB, name: "allocated"}, {words: "see_memory_usage] MA ", name: "MA, allocated"},
	// torchtitan (components/metrics.py), torchtune (training/memory.py), axolotl
	{words: "memory: ", name: "memory"}, {words: "peak_memory_alloc", unit: unit.GiB}, {words: "peak_memory_active", unit: unit.GiB},
	{words: "max_mem_active(gib)", unit: unit.GiB, name: "active"}, {words: "max_active (GiB)", unit: unit.GiB, name: "active"},
	// Lightning
	{words: "memory.used (MB)", unit: unit.MiB, name: "memory used"},
	{words: "memory_allocated"}, {words: "max_memory_allocated"}, {words: "memory allocated"}, {words: "allocated memory"},
	{words: "max_reserved"}, {words: "memory_reserved"}, {words: "memory reserved"},
	{words: "GPU memory usage"}, {words: "GPU memory used"}, {words: "gpu_mem"}, {words: "GPU mem"}, {words: "mem_allocated"},
	{words: "memory/max_allocated"}, {words: "max mem"}, {words: "peak_mem"}, {words: "RSS"}, {words: "rss"},
}

func (g *gauge) title() string {
	if g.name != "" {
		return g.name
	}
	return g.words
}

func (g *gauge) read(text string) (Amount, bool) {
	rest, ok := after(text, g.words)
	if !ok {
		return Amount{}, false
	}
	rest = strings.TrimLeft(rest, " =:'\"(")
	if a, _, ok := amount(rest, false); ok || g.unit == 0 {
		return a, ok
	}
	word, value, _, _ := startup.Number(rest)
	bytes := value * float64(g.unit)
	return Amount{Bytes: unit.Bytes(bytes), Known: true}, word != "" && value >= 0 && bytes < most
}

// smi tracks the output of nvidia-smi, as a table and as CSV, and of docker stats.
type smi struct {
	card          string
	used, index   int // CSV columns, from 1
	headerColumns int
}

const (
	smiUsed         = "memory.used [MiB]"
	containerMemory = "container memory"
)

// watch reads a line of nvidia-smi or docker stats.
func (g *growth) watch(text string) {
	switch {
	case strings.Contains(text, smiUsed):
		g.header(text)
	case strings.HasPrefix(text, "|"):
		g.table(text)
	case g.used > 0 && strings.Count(text, ",") == g.headerColumns-1:
		g.row(text)
	case strings.Contains(text, "iB / ") && strings.Contains(text, "%"):
		if a, ok := amountBefore(text, " / "); ok {
			g.put(containerMemory, a)
		}
	}
}

// table: "|   0  NVIDIA A100 …" names the card, the next line has "12345MiB / 81920MiB".
func (g *growth) table(text string) {
	for cell := range strings.SplitSeq(text, "|") {
		if a, rest, ok := amount(strings.TrimSpace(cell), false); ok && strings.HasPrefix(rest, " / ") {
			g.put("GPU "+g.card+" memory", a)
			return
		}
	}
	if words := strings.Fields(text); len(words) > 2 && leading(words[1]) == words[1] && words[1] != "" {
		g.card = words[1]
	}
}

func (g *growth) header(text string) {
	columns := strings.Split(text, ",")
	g.headerColumns, g.used, g.index = len(columns), 0, 0
	for i, c := range columns {
		switch strings.TrimSpace(c) {
		case smiUsed:
			g.used = i + 1
		case "index":
			g.index = i + 1
		}
	}
}

func (g *growth) row(text string) {
	cells := strings.Split(text, ",")
	word, value, _, _ := startup.Number(strings.TrimSpace(cells[g.used-1]))
	if word == "" || value < 0 || value > 1<<30 {
		return
	}
	name := "memory.used"
	if g.index > 0 {
		name = "GPU " + leading(strings.TrimSpace(cells[g.index-1])) + " memory.used"
	}
	g.put(name, Amount{Bytes: unit.Bytes(value) * unit.MiB, Known: true})
}
