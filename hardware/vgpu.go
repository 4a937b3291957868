package hardware

import (
	_ "embed" // the boards
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

//go:embed catalog/vgpu.tsv
var boardsText string

var boards = table{"vgpu", boardsText}

// virtual matches names of virtual GPUs as a guest's nvidia-smi prints them: a board, gigabytes and a series letter
// ("NVIDIA A40-24C", "GRID T4-8Q"), with compute slices in between if backed by a MIG instance ("A100-3-20C").
var virtual = regexp.MustCompile(`(?i)^(?:(?:nvidia|grid|tesla)[ -]+)*(.+?)(?:-([1-7]))?-(\d{1,3})[abcq](?:me)?$`)

// virtualized resolves the name of a virtual GPU; false if it is not one.
func virtualized(name string) (Device, []Note, bool, error) {
	at := virtual.FindStringSubmatch(strings.TrimSpace(name))
	if at == nil {
		return Device{}, nil, false, nil
	}
	board, compute, size := at[1], at[2], at[3]
	if r, ok := boards.row(strings.ToLower(board)); ok {
		board = r.second()
	}
	if compute != "" {
		return sliced(board + " " + compute + "g." + size + "gb")
	}
	of, _, err := find(board)
	if err != nil {
		return Device{}, nil, false, nil
	}
	gib, _ := strconv.Atoi(size)
	memory := unit.Bytes(gib) * unit.GiB
	if gib == 0 || memory > of.Memory.Value+unit.GiB/2 {
		return Device{}, nil, true, &Error{Code: UnknownHardware, Field: "hardware", Value: name,
			Problem: fmt.Sprintf("is not a profile of %s, which has %s", of.ID, of.Memory.Value),
			Fix:     fmt.Sprintf("%s-%dC and what divides it", strings.ToUpper(at[1]), of.Memory.Value/unit.GiB)}
	}
	shared := note("time_sliced", "virtual GPUs of %s take turns on all of it: speeds are of one whose neighbours are idle", of.ID)
	return timeSliced(of, size, memory), []Note{shared}, true, nil
}

// timeSliced returns a virtual GPU of a board: memory of its own, and all multiprocessors in turn. For a profile of
// size MiB the hypervisor reserves size/16 + 16, 128 divided by the number of such profiles for retired pages, and with
// ECC on memory other than HBM another sixteenth (NVIDIA AI Enterprise, "Total frame buffer for vGPUs is less than the
// total frame buffer on the physical GPU"; these are upper bounds).
func timeSliced(d Device, size string, memory unit.Bytes) Device {
	const source = "nvidia-vgpu"
	kept := memory/16 + 16*unit.MiB + 128*unit.MiB/max(1, d.Memory.Value/memory)
	ecc := memory / 16
	if strings.HasPrefix(d.Kind, "HBM") {
		ecc = 0
	}
	d.ID, d.Name = d.ID+"-"+size+"c", d.Name+" vGPU "+size+"C"
	d.Memory, d.Reported = fact(memory, ledger.Exact, source), fact(memory, ledger.Exact, source)
	d.Usable = fact(memory-kept, ledger.Derived, source).band(memory-kept-ecc, memory)
	d.Options, d.PerNode, d.Link = nil, fact(1, ledger.Exact, source), Link{}
	return d
}
