package cause

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/diagnose"
	"github.com/memwall/memwall/unit"
)

// Confidence in a cause.
const (
	ConfidenceHigh   = "high"
	confidenceMedium = "medium"
	ConfidenceLow    = "low"
)

// reason is why a program ran out of memory, with its confidence.
type reason struct{ text, confidence string }

// cause returns the first reason that applies: what the message's figures prove, then what the ledger says, then what the message's
// words suggest.
func (p *failed) cause(matches []api.Match) reason {
	f := p.first
	for _, r := range []reason{{overflowed(f), ConfidenceHigh}, {carvedOut(f), ConfidenceHigh}, {stated(p.report, f), ConfidenceHigh},
		largerThanAll(f, matches), usedByOthers(f), inPieces(f, matches),
		p.oneAllocation(matches), p.byLedger(), byPlace(f), isFull(f)} {
		if r.text != "" {
			return r
		}
	}
	return reason{withoutFigures(f), ConfidenceLow}
}

// overflowed explains sizes that no tensor has.
func overflowed(f *diagnose.Finding) string {
	if !f.Overflowed {
		return ""
	}
	return "the size that was asked for is beyond any memory: a shape is wrong or overflowed, and nothing lacks"
}

// carvedOut explains an integrated GPU that sees only the memory reserved by the firmware.
func carvedOut(f *diagnose.Finding) string {
	if f.Backend != "hip" || !f.Capacity.Known || f.Capacity.Bytes > mostCarvedOut {
		return ""
	}
	return fmt.Sprintf("the device has %s: a graphics unit of the processor, which here sees only what the BIOS sets aside for it",
		f.Capacity.Bytes)
}

// mostCarvedOut is less than any card that ROCm runs on has.
const mostCarvedOut = 2 * unit.GiB

// stated returns causes that the message states itself.
func stated(report *diagnose.Report, f *diagnose.Finding) string {
	switch f.Kind {
	case diagnose.KVCacheTooSmall:
		return cacheCause(f)
	case diagnose.BudgetAboveFree:
		return budgetCause(f)
	case diagnose.AllocationLimit:
		return "one buffer" + sizeText(f.Requested) + " is larger than the driver gives at once" + limitText(f.Limit) +
			"; the whole memory may well be enough"
	case diagnose.ContainerLimit:
		of, by := "its container", "the kernel killed it"
		if slices.Contains(batchSystems, f.Engine) {
			of = "its job"
		}
		if slices.Contains(batchSystems[1:], f.Engine) {
			by = "the batch system ended it"
		}
		return "the process reached the memory limit of " + of + limitText(f.Limit) + inUseText(f.InUse) + "; " + by
	case diagnose.HostKilled:
		return "the host" + sizeText(f.Capacity) + " ran out of memory and a process was killed" + inUseText(f.InUse)
	case diagnose.SharedMemory:
		switch {
		case f.Engine == "ray":
			return "the store of objects in shared memory is full"
		case f.Limit.Known:
			return "the shared memory of the container is full" + limitText(f.Limit)
		}
		return "the shared memory of the container (/dev/shm) is full: 64 MiB unless it was given more"
	case diagnose.Growth:
		return growthCause(report)
	}
	if f.Kind == diagnose.MemoryPressure && f.Allocated.Known && f.Limit.Known {
		return fmt.Sprintf("what is held, %s, is close to the %s that the system keeps in memory for the GPU", f.Allocated.Bytes,
			f.Limit.Bytes)
	}
	if f.Kind == diagnose.HostMemory && f.Engine == "lm-studio" {
		return "LM Studio's guard stopped the load: by its own estimate the computer lacks memory" + sizeText(f.Requested)
	}
	if text, ok := plainCauses[f.Kind]; ok {
		return fmt.Sprintf(text, sizeText(f.Requested), limitText(f.Limit))
	}
	if f.Kind == diagnose.HostMemory && f.Free.Known && f.Requested.Known {
		return fmt.Sprintf("%s of host memory are needed and %s are free; in a container the limit of the container counts",
			f.Requested.Bytes, f.Free.Bytes)
	}
	return ""
}

// batchSystems kill jobs at the memory limit they requested; Slurm leaves it to the kernel.
var batchSystems = []string{"slurm", "lsf", "pbs", "condor"}

