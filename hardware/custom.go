package hardware

import (
	"strconv"
	"strings"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

// Keys of a custom device:
//
//	name        letters, digits, spaces and .-_ ; required
//	memory      what a program may use, unless usable says otherwise; required
//	usable      less than memory
//	bandwidth   of the memory
//	fp32 tf32 fp16 bf16 fp8 fp4 int8   dense peaks: 80TFLOPS, 600TOPS
//	pcie        5x16
//	arch        an architecture of the catalog, for the efficiencies of its family
//	vendor      nvidia, amd, intel, apple ...: engines choose their backend by it
//
// and of any machine:
//
//	link        name:rate between devices of a node; the rate counts both directions, as datasheets do
//	fabric      name:rate between nodes, per device, one direction
//	per-node    devices in a node
//	host nvme pool   size, or size@rate
//	cores       of the host
//
// usable and pcie may also follow devices of the catalog: the memory that a driver leaves, and the slot in use.

type option struct{ key, value string }

// machineKeys are handled by Machine.apply, all others by parseCustom.
var machineKeys = map[string]bool{"link": true, "fabric": true, "per-node": true, "host": true, "cores": true, "nvme": true, "pool": true}

// given is the source of figures stated in the question itself.
const given = "given"

// parseCustom parses a custom device and leaves the machine's keys in options.
func parseCustom(head string, options *[]option, devices int) (Machine, []Note, error) {
	count := max(1, devices)
	if n, _, ok := CountOf(head); ok {
		if n < 1 || n > MaxDevices {
			return Machine{}, nil, bad("hardware", head, "states a number out of bounds", "1 to 1,000,000")
		}
		if devices > 0 && devices != n {
			return Machine{}, nil, disagree(devices, n, head)
		}
		if count = n; len(*options) == 0 {
			return Machine{}, nil, bad("hardware", head, "counts devices and names none", head+"h100")
		}
	}
	d := Device{Form: "custom"}
	rest := (*options)[:0:0]
	seen := map[string]bool{}
	for _, o := range *options {
		if seen[o.key] {
			return Machine{}, nil, bad(o.key, o.value, "is given twice", "give it once")
		}
		seen[o.key] = true
		if machineKeys[o.key] {
			rest = append(rest, o)
			continue
		}
		if err := d.set(o); err != nil {
			return Machine{}, nil, err
		}
	}
	*options = rest
	if err := d.complete(); err != nil {
		return Machine{}, nil, err
	}
	// All in one node, unless per-node says otherwise.
	d.PerNode = fact(count, ledger.Assumed, given)
	m := Machine{Groups: []Group{{d, count}}, Name: counted(count, d.Name)}
	m.spread()
	m.join()
	return m, nil, nil
}

// complete checks that a device has all required figures.
func (d *Device) complete() error {
	switch {
	case d.Name == "":
		return bad("name", "", "is missing", "name=x")
	case !d.Memory.Known:
		return bad("memory", "", "is missing", "memory=24GiB")
	case d.Usable.Known && d.Usable.Value > d.Memory.Value:
		return bad("usable", d.Usable.Value.String(), "is more than memory", "at most "+d.Memory.Value.String())
	}
	d.ID = d.Name
	d.Usable = d.Usable.or(d.Memory)
	return nil
}

// set applies one key to a device.
func (d *Device) set(o option) error {
	var err error
	switch o.key {
	case "name":
		d.Name, err = deviceName(o)
	case "memory":
		d.Memory, err = givenSize(o)
	case "usable":
		d.Usable, err = givenSize(o)
	case "bandwidth":
		d.Bandwidth, err = givenRate(o)
	case "pcie":
		d.PCIe, err = givenPCIe(o)
	case "vendor":
		d.Vendor, err = givenVendor(o)
	case "arch":
		d.Architecture = strings.ToLower(o.value)
	default:
		peak := d.Peaks.field(o.key)
		if peak == nil {
			return bad(o.key, o.value, "is not a key of a device", nearKey(o.key))
		}
		*peak, err = givenPeak(o)
	}
	return err
}

// vendors are the accelerator vendors, spelled as in the catalog.
var vendors = []string{"NVIDIA", "AMD", "Intel", "Apple", "Google", "AWS", "Huawei", "Moore Threads"}

func givenVendor(o option) (string, error) {
	for _, v := range vendors {
		if strings.EqualFold(v, o.value) {
			return v, nil
		}
	}
	return "", bad(o.key, o.value, "makes no accelerator that is known", "one of "+strings.Join(vendors, ", "))
}

func deviceName(o option) (string, error) {
	const most = 64
	ok := o.value != "" && len(o.value) <= most
	for _, c := range o.value {
		ok = ok && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune(" .-_", c))
	}
	if !ok {
		return "", bad("name", o.value, "is not a name", "1 to 64 letters, digits, spaces and .-_")
	}
	return o.value, nil
}

