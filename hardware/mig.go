package hardware

import (
	"cmp"
	_ "embed" // the profiles
	"regexp"
	"strconv"
	"strings"

	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

//go:embed catalog/mig.tsv
var migText string

var slices7 = table{"mig", migText}

// profiled matches a Multi-Instance GPU profile in a name: "h100 1g.10gb", "A100-SXM4-80GB MIG 3g.40gb".
var profiled = regexp.MustCompile(`(?i)(?:\bmig[- ]*)?\b([1-7])g[.-]?(\d+)gb\b(?:[.+]me\b)?`)

// sliced returns a slice of a device by its profile; the device may be omitted if the profile implies it.
func sliced(name string) (Device, []Note, bool, error) {
	at := profiled.FindStringSubmatchIndex(name)
	if at == nil {
		return Device{}, nil, false, nil
	}
	profile := name[at[2]:at[3]] + "g." + name[at[4]:at[5]] + "gb"
	whole := strings.Trim(name[:at[0]]+" "+name[at[1]:], " -_,()")
	if low := strings.ToLower(whole); strings.HasSuffix(low, "mig") {
		whole = strings.Trim(whole[:len(whole)-3], " -_,()")
	}
	of, notes, err := parent(whole, profile)
	if err != nil {
		return Device{}, nil, true, err
	}
	r, ok := slices7.row(of.ID + "." + profile)
	if !ok {
		return Device{}, nil, true, &Error{Code: UnknownHardware, Field: "hardware", Value: name, Problem: "is not a profile of " + of.ID,
			Fix: "its profiles are " + strings.Join(profilesOf(of.ID), ", ")}
	}
	return of.slice(profile, r), notes, true, nil
}

// parent returns the device that a profile divides: the one named, in the version that offers the profile, or else the
// first that does.
func parent(whole, profile string) (Device, []Note, error) {
	if whole == "" {
		ids := devicesWith(profile)
		if len(ids) == 0 {
			return Device{}, nil, unknown(profile, "is not a profile of a device here", nil)
		}
		d, _, err := seek(ids[0])
		return d, []Note{note("default_used", "%s taken of %s; %s have it too", profile, ids[0], strings.Join(ids[1:], ", "))}, err
	}
	d, notes, err := find(whole)
	if err != nil {
		return d, nil, err
	}
	if _, ok := slices7.row(d.ID + "." + profile); ok {
		return d, notes, nil
	}
	family, _, _ := strings.Cut(d.ID, "-")
	for _, id := range devicesWith(profile) { // "a100 3g.20gb" means the one with 40 GB
		if strings.HasPrefix(id, family+"-") {
			d, _, err := seek(id)
			return d, []Note{note("default_used", "%s is a profile of %s", profile, id)}, err
		}
	}
	return d, notes, nil
}

func devicesWith(profile string) (ids []string) {
	for id, r := range slices7.lines() {
		if strings.HasSuffix(id, "."+profile) {
			ids = append(ids, r.second())
		}
	}
	return ids
}

func profilesOf(device string) (out []string) {
	for id, r := range slices7.lines() {
		if r.second() == device {
			out = append(out, strings.TrimPrefix(id, device+"."))
		}
	}
	return out
}

// Profile is a partition of a device: slices of its processors and of its memory, and how many the device has of each.
type Profile struct {
	Name                string
	Compute, ComputeAll int
	Memory, MemoryAll   int
}

// Profiles returns the partition profiles of a device, smallest first.
func Profiles(name string) ([]Profile, error) {
	d, _, err := find(name)
	if err != nil {
		return nil, err
	}
	var out []Profile
	for id, r := range slices7.lines() {
		if r.second() != d.ID {
			continue
		}
		x := Profile{Name: strings.TrimPrefix(id, d.ID+".")}
		x.Compute, x.ComputeAll = counts(r.text("compute"))
		x.Memory, x.MemoryAll = counts(r.text("memory"))
		out = append(out, x)
	}
	if len(out) == 0 {
		return nil, &Error{Code: UnknownHardware, Field: "hardware", Value: name, Problem: "is not cut into parts",
			Fix: "a device with MIG, such as h100"}
	}
	stable.Sort(out, func(a, b Profile) int {
		return cmp.Or(cmp.Compare(a.Memory, b.Memory), cmp.Compare(a.Compute, b.Compute))
	})
	return out, nil
}

// counts parses the two numbers of a share such as 3/7.
func counts(s string) (of, all int) {
	a, b, _ := strings.Cut(s, "/")
	of, _ = strconv.Atoi(a)
	all, _ = strconv.Atoi(b)
	return of, all
}

// slice returns the part of a device that a profile has: its share of memory, bandwidth and peaks. What the driver
// reserves of a slice is not published, so the band of usable memory extends from half a GiB less to the whole share.
func (d Device) slice(profile string, r row) Device {
	memory := fraction(r.text("memory"))
	d.ID += "-" + profile
	d.Name += " MIG " + profile
	d.scale(portion{memory: memory, bandwidth: memory, compute: fraction(r.text("compute")), source: "nvidia-mig"})
	d.L2.Value, d.L2.Low, d.L2.High = share(d.L2.Value, memory), share(d.L2.Low, memory), share(d.L2.High, memory)
	d.Usable = d.Usable.band(d.Usable.Value-unit.GiB/2, d.Usable.High)
	d.Options, d.Dies, d.PerNode = nil, 0, fact(1, ledger.Exact, "nvidia-mig")
	d.Link = Link{} // slices cannot reach each other
	return d
}

// portion is the shares of a device that a slice has, with their source.
type portion struct {
	memory, bandwidth, compute float64
	source                     string
}

// scale reduces a device to its portion.
func (d *Device) scale(p portion) {
	for _, f := range []*Fact[unit.Bytes]{&d.Memory, &d.Usable, &d.Reported} {
		f.Value, f.Low, f.High = share(f.Value, p.memory), share(f.Low, p.memory), share(f.High, p.memory)
		f.Basis, f.Source = ledger.Derived, p.source
	}
	d.Bandwidth = scaled(d.Bandwidth, p.bandwidth, p.source)
	for _, f := range []*Fact[unit.FLOPRate]{&d.Peaks.FP32, &d.Peaks.TF32, &d.Peaks.FP16, &d.Peaks.BF16, &d.Peaks.FP8, &d.Peaks.FP4,
		&d.Peaks.INT8} {
		*f = scaled(*f, p.compute, p.source)
	}
	if d.SMs.Known {
		d.SMs.Value = int(float64(d.SMs.Value) * p.compute)
		d.SMs.Low, d.SMs.High = d.SMs.Value, d.SMs.Value
	}
}

func scaled[T ~float64](f Fact[T], by float64, source string) Fact[T] {
	if f.Known && by != 1 {
		f.Value, f.Low, f.High = T(float64(f.Value)*by), T(float64(f.Low)*by), T(float64(f.High)*by)
		f.Basis, f.Source = ledger.Derived, source
	}
	return f
}

// fraction parses "3/7".
func fraction(s string) float64 {
	a, b, _ := strings.Cut(s, "/")
	x, _ := strconv.ParseFloat(a, 64)
	y, _ := strconv.ParseFloat(b, 64)
	return x / max(1, y)
}
