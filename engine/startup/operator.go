package startup

// Operator is what a PyTorch operator launched on a device, per step if the trace marks steps, else in total.
type Operator struct {
	// Class of its kernels: "products" for the figure time_products.
	Class string
	// Name as PyTorch has it: "aten::mm"; "" for kernels that no operator of the trace is known to have launched.
	Name    string
	Calls   float64
	MS      float64
	Product *Product // nil for what is not a matrix product, and where the trace has no shapes
	Message *Message // nil for what is not a collective, and where the trace does not say its size
}

// Product is a matrix product: Batch of M×K by K×N.
type Product struct {
	Batch, M, N, K int64
	Pass           Pass
	Type           string // of the operands, in PyTorch's word: "c10::BFloat16"
}

// FLOPs of one product.
func (p *Product) FLOPs() float64 {
	return 2 * float64(p.Batch) * float64(p.M) * float64(p.N) * float64(p.K)
}

// Pass is the training pass that a product belongs to, as far as the trace shows.
type Pass uint8

// Passes.
const (
	AnyPass        Pass = iota
	Forward             // the result: x by the transposed weight
	InputGradient       // by the weight as it lies
	WeightGradient      // of what came transposed
	SomeBackward        // one of both gradients, or a forward pass again
)

// Message is the message of a collective.
type Message struct {
	Collective string // NCCL's word: "allreduce"
	Bytes      int64  // of the larger side of a rank
	Group      int64  // ranks
}