// plainCauses need no figures; the first verb takes the request, the second the limit.
var plainCauses = map[diagnose.Kind]string{
	diagnose.KVCacheFull:    "the KV cache is full: requests wait or are computed again, none fails%[1]s%[2]s",
	diagnose.MemoryPressure: "the allocator gives memory back and takes it again: the device is almost full%[1]s%[2]s",
	diagnose.PinnedMemory: "the host gave no page-locked memory%[1]s: a limit of the driver or of ulimit -l; programs that can go on " +
		"without are slower%[2]s",
	diagnose.KernelResources: "the shared memory%[1]s that a kernel wants is more than one processor of the device has%[2]s: no lack of " +
		"device memory",
	diagnose.ContextLength: "the request is longer than the server takes: no lack of memory%[1]s%[2]s",
	diagnose.DiskFull:      "the disk is full, not the memory%[1]s%[2]s",
	diagnose.LockLimit:     "pages may not be locked%[1]s: a limit of the shell or the container%[2]s; the program goes on without",
	diagnose.WorkspaceSize: "a buffer of fixed size is too small%[1]s: no lack of device memory%[2]s",
	diagnose.FixedPool:     "a pool of fixed size is full%[1]s, which the program made for itself: no lack of memory%[2]s",
	diagnose.BadAccess:     "a kernel reached outside of its memory: a fault of a program, and no lack of memory%[1]s%[2]s",
	diagnose.Unscheduled:   "no node has as much memory free as the pod's requests ask for%[1]s%[2]s",
	diagnose.Disturbed:     "other processes gave memory back while the engine measured: no lack of memory%[1]s%[2]s",
}

func sizeText(a diagnose.Amount) string {
	if !a.Known {
		return ""
	}
	return " of " + a.Bytes.String()
}

func limitText(a diagnose.Amount) string {
	if !a.Known {
		return ""
	}
	return fmt.Sprintf(" (at most %s)", a.Bytes)
}

func inUseText(a diagnose.Amount) string {
	if !a.Known {
		return ""
	}
	return fmt.Sprintf(", holding %s", a.Bytes)
}

// cacheCause explains that the remaining memory holds less than one sequence.
func cacheCause(f *diagnose.Finding) string {
	switch {
	case f.Requested.Known && f.Free.Known && f.Needed > 0:
		return fmt.Sprintf("the KV cache of one sequence of %s tokens takes %s, and %s are left after weights and activations",
			unit.Count(f.Needed), f.Requested.Bytes, f.Free.Bytes)
	case f.Needed > 0 && f.Available > 0 && f.Place == diagnose.Graphs:
		return fmt.Sprintf("%s sequences at once are allowed, and the memory left after weights and activations holds the states of %s",
			unit.Count(f.Needed), unit.Count(f.Available))
	case f.Needed > 0 && f.Available > 0:
		return fmt.Sprintf("a sequence of %s tokens is allowed, and the memory left after weights and activations holds %s",
			unit.Count(f.Needed), unit.Count(f.Available))
	}
	if f.Others.Known && f.Requested.Known && f.Others.Bytes >= f.Requested.Bytes {
		return fmt.Sprintf("weights and activations take %s more than the share that other processes leave, which hold %s of the device",
			f.Requested.Bytes, f.Others.Bytes)
	}
	if f.Engine == "sglang" && f.Share > 0 {
		return fmt.Sprintf("weights alone are %.0f %% of the device: the static share leaves nothing for the KV cache", 100*f.Share)
	}
	return "weights and activations leave nothing of the engine's share for the KV cache"
}

func budgetCause(f *diagnose.Finding) string {
	if !f.Free.Known || !f.Requested.Known {
		return "other processes hold a part of the device's memory that the engine counts on"
	}
	text := fmt.Sprintf("the engine's share is %s and %s are free when it starts", f.Requested.Bytes, f.Free.Bytes)
	if f.Capacity.Known {
		text += fmt.Sprintf(": others hold %s", f.Capacity.Bytes-f.Free.Bytes)
	}
	return text
}

func growthCause(r *diagnose.Report) string {
	for _, s := range r.Series {
		if s.Grows {
			return fmt.Sprintf("%s rises from %s to %s over %s prints and has not stopped", s.Name, s.First, s.Last, unit.Count(s.Samples))
		}
	}
	return ""
}

