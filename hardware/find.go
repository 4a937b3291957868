package hardware

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

// maxName bounds the length of a name; the longest in use have about 60 characters.
const maxName = 200

// Find returns the device that a name refers to: a catalog id, an alias, what nvidia-smi prints, or a common spelling
// of these ("RTX 4090 24GB", "h200_sxm", "M4 Max 128GB"). Properties stated in the name (memory, memory kind, watts,
// cores) must match the device. An ambiguous name resolves to the device listed in catalog/defaults.tsv, and a note
// says so. The error of an unknown name lists candidates.
func Find(name string) (*Device, []Note, error) {
	d, notes, err := find(name)
	if err != nil {
		return nil, nil, err
	}
	return &d, notes, nil
}

// find is seek with an error that lists candidates.
func find(name string) (Device, []Note, error) {
	d, notes, err := seek(name)
	if errors.Is(err, errMissing) {
		err = missing(name, read(name))
	}
	return d, notes, err
}

// errMissing means that no device has the name; find replaces it with an error that lists candidates.
var errMissing = errors.New("no such device")

// seek is lookUp with a cache: a server is asked for the same few devices repeatedly, and each lookup scans the whole
// table.
func seek(name string) (Device, []Note, error) {
	if len(name) > maxName {
		return Device{}, nil, unknown(name, "is too long for a name", nil)
	}
	if d, notes, ok := lately.load(name); ok {
		return d, notes, nil
	}
	d, notes, err := lookUp(name)
	if err == nil {
		lately.store(name, d, notes)
	}
	return d, notes, err
}

// lookUp searches the tables for a name.
func lookUp(name string) (Device, []Note, error) {
	if low := strings.ToLower(name); strings.Contains(low, "g.") || strings.Contains(low, "mig") {
		if d, notes, ok, err := sliced(name); ok {
			return d, notes, err
		}
	}
	q := read(name)
	if q.cpu && len(q.words) > 1 {
		return Device{}, nil, unknown(name, "names the processor of a chip, not its GPU", nil)
	}
	d, notes, err := q.find(name)
	if errors.Is(err, errMissing) {
		if d, notes, ok, err := virtualized(name); ok {
			return d, notes, err
		}
		if strings.Contains(name, "(") {
			return findInParts(name)
		}
	}
	return d, notes, err
}

// A hit is a matching device, with how it was named.
type hit struct {
	device Device
	listed string // id from defaults.tsv, if that decided
	why    string
	bare   bool // the name omits the memory size of the id
}

// find tries the words as they are, then without the properties, which are compared separately.
func (q query) find(name string) (Device, []Note, error) {
	if len(q.words) == 0 {
		if q.computer == "" {
			return Device{}, nil, errMissing
		}
		q.words = []string{q.computer}
	}
	hits, dropped := q.first()
	switch len(hits) {
	case 0:
		return q.loosely(name)
	case 1:
		d, notes, err := q.settle(hits[0], name)
		if err == nil && dropped != "" {
			notes = append(notes, note("name_unread", "%q in %s was not read", dropped, quote(name)))
		}
		return d, notes, err
	}
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = h.device.ID
	}
	return Device{}, nil, severalMeant(name, ids)
}

// first returns the hits of the most specific key that has any, and what that key drops from the name.
func (q query) first() (hits []hit, dropped string) {
	for _, try := range q.keys() {
		if hits = q.hits(try.key); len(hits) > 0 {
			return hits, try.dropped
		}
	}
	return nil, ""
}

// loosely handles names that match no row: a size without its unit ("5060 ti 16"), and a GeForce refitted with twice
// the memory it is sold with ("RTX 4090 48GB", "2080 Ti 22GB").
func (q query) loosely(name string) (Device, []Note, error) {
	last := len(q.words) - 1
	if last > 0 && number(q.words[last]) && len(q.words[last]) <= 3 {
		b, err := unit.ParseBytes(q.words[last] + "GiB")
		if err == nil {
			q.words, q.memory = q.words[:last], append(q.memory, b)
			return q.find(name)
		}
	}
	if len(q.memory) == 0 {
		return q.grown(name)
	}
	if len(q.memory) != 1 {
		return Device{}, nil, errMissing
	}
	size := q.memory[0]
	q.memory = []unit.Bytes{size / 2}
	hits, _ := q.first()
	if len(hits) != 1 || !strings.HasPrefix(hits[0].device.Name, "GeForce") {
		return Device{}, nil, errMissing
	}
	d := hits[0].device
	kept := d.Usable
	d.ID += "-" + gib(size) + "gb"
	d.Memory, d.Reported = fact(size, ledger.Exact, given), Fact[unit.Bytes]{}
	d.Usable = fact(kept.Value+size/2, ledger.Assumed, kept.Source).band(kept.Low+size/2, kept.High+size/2)
	return d, []Note{note("name_unread", "%s: a board refitted with %s, twice what it is sold with; speed as sold", quote(name), size)}, nil
}

// grown handles names with the memory size run onto them: "A10080", "v10032", "H20141", "A600048GB".
func (q query) grown(name string) (Device, []Note, error) {
	last := len(q.words) - 1
	if last < 0 {
		return Device{}, nil, errMissing
	}
	for _, digits := range []int{2, 3} {
		w := strings.TrimSuffix(q.words[last], "gb")
		cut := len(w) - digits
		if cut < 3 || w[cut] == '0' || !number(w[cut-1:]) || number(w[:cut]) {
			continue
		}
		b, err := unit.ParseBytes(w[cut:] + "GiB")
		if err != nil {
			continue
		}
		shorter := query{words: append(slices.Clone(q.words[:last]), w[:cut]), memory: []unit.Bytes{b}, kind: q.kind, makers: q.makers}
		if hits, _ := shorter.first(); len(hits) > 0 {
			return shorter.find(name)
		}
	}
	return Device{}, nil, errMissing
}

