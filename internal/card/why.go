package card

// Why is a figure of a device with what it decides.
type Why struct {
	Name string `json:"name"`
	Fact *Fact  `json:"fact"`
	Text string `json:"text"`
}

// Explained gives the card the figures that decide something, each with what. An unknown figure stays in the
// list: what it decides is then not known of this device.
func (h *Hardware) Explained() {
	memory := h.Usable
	if memory == nil {
		memory = h.Memory
	}
	h.Why = []Why{
		{"memory", memory, "what fits: weights, caches and activations lie here, or are fetched over PCIe at its rate"},
		{"bandwidth", h.Bandwidth, "decoding: a token reads every active weight and its own cache once, and hardly computes"},
		{"bf16 peak", h.BF16, "prompts and training: many tokens share one reading of the weights, so multiplying is what takes time"},
		{"balance", h.Ridge, "above so many operations for each byte read it computes, below it waits for memory; one user of 16-bit " +
			"weights does about one, a batch of n does n"},
		{"8-bit peak", h.peak("fp8"), "the same for models that multiply in fp8; weights merely stored in 8 bits are widened first, and " +
			"save bandwidth alone"},
		{"sweep", h.Sweep, "reading all memory once: a token of a model that fills the card takes at least as long"},
		{"link", h.LinkEachWay, "tensor parallelism: in every layer the devices add up their partial results, twice, and wait for it"},
		{"PCIe", h.PCIeEachWay, "loading, and all that is kept in host memory: layers, experts, caches that were moved out"},
		{"L2", h.L2, "what it still holds need not come from memory: pieces of matrices between the units that share them"},
		{"shared memory", h.SharedPerSM, "the piece of a matrix or of keys and values that one unit works on; attention kernels are cut " +
			"to its size"},
		{"power", h.TDP, "heat and the bill: rates are promised under it, and a lower limit costs prompts more than decoding"},
	}
}

func (h *Hardware) peak(format string) *Fact {
	for _, p := range h.Peaks {
		if p.Format == format {
			return p.Rate
		}
	}
	return nil
}