// largerThanAll explains a single allocation that is larger than the device, which no change of plan fits.
func largerThanAll(f *diagnose.Finding, matches []api.Match) reason {
	if !f.Requested.Known || !f.Capacity.Known || f.Requested.Bytes <= f.Capacity.Bytes {
		return reason{}
	}
	if f.Backend == "tpu" { // the compiler sums what the whole program needs
		return reason{fmt.Sprintf("the program uses %s of the device's %s", f.Requested.Bytes, f.Capacity.Bytes), ConfidenceHigh}
	}
	return reason{fmt.Sprintf("one allocation of %s is larger than the whole device (%s)%s", f.Requested.Bytes, f.Capacity.Bytes,
		allocationName(matches)), ConfidenceHigh}
}

// allocationName returns the allocation of that size, if there is one.
func allocationName(matches []api.Match) string {
	if len(matches) == 0 {
		return ""
	}
	return ": " + matches[0].Name
}

// usedByOthers explains a request that would have fit without the other processes.
func usedByOthers(f *diagnose.Finding) reason {
	short, others := missingBytes(f), others(f)
	if short != nil && others >= *short && !nothingOwn(f) {
		return reason{fmt.Sprintf("other processes hold %s of the device's %s; %s were missing", others, f.Capacity.Bytes, *short),
			ConfidenceHigh}
	}
	if nothingOwn(f) {
		return reason{fmt.Sprintf("this process holds nothing and %s of %s are free: another process holds the rest", f.Free.Bytes,
			f.Capacity.Bytes), ConfidenceHigh}
	}
	return reason{}
}

// nothingOwn reports whether the process holds no tensor while the device is not free.
func nothingOwn(f *diagnose.Finding) bool {
	return f.Capacity.Known && f.Free.Known && f.Allocated.Known && f.Allocated.Bytes == 0 && f.Free.Bytes < f.Capacity.Bytes
}

// others returns what other processes hold: as listed in the message, else what is neither free nor this process's. Below a tenth
// of the device it is attributed to drivers.
func others(f *diagnose.Finding) unit.Bytes {
	b := f.Others.Bytes
	if !f.Others.Known && f.InUse.Known && f.Free.Known && f.Capacity.Known {
		b = f.Capacity.Bytes - f.InUse.Bytes - f.Free.Bytes
	}
	if nothingOwn(f) {
		b = f.Capacity.Bytes - f.Free.Bytes
	}
	if b*10 < f.Capacity.Bytes {
		return 0
	}
	return b
}

// fragmented reports whether the allocator's unused memory covers the request, and exceeds the usual remainder on a full device.
func fragmented(f *diagnose.Finding) bool {
	covers := f.Unallocated.Known && f.Requested.Known && f.Unallocated.Bytes >= f.Requested.Bytes
	return covers && missingBytes(f) != nil && f.Unallocated.Bytes*oddsAndEnds >= f.Capacity.Bytes
}

// oddsAndEnds is the divisor of the device's size below which unused memory is normal on a full device.
const oddsAndEnds = 20

func inPieces(f *diagnose.Finding, matches []api.Match) reason {
	if !fragmented(f) {
		return reason{}
	}
	text := fmt.Sprintf("fragmented: PyTorch keeps %s that nothing uses, in pieces smaller than the %s asked for", f.Unallocated.Bytes,
		f.Requested.Bytes)
	return reason{text + allocationName(matches), ConfidenceHigh}
}

// oneAllocation explains a request equal in size to a tensor of the plan.
func (p *failed) oneAllocation(matches []api.Match) reason {
	if len(matches) == 0 {
		return reason{}
	}
	m := &matches[0]
	switch {
	case m.Solved:
		return reason{fmt.Sprintf("%s of %s tokens: %s = %s", m.Name, unit.Count(m.Tokens), bareFormula(m.Formula), m.Bytes), ConfidenceLow}
	case m.Exact && p.unambiguous(matches):
		return reason{fmt.Sprintf("%s%s exactly", m.Name, equation(m)), ConfidenceHigh}
	case m.Exact:
		return reason{fmt.Sprintf("%s%s; %d more of the plan's allocations have that size", m.Name, equation(m), len(matches)-1),
			confidenceMedium}
	}
	return reason{fmt.Sprintf("%s, %s by our count", m.Name, m.Bytes), confidenceMedium}
}

func equation(m *api.Match) string {
	if m.Formula == "" || m.Item {
		return " of " + m.Bytes.String()
	}
	return fmt.Sprintf(": %s = %s", bareFormula(m.Formula), m.Bytes)
}

