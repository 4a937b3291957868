package hardware

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

func readAll(t *testing.T) []Device {
	t.Helper()
	var all []Device
	for r := range devices.rows() {
		d, err := readDevice(r)
		if err != nil {
			t.Error(err)
		}
		all = append(all, d)
	}
	return all
}

func TestEveryRowIsRead(t *testing.T) {
	if n := len(readAll(t)); n < 263 || n != len(All()) || n != len(IDs()) {
		t.Errorf("%d devices, %d by All, %d by IDs", n, len(All()), len(IDs()))
	}
	n := 0
	for r := range nodes.rows() {
		node, err := readNode(r)
		if err != nil {
			t.Error(err)
		}
		if _, ok := devices.row(node.Device); !ok || node.Devices < 1 || node.Name == "" || node.Provider == "" {
			t.Errorf("node %+v is not complete", node)
		}
		n++
	}
	if n < 123 || n != len(Nodes()) {
		t.Errorf("%d nodes, %d by Nodes", n, len(Nodes()))
	}
	for r := range prices.rows() {
		if _, err := readPrice(r); err != nil {
			t.Error(err)
		}
	}
	for r := range levels.rows() {
		if _, err := readLevel(r); err != nil {
			t.Error(err)
		}
	}
}

// Every line has as many cells as its head, so no cell stands under a wrong one.
func TestRowsFillTheirColumns(t *testing.T) {
	for _, tab := range []table{devices, nodes, prices, levels, metal, defaults, shapes, sources} {
		lines := strings.Split(strings.TrimSuffix(tab.text, "\n"), "\n")
		for i, l := range lines {
			if got, want := strings.Count(l, "\t"), strings.Count(lines[0], "\t"); got != want {
				t.Errorf("%s.tsv line %d: %d cells, not %d: %q", tab.name, i+1, got+1, want+1, l)
			}
			if l != strings.TrimRight(l, " \r") {
				t.Errorf("%s.tsv line %d ends in space", tab.name, i+1)
			}
		}
	}
}

func TestIDsAreUnique(t *testing.T) {
	for _, tab := range []table{devices, nodes, metal, defaults, shapes, sources} {
		ids := tab.ids()
		slices.Sort(ids)
		for i := 1; i < len(ids); i++ {
			if ids[i] == ids[i-1] {
				t.Errorf("%s.tsv: %s twice", tab.name, ids[i])
			}
		}
	}
	// A node whose name is a device's would hide it.
	for _, id := range nodes.ids() {
		if _, ok := devices.row(id); ok {
			t.Errorf("%s is a device and a node", id)
		}
	}
}

// anyFact is a Fact of whatever quantity, for walks over structs.
type anyFact struct {
	value, low, high float64
	basis            ledger.Basis
	source           string
	known            bool
}

// facts calls f for every Fact within v.
func facts(v reflect.Value, path string, f func(path string, a anyFact)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			facts(v.Elem(), path, f)
		}
	case reflect.Struct:
		if strings.HasPrefix(v.Type().Name(), "Fact[") {
			f(path, anyFact{asFloat(v.Field(0)), asFloat(v.Field(1)), asFloat(v.Field(2)), v.Field(3).Interface().(ledger.Basis),
				v.Field(4).String(), v.Field(5).Bool()})
			return
		}
		for i := range v.NumField() {
			facts(v.Field(i), path+"."+v.Type().Field(i).Name, f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			facts(v.Index(i), path, f)
		}
	}
}

func asFloat(v reflect.Value) float64 {
	if v.CanInt() {
		return float64(v.Int())
	}
	return v.Float()
}

// checkFacts holds what is true of every figure: a source that exists, a band around the value, no
// negative number, and nothing at all where it is unknown.
func checkFacts(t *testing.T, name string, v any) (known int) {
	t.Helper()
	facts(reflect.ValueOf(v), name, func(path string, a anyFact) {
		if !a.known {
			if a != (anyFact{}) {
				t.Errorf("%s is unknown and yet %+v", path, a)
			}
			return
		}
		known++
		if _, ok := Cite(a.source); !ok {
			t.Errorf("%s: no source %q", path, a.source)
		}
		if a.low > a.value || a.value > a.high || a.low < 0 {
			t.Errorf("%s: %v not within %v..%v", path, a.value, a.low, a.high)
		}
	})
	return known
}