// smallest is the least memory accepted: a number without a unit is in bytes, which is rarely meant.
const smallest = unit.MiB

func givenSize(o option) (Fact[unit.Bytes], error) {
	b, err := unit.ParseBytes(o.value)
	switch {
	case err != nil:
		return Fact[unit.Bytes]{}, bad(o.key, o.value, "is not a size", "a number with GB or GiB, such as 24GiB")
	case b == 0:
		return Fact[unit.Bytes]{}, bad(o.key, o.value, "is nothing", "more than zero, or leave it out")
	case b < smallest:
		return Fact[unit.Bytes]{}, bad(o.key, o.value, "is "+unit.Count(int64(b))+" bytes", "add a unit, such as 24GiB")
	}
	return fact(b, ledger.Exact, given), nil
}

func givenRate(o option) (Fact[unit.ByteRate], error) {
	r, err := unit.ParseByteRate(o.value)
	switch {
	case err != nil || float64(r) > 1e21:
		return Fact[unit.ByteRate]{}, bad(o.key, o.value, "is not a rate", "such as 900GB/s or 3.35TB/s")
	case r == 0:
		return Fact[unit.ByteRate]{}, bad(o.key, o.value, "is nothing", "more than zero, or leave it out")
	}
	return fact(r, ledger.Exact, given), nil
}

func givenPeak(o option) (Fact[unit.FLOPRate], error) {
	r, err := unit.ParseFLOPRate(o.value)
	switch {
	case err != nil || float64(r) > 1e24:
		return Fact[unit.FLOPRate]{}, bad(o.key, o.value, "is not a peak", "such as 80TFLOPS or 600TOPS, dense")
	case r == 0:
		return Fact[unit.FLOPRate]{}, bad(o.key, o.value, "is nothing", "more than zero, or leave it out")
	}
	return fact(r, ledger.Exact, given), nil
}

func givenPCIe(o option) (PCIe, error) {
	p, ok := parsePCIe(o.value)
	if !ok {
		return PCIe{}, bad(o.key, o.value, "is not a PCI Express connection", "generation and lanes, 3 to 6 and 1 to 32: 5x16")
	}
	return p, nil
}

func perNode(o option) (int, error) {
	n, err := strconv.Atoi(o.value)
	if err != nil || n < 1 || n > MaxDevices {
		return 0, bad(o.key, o.value, "is not a number of devices", "1 to 1,000,000")
	}
	return n, nil
}

// nearKey lists the keys closest in spelling to an unknown one, or all keys.
func nearKey(k string) string {
	keys := []string{"name", "memory", "usable", "bandwidth", "fp32", "tf32", "fp16", "bf16", "fp8", "fp4", "int8", "pcie", "arch",
		"vendor", "link", "fabric", "per-node", "host", "cores", "nvme", "pool", "mps"}
	var near []string
	for _, have := range keys {
		if distance(have, k, 2) <= 2 && len(k) > 2 {
			near = append(near, have)
		}
	}
	if len(near) > 0 {
		return "did you mean " + strings.Join(near, ", ") + "?"
	}
	return "the keys are " + strings.Join(keys, " ")
}