// bareFormula removes what a formula's numbers count.
func bareFormula(s string) string {
	return strings.NewReplacer(" sequences", "", " tokens", "").Replace(s)
}

// unambiguous reports whether no other allocation has the size except part of the first, or the first is at the place of failure.
func (p *failed) unambiguous(matches []api.Match) bool {
	first, n := matches[0].Name, 0
	for _, m := range matches {
		n += btoi(m.Exact && !strings.HasPrefix(m.Name, first))
	}
	if n == 0 {
		return true
	}
	for _, x := range p.allocations() {
		if x.name == matches[0].Name {
			return x.place == p.first.Place
		}
	}
	return false
}

// byLedger explains that the plan does not fit by its own ledger.
func (p *failed) byLedger() reason {
	if p.base == nil || len(p.base.Devices) == 0 || p.first.Device == "host" {
		return reason{}
	}
	dev := &p.base.Devices[0]
	switch p.base.Verdict {
	case api.DoesNotFit:
		return reason{fmt.Sprintf("the plan needs %s of %s: %s", dev.Needed, dev.Usable, heaviest(dev.Ledger, 3)), confidenceMedium}
	case api.Tight:
		return reason{fmt.Sprintf("the plan needs %s of %s, within the band of what fits: %s", dev.Needed, dev.Usable,
			heaviest(dev.Ledger, 3)), confidenceMedium}
	}
	return reason{}
}

// heaviest names the largest items.
func heaviest(items []api.Item, n int) string {
	var parts []string
	for range n {
		var top *api.Item
		for i := range items {
			if it := &items[i]; it.Bytes > 0 && (top == nil || it.Bytes > top.Bytes) && !listedIn(parts, it) {
				top = it
			}
		}
		if top == nil {
			break
		}
		parts = append(parts, fmt.Sprintf("%s %s", top.Name, top.Bytes))
	}
	return strings.Join(parts, ", ")
}

func listedIn(parts []string, it *api.Item) bool {
	for _, p := range parts {
		if p == fmt.Sprintf("%s %s", it.Name, it.Bytes) {
			return true
		}
	}
	return false
}

// placeWords describes places.
var placeWords = map[diagnose.Place]string{
	diagnose.Loading: "while weights were loaded", diagnose.Profiling: "in the engine's profile run, the largest batch that it allows",
	diagnose.KVCache: "while the KV cache was allocated",
	diagnose.Compute: "in the compute buffer, which grows with the batch and, without flash attention, with the context",
	diagnose.Graphs:  "while CUDA graphs were captured, on top of a full KV pool",
	diagnose.Sampler: "in the sampler, which grows with sequences × vocabulary",
	diagnose.Vision:  "in the vision encoder, which grows with the image", diagnose.Prefill: "while a prompt was computed",
	diagnose.Decode:  "while tokens were generated",
	diagnose.Forward: "in the forward pass: activations", diagnose.Attention: "in attention",
	diagnose.MLP: "in the MLP, which grows with the tokens of a batch", diagnose.Loss: "in the loss: logits are tokens × vocabulary",
	diagnose.Backward:  "in the backward pass: saved activations and gradients together",
	diagnose.Optimizer: "in the optimizer's step, where its states are first made", diagnose.Saving: "while a checkpoint was gathered",
	diagnose.Evaluation:  "in an evaluation, which keeps the logits of all samples on the device",
	diagnose.Calibration: "while weights were quantized: a layer, and what it makes of all samples",
	diagnose.Building:    "while an engine was built for the largest shapes that it takes",
	diagnose.Input:       "while host memory was page-locked",
	diagnose.Library:     "in a library of CUDA, whose workspace lies outside of PyTorch's pool: the pool holds the rest of the device",
	diagnose.Working:     "because all that the GPU uses at once (weights, cache, buffers) is more than the system lets it hold",
	diagnose.Adapters:    "where a server makes room for all LoRA adapters that it may hold at once, each at the largest rank",
	diagnose.Pictures:    "where pictures are made of latents: the autoencoder takes more with every pixel",
	diagnose.Waking:      "while the engine mapped its memory again after a sleep",
}

