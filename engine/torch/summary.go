package torch

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/engine/startup"
)

// The text of torch.cuda.memory_summary() (torch/cuda/memory.py), since 1.4. All of its units are of 1,024, though they were
// called KB, MB and GB before 2.0; "Requested memory" came with 2.0. NPU and XPU builds print the same table.

// SummaryReader collects the memory summary tables in a log.
type SummaryReader struct {
	log    startup.Log
	device string
	done   map[string]bool // rows that were read, by device
}

// metrics by their names; those of counts have no unit.
var metrics = map[string]string{
	"Allocated memory": "allocated", "Active memory": "active", "Requested memory": "requested", "GPU reserved memory": "reserved",
	"Reserved memory": "reserved", "Non-releasable memory": "inactive_split",
	"Allocations": "", "Active allocs": "", "GPU reserved segments": "", "Non-releasable allocs": "", "Oversize allocations": "",
	"Oversize GPU segments": "",
}

// Line reads one line.
func (r *SummaryReader) Line(l *startup.Line) {
	text := strings.Trim(l.Text, " |")
	if rest, ok := startup.After(text, "memory summary, device ID"); ok && strings.Contains(text, "PyTorch ") {
		if n, ok := startup.Integer(rest); ok {
			r.device = fmt.Sprint("GPU ", n)
			r.log.Signs++
		}
		return
	}
	if r.device == "" {
		return
	}
	if rest, ok := startup.After(text, "CUDA OOMs:"); ok {
		r.trouble(rest)
		return
	}
	if cells := strings.Split(text, "|"); len(cells) == 5 {
		r.row(l, cells)
	}
}

// trouble: "CUDA OOMs: 0 | cudaMalloc retries: 0".
func (r *SummaryReader) trouble(rest string) {
	r.log.Signs++
	if n, ok := startup.Integer(rest); ok && n > 0 {
		r.log.Note("ran_out", "%s ran out of memory %d times before this was printed", r.device, n)
	}
	if rest, ok := startup.After(rest, "cudaMalloc retries:"); ok {
		if n, ok := startup.Integer(rest); ok && n > 0 {
			r.log.Note("retries", "the allocator of %s freed all that it kept and asked again %d times: it was short of memory, or of "+
				"whole pieces of it", r.device, n)
		}
	}
}

// row of a metric, or of a pool of the one above: current, peak, allocated in all, freed in all.
func (r *SummaryReader) row(l *startup.Line, cells []string) {
	name := strings.TrimSpace(cells[0])
	id, known := metrics[name]
	if !known {
		return // pools, and the head of the table
	}
	r.log.Signs++
	if id == "" {
		return
	}
	if r.done == nil {
		r.done = map[string]bool{}
	}
	at := *l
	at.Rank = r.device
	for i, when := range []string{"now", "peak"} {
		key := r.device + " " + id + " " + when
		value, digits, ok := mebibytes(cells[1+i])
		if !ok || r.done[key] || len(r.log.Figures) == startup.MaxFigures {
			continue
		}
		r.done[key] = true
		r.log.Figures = append(r.log.Figures, startup.Figure{ID: "memory_" + id + "_" + when, Name: name + ", " + when, Device: r.device,
			Unit: "MiB", Text: strings.TrimSpace(cells[1+i]), Value: value, Digits: digits, Line: l.Number})
	}
}

// mebibytes reads "14324 MiB" or "251904 KB"; what is printed in MiB has no digits behind the point.
func mebibytes(cell string) (value float64, digits int, ok bool) {
	text, x, _, unit := startup.Number(cell)
	if text == "" || x < 0 {
		return 0, 0, false
	}
	switch strings.TrimSpace(unit) {
	case "B":
		return x / (1 << 20), 2, true
	case "KB", "KiB":
		return x / (1 << 10), 2, true
	case "MB", "MiB":
		return x, 0, true
	case "GB", "GiB":
		return x * (1 << 10), 0, true
	case "TB", "TiB":
		return x * (1 << 20), 0, true
	case "PB", "PiB":
		return x * (1 << 30), 0, true
	}
	return 0, 0, false
}

// Log gives what was read.
func (r *SummaryReader) Log() *startup.Log {
	r.log.Engine, r.log.Teller, r.log.Servers = "torch", "memory_summary", 1
	one := true
	for i := range r.log.Figures {
		one = one && r.log.Figures[i].Device == r.log.Figures[0].Device
	}
	for i := range r.log.Figures {
		if one {
			r.log.Figures[i].Device = ""
		}
	}
	return &r.log
}
