package detect

import (
	"context"
	"io/fs"

	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/unit"
)

// What a watch reads repeatedly, with the same bounds as a single look.

// ReadFile returns the beginning of a file; "" if it cannot be read.
func (m Machine) ReadFile(name string, most int64) string { return m.readUpTo(name, most) }

// Has reports whether any of the files or folders exists.
func (m Machine) Has(names ...string) bool { return m.has(names...) }

// Names returns at most most names in a folder; none if it cannot be read.
func (m Machine) Names(folder string, most int) (out []string) {
	if m.Files == nil {
		return nil
	}
	f, err := m.Files.Open(folder)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // only read
	d, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil
	}
	entries, _ := d.ReadDir(most) // what was read before an error counts
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// Link returns the target of a symbolic link; "" if unknown.
func (m Machine) Link(name string) string {
	to, err := fs.ReadLink(m.Files, name)
	if err != nil {
		return ""
	}
	return to
}

// Ask runs a program within the time limit.
func (m Machine) Ask(ctx context.Context, name string, args ...string) ([]byte, error) {
	if m.Patience == 0 {
		m.Patience = patience
	}
	return m.ask(ctx, name, args...)
}

// Memory returns the host's memory within the control group's limit; nil if unknown.
func (m Machine) Memory() *card.LocalHost { return m.memory().host }

// Keyed returns the value of "key: value" in a text of such lines.
func Keyed(text, key string) string { return keyed(text, key) }

// KiB parses a number of KiB, with or without " kB".
func KiB(s string) (unit.Bytes, bool) { return kib(s) }

// Printable returns a name without control sequences.
func Printable(s string) string { return printable(s) }

// ProgramOf returns the name of a program from its path or command line.
func ProgramOf(s string) string { return programOf(s) }

// Gauge is a device's current state according to files; NVIDIA has none.
type Gauge struct {
	Name        string
	Total, Used unit.Bytes
	Users       []card.User
}

// Gauges returns AMD's cards from the kernel's files alone: amdgpu counts memory in use, and amdkfd per program.
func (m Machine) Gauges() (out []Gauge) {
	var cards []device
	for _, folder := range m.drm("0x1002") {
		d := device{name: printable(m.line(folder + "/product_name")), bus: slot(m.read(folder + "/uevent")),
			memory: m.size(folder + "/mem_info_vram_total"), used: m.size(folder + "/mem_info_vram_used")}
		if d.memory >= smallCard {
			cards = append(cards, d)
		}
	}
	if len(cards) > 0 {
		m.amdUsers(cards)
	}
	for _, d := range cards {
		out = append(out, Gauge{d.name, d.memory, d.used, d.users})
	}
	return out
}
