package detect

import (
	"context"
	"io/fs"

	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/unit"
)

// What a watch reads again and again, with the bounds that a look has.

// ReadFile gives the beginning of a file; "" where it cannot be read.
func (m Machine) ReadFile(name string, most int64) string { return m.readUpTo(name, most) }

// Has tells whether one of some files or folders is there.
func (m Machine) Has(names ...string) bool { return m.has(names...) }

// Names are the names in a folder, at most so many; none where it cannot be read.
func (m Machine) Names(folder string, most int) (out []string) {
	if m.Files == nil {
		return nil
	}
	f, err := m.Files.Open(folder)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // it was only read
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

// Link is where a symbolic link leads; "" where nobody says.
func (m Machine) Link(name string) string {
	to, err := fs.ReadLink(m.Files, name)
	if err != nil {
		return ""
	}
	return to
}

// Ask runs a program for as long as patience lasts.
func (m Machine) Ask(ctx context.Context, name string, args ...string) ([]byte, error) {
	if m.Patience == 0 {
		m.Patience = patience
	}
	return m.ask(ctx, name, args...)
}

// Memory is the processor's, less what a control group withholds; nil where nobody says.
func (m Machine) Memory() *card.LocalHost { return m.memory().host }

// Keyed finds "key: value" in a text of such lines.
func Keyed(text, key string) string { return keyed(text, key) }

// KiB reads a number of KiB, with or without " kB".
func KiB(s string) (unit.Bytes, bool) { return kib(s) }

// Printable is a name without what a terminal would obey.
func Printable(s string) string { return printable(s) }

// ProgramOf is the name of a program by its path or command line.
func ProgramOf(s string) string { return programOf(s) }

// Gauge is what files say of a device at one moment; of NVIDIA's none do.
type Gauge struct {
	Name        string
	Total, Used unit.Bytes
	Users       []card.User
}

// Gauges are the cards of AMD, by the kernel's files alone: amdgpu counts what is used, and amdkfd of which program.
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
