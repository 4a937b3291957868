// Package diagnose reads what programs print when memory runs out: which kind of failure it is, of which program, on
// which device, with the figures that the message holds and the place in the program where it happened. It knows no
// model and no plan; package memwall matches its findings against a ledger.
//
// Open rules.go for the form of a row; each family of messages is a file of rows. A message that is not known yet is
// one row, and one line in the tests.
package diagnose

import (
	"io"

	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/unit"
)

// Kind is what ran out, or what only looks like it.
type Kind string

// Kinds of failures.
const (
	DeviceMemory    Kind = "device_memory"      // an allocation on a device found no room
	AllocationLimit Kind = "allocation_limit"   // one buffer is larger than the driver gives at once
	KVCacheTooSmall Kind = "kv_cache_too_small" // at the start, less is left for the cache than a sequence takes
	BudgetAboveFree Kind = "budget_above_free"  // at the start, the engine's share is more than is free
	HostMemory      Kind = "host_memory"        // the host refused an allocation
	HostKilled      Kind = "host_killed"        // the host ran short and a process was killed
	ContainerLimit  Kind = "container_limit"    // a process was killed at the limit of its container
	Killed          Kind = "killed"             // a process was killed by signal 9, nobody says why
	PinnedMemory    Kind = "pinned_memory"      // the host gave no page-locked memory
	SharedMemory    Kind = "shared_memory"      // /dev/shm is full
	Collectives     Kind = "collectives"        // NCCL buffers found no room
)

// Kinds of what goes on with less: nothing failed yet.
const (
	KVCacheFull    Kind = "kv_cache_full"   // requests wait, or are computed again
	MemoryPressure Kind = "memory_pressure" // the allocator gives memory back and takes it again
	Growth         Kind = "growth"          // figures that a log prints keep rising
)

// Kinds of what looks like a lack of memory and is none.
const (
	KernelResources Kind = "kernel_resources" // shared memory or registers of one processor
	ContextLength   Kind = "context_length"   // a request longer than the server takes
	DiskFull        Kind = "disk_full"
	LockLimit       Kind = "lock_limit"   // pages may not be locked; the program goes on
	WorkspaceSize   Kind = "workspace"    // a buffer of fixed size
	FixedPool       Kind = "fixed_pool"   // a pool that a program sizes before it is used: old ggml's, a heap
	BadAccess       Kind = "bad_access"   // a kernel reached outside of its memory
	Disturbed       Kind = "disturbed"    // memory of others changed while an engine measured
	LibraryStart    Kind = "library_init" // a library could not start, often for want of memory
	Unscheduled     Kind = "unscheduled"  // no node has as much free as a pod asks for
)

// None is the kind of a text without any.
const None Kind = "none"

// Weight of a kind: what failed, what goes on with less, what is no lack of memory.
type Weight uint8

// Weights, the gravest first.
const (
	Failure Weight = iota
	Degraded
	NotMemory
)

// Weight tells failures from the rest.
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
	Input     Place = "input"
	Library   Place = "library"     // the workspace of a library, outside of the allocator's pool
	Working   Place = "working_set" // all that a command of the GPU touches
	Adapters  Place = "adapters"    // room for LoRA adapters of a server, for all that it may hold at once
	Waking    Place = "wake_up"     // of an engine that slept: weights and cache are mapped again
	Pictures  Place = "pictures"    // the autoencoder of a diffusion model, which makes pictures of latents
)

// Amount is a figure as it was printed: its bytes, and how far these may be from what was rounded.
type Amount struct {
	Bytes, Half unit.Bytes
	Known       bool
}

// Finding is one failure, as often as the text holds it.
type Finding struct {
	Kind    Kind
	Engine  string // canonical name of the program
	Backend string // "cuda", "hip", "vulkan", …; "" when it is not said
	Device  string // as the message calls it, "host" for the host
	Place   Place
	// Requested could not be had, Free was left of Capacity. Allocated is what the program held, InUse all that its
	// process did; Unallocated is what its allocator kept without use, Pools what lies in private pools.
	Requested, Free, Capacity, Allocated, InUse, Unallocated, Pools Amount
	// Others is what other processes held, as the message lists them or as its figures leave it over.
	Others Amount
	// Beside is what the same process holds outside of its allocator: graphs and scratch of Metal.
	Beside Amount
	// Overflowed: the size that was asked for is beyond any memory.
	Overflowed bool
	// Limit is the most that one allocation, one kernel or one container may have.
	Limit Amount
	// Needed and Available count tokens; Longest is the longest sequence that the message says would do.
	Needed, Available, Longest int64
	// Share is the part of the device that the engine was told to take.
	Share float64
	// Step of a training run at which it happened; -1 when it is not known.
	Step int64
	// Times the text holds it, on Ranks; Line is the first.
	Times int
	Ranks []string
	Line  int
	// Text is the message without secrets, cut to a few hundred bytes. Cut: the text ends in it.
	Text string
	Cut  bool
	// Fix is what such a message calls for whatever the model is.
	Fix *Fix

	rule     *rule
	reserved Amount // what the allocator keeps, used or not
}

// Series is a figure of memory that a log prints again and again.
type Series struct {
	Name                  string
	Samples               int64
	First, Last, Low, Top unit.Bytes
	// Grows: it rises from start to end, and did not stop.
	Grows bool
}

// Report is what a text holds.
type Report struct {
	// Findings in the order of the text, failures before what goes on with less, and that before what is no lack of memory.
	Findings []Finding
	// More findings were left out.
	More  int
	Lines int
	// Settings are names and values of training arguments that the text prints, by the names of request fields.
	Settings []Setting
	// Commands are lines that look like the start of a server or of training.
	Commands []string
	// Engine that wrote most of the text; "" when nothing tells.
	Engine string
	Series []Series
	// FixedSegments: those of PyTorch's allocator cannot grow here. The text has paths of Windows, or says so.
	FixedSegments bool
}

// First is the finding to be answered; nil when there is none.
func (r *Report) First() *Finding {
	if len(r.Findings) == 0 {
		return nil
	}
	return &r.Findings[0]
}

// Listener hears the lines of a log's beginning: the engines' readers of start-up logs do.
type Listener interface{ Line(*startup.Line) }

// headLines is how many lines listeners hear: servers and jobs say what they are when they start.
const headLines = 50_000

// Read reads a text of any length in bounded memory. The error is a *fault.Error when it is no text.
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
