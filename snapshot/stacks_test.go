package snapshot

import (
	"slices"
	"strings"
	"testing"
)

// TestPlaceWithoutPython: in a thread of a backward pass stacks are of C++ alone, and begin with the recorder and the allocator,
// as recorded by torch 2.6 with stacks="all" (public snapshots of training runs show it): autograd's function is the place.
func TestPlaceWithoutPython(t *testing.T) {
	recorder := []string{"torch::unwind::unwind()", "torch::CapturedTraceback::gather(bool, bool, bool)", "torch::cuda::(anonymous namespace)::gather_with_cpp()", "c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::malloc(unsigned long, CUstream_st*)"}
	for _, c := range []struct {
		frames       []string
		place, trail string
	}{
		{[]string{"at::native::empty_cuda()", "at::_ops::mul_Tensor::call(at::Tensor const&)", "torch::autograd::generated::MulBackward0::apply(std::vector<at::Tensor>&&)", "torch::autograd::Engine::thread_main()"}, "MulBackward0", "at::native::empty_cuda"},
		{[]string{"at::native::empty_cuda()", "__clone"}, "at::native::empty_cuda", "at::native::empty_cuda"},
		{nil, "", ""},
	} {
		s := newStacks()
		var list []uint32
		for _, name := range slices.Concat(recorder, c.frames) {
			n, _ := s.frame("??", name, 0)
			list = append(list, n)
		}
		n, _ := s.stack(list)
		if got := s.place(n); got != c.place {
			t.Errorf("place %q, want %q", got, c.place)
		}
		if got := append(s.trail(n, 1), "")[0]; got != c.trail {
			t.Errorf("trail begins with %q, want %q", got, c.trail)
		}
	}
}

// TestRulesTable: every row names a part of a frame and roles that there are.
func TestRulesTable(t *testing.T) {
	for _, r := range rules() {
		if r.role == 0 || r.file+r.function == "" {
			t.Errorf("%+v", r)
		}
	}
	for line := range strings.Lines(rulesText) {
		cells := strings.Split(strings.TrimSpace(line), "\t")
		for word := range strings.FieldsSeq(cells[len(cells)-1]) {
			if !strings.HasPrefix(line, "#") && roleNames[word] == 0 {
				t.Errorf("%q has no role %q", line, word)
			}
		}
	}
}
