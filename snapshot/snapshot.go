// Package snapshot reads the memory snapshots of PyTorch's CUDA allocator (torch.cuda.memory._dump_snapshot) and says what
// was held when: the peak and its moment, what it consisted of, what grows from step to step, what lies unused in segments, and
// what other settings of the allocator would have reserved.
//
// Layout: torch/csrc/cuda/memory_snapshot.cpp and torch/cuda/_memory_viz.py (PyTorch 2.0 to 2.9). A file is read once; of each
// entry of its traces some 14 bytes are kept.
//
// Open read.go for the file, tape.go for what is kept of traces, stacks.go and rules.go for what frames tell, replay.go for
// who lived when, category.go for what an allocation was, report.go for the answer, allocator.go for other settings.
package snapshot

// Snapshot is what a file holds.
type Snapshot struct {
	Settings Settings
	segments []segment
	blocks   []block
	tape     tape
	traces   []trace // one for each device
	stacks   stacks
	numbers  map[int64]int // of the model's tensors: how many have so many
	decoder  int64         // all numbers of its decoder
}

// Settings of the allocator, as the snapshot names them.
type Settings struct {
	Conf        string  `json:"conf,omitempty"`
	MaxSplit    int64   `json:"max_split_size,omitempty"` // bytes; -1 and 0 are none
	Expandable  bool    `json:"expandable_segments,omitempty"`
	GCThreshold float64 `json:"garbage_collection_threshold,omitempty"`
	recorded    bool
}

// state of a block.
type state uint8

const (
	inactive state = iota
	pendingFree
	allocated
)

// segment is what cudaMalloc gave, or a range that is mapped piece by piece.
type segment struct {
	device                     int64
	address, size              int64
	stream                     int64
	small, expandable, private bool
	first, count               uint64 // of its blocks
}

// block is a piece of a segment.
type block struct {
	address, size, requested int64
	state                    state
	stack                    uint32
}

// trace are the entries of a device, by their numbers on the tape.
type trace struct{ first, count uint64 }
