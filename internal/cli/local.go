package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"runtime"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/render/tui"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/source/regular"
)

// look returns this machine with the rates measured on it; nil if it cannot be detected.
func (a *app) look() *card.Local {
	if a.Machine == nil {
		return nil
	}
	l := a.Machine.Look()
	l.Rated(a.measured())
	return l
}

// fillLocal sets this machine if no hardware is named, and its processor for cpu. Memory held by other processes is left to them,
// unless a reserve is given.
func (a *app) fillLocal(r *memwall.Request, reserve bool) ([]memwall.Note, error) {
	if r.Hardware != "" && r.Hardware != "local" && r.Hardware != "cpu" {
		return nil, nil
	}
	l := a.look()
	if l == nil || l.Words == "" {
		return hereNotes(l), unseenHere(r.Hardware)
	}
	words, reserved, inUse := l.Words, l.Reserved, l.InUse
	switch {
	case r.Hardware == "cpu" && l.CPUWords == "":
		return nil, nil
	case r.Hardware == "cpu" && reserve:
		words, inUse = l.IdleCPU, ""
	case r.Hardware == "cpu":
		words, reserved, inUse = l.CPUWords, 0, ""
	case reserve:
		words, inUse = l.Idle, ""
	}
	if !reserve {
		r.Reserved = plan.Size(reserved)
	}
	r.Hardware = words
	notes := []memwall.Note{{Code: "local_used", Severity: "info", Field: "hardware", Text: "this machine: " + words}}
	if inUse != "" {
		notes = append(notes, memwall.Note{Code: "local_in_use", Severity: "info", Field: "reserved_bytes", Text: "others hold " + inUse + "; that is left to them, and --reserve 0 counts it as free"})
	}
	return append(notes, hereNotes(l)...), nil
}

// hereNotes notes what could not be detected of this machine, and what was assumed.
func hereNotes(l *card.Local) (out []memwall.Note) {
	if l == nil {
		return nil
	}
	for _, text := range l.Notes {
		out = append(out, memwall.Note{Code: "local_seen", Severity: "info", Field: "hardware", Text: text})
	}
	return out
}

// unseenHere returns an error if this machine was named but is unknown.
func unseenHere(named string) error {
	if named != "local" {
		return nil
	}
	return usage("hardware", "local", "--on local: what this machine has is not known", "name it: --on rtx-4090, or memwall hardware for the list")
}

// local shows this machine, and measures it if requested.
func (a *app) local(f *hardwareFlags) error {
	l := a.look()
	if l == nil || l.Words == "" && len(l.Notes) == 0 {
		return usage("hardware", "local", "what this machine has is not known", "name it: memwall hardware rtx-4090")
	}
	if f.measure {
		if err := a.measure(l); err != nil {
			return err
		}
	}
	return a.show(l, func(st term.Style) string { return tui.Local(l, st) })
}

// measure measures the rates of the processors and saves them for later runs.
func (a *app) measure(l *card.Local) error {
	if a.Measure == nil {
		return usage("measure", "", "this machine cannot be measured here", "leave it out")
	}
	ctx, stop := a.until()
	defer stop()
	seen := a.Machine.Look() // without an earlier measurement
	m := a.Measure(ctx, l)
	if m.Rate() == "" {
		return usage("measure", "", "the measurement was ended before it had a figure", "let it run: it takes a second or two")
	}
	path := a.measuredPath()
	if path != "" {
		if err := a.keepMeasured(m, path); err != nil {
			return err
		}
		m.Written = path
	}
	*l = *seen
	l.Rated(m)
	l.Measured = m
	return nil
}

// measuredPath returns the path of the measurement, beside the calibration.
func (a *app) measuredPath() string {
	path := calibrationPath(a.Env, runtime.GOOS)
	if path == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(path), "machine.json")
}

func (a *app) keepMeasured(m *card.Measured, path string) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err == nil {
		err = owners(path)
	}
	if err == nil {
		err = a.WriteFile(path, append(data, '\n'))
	}
	if err != nil {
		return &memwall.Error{Code: memwall.BadFile, Field: "measure", Value: path, Message: fmt.Sprintf("%s cannot be written: %v", path, regular.Cause(err)), Hint: "XDG_CONFIG_HOME names another folder of settings"}
	}
	return nil
}

// measured returns what an earlier run measured; nil if nothing can be read. It only refines estimates, so that a corrupt file is
// ignored.
func (a *app) measured() *card.Measured {
	const most = 64 << 10
	path := a.measuredPath()
	if path == "" {
		return nil
	}
	in, err := a.opened(path)
	if errors.Is(err, fs.ErrNotExist) || err != nil {
		return nil
	}
	defer in.Close()
	var m card.Measured
	if json.NewDecoder(io.LimitReader(in, most)).Decode(&m) != nil {
		return nil
	}
	return &m
}

// machineWords replaces local by the first device of this machine.
func (a *app) machineWords(words string) (string, error) {
	if words != "local" {
		return words, nil
	}
	l := a.look()
	if l == nil || l.Words == "" {
		return "", usage("hardware", "local", "what this machine has is not known", "name it: memwall hardware rtx-4090")
	}
	m, _, err := hardware.Parse(l.Idle, 0)
	if err != nil {
		return "", err
	}
	if len(m.Groups) > 0 && m.Groups[0].Device.ID != "" {
		return m.Groups[0].Device.ID, nil
	}
	return "", usage("hardware", "local", "this machine is "+l.Idle+", which has no card", "memwall fit MODEL uses it")
}
