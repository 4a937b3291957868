package diagnose

// NCCL (src/misc/shmutils.cc, src/include/alloc.h) and shared memory between processes.

var shmFix = &Fix{Now: "more shared memory for the container: docker run --shm-size 16g, or --ipc=host",
	Later: "an emptyDir of medium Memory at /dev/shm in Kubernetes"}

var collectiveRules = []rule{
	{words: "NCCL WARN Cuda failure…out of memory", kind: Collectives, engine: "nccl", backend: "cuda"},
	{words: "Cuda failure…out of memory", kind: Collectives, engine: "nccl", backend: "cuda", follows: true},
	{words: "NCCL WARN Failed to CUDA malloc", kind: Collectives, engine: "nccl", backend: "cuda",
		figures: []figure{{requested, "malloc async ", "", true}, {requested, "malloc ", "", true}}},
	{words: "Failed to CUDA calloc", kind: Collectives, engine: "nccl", backend: "cuda",
		figures: []figure{{requested, "calloc async ", "", true}, {requested, "calloc ", "", true}}},
	{words: "NCCL WARN Failed to CUDA host alloc", kind: PinnedMemory, engine: "nccl", backend: "cuda", device: "host",
		figures: []figure{{requested, "host alloc ", "", true}}},
	{words: "creating shared memory segment /dev/shm", kind: SharedMemory, engine: "nccl", device: "/dev/shm",
		figures: []figure{{requested, "(size ", "", true}}, fix: shmFix},
	{words: "unable to open shared memory object", kind: SharedMemory, engine: "pytorch", device: "/dev/shm", fix: shmFix},
	{words: "unable to write to file </torch_", kind: SharedMemory, engine: "pytorch", device: "/dev/shm", fix: shmFix},
	{words: "out of shared memory", kind: SharedMemory, engine: "pytorch", device: "/dev/shm", follows: true, fix: shmFix,
		unless: []string{"triton", "Triton"}},
	{words: "Bus error (core dumped)", kind: SharedMemory, engine: "", device: "/dev/shm", follows: true, fix: shmFix},
	{words: "No space left on device: '/dev/shm", kind: SharedMemory, engine: "", device: "/dev/shm", fix: shmFix},
	{words: "/dev/shm…No space left on device", kind: SharedMemory, engine: "", device: "/dev/shm", fix: shmFix},
}
