package detect

import (
	"fmt"
	"math"
	"strings"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/topology"
	"github.com/memwall/memwall/unit"
)

// device is an accelerator as reported by its driver. Unreported sizes are 0.
type device struct {
	vendor, name string
	index        int
	uuid         string
	chip, bus    string // number of the chip, and bus address
	pcie         string // "4x16"
	memory, used unit.Bytes
	told         bool // usage is reported
	// usable is memory less the driver's reserve, or the owner's limit.
	usable unit.Bytes
	// shared is host memory lent by the driver, sharedUsed the part in use.
	shared, sharedUsed unit.Bytes
	users              []card.User
	slice              *smiInstance // the part of a card available to a program
	cores              int          // of the GPU
}

// known is a device with its catalog row; row is nil if there is none.
type known struct {
	device
	row *hardware.Device
}

// local describes what was seen in the syntax of --on.
func local(s *seen) *card.Local {
	l := &card.Local{Processor: s.cpu, Host: s.host, Notes: s.notes}
	devices := recognised(s, l)
	if len(devices) == 0 && len(s.graphics) > 0 {
		l.Notes = append(l.Notes, fmt.Sprintf("the graphics of the processor (%s) are left out", strings.Join(s.graphics, ", ")))
	}
	head, keys := headOf(devices, s.link, l)
	for i := range devices {
		l.Devices = append(l.Devices, devices[i].card())
	}
	if len(devices) > 1 {
		l.Link = s.link.Text
	}
	l.Reserved, l.InUse = inUse(devices, s.host)
	l.Words, l.Idle = withHost(head, keys, devices, s)
	l.CPUWords, l.IdleCPU = withHost("", nil, nil, s)
	return l
}

// recognised looks up the devices in the catalog, and keeps those that one program uses together: of one vendor, whole cards before
// partitions.
func recognised(s *seen, l *card.Local) []known {
	var all []known
	for _, d := range s.devices {
		k := known{d, row(&d)}
		k.share(s.host)
		all = append(all, k)
	}
	all = oneMaker(all, l)
	whole := 0
	for _, k := range all {
		if k.slice == nil {
			all[whole], whole = k, whole+1
		}
	}
	if whole > 0 && whole < len(all) {
		l.Notes = append(l.Notes, "MIG instances beside whole cards are left out")
		return all[:whole]
	}
	if whole == 0 && len(all) > 1 {
		best := all[0]
		for _, k := range all[1:] {
			if k.memory > best.memory {
				best = k
			}
		}
		l.Notes = append(l.Notes, "a program has one MIG instance: the largest of all cards is taken")
		return []known{best}
	}
	return all
}

// oneMaker keeps the devices of the vendor with the most memory.
func oneMaker(all []known, l *card.Local) []known {
	sum := map[string]unit.Bytes{}
	best := ""
	for _, k := range all {
		sum[k.vendor] += max(1, k.memory)
		if best == "" || sum[k.vendor] > sum[best] {
			best = k.vendor
		}
	}
	if len(sum) < 2 {
		return all
	}
	var out []known
	for _, k := range all {
		if k.vendor == best {
			out = append(out, k)
		} else {
			l.Notes = append(l.Notes, fmt.Sprintf("%s is left out: engines use devices of one maker, here %s", k.name, best))
		}
	}
	return out
}

// row returns the catalog row of a device; nil if there is none of that name and memory. Memory distinguishes variants of a name.
func row(d *device) *hardware.Device {
	name := d.name
	if d.vendor == "Apple" {
		name = appleWords(d)
	}
	tries := []string{name}
	if d.vendor != "Apple" && d.memory > 0 {
		tries = []string{fmt.Sprintf("%s %dGB", name, int64(math.Round(d.memory.GiB()))), name}
	}
	if d.slice != nil {
		tries = []string{name}
	}
	for _, t := range tries {
		if r, _, err := hardware.Find(t); err == nil && !r.IsCPU() && (d.slice != nil || has(r, d.memory)) {
			return r
		}
	}
	return nil
}

// has reports whether a device with this much memory may be the row's; drivers report 92 to 101 % of the nominal size.
func has(r *hardware.Device, memory unit.Bytes) bool {
	if memory == 0 || r.Unified != nil {
		return true
	}
	for _, size := range append(r.Options, r.Memory.Value, r.Reported.Value) {
		if size > 0 && float64(memory) > 0.92*float64(size) && float64(memory) < 1.01*float64(size) {
			return true
		}
	}
	return false
}

func catalogued(name string) bool {
	r, _, err := hardware.Find(name)
	return err == nil && !r.IsCPU()
}

// apuOf returns the catalog name of a processor whose GPU shares its memory; "" for others.
func apuOf(cpu string) string {
	name := strings.NewReplacer("+", "", "amd ", "").Replace(strings.ToLower(wordsAround.ReplaceAllString(cpu, "")))
	r, _, err := hardware.Find(strings.TrimSpace(name))
	if err != nil || r.Unified == nil {
		return ""
	}
	return r.ID
}

