// Package startup holds what readers of inference servers' start-up logs share: lines stripped of colors, prefixes and
// timestamps, figures as printed, and the settings that a log reveals. Each engine parses its own lines, in log.go next
// to its rules.
//
// See lines.go for splitting a text into lines, figure.go for printed digits, python.go for the settings that Python
// servers print.
package startup

import (
	"fmt"
	"slices"

	"github.com/memwall/memwall/plan"
)

// Bounds on a log.
const (
	MaxLine    = 256 << 10 // bytes of a line that are read; the rest of it is passed over
	MaxLines   = 4 << 20
	MaxFigures = 4096
	maxDevices = 1024
)

// Log is the result of a reader.
type Log struct {
	// Teller is who says it when it is not a log: "server" for one that was asked while it runs.
	Teller string
	// Loaded: the plan's sequences, and the lengths of prompts and answers, are those of the figures of speed.
	Loaded  bool
	Engine  string // canonical name
	Version string // as printed; "" when it was not
	// Era stands in for a version that was not printed: the oldest that prints such lines.
	Era string
	// Models are the names that the log gives the model, the best first: reference, served name, title.
	Models []string
	// Plan holds the settings that the log states.
	Plan plan.Plan
	// Quant is the quantisation method in the engine's word, or the file type of a GGUF file.
	Quant   string
	Devices []Device
	Figures []Figure
	// Operators that launched what ran, where a trace tells them.
	Operators []Operator
	Notes     []Note
	// Servers is how many starts the text holds; the figures are of the first.
	Servers int
	// Signs counts lines that only this engine prints.
	Signs int
	// Metadata of a GGUF file, when the log prints it.
	Metadata *Metadata
}

// Device is an accelerator that a log names.
type Device struct {
	Name string // as the driver calls it; "" when only the size is known
	Slot string // as the log numbers it: "CUDA0", "0"
	MiB  float64
}

// Note is a remark on a log.
type Note struct{ Code, Text string }

// Note adds a remark once.
func (l *Log) Note(code, format string, args ...any) {
	n := Note{code, fmt.Sprintf(format, args...)}
	if len(l.Notes) < 64 && !slices.Contains(l.Notes, n) {
		l.Notes = append(l.Notes, n)
	}
}

// Noted reports whether a remark of that code was made.
func (l *Log) Noted(code string) bool {
	return slices.ContainsFunc(l.Notes, func(n Note) bool { return n.Code == code })
}

// CutAt remarks on a line of settings that is not whole.
func (l *Log) CutAt(line *Line) {
	if line.Cut {
		l.Note("cut_line", "line %d is cut: settings behind the cut are not known", line.Number)
	}
}

// Named adds a name of the model.
func (l *Log) Named(name string) {
	const most, longest = 8, 512
	if name == "" || name == "None" || len(name) > longest {
		return
	}
	if len(l.Models) < most && !slices.Contains(l.Models, name) {
		l.Models = append(l.Models, name)
	}
}

// Seen adds a device once.
func (l *Log) Seen(d Device) {
	for i := range l.Devices {
		h := &l.Devices[i]
		if h.Slot == d.Slot {
			if h.MiB == 0 {
				h.MiB = d.MiB
			}
			if h.Name == "" {
				h.Name = d.Name
			}
			return
		}
	}
	if len(l.Devices) < maxDevices {
		l.Devices = append(l.Devices, d)
	}
}
