// Package detect detects the machine the program runs on: what drivers and kernel report about accelerators, processor
// and memory, how much is in use, and what a container allows. It describes the machine in the syntax of --on.
//
// Files in /proc and /sys are read first; a driver's tool is run only if they show such a device, with limits on time
// and output. What cannot be read is a note, never an error.
//
// See detect.go for the order of detection, words.go for the description. Each file named after a vendor has a pure
// parser of what its drivers print.
package detect

import (
	"context"
	"io/fs"
	"time"

	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/topology"
	"github.com/memwall/memwall/unit"
)

// Machine is a machine to inspect. Its fields are the access to the outside.
type Machine struct {
	OS string // as runtime.GOOS
	// Files are the machine's files, by path without the leading slash; nil if none can be read.
	Files fs.FS
	// Run runs a program and returns its output until it ends or ctx does; nil if programs cannot be run.
	Run Runner
	// Env returns an environment variable, and whether it is set.
	Env func(name string) (string, bool)
	// RAM returns the system's memory if no file has it; nil if not available.
	RAM func() (total, free unit.Bytes, ok bool)
	// Patience is the time limit for each program, and for all files together; 0 means three seconds.
	Patience time.Duration
}

// Runner runs a program. Output before an error is returned with it.
type Runner func(ctx context.Context, name string, args ...string) ([]byte, error)

// patience is more than an awake driver needs; a sleeping one may take longer, and its devices are then known by name only.
const patience = 3 * time.Second

// seen is the result of inspecting one part.
type seen struct {
	devices []device
	link    topology.Link
	host    *card.LocalHost
	cpu     *card.Processor
	notes   []string
	// graphics are integrated GPUs, worth a note if there is nothing else.
	graphics []string
}

func (s *seen) note(text string) { s.notes = append(s.notes, text) }

// Look inspects all parts concurrently and gives up on those that do not answer in time.
func (m Machine) Look() *card.Local {
	if m.Patience == 0 {
		m.Patience = patience
	}
	// A part that runs two programs ends the second in time to report the first.
	whole, stop := context.WithTimeout(context.Background(), 2*m.Patience)
	defer stop()
	most, end := context.WithTimeout(whole, m.Patience+m.Patience/2)
	defer end()
	parts := m.parts()
	answers := make([]chan seen, len(parts))
	for i, p := range parts {
		answers[i] = make(chan seen, 1)
		go func() { answers[i] <- p.look(most) }()
	}
	var all seen
	for i, p := range parts {
		if s, ok := await(whole, answers[i]); ok {
			all.add(s)
		} else {
			all.note(p.name + " gave no answer in time and are left out")
		}
	}
	return local(&all)
}

// await returns an answer that is available before ctx ends.
func await(ctx context.Context, answer chan seen) (seen, bool) {
	select {
	case s := <-answer:
		return s, true
	case <-ctx.Done():
	}
	select {
	case s := <-answer:
		return s, true
	default:
		return seen{}, false
	}
}

// part inspects one kind of hardware.
type part struct {
	name string
	look func(context.Context) seen
}

func (m Machine) parts() []part {
	if m.OS == "darwin" {
		return []part{{"the chip and its memory", m.apple}}
	}
	return []part{
		{"NVIDIA devices", m.nvidia},
		{"AMD devices", m.amd},
		{"Intel devices", m.intel},
		{"processor and memory", m.host},
	}
}

func (s *seen) add(o seen) {
	s.devices = append(s.devices, o.devices...)
	s.notes = append(s.notes, o.notes...)
	s.graphics = append(s.graphics, o.graphics...)
	if o.link.Kind != "" {
		s.link = o.link
	}
	if o.host != nil {
		s.host = o.host
	}
	if o.cpu != nil {
		s.cpu = o.cpu
	}
}

// ask runs a program within the time limit.
func (m Machine) ask(ctx context.Context, name string, args ...string) ([]byte, error) {
	if m.Run == nil {
		return nil, fs.ErrNotExist
	}
	ctx, stop := context.WithTimeout(ctx, m.Patience)
	defer stop()
	out, err := m.Run(ctx, name, args...)
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return out, err
}

// has reports whether any of the files or folders exists.
func (m Machine) has(names ...string) bool {
	for _, name := range names {
		if m.Files == nil {
			return false
		}
		if _, err := fs.Stat(m.Files, name); err == nil {
			return true
		}
	}
	return false
}

// env returns a variable; "" if it is not set.
func (m Machine) env(name string) (string, bool) {
	if m.Env == nil {
		return "", false
	}
	return m.Env(name)
}