// share sets the memory of a device without its own: what the driver lends, or all of the host's.
func (k *known) share(host *card.LocalHost) {
	if k.row == nil || k.row.Unified == nil || k.vendor == "Apple" {
		k.foldReserve()
		return
	}
	switch {
	case k.shared > 0:
		k.usable, k.used = max(k.memory, k.shared), k.used+k.sharedUsed
		k.memory = k.usable
	case host != nil && k.memory == 0:
		k.memory, k.used = bound(host), host.Used
		k.usable = k.memory
	}
}

// foldReserve subtracts the driver's reserve from usage if the driver does not separate them.
func (k *known) foldReserve() {
	if k.vendor == "NVIDIA" && k.usable == 0 && k.slice == nil && k.row != nil && k.row.Usable.Known {
		kept := max(0, k.row.Reported.Value-k.row.Usable.Value)
		k.used = max(0, k.used-kept)
	}
}

func (k *known) card() card.LocalDevice {
	d := card.LocalDevice{Name: k.name, Memory: k.memory, Users: biggest(k.users), PCIe: k.pcie}
	if k.told || k.used > 0 {
		d.Used = &k.used
	}
	if k.row != nil {
		d.ID = k.row.ID
	}
	if k.slice != nil {
		d.Name += " MIG"
	}
	return d
}

// headOf names the devices and returns the keys that the catalog does not determine.
func headOf(devices []known, ln topology.Link, l *card.Local) (head string, keys []string) {
	if len(devices) == 0 {
		return "", nil
	}
	first := &devices[0]
	if first.slice != nil {
		return first.sliced(l), nil
	}
	groups := grouped(devices)
	if len(groups) == 1 && first.row == nil {
		if first.memory == 0 {
			l.Notes = append(l.Notes, fmt.Sprintf("%s is not in the catalog and its memory is not known: it is left out", first.name))
			return "", nil
		}
		return counted(len(devices), first.custom()), nil
	}
	var names []string
	for _, g := range groups {
		if g.row == nil {
			l.Notes = append(l.Notes, fmt.Sprintf("%s is not in the catalog and is left out beside the others", g.name))
			continue
		}
		names = append(names, counted(g.count, wordOf(&g.known)))
	}
	if len(groups) == 1 {
		return strings.Join(names, "+"), first.keys(devices, ln)
	}
	for i := range groups {
		if g := &groups[i]; g.row != nil {
			unsaidKeys(&g.known, l)
		}
	}
	return strings.Join(names, "+"), nil
}

// unsaidKeys remarks on what cannot be expressed for one of several kinds.
func unsaidKeys(k *known, l *card.Local) {
	if keys := k.keys([]known{*k}, topology.Link{}); len(keys) > 0 {
		l.Notes = append(l.Notes, fmt.Sprintf("%s has %s here, which cannot be said of one kind among several: the catalog's figures stand",
			k.name, strings.Join(keys, " and ")))
	}
}

func wordOf(k *known) string {
	if k.vendor == "Apple" {
		return appleWords(&k.device)
	}
	return k.row.ID
}

// like are consecutive devices of one kind.
type like struct {
	known
	count int
}

func grouped(devices []known) (out []like) {
	for _, k := range devices {
		n := len(out)
		if n > 0 && wordsAlike(&out[n-1].known, &k) {
			out[n-1].count++
			continue
		}
		out = append(out, like{k, 1})
	}
	return out
}

func wordsAlike(a, b *known) bool {
	if a.row == nil || b.row == nil {
		return a.row == nil && b.row == nil && a.name == b.name
	}
	return a.row.ID == b.row.ID
}

func counted(n int, word string) string {
	if n == 1 {
		return word
	}
	return fmt.Sprintf("%dx%s", n, word)
}

// custom describes a device that is not in the catalog, by its memory.
func (k *known) custom() string {
	words := fmt.Sprintf("name=%s,vendor=%s,memory=%s", plainName(k.name), strings.ToLower(k.vendor), exactly(k.memory))
	if k.usable > 0 && k.usable < k.memory {
		words += ",usable=" + exactly(k.usable)
	}
	return words
}

// sliced describes a MIG instance: its memory as reported, and its share of the card's rates. Memory and its bandwidth are divided
// in eighths; multiprocessors are counted.
func (k *known) sliced(l *card.Local) string {
	words := fmt.Sprintf("name=%s MIG %dGB,vendor=nvidia,memory=%s", plainName(k.name), int64(math.Round(k.memory.GiB())),
		exactly(k.memory))
	if k.row == nil || !k.row.Memory.Known || !k.row.Bandwidth.Known || k.memory == 0 {
		return words
	}
	eighths := max(1, math.Round(8*float64(k.memory)/float64(k.row.Memory.Value)))
	words += fmt.Sprintf(",bandwidth=%.0fGB/s", float64(k.row.Bandwidth.Value)/1e9*eighths/8)
	if sms, ok := small(strings.TrimSpace(k.slice.SMs)); ok && k.row.SMs.Known && k.row.Peaks.BF16.Known {
		words += fmt.Sprintf(",bf16=%.4gTFLOPS", float64(k.row.Peaks.BF16.Value)/1e12*float64(sms)/float64(k.row.SMs.Value))
		l.Notes = append(l.Notes, fmt.Sprintf("rates of the instance are derived: %.0f eighths of the memory's, %d of %d multiprocessors",
			eighths, sms, k.row.SMs.Value))
	}
	return words + ",arch=" + k.row.Architecture
}