func byPlace(f *diagnose.Finding) reason {
	words, ok := placeWords[f.Place]
	if !ok {
		return reason{}
	}
	what := "it failed "
	if f.Kind == diagnose.HostMemory {
		what = "the host refused an allocation" + sizeText(f.Requested) + " "
	}
	return reason{what + words + memoryInUse(f), confidenceMedium}
}

// full/fullOf is the fraction of a device above which tensors leave no room for everything else.
const full, fullOf = 8, 10

// isFull explains that the program itself holds nearly all of the device, or of its allowance.
func isFull(f *diagnose.Finding) reason {
	room, of := f.Capacity, "the device is full"
	if !room.Known {
		room, of = f.Limit, "what the program may hold is full"
	}
	if !f.Allocated.Known || !room.Known || (f.Allocated.Bytes+f.Beside.Bytes)*fullOf < room.Bytes*full {
		return reason{}
	}
	text := fmt.Sprintf("%s: the program's tensors hold %s of %s", of, f.Allocated.Bytes, room.Bytes)
	if f.Beside.Bytes > f.Requested.Bytes {
		text += fmt.Sprintf(", what lies beside them (graphs and scratch of the GPU) %s", f.Beside.Bytes)
	}
	if f.Requested.Known {
		text += fmt.Sprintf(", and %s more were asked for", f.Requested.Bytes)
	}
	return reason{text, ConfidenceHigh}
}

// memoryInUse describes what the program held at that point.
func memoryInUse(f *diagnose.Finding) string {
	switch {
	case f.Allocated.Known && f.Capacity.Known:
		return fmt.Sprintf("; %s of %s were held", f.Allocated.Bytes, f.Capacity.Bytes)
	case f.Requested.Known && f.Free.Known:
		return fmt.Sprintf("; %s were asked for and %s free", f.Requested.Bytes, f.Free.Bytes)
	}
	return ""
}

// spareOf is the divisor of a device's size below which free memory may be an allocator's rounding.
const spareOf = 10

// spare reports whether more is free than was requested.
func spare(f *diagnose.Finding) bool {
	if f.Kind != diagnose.DeviceMemory || f.Place != diagnose.Nowhere || !f.Requested.Known || !f.Free.Known || !f.Capacity.Known {
		return false
	}
	free := f.Free.Bytes
	return f.Allocated.Bytes > 0 && f.Requested.Bytes < free && free*spareOf >= f.Capacity.Bytes && free < f.Capacity.Bytes
}

// refused reports whether what the process holds and requests is less than half of the device, with unknown free memory.
func refused(f *diagnose.Finding) bool {
	if !f.Requested.Known || !f.Allocated.Known || !f.Capacity.Known || f.Free.Known || f.Others.Known {
		return false
	}
	held := f.Allocated.Bytes + f.Unallocated.Bytes
	return f.Kind == diagnose.DeviceMemory && f.Place == diagnose.Nowhere && (f.Requested.Bytes+held)*2 < f.Capacity.Bytes
}

// withoutFigures explains a message without figures or places.
func withoutFigures(f *diagnose.Finding) string {
	switch f.Kind {
	case diagnose.Killed:
		return "a process ended by signal 9 (exit 137): most often the kernel or a container's limit, for want of memory; dmesg tells"
	case diagnose.HostMemory:
		return "the host refused an allocation" + sizeText(f.Requested)
	case diagnose.Collectives:
		return "NCCL buffers found no room beside what the program holds: a few hundred MiB a process"
	case diagnose.LibraryStart:
		return "a CUDA library could not start, most often because the device is full; a wrong driver does the same"
	}
	if spare(f) {
		return fmt.Sprintf("%s were refused though %s of %s are free: the driver found no host memory behind them, or a process may not "+
			"have more", f.Requested.Bytes, f.Free.Bytes, f.Capacity.Bytes)
	}
	if refused(f) {
		return fmt.Sprintf("%s were refused while this process holds %s of %s: others hold the rest, or the driver gives no more",
			f.Requested.Bytes, f.Allocated.Bytes, f.Capacity.Bytes)
	}
	if f.Requested.Known && f.Allocated.Known && f.Capacity.Known && f.Allocated.Bytes*fullOf < f.Capacity.Bytes*full {
		return fmt.Sprintf("one allocation of %s found no room beside the %s of %s that are held", f.Requested.Bytes, f.Allocated.Bytes,
			f.Capacity.Bytes)
	}
	return "the device is full" + memoryInUse(f)
}
