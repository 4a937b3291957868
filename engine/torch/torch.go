// Package torch parses PyTorch's reports of a run: the profiler's trace, the text of torch.cuda.memory_summary() and
// the JSON of torch.cuda.memory_stats(). Package snapshot reads memory snapshots; archives of torch.save are rejected.
//
// See trace.go for traces and what is retained of them, kernel.go for classifying kernels, link.go for the operators
// that launched them and shape.go for their shapes, scan.go for scanning gigabytes of JSON in bounded memory,
// summary.go and stats.go for the allocator's counters, and found.go for converting all of these to an engine's
// start-up log.
package torch

import (
	"bytes"
	"fmt"

	"github.com/memwall/memwall/fault"
)

// Kind is the kind of a file, by its beginning.
type Kind uint8

// Kinds of files.
const (
	Text Kind = iota // of a log; a memory summary is one
	TraceFile
	StatsFile
	GZip
	Pickle
	Archive // zip, as torch.save writes
)

// Sniffed is the number of bytes inspected.
const Sniffed = 16 << 10

// Sniff returns the kind of a file from its first bytes.
func Sniff(head []byte) Kind {
	switch {
	case bytes.HasPrefix(head, []byte{0x1F, 0x8B}):
		return GZip
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return Archive
	case len(head) > 1 && head[0] == 0x80 && head[1] >= 2 && head[1] <= 5:
		return Pickle
	}
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	switch {
	case bytes.HasPrefix(head, []byte("{")) && bytes.Contains(head, []byte(`"allocated_bytes`)) && !bytes.Contains(head, []byte(`"traceEvents"`)):
		return StatsFile
	case bytes.HasPrefix(head, []byte("{")) && opensWithKey(head[1:]), bytes.HasPrefix(head, []byte("[")) && opensWithObject(head[1:]):
		return TraceFile
	}
	return Text
}

func opensWithKey(rest []byte) bool {
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return len(rest) == 0 || rest[0] == '"' || rest[0] == '}'
}

func opensWithObject(rest []byte) bool {
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return len(rest) > 0 && rest[0] == '{'
}

// Refused returns the error for a kind that is never read; nil for others.
func Refused(k Kind) error {
	if k != Archive {
		return nil
	}
	return fault.New("the file is a zip archive, as torch.save writes: to read one is to run what it says, so memwall never does",
		"torch.cuda.memory._dump_snapshot(\"snapshot.pickle\"), or print(torch.cuda.memory_summary()) into a file")
}

func broken(at int64, fix, problem string, args ...any) error {
	return fault.New(fmt.Sprintf("byte %d: ", at)+fmt.Sprintf(problem, args...), fix)
}
