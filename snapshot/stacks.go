package snapshot

import (
	"encoding/binary"
	"path"
	"strconv"
	"strings"
)

// frame is a line of code: file and function by their numbers.
type frame struct {
	file, name uint32
	line       int32
}

// stacks keeps each frame and each stack of frames once; the innermost frame is first. Stack 0 has none.
type stacks struct {
	texts   []string // of files and functions
	known   map[string]uint32
	frames  []frame
	frameOf map[frame]uint32
	lists   [][]uint32
	listOf  map[string]uint32
	key     []byte
	roles   []role // of the stacks, once all are known
}

func newStacks() stacks {
	return stacks{known: map[string]uint32{}, frameOf: map[frame]uint32{}, lists: [][]uint32{nil}, listOf: map[string]uint32{"": 0}}
}

func (s *stacks) text(t string) uint32 {
	if n, ok := s.known[t]; ok {
		return n
	}
	n := uint32(len(s.texts))
	s.texts, s.known[t] = append(s.texts, t), n
	return n
}

// frame gives a frame its number; new is true for one that is met first.
func (s *stacks) frame(file, name string, line int64) (n uint32, isNew bool) {
	f := frame{s.text(file), s.text(name), int32(line)}
	if n, ok := s.frameOf[f]; ok {
		return n, false
	}
	n = uint32(len(s.frames))
	s.frames, s.frameOf[f] = append(s.frames, f), n
	return n, true
}

// stack gives a list of frames its number.
func (s *stacks) stack(frames []uint32) (n uint32, isNew bool) {
	s.key = s.key[:0]
	for _, f := range frames {
		s.key = binary.LittleEndian.AppendUint32(s.key, f)
	}
	if n, ok := s.listOf[string(s.key)]; ok {
		return n, false
	}
	n = uint32(len(s.lists))
	s.lists, s.listOf[string(s.key)] = append(s.lists, append([]uint32(nil), frames...)), n
	return n, true
}

// written is a frame as Python's tracebacks are quoted: file, line and function.
func (s *stacks) written(f uint32) string {
	x := s.frames[f]
	file := path.Base(strings.ReplaceAll(s.texts[x.file], `\`, "/"))
	name, _, _ := strings.Cut(s.texts[x.name], "(") // without the types of C++
	if x.line <= 0 || file == "??" || file == "." {
		return name
	}
	return file + ":" + strconv.Itoa(int(x.line)) + " " + name
}

// trail is a stack's Python frames, innermost first, else those of C++ that are not the recorder's.
func (s *stacks) trail(n uint32, most int) (out []string) {
	for _, is := range []func(uint32) bool{s.python, func(f uint32) bool { return !s.recording(f) }} {
		for _, f := range s.lists[n] {
			if len(out) < most && is(f) {
				out = append(out, s.written(f))
			}
		}
		if out != nil {
			break
		}
	}
	return out
}

// recording tells frames of the recorder and the allocator, which stand innermost in every stack of C++
// (torch/csrc/profiler/combined_traceback.cpp, torch/csrc/cuda/memory_snapshot.cpp, c10/cuda/CUDACachingAllocator.cpp).
func (s *stacks) recording(f uint32) bool {
	name := s.texts[s.frames[f].name]
	return strings.HasPrefix(name, "torch::unwind::") || strings.HasPrefix(name, "torch::CapturedTraceback::") ||
		strings.HasPrefix(name, "torch::cuda::") || strings.HasPrefix(name, "c10::")
}

// node is the function of autograd whose backward pass allocated, "" for none: threads of a backward pass have no Python frames
// (torch/csrc/autograd/generated/Functions.h).
func (s *stacks) node(n uint32) string {
	for _, f := range s.lists[n] {
		if _, rest, ok := strings.Cut(s.texts[s.frames[f].name], "torch::autograd::generated::"); ok {
			if name, _, ok := strings.Cut(rest, "::apply("); ok {
				return name
			}
		}
	}
	return ""
}

func (s *stacks) python(f uint32) bool { return strings.HasSuffix(s.texts[s.frames[f].file], ".py") }

// place is the innermost line of code that is none of PyTorch's own, else the innermost.
func (s *stacks) place(n uint32) string {
	first := ""
	for _, f := range s.lists[n] {
		if !s.python(f) {
			continue
		}
		if first == "" {
			first = s.written(f)
		}
		if file := s.texts[s.frames[f].file]; !strings.Contains(file, "/torch/") && !strings.HasPrefix(file, "torch/") &&
			!strings.Contains(file, "torchinductor_") {
			return s.written(f)
		}
	}
	if first == "" {
		first = s.node(n)
	}
	if names := s.trail(n, 1); first == "" && len(names) > 0 {
		return names[0]
	}
	return first
}

// operator is PyTorch's operator that allocated: by its dispatcher (at::_ops::NAME::call), else by the module or the function of
// torch.nn that called it; "" where no frame says.
func (s *stacks) operator(n uint32) string {
	for _, f := range s.lists[n] {
		name, file := s.texts[s.frames[f].name], s.texts[s.frames[f].file]
		if _, rest, ok := strings.Cut(name, "at::_ops::"); ok {
			op, _, _ := strings.Cut(rest, "::")
			return op
		}
		switch {
		case strings.HasSuffix(file, "torch/nn/functional.py"), strings.HasSuffix(file, "torch/_tensor.py"):
			return name
		case strings.Contains(file, "torch/nn/modules/") && !strings.HasSuffix(file, "/module.py") &&
			!strings.HasSuffix(file, "/container.py"):
			return strings.TrimSuffix(path.Base(file), ".py")
		}
	}
	return ""
}