func TestEveryFigureHasASource(t *testing.T) {
	for _, d := range readAll(t) {
		if checkFacts(t, d.ID, d) < 4 {
			t.Errorf("%s has next to no figures", d.ID)
		}
	}
	for _, n := range Nodes() {
		checkFacts(t, n.ID, n)
	}
	for id := range levels.lines() {
		for _, l := range Levels(id) {
			// A latency that is not a plain one ("66 ns more than L0") stands in the note.
			if checkFacts(t, id+"/"+l.Level, l) == 0 && !strings.Contains(l.Note, "ns") {
				t.Errorf("%s/%s says nothing", id, l.Level)
			}
		}
	}
	for r := range prices.rows() {
		p, _ := readPrice(r)
		if _, ok := Cite(p.Source); !ok {
			t.Errorf("price %+v: no source", p)
		}
	}
	for _, key := range []string{given, recalled, "per-node", "fabric", "usable-nvidia", "usable-amd", "nominal", "nominal-nvidia",
		"os-share", "gtt-reports", "metal-logs", "pcie"} {
		if s, ok := Cite(key); !ok || s.Citation == "" {
			t.Errorf("no source %q", key)
		}
	}
}

// TestBases counts the figures of the catalog by basis: the assumed ones are known to be so.
func TestBases(t *testing.T) {
	counts := map[ledger.Basis]int{}
	for _, d := range readAll(t) {
		facts(reflect.ValueOf(d), d.ID, func(_ string, a anyFact) {
			if a.known {
				counts[a.basis]++
			}
		})
	}
	for _, n := range Nodes() {
		facts(reflect.ValueOf(n), n.ID, func(_ string, a anyFact) {
			if a.known {
				counts[a.basis]++
			}
		})
	}
	t.Logf("vendor %d, derived %d, measured %d, assumed %d", counts[ledger.Vendor], counts[ledger.Derived], counts[ledger.Measured],
		counts[ledger.Assumed])
	for b := ledger.Derived; b <= ledger.Assumed; b++ {
		if counts[b] == 0 {
			t.Errorf("no figure is %v", b)
		}
	}
	if counts[ledger.Exact] != 0 {
		t.Errorf("%d figures of the catalog call themselves exact", counts[ledger.Exact])
	}
}

func TestMemoryLaws(t *testing.T) {
	for _, d := range readAll(t) {
		if d.IsCPU() {
			if d.Usable.Known {
				t.Errorf("%s: a processor has no memory to use", d.ID)
			}
			continue
		}
		if !d.Memory.Known || d.Memory.Value <= 0 || !d.Usable.Known {
			t.Errorf("%s: memory %+v usable %+v", d.ID, d.Memory, d.Usable)
		}
		if d.Usable.Value > d.Memory.Value || d.Usable.High > d.Memory.Value {
			t.Errorf("%s: usable %v..%v of %v", d.ID, d.Usable.Value, d.Usable.High, d.Memory.Value)
		}
		// A driver keeps little; a system keeps at most half, and up to 4 GiB of a small memory.
		least := share(d.Memory.Value, 0.9) - unit.GiB/2
		if d.Unified != nil {
			least = share(d.Memory.Value, 0.42)
		}
		if d.Usable.Low < least {
			t.Errorf("%s: usable from %v of %v", d.ID, d.Usable.Low, d.Memory.Value)
		}
		if d.Reported.Known && d.Reported.Value > d.Memory.Value {
			t.Errorf("%s: %v reported of %v", d.ID, d.Reported.Value, d.Memory.Value)
		}
		if !slices.IsSorted(d.Options) {
			t.Errorf("%s: sizes %v", d.ID, d.Options)
		}
		if !d.Bandwidth.Known && d.ID != "rubin-cpx" {
			t.Errorf("%s: no bandwidth", d.ID)
		}
	}
}

// Narrow formats are not slower than wide ones, on devices that have fast arithmetic for both.
func TestPeakLaws(t *testing.T) {
	slowHalf := []string{"3.7", "5.2", "6.1"} // 16-bit numbers at 1/64 of the rate, or not at all
	for _, d := range readAll(t) {
		p := &d.Peaks
		order := []string{"fp32", "tf32", "fp16", "fp8", "fp4"}
		if slices.Contains(slowHalf, d.Capability) {
			order = []string{"fp32"}
		}
		last := Fact[unit.FLOPRate]{}
		for _, f := range order {
			now := p.At(f)
			if last.Known && now.Known && now.Value < 0.99*last.Value {
				t.Errorf("%s: %s at %v, less than %v", d.ID, f, now.Value, last.Value)
			}
			last = now.or(last)
		}
		if p.FP8.Known && p.BF16.Known && p.FP8.Value < p.BF16.Value {
			t.Errorf("%s: fp8 at %v, bf16 at %v", d.ID, p.FP8.Value, p.BF16.Value)
		}
	}
	var none Peaks
	if none.At("bf16").Known || none.At("int3").Known {
		t.Error("an unknown peak is known")
	}
}

