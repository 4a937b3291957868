package engine

// Share is what one device, or the host's processor, computes of a model: fractions of the whole.
type Share struct {
	// Device is its index in the machine, Host for the processor.
	Device  int
	Backend string // "cuda", "rocm", "metal", "vulkan", "sycl", "cann", "musa", "cpu"
	// Dense are the matrices that every token goes through, Experts those of experts, Head the output, Cache the
	// layers whose caches lie there.
	Dense, Experts, Head, Cache float64
}

// Host is the Device of what the processor computes.
const Host = -1

// Sharer is a Sizer that knows who computes what, and whether attention is fused (flash attention).
type Sharer interface {
	Shares() []Share
	Flash() bool
}
