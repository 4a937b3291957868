package lifetime

// Sizes of PyTorch's caching allocator (c10/cuda/CUDACachingAllocator.h: kSmallSize, kSmallBuffer, kMinLargeAlloc,
// kLargeBuffer, kRoundLarge).
const (
	torchSmall      = 1 << 20
	torchSmallPage  = 2 << 20
	torchLarge      = 10 << 20
	torchMiddlePage = 20 << 20
	torchRound      = 2 << 20
)

// TorchSegment returns how many bytes PyTorch requests from the driver if a tensor of n bytes fits no free block: the
// figure in "Tried to allocate".
func TorchSegment(n int64) int64 {
	switch {
	case n <= 0:
		return 0
	case n <= torchSmall:
		return torchSmallPage
	case n < torchLarge:
		return torchMiddlePage
	}
	return (n + torchRound - 1) / torchRound * torchRound
}