func TestPlainColumns(t *testing.T) {
	forms := []string{"SXM", "OAM", "PCIe", "Superchip", "SoC", "APU", "ASIC", "laptop", "wafer", "CPU"}
	for _, d := range readAll(t) {
		switch {
		case d.Name == "" || d.Vendor == "" || d.Architecture == "" || d.Kind == "":
			t.Errorf("%s: name %q vendor %q architecture %q kind %q", d.ID, d.Name, d.Vendor, d.Architecture, d.Kind)
		case !slices.Contains(forms, d.Form):
			t.Errorf("%s: form %q", d.ID, d.Form)
		case d.Year < 2014 || d.Year > 2027:
			t.Errorf("%s: year %d", d.ID, d.Year)
		case d.PerNode.Value < 1:
			t.Errorf("%s: %d to a node", d.ID, d.PerNode.Value)
		case d.ID != strings.ToLower(d.ID) || strings.Trim(d.ID, "abcdefghijklmnopqrstuvwxyz0123456789-") != "":
			t.Errorf("%s: an id of small letters, digits and hyphens", d.ID)
		case d.Link.EachWay.Known && d.Link.Name == "":
			t.Errorf("%s: a link without a name", d.ID)
		}
	}
}

// Two devices that a name could mean need an entry in defaults.tsv, or the question must say more.
func TestNamesAreUnambiguous(t *testing.T) {
	listed := map[string]bool{}
	for name, r := range defaults.lines() {
		listed[key(name)] = true
		if _, ok := devices.row(r.second()); !ok || r.text("why") == "" {
			t.Errorf("defaults.tsv: %s: device %q, why %q", name, r.second(), r.text("why"))
		}
	}
	owner := map[string]string{}
	claim := func(id, name string) {
		k := key(name)
		if was, ok := owner[k]; ok && was != id && !listed[k] {
			t.Errorf("%q means %s and %s, and defaults.tsv does not say which", name, was, id)
		}
		owner[k] = id
	}
	for id, r := range devices.lines() {
		eachName(r, func(name string) bool {
			claim(id, name)
			if b := withoutMemory(name); key(b) != key(name) {
				claim(id, b)
			}
			for _, w := range strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == '-' }) {
				if noise[w] {
					t.Errorf("%s: %q has the word %q, which questions lose", id, name, w)
				}
			}
			return false
		})
	}
	names := map[string]string{}
	for id, r := range nodes.lines() {
		eachName(r, func(name string) bool {
			if was, ok := names[key(name)]; ok && was != id {
				t.Errorf("node name %q of %s and %s", name, was, id)
			}
			names[key(name)] = id
			return false
		})
	}
}

// What a row calls itself finds the row.
func TestRoundTrip(t *testing.T) {
	for id, r := range devices.lines() {
		d, notes, err := Find(id)
		if err != nil || d.ID != id {
			t.Errorf("Find(%q): %v", id, err)
			continue
		}
		for _, n := range notes {
			if n.Code != "memory_default" {
				t.Errorf("Find(%q) took %v", id, n)
			}
		}
		if named, _, err := Find(r.text("name")); err != nil || named.ID != id {
			t.Errorf("Find(%q), the name of %s: %v, %v", r.text("name"), id, named, err)
		}
		for _, o := range d.Options {
			variant := id + "-" + gib(o) + "gb"
			v, notes, err := Find(variant)
			if err != nil || len(notes) > 0 || v.Memory.Value != o {
				t.Errorf("Find(%q): %v, %v", variant, notes, err)
				continue
			}
			again, _, err := Find(v.ID)
			if err != nil || !reflect.DeepEqual(again, v) {
				t.Errorf("Find(%q) again: %v", v.ID, err)
			}
			checkFacts(t, v.ID, *v)
		}
	}
	for _, n := range Nodes() {
		for _, name := range []string{n.ID, n.Name} {
			if got, ok := FindNode(name); !ok || got.ID != n.ID {
				t.Errorf("FindNode(%q) is not %s", name, n.ID)
			}
		}
	}
}

// The reader of rows against splitting them.
func TestCells(t *testing.T) {
	head := strings.Split(strings.SplitN(devices.text, "\n", 2)[0], "\t")
	for r := range devices.rows() {
		want := strings.Split(r.line, "\t")
		rd := &reader{row: r}
		for i := range head {
			j := (i*7 + 3) % len(head) // out of order
			if got := rd.text(head[j]); got != want[j] || r.text(head[j]) != want[j] {
				t.Fatalf("%s, %s: %q, not %q", r.id(), head[j], got, want[j])
			}
		}
		if rd.text("nothing") != "" {
			t.Fatal("a column that is not there has text")
		}
	}
}

func TestBadCells(t *testing.T) {
	for cell, ok := range map[string]bool{
		"24": true, "24?": true, "1..2!@metal-logs": true, "1..2..3~": true, "": true,
		"24GB": false, "?": false, "1..2..3..4": false, "..": false, "@wiki": false, "x": false,
	} {
		r := &reader{row: row{table: "devices", head: "id\tsources\tbandwidth_gbs", line: "x\twiki\t" + cell}}
		rate[unit.ByteRate](r, "bandwidth_gbs", gbs)
		if (r.err == nil) != ok {
			t.Errorf("cell %q: %v", cell, r.err)
		}
	}
}