type attempt struct{ key, dropped string }

// keys returns the keys to look up, most specific first.
func (q query) keys() []attempt {
	base := key(q.words...)
	var memory string
	if len(q.memory) > 0 {
		memory = strconv.FormatInt(int64(q.memory[0]/unit.GiB), 10) + "gb"
	}
	tries := []attempt{
		{key: base + q.cores + q.kind + memory},
		{key: base + q.cores + memory},
		{key: base + q.cores + q.kind},
		{key: base + q.cores},
	}
	if q.cores != "" {
		tries = append(tries, attempt{base, q.cores})
	}
	return slices.Compact(tries)
}

// hits returns the devices that match a key and have the stated properties. A default decides between several.
func (q query) hits(k string) []hit {
	var hits []hit
	for name, r := range defaults.lines() {
		if !same(name, k) {
			continue
		}
		if h, ok := q.row(r.second()); ok {
			h.listed, h.why = name, r.text("why")
			return []hit{h}
		}
	}
	for id, r := range devices.lines() {
		exact, short := false, false
		eachName(r, func(name string) bool {
			exact = exact || same(name, k)
			short = short || same(withoutMemory(name), k)
			return exact
		})
		if !exact && !short {
			continue
		}
		if h, ok := q.row(id); ok {
			h.bare = !exact
			hits = append(hits, h)
		}
	}
	return hits
}

// row reads a device and compares it with the stated properties.
func (q query) row(id string) (hit, bool) {
	r, ok := devices.row(id)
	if !ok {
		return hit{}, false
	}
	d, err := readDevice(r)
	return hit{device: d}, err == nil && q.holds(&d, r)
}

// holds reports whether the device has the properties that the name states.
func (q query) holds(d *Device, r row) bool {
	if q.kind != "" && !strings.EqualFold(q.kind, d.Kind) {
		return false
	}
	if q.watts != "" && q.watts != strconv.FormatFloat(float64(d.TDP.Value), 'f', -1, 64)+"w" {
		return false
	}
	if len(q.makers) > 0 && !slices.Contains(q.makers, strings.ToLower(d.Vendor)) {
		return false
	}
	for _, m := range q.memory {
		if !hasMemory(d, r, m) {
			return false
		}
	}
	return true
}

// hasMemory reports whether a device comes with a size: nominal, or as stated by an alias ("B200 192GB" has 180).
func hasMemory(d *Device, r row, m unit.Bytes) bool {
	switch {
	case d.MaxMemory.Known:
		return m <= d.MaxMemory.Value
	case !d.Memory.Known || len(d.Options) > 0:
		return true // left to withMemory
	}
	const tolerance = unit.GiB / 2
	if diff := d.Memory.Value - m; diff > -tolerance && diff < tolerance {
		return true
	}
	stated := " " + strconv.FormatInt(int64(m/unit.GiB), 10) + "gb"
	return eachName(r, func(name string) bool { return strings.HasSuffix(name, stated) })
}

// settle turns a hit into a device and notes what was assumed.
func (q query) settle(h hit, name string) (Device, []Note, error) {
	d, notes, err := h.device.withMemory(q.memory, name)
	if err != nil {
		return Device{}, nil, err
	}
	switch {
	case h.listed != "":
		notes = append([]Note{note("default_used", "%s read as %s: %s", h.listed, h.device.ID, h.why)}, notes...)
	case h.bare && len(q.memory) == 0:
		notes = append(notes, note("default_used", "%s read as %s, the only one of that name here", quote(name), d.ID))
	}
	return d, notes, nil
}

// withMemory returns the device with one of the sizes it is sold with.
func (d Device) withMemory(stated []unit.Bytes, name string) (Device, []Note, error) {
	if len(d.Options) == 0 {
		return d.fitted(stated), nil, nil
	}
	largest := d.Options[len(d.Options)-1]
	if len(stated) == 0 {
		if len(d.Options) == 1 {
			return d, nil, nil
		}
		return d, []Note{note("memory_default", "%s taken with %s GB, the most it is sold with; say %s-%sgb for another", d.ID,
			gib(largest), d.ID, gib(d.Options[0]))}, nil
	}
	for _, o := range d.Options {
		if o == stated[0] {
			return d.resized(o, largest), nil, nil
		}
	}
	sold := make([]string, len(d.Options))
	for i, o := range d.Options {
		sold[i] = gib(o)
	}
	return Device{}, nil, &Error{Code: UnknownHardware, Field: "hardware", Value: name,
		Problem: "states a memory that " + d.ID + " is not sold with", Fix: "it comes with " + strings.Join(sold, ", ") + " GB",
		Candidates: []string{d.ID}}
}

// fitted returns a processor with the stated memory.
func (d Device) fitted(stated []unit.Bytes) Device {
	if len(stated) == 0 || !d.MaxMemory.Known {
		return d
	}
	d.ID += "-" + gib(stated[0]) + "gb"
	d.Memory = fact(stated[0], ledger.Exact, given)
	return d
}

// resized returns the device with another of its sizes; its id then says which.
func (d Device) resized(size, largest unit.Bytes) Device {
	if size == largest {
		return d
	}
	d.ID += "-" + gib(size) + "gb"
	basis, source := d.Memory.Basis, d.Memory.Source
	d.Memory = fact(size, basis, source)
	d.Usable = usable(&d, Fact[unit.Bytes]{}, d.Unified.Rule)
	d.Unified = unified(&d, d.Unified.Rule)
	return d
}

func gib(b unit.Bytes) string { return strconv.FormatInt(int64(b/unit.GiB), 10) }
