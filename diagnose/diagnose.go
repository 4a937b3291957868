// Package diagnose reads what programs print when memory runs out: the kind of failure, the program and device, the
// figures quoted, and what the program was doing. It knows no models or plans; internal/diagnose/cause matches its
// findings against a ledger.
//
// A new message is a row of messages.tsv, and one line in the tests.
package diagnose

import (
	"io"

	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/unit"
)

// Kind is what ran out, or what merely looks like it.
type Kind string

// Kinds of failures.
const (
	DeviceMemory    Kind = "device_memory"      // an allocation on a device failed
	AllocationLimit Kind = "allocation_limit"   // one buffer exceeds the driver's limit per allocation
	KVCacheTooSmall Kind = "kv_cache_too_small" // at start-up, what is left for the cache is smaller than a sequence
	BudgetAboveFree Kind = "budget_above_free"  // at start-up, the engine's share exceeds free memory
	HostMemory      Kind = "host_memory"        // an allocation on the host failed
	HostKilled      Kind = "host_killed"        // the host ran out of memory and a process was killed
	ContainerLimit  Kind = "container_limit"    // a process was killed at its container's limit
	Killed          Kind = "killed"             // a process was killed by signal 9, for an unknown reason
	PinnedMemory    Kind = "pinned_memory"      // page-locking host memory failed
	SharedMemory    Kind = "shared_memory"      // /dev/shm is full
	Collectives     Kind = "collectives"        // allocation of NCCL buffers failed
)

// Kinds of memory pressure without a failure.
const (
	KVCacheFull    Kind = "kv_cache_full"   // requests wait, or are recomputed
	MemoryPressure Kind = "memory_pressure" // the allocator releases memory and allocates it again
	Growth         Kind = "growth"          // memory figures in a log keep rising
)

// Kinds of errors that look like a lack of memory but are not.
const (
	KernelResources Kind = "kernel_resources" // shared memory or registers of a multiprocessor
	ContextLength   Kind = "context_length"   // a request longer than the server accepts
	DiskFull        Kind = "disk_full"
	LockLimit       Kind = "lock_limit"   // pages could not be locked; the program continues
	WorkspaceSize   Kind = "workspace"    // a fixed-size buffer
	FixedPool       Kind = "fixed_pool"   // a pool sized in advance: old ggml's, a heap
	BadAccess       Kind = "bad_access"   // a kernel accessed memory out of bounds
	Disturbed       Kind = "disturbed"    // memory use by others changed during an engine's measurement
	LibraryStart    Kind = "library_init" // a library failed to start, often for lack of memory
	Unscheduled     Kind = "unscheduled"  // no node has the free resources that a pod requests
)

// None is the kind of a text without any such message.
const None Kind = "none"

// Weight is the severity of a kind: failure, pressure, or not about memory.
type Weight uint8

// Weights, most severe first.
const (
	Failure Weight = iota
	Degraded
	NotMemory
)

// Weight returns the severity of a kind.
func (k Kind) Weight() Weight {
	switch k {
	case KVCacheFull, MemoryPressure, Growth:
		return Degraded
	case KernelResources, ContextLength, DiskFull, LockLimit, WorkspaceSize, FixedPool, BadAccess, Disturbed, Unscheduled:
		return NotMemory
	}
	return Failure
}

// Place is what the program was doing.
type Place string

// Places.
const (
	Nowhere   Place = ""
	Loading   Place = "loading"
	Profiling Place = "profile_run"
	KVCache   Place = "kv_cache"
	Compute   Place = "compute"
	Graphs    Place = "graph_capture"
	Sampler   Place = "sampler"
	Vision    Place = "vision"
	Prefill   Place = "prefill"
	Decode    Place = "decode"
	Forward   Place = "forward"
	Attention Place = "attention"
	MLP       Place = "mlp"
	Loss      Place = "loss"
	Backward  Place = "backward"
	Optimizer Place = "optimizer"
	Saving    Place = "saving"
	// Evaluation is where a trainer gathers what the model says of all samples.
	Evaluation  Place = "evaluation"
	Calibration Place = "calibration" // quantizing weights by what samples activate
	Building    Place = "building"    // compiling an engine
	Input       Place = "input"
	Library     Place = "library"     // workspace of a library, outside the allocator's pool
	Working     Place = "working_set" // everything that a GPU command accesses
	Adapters    Place = "adapters"    // preallocated space for a server's LoRA adapters
	Waking      Place = "wake_up"     // waking up from sleep: weights and cache are mapped again
	Pictures    Place = "pictures"    // autoencoder of a diffusion model, decoding latents
)