// keys returns what this machine's driver and slots report differently from the catalog.
func (k *known) keys(devices []known, ln topology.Link) (out []string) {
	usable, pcie := devices[0].usable, devices[0].pcie
	for _, d := range devices[1:] {
		usable = min(usable, d.usable)
		pcie = slower(pcie, d.pcie)
	}
	if u := k.row.Usable; usable > 0 && usable <= memoryOf(k.row) && (k.row.Unified != nil || usable < u.Low || usable > u.High) {
		out = append(out, "usable="+exactly(usable))
	}
	if pcie != "" && k.row.PCIe.Lanes > 0 && pcie != fmt.Sprintf("%dx%d", k.row.PCIe.Gen, k.row.PCIe.Lanes) {
		out = append(out, "pcie="+pcie)
	}
	if len(devices) > 1 {
		out = append(out, linkKey(k.row, ln)...)
	}
	return out
}

func memoryOf(r *hardware.Device) unit.Bytes {
	m := r.Memory.Value
	for _, o := range r.Options {
		m = max(m, o)
	}
	return m
}

// slower returns the slower of two links; "" if one is unknown.
func slower(a, b string) string {
	if lanesRate(b) < lanesRate(a) {
		return b
	}
	return a
}

// lanesRate returns a link's relative rate: lanes times 2 to the generation.
func lanesRate(s string) (r int) {
	var gen, lanes int
	if n, _ := fmt.Sscanf(s, "%dx%d", &gen, &lanes); n != 2 || gen > 8 {
		return 0
	}
	return lanes << gen
}

// linkKey returns the key needed if the links differ from what the catalog assumes: NVLink bridges present, or NVLink absent.
func linkKey(r *hardware.Device, ln topology.Link) []string {
	bridge := strings.Contains(r.Link.Name, "bridge")
	own := r.Link.EachWay.Known && r.Vendor == "NVIDIA"
	switch {
	case own && bridge && ln.Kind == "nvlink":
		return []string{fmt.Sprintf("link=nvlink:%gGB/s", 2*float64(r.Link.EachWay.Value)/1e9)}
	case own && !bridge && (ln.Kind == "pcie" || ln.Kind == "pairs") && r.PCIe.EachWay.Known:
		return []string{fmt.Sprintf("link=pcie:%gGB/s", math.Round(20*float64(r.PCIe.EachWay.Value)/1e9)/10)}
	}
	return nil
}

// withHost adds the processor and its memory: the amount free, and the total.
func withHost(head string, keys []string, devices []known, s *seen) (words, idle string) {
	if s.cpu != nil && s.cpu.ID != "" && head != "" && !strings.Contains(head, "=") && !unified(devices) {
		head += "+" + counted(s.cpu.Sockets, s.cpu.ID)
	}
	if head == "" {
		if s.host == nil {
			return "", ""
		}
		head, keys = cpuWord(s.cpu)
	}
	words = strings.Join(append([]string{head}, keys...), ",")
	if s.host == nil || unified(devices) {
		return words, words
	}
	return words + ",host=" + roughly(s.host.Free), words + ",host=" + roughly(bound(s.host))
}

// cpuWord names the processor, or gives its cores if the catalog does not know it.
func cpuWord(c *card.Processor) (head string, keys []string) {
	switch {
	case c != nil && c.ID != "":
		return counted(c.Sockets, c.ID), nil
	case c != nil && c.Cores > 0:
		return "cpu", []string{fmt.Sprintf("cores=%d", c.Cores)}
	}
	return "cpu", nil
}

// unified reports whether the devices' memory is the host's.
func unified(devices []known) bool {
	return len(devices) > 0 && devices[0].row != nil && devices[0].row.Unified != nil
}

// bound returns the host's memory, within the control group's limit.
func bound(h *card.LocalHost) unit.Bytes {
	if h.Limit > 0 {
		return h.Limit
	}
	return h.Total
}

// exactly formats a size in whole MiB, or in bytes.
func exactly(b unit.Bytes) string {
	if b%unit.MiB == 0 {
		return fmt.Sprintf("%dMiB", b/unit.MiB)
	}
	return fmt.Sprintf("%d", b)
}

// roughly formats a size in whole GiB or MiB, rounded down, since a host's free memory fluctuates.
func roughly(b unit.Bytes) string {
	if b >= 4*unit.GiB {
		return fmt.Sprintf("%dGiB", b/unit.GiB)
	}
	return fmt.Sprintf("%dMiB", max(1, b/unit.MiB))
}

// plainName keeps the characters that the grammar allows in a name.
func plainName(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune(" .-_", r) {
			return r
		}
		return -1
	}, name)
	clean = strings.TrimSpace(clean[:min(len(clean), 50)])
	if clean == "" {
		return "device"
	}
	return clean
}
