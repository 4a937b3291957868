package step

// flops of a device in a step.
//
// useful is what the model's arithmetic asks for: the forward pass once and the backward pass twice as much (once
// where weights are frozen), matrix products of active experts and of the head, attention over the pairs that a
// causal mask leaves; no embedding look-up, no element-wise work, nothing that is done again. Its share of the
// peak is MFU (Chowdhery et al., arXiv:2204.02311, appendix B; there attention counts the whole square).
//
// done adds the forward passes that recomputation repeats; its share of the peak is HFU (Korthikanti et al.,
// arXiv:2205.05198, section 6.3). Scores that fused attention multiplies again in its backward pass do not count.
//
// Publications differ: Megatron-Bridge since 2025, Automodel and torchtitan count causal pairs as here, llm-foundry,
// NeMo 24 and Megatron's README the whole square, and InternEvo and BigScience report HFU.
type flops struct{ useful, done float64 }

// AtPeak returns the seconds that the model's own arithmetic takes at the device's dense 16-bit peak; divided by the step time, it
// is the MFU.
func (m *Model) AtPeak() float64 { return m.flops.useful / m.format.wide }