// Amount is a figure as printed: its bytes, and the rounding error.
type Amount struct {
	Bytes, Half unit.Bytes
	Known       bool
}

// Finding is one failure, with the number of times it occurs in the text.
type Finding struct {
	Kind    Kind
	Engine  string // canonical name of the program
	Backend string // "cuda", "hip", "vulkan", …; "" if not stated
	Device  string // as named by the message; "host" for the host
	Place   Place
	// Requested could not be allocated; Free was left of Capacity. Allocated is what the program held and InUse what its
	// process did; Unallocated is what its allocator cached unused, Pools what is in private pools.
	Requested, Free, Capacity, Allocated, InUse, Unallocated, Pools Amount
	// Others is what other processes held, as listed by the message or inferred from its figures.
	Others Amount
	// Beside is what the process holds outside its allocator: CUDA graphs, and Metal's scratch memory.
	Beside Amount
	// Overflowed reports that the requested size is impossibly large.
	Overflowed bool
	// Limit is the maximum for one allocation, kernel or container.
	Limit Amount
	// Needed and Available count tokens; Longest is the longest sequence that would fit, as the message states.
	Needed, Available, Longest int64
	// Share is the configured fraction of the device for the engine.
	Share float64
	// Step is the training step at which it happened; -1 if unknown.
	Step int64
	// Times is the number of occurrences, on Ranks; Line is the first.
	Times int
	Ranks []string
	Line  int
	// Text is the message without secrets, truncated to a few hundred bytes. Cut reports that the text ends within it.
	Text string
	Cut  bool
	// Fix is what the message calls for whatever the model.
	Fix *Fix

	rule     *rule
	reserved Amount // what the allocator holds, used or not
}

// Series is a memory figure that a log prints repeatedly.
type Series struct {
	Name                  string
	Samples               int64
	First, Last, Low, Top unit.Bytes
	// Grows reports that it rises from start to end without leveling off.
	Grows bool
}

// Report is the result of reading a text.
type Report struct {
	// Findings in text order, failures first, then memory pressure, then what is not about memory.
	Findings []Finding
	// More is the number of findings omitted.
	More  int
	Lines int
	// Settings are training arguments printed in the text, by request field.
	Settings []Setting
	// Commands are lines that look like the start of a server or of training.
	Commands []string
	// Engine wrote most of the text; "" if unknown.
	Engine string
	Series []Series
	// FixedSegments reports that PyTorch's allocator cannot use expandable segments here: the text has Windows paths, or
	// says so.
	FixedSegments bool
}

// First returns the finding to answer, or nil.
func (r *Report) First() *Finding {
	if len(r.Findings) == 0 {
		return nil
	}
	return &r.Findings[0]
}

// Listener receives the lines at the start of a log; the readers of engines' start-up logs implement it.
type Listener interface{ Line(*startup.Line) }

// headLines is the number of lines that listeners receive: servers and jobs describe themselves at start-up.
const headLines = 50_000

// Read reads a text of any length in bounded memory. The error is a *fault.Error if it is not text.
func Read(text io.Reader, listeners ...Listener) (*Report, error) {
	lines, err := startup.NewStream(text)
	if err != nil {
		return nil, err
	}
	s := newScanner()
	for line, ok := lines.Next(); ok; line, ok = lines.Next() {
		s.line(&line)
		if s.heard++; s.heard > headLines {
			continue
		}
		for _, l := range listeners {
			l.Line(&line)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return s.report(), nil
}
