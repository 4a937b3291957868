package card

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/unit"
)

// HardwareRow is a line of the list of devices.
type HardwareRow struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Vendor    string `json:"vendor"`
	Year      int    `json:"year,omitempty"`
	Memory    *Fact  `json:"memory"`
	Bandwidth *Fact  `json:"bandwidth"`
	BF16      *Fact  `json:"bf16"`
}

// Hardware is the card of a device.
type Hardware struct {
	HardwareRow
	Architecture string `json:"architecture"`
	Form         string `json:"form"`
	Capability   string `json:"capability,omitempty"`
	Kind         string `json:"memory_kind,omitempty"`
	// Reported is what the driver prints, Usable what a program may take.
	Reported *Fact `json:"reported"`
	Usable   *Fact `json:"usable"`
	// Sweep is the time to read all memory once; Ridge the FLOP per byte above which the device computes
	// rather than reads.
	Sweep       *Fact      `json:"sweep"`
	Ridge       *Fact      `json:"ridge"`
	Peaks       []Peak     `json:"peaks"`
	Link        string     `json:"link,omitempty"`
	LinkEachWay *Fact      `json:"link_each_way"`
	PCIe        string     `json:"pcie,omitempty"`
	PCIeEachWay *Fact      `json:"pcie_each_way"`
	SMs         *Fact      `json:"units"`
	L2          *Fact      `json:"l2"`
	SharedPerSM *Fact      `json:"shared"`
	TDP         *Fact      `json:"tdp"`
	Unified     string     `json:"unified,omitempty"`
	Attached    *Fact      `json:"attached_memory"`
	Holds       []Hold     `json:"holds,omitempty"`
	Rents       []Rent     `json:"rents,omitempty"`
	Conflicts   []Conflict `json:"conflicts,omitempty"`
	Note        string     `json:"note,omitempty"`
	Notes       []string   `json:"notes,omitempty"`
	// Why is filled by Explained.
	Why []Why `json:"why,omitempty"`
}

// Conflict is a figure on which sources differ: what the card says, and what another source says.
type Conflict struct {
	Figure string `json:"figure"`
	Ours   *Fact  `json:"ours"`
	Theirs *Fact  `json:"theirs"`
	Why    string `json:"why,omitempty"`
}

// Peak is a dense rate of arithmetic.
type Peak struct {
	Format string `json:"format"`
	Rate   *Fact  `json:"rate"`
}

// Hold is whether the device alone holds a model at 8k for one user.
type Hold struct {
	Words   string          `json:"words"`
	Model   string          `json:"model"`
	Weights string          `json:"weights"`
	Verdict memwall.Verdict `json:"verdict"`
}

// Rent is the hourly rental price of one device.
type Rent struct {
	USD      float64 `json:"usd_per_device_hour"`
	Kind     string  `json:"kind"`
	Provider string  `json:"provider"`
	Node     string  `json:"node,omitempty"`
	Date     string  `json:"date,omitempty"`
}

// Devices returns the catalog's devices that match a filter, in catalog order.
func Devices(filter string) []HardwareRow {
	var out []HardwareRow
	for _, d := range hardware.All() {
		if matches(filter, d.ID, d.Name, d.Vendor, d.Architecture, d.Form, d.Kind) {
			out = append(out, hardwareRow(&d))
		}
	}
	return out
}

func hardwareRow(d *hardware.Device) HardwareRow {
	memory := d.Memory
	if !memory.Known {
		memory = d.MaxMemory
	}
	bf16 := d.Peaks.BF16
	if !bf16.Known {
		bf16 = d.Peaks.FP16
	}
	return HardwareRow{ID: d.ID, Name: d.Name, Vendor: d.Vendor, Year: d.Year, Memory: factOf(memory, "B"),
		Bandwidth: factOf(d.Bandwidth, "B/s"), BF16: factOf(bf16, "FLOP/s")}
}

// HardwareOf returns the card of a named device, or of a custom one: name=x,memory=24GiB,...
func HardwareOf(src memwall.ModelSource, name string) (*Hardware, error) {
	d, notes, err := hardware.One(name)
	if err != nil {
		return nil, err
	}
	h := &Hardware{HardwareRow: hardwareRow(d), Architecture: d.Architecture, Form: d.Form, Capability: d.Capability, Kind: d.Kind,
		Reported: factOf(d.Reported, "B"), Usable: factOf(d.Usable, "B"), Link: d.Link.Name, LinkEachWay: factOf(d.Link.EachWay, "B/s"),
		SMs: factOf(d.SMs, ""), L2: factOf(d.L2, "B"), SharedPerSM: factOf(d.SharedPerSM, "B"), TDP: factOf(d.TDP, "W"), Note: d.Note}
	if d.PCIe.Gen > 0 {
		h.PCIe, h.PCIeEachWay = fmt.Sprintf("PCIe %d × %d", d.PCIe.Gen, d.PCIe.Lanes), factOf(d.PCIe.EachWay, "B/s")
	}
	if d.Unified != nil {
		h.Unified = d.Unified.Raise
	}
	if d.Attached != nil {
		h.Attached = factOf(d.Attached.Memory, "B")
	}
	for _, n := range notes {
		h.Notes = append(h.Notes, n.Text)
	}
	h.rates(d)
	for _, c := range hardware.Conflicts(d) {
		h.Conflicts = append(h.Conflicts, Conflict{c.Figure, factOf(c.Ours, c.Unit), factOf(c.Theirs, c.Unit), c.Why})
	}
	h.Rents = rents(d.ID)
	h.Holds = holds(src, name)
	return h, nil
}

