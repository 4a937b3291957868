package diagnose

// XLA and its allocators (JAX, TensorFlow, vLLM on TPU), and AWS Neuron's runtime.

var xlaFigures = []figure{
	{requested, "while trying to allocate ", "", true}, {requested, "Out of memory allocating ", "", true},
	{requested, "trying to allocate ", "", true}, {requested, "Attempting to reserve ", "", false},
	{requested, "Used ", "", false}, {limit, "Used … of ", "", false}, {free, "There are ", "", false}, {free, "", " free", false},
}

var xlaRules = []rule{
	{words: "Ran out of memory in memory space hbm", kind: DeviceMemory, engine: "jax", backend: "tpu", device: "HBM",
		figures: []figure{{requested, "Used ", "", false}, {capacity, "Used … of ", "", false}}},
	{words: "RESOURCE_EXHAUSTED: ", kind: DeviceMemory, engine: "jax", figures: xlaFigures,
		unless: []string{"uota", " 429 ", "essage larger than", "rate limit"}},
	{words: "tensorflow/…bfc) ran out of memory trying to allocate ", kind: DeviceMemory, engine: "tensorflow", figures: xlaFigures},
	{words: "bfc) ran out of memory trying to allocate ", kind: DeviceMemory, engine: "jax", figures: xlaFigures},
	{words: "ResourceExhaustedError: ", kind: DeviceMemory, engine: "tensorflow", unless: []string{"paddle"}},
	{words: "Dst tensor is not initialized", kind: DeviceMemory, engine: "tensorflow", follows: true}, // a copy that found no room
	{words: "Failed to allocate …bytes for new constant", kind: DeviceMemory, engine: "jax",
		figures: []figure{{requested, "Failed to allocate ", "", true}}},
	{words: "OOM when allocating tensor with shape", kind: DeviceMemory, engine: "tensorflow", follows: true},
	{words: "TDRV:…Failed to allocate ", kind: DeviceMemory, engine: "neuron", backend: "neuron",
		figures: []figure{{requested, "Failed to allocate ", "", true}}},
	{words: "nrt_…Allocation Failure", kind: DeviceMemory, engine: "neuron", backend: "neuron", follows: true},
	{words: "nrt_tensor_allocate status=4", kind: DeviceMemory, engine: "neuron", backend: "neuron", follows: true},
}