func (h *Hardware) rates(d *hardware.Device) {
	for _, f := range []string{"bf16", "fp16", "tf32", "fp32", "fp8", "int8", "fp4"} {
		h.Peaks = append(h.Peaks, Peak{f, factOf(d.Peaks.At(f), "FLOP/s")})
	}
	if d.Memory.Known && d.Bandwidth.Known {
		h.Sweep = &Fact{Value: float64(d.Memory.Value.Transfer(d.Bandwidth.Value)), Unit: "s",
			Basis: max(d.Memory.Basis, d.Bandwidth.Basis), Source: "memory / bandwidth"}
	}
	if d.Peaks.BF16.Known && d.Bandwidth.Known {
		h.Ridge = &Fact{Value: float64(d.Peaks.BF16.Value) / float64(d.Bandwidth.Value), Unit: "FLOP/B",
			Basis: max(d.Peaks.BF16.Basis, d.Bandwidth.Basis), Source: "bf16 peak / bandwidth"}
	}
}

// rents gives the newest on-demand prices, one for each provider, at most three.
func rents(id string) (out []Rent) {
	newest := map[string]hardware.Price{}
	var order []string
	for _, p := range hardware.Prices(id) {
		if p.PerHour == 0 || p.Kind != "on-demand" {
			continue
		}
		have, seen := newest[p.Provider]
		if !seen {
			order = append(order, p.Provider)
		}
		if !seen || p.Date > have.Date || p.Date == have.Date && p.PerDeviceHour() < have.PerDeviceHour() {
			newest[p.Provider] = p
		}
	}
	for _, provider := range order[:min(len(order), 3)] {
		p := newest[provider]
		out = append(out, Rent{USD: float64(p.PerDeviceHour()), Kind: p.Kind, Provider: p.Provider, Node: p.Node, Date: p.Date})
	}
	return out
}

// tried are the plans that a card asks about.
var tried = []Hold{
	{Words: "8B bf16", Model: "llama-3.1-8b", Weights: "bf16"},
	{Words: "32B bf16", Model: "qwen3-32b", Weights: "bf16"},
	{Words: "32B q4_k_m", Model: "qwen3-32b", Weights: "q4_k_m"},
	{Words: "70B fp8", Model: "llama-3.1-70b", Weights: "fp8"},
	{Words: "70B awq", Model: "llama-3.1-70b", Weights: "awq"},
	{Words: "70B q4_k_m", Model: "llama-3.1-70b", Weights: "q4_k_m"},
	{Words: "70B bf16", Model: "llama-3.1-70b", Weights: "bf16"},
}

// holds asks which of some models the device holds alone; what no engine answers is left out.
func holds(src memwall.ModelSource, id string) (out []Hold) {
	asker := memwall.Asker{Models: src}
	for _, h := range tried {
		r := &memwall.Request{Ask: "fit", Model: h.Model, Hardware: id}
		r.Weights = h.Weights
		a, err := asker.Size(r)
		if err != nil || a.Verdict == memwall.Unknown {
			continue
		}
		h.Verdict = a.Verdict
		out = append(out, h)
	}
	return out
}

// Node is the card of a machine rented or sold as a whole.
type Node struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	Provider     string `json:"provider"`
	Device       string `json:"device"`
	Devices      int    `json:"devices"`
	Intra        string `json:"intra,omitempty"`
	IntraEachWay *Fact  `json:"intra_each_way"`
	Inter        string `json:"inter,omitempty"`
	InterEachWay *Fact  `json:"inter_each_way_per_device"`
	Host         *Fact  `json:"host_memory"`
	Cores        *Fact  `json:"host_cores"`
	NVMe         *Fact  `json:"nvme"`
	Rents        []Rent `json:"rents,omitempty"`
	Note         string `json:"note,omitempty"`
}

// NodeOf returns the card of a node; nil if there is none of the name.
func NodeOf(name string) *Node {
	n, ok := hardware.FindNode(name)
	if !ok {
		return nil
	}
	return &Node{ID: n.ID, Name: n.Name, Provider: n.Provider, Device: n.Device, Devices: n.Devices,
		Intra: n.Intra.Name, IntraEachWay: factOf(n.Intra.EachWay, "B/s"), Inter: n.Inter.Name,
		InterEachWay: factOf(n.Inter.EachWay, "B/s"),
		Host:         factOf(n.Host.Memory, "B"), Cores: factOf(n.Host.Cores, ""), NVMe: factOf(n.NVMe, "B"), Rents: rents(n.ID),
		Note: n.Note}
}

// Nodes returns the catalog's nodes that match a filter.
func Nodes(filter string) []Node {
	var out []Node
	for _, n := range hardware.Nodes() {
		if strings.TrimSpace(filter) != "" && matches(filter, n.ID, n.Name, n.Provider, n.Device) {
			out = append(out, *NodeOf(n.ID))
		}
	}
	return out
}

// Bytes of a fact in bytes; 0 when unknown.
func (f *Fact) Bytes() unit.Bytes {
	if f == nil {
		return 0
	}
	return unit.Bytes(f.Value)
}
