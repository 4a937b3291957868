package diagnose

// Linux (mm/oom_kill.c), Kubernetes, Docker, systemd-oomd, Ray's memory monitor, and launchers that report how a child
// ended.

var limitFix = &Fix{Now: "a higher memory limit for the container",
	Later: "less in host memory: no copies of weights, fewer workers, no offload to the host"}

var hostFix = &Fix{Now: "fewer processes on the host at once, or workers that load one after the other",
	Later: "less in host memory: files that are mapped, fewer workers, no offload to the host"}

var evictedFix = &Fix{Now: "resources.requests.memory of what the pod takes: a pod above its request is evicted first",
	Later: "a node with more memory, or fewer pods on it"}

var jobFix = &Fix{Now: "a higher --mem (or --mem-per-gpu) for the job: sacct -o MaxRSS says what it took",
	Later: "less in host memory: fewer DataLoader workers, files that are mapped, no offload to the host"}

var loaderFix = &Fix{Now: "more shared memory for the container: docker run --shm-size 16g, or --ipc=host",
	Later: "fewer workers: num_workers"}

var killedRules = []rule{
	{words: "Memory cgroup out of memory", kind: ContainerLimit, engine: "linux", device: "host",
		figures: []figure{{inUse, "anon-rss:", "", false}}, fix: limitFix},
	{words: "oom-kill:constraint=CONSTRAINT_MEMCG", kind: ContainerLimit, engine: "linux", device: "host", fix: limitFix, follows: true},
	{words: "memory: usage …limit ", kind: ContainerLimit, engine: "linux", device: "host",
		figures: []figure{{inUse, "usage ", "", false}, {limit, "limit ", "", false}}, fix: limitFix, follows: true},
	{words: "OOMKilled", kind: ContainerLimit, engine: "kubernetes", device: "host",
		unless: []string{"OOMKilled\": false", "OOMKilled\":false", "OOMKilled=false", "OOMKilled: false"}, fix: limitFix},
	{words: "low on resource: memory", kind: HostKilled, engine: "kubernetes", device: "host",
		figures: []figure{{limit, "threshold quantity: ", "", true}, {free, "available: ", "", true}, {inUse, "was using ", "", true}},
		fix:     evictedFix},
	{words: "had condition: [MemoryPressure]", kind: HostKilled, engine: "kubernetes", device: "host", follows: true, fix: evictedFix},
	{words: "Usage of EmptyDir volume …shm…exceeds the limit ", kind: SharedMemory, engine: "kubernetes", device: "/dev/shm",
		figures: []figure{{limit, "exceeds the limit \"", "", false}},
		fix: &Fix{Now: "a larger sizeLimit of the emptyDir, within the memory limit of the pod: what lies there counts in it",
			Later: "less in shared memory: fewer workers, smaller batches"}},
	{words: "Out of memory: Killed process", kind: HostKilled, engine: "linux", device: "host",
		figures: []figure{{inUse, "anon-rss:", "", false}}, fix: hostFix},
	{words: "Out of memory: Kill process", kind: HostKilled, engine: "linux", device: "host",
		figures: []figure{{inUse, "anon-rss:", "", false}}, fix: hostFix},
	{words: "oom-kill:constraint=CONSTRAINT_NONE", kind: HostKilled, engine: "linux", device: "host", fix: hostFix, follows: true},
	{words: "System OOM encountered", kind: HostKilled, engine: "kubernetes", device: "host", fix: hostFix},
	{words: "invoked oom-killer", kind: HostKilled, engine: "linux", device: "host", fix: hostFix},
	{words: "systemd-oomd…Killed ", kind: HostKilled, engine: "linux", device: "host", fix: hostFix},
	{words: "Task was killed due to the node running low on memory", kind: HostKilled, engine: "ray", device: "host", figures: rayFigures,
		fix: hostFix},
	{words: "killed due to memory pressure (OOM)", kind: HostKilled, engine: "ray", device: "host", fix: hostFix},
	{words: "exceeds the memory usage threshold of", kind: HostKilled, engine: "ray", device: "host", figures: rayFigures, fix: hostFix,
		follows: true},
	{words: "is killed by signal: Bus error", kind: SharedMemory, engine: "pytorch", device: "/dev/shm", place: Input, fix: loaderFix},
	{words: "bus error encountered in worker", kind: SharedMemory, engine: "pytorch", device: "/dev/shm", place: Input, fix: loaderFix,
		follows: true}, // torch/csrc/DataLoader.cpp
	{words: "Signal 7 (SIGBUS) received", kind: SharedMemory, engine: "pytorch", device: "/dev/shm", fix: loaderFix}, // torchrun
	{words: "is killed by signal: Killed", kind: Killed, engine: "pytorch", device: "host", place: Input, fix: hostFix},
	{words: "DataLoader worker (pid(s) …exited unexpectedly", kind: Killed, engine: "pytorch", device: "host", place: Input, follows: true,
		fix: &Fix{Now: "fewer DataLoader workers, which each hold a copy of what they read",
			Later: "a higher memory limit for the job or the container"}},
	{words: "oom_kill event", kind: ContainerLimit, engine: "slurm", device: "host", fix: jobFix},
	{words: "oom-kill event", kind: ContainerLimit, engine: "slurm", device: "host", fix: jobFix},
	{words: "Exceeded step memory limit", kind: ContainerLimit, engine: "slurm", device: "host", fix: jobFix},
	{words: "Exceeded job memory limit", kind: ContainerLimit, engine: "slurm", device: "host", fix: jobFix},
	{words: "exceeded memory limit (", kind: ContainerLimit, engine: "slurm", device: "host",
		figures: []figure{{inUse, "exceeded memory limit (", "", false}, {limit, "exceeded memory limit (… > ", "", false}}, fix: jobFix},
	{words: "srun: error: …Out Of Memory", kind: ContainerLimit, engine: "slurm", device: "host", follows: true, fix: jobFix},
	{words: "OUT_OF_MEMORY", kind: ContainerLimit, engine: "slurm", device: "host", follows: true,
		unless: []string{"STATUS_OUT_OF_MEMORY", "ERROR_OUT_OF_MEMORY", "VK_", "CUDA_ERROR", oneOfBoth}, fix: jobFix},
	{words: "has been killed by the OOM killer", kind: HostKilled, engine: "linux", device: "host", fix: hostFix},
	{words: "Failed with result 'oom-kill'", kind: HostKilled, engine: "linux", device: "host", follows: true, fix: hostFix},
	{words: "Memory limit exceeded (", kind: ContainerLimit, engine: "", device: "host",
		figures: []figure{{limit, "Memory limit exceeded (", "", false}}, fix: limitFix},
	{words: "nodes are available: …Insufficient memory", kind: Unscheduled, engine: "kubernetes", device: "host",
		fix: &Fix{Now: "a smaller resources.requests.memory: what the pod needs, not what the node has", Later: "nodes with more memory"}},
	{words: "Killed", whole: true, kind: Killed, engine: "", device: "host", fix: hostFix}, // as bash says it of a script's command
	{words: "zsh: killed", kind: Killed, engine: "", device: "host", fix: hostFix},
	{words: ": line …Killed  ", kind: Killed, engine: "", device: "host", fix: hostFix},
	{words: "[1] …killed  ", kind: Killed, engine: "", device: "host", fix: hostFix},                         // zsh's jobs
	{words: "terminated by signal 9", kind: Killed, engine: "", device: "host", follows: true, fix: hostFix}, // GNU time
	{words: "was sent SIGKILL! Perhaps out of memory?", kind: Killed, engine: "gunicorn", device: "host", fix: hostFix},
	{words: "code 137", kind: Killed, engine: "", device: "host", follows: true, fix: limitFix},
	{words: "Code: 137", kind: Killed, engine: "kubernetes", device: "host", follows: true, fix: limitFix},
	{words: "\"ExitCode\": 137", kind: Killed, engine: "docker", device: "host", follows: true, fix: limitFix},
	{words: "\"exitCode\": 137", kind: Killed, engine: "kubernetes", device: "host", follows: true, fix: limitFix},
	{words: "exit status 137", kind: Killed, engine: "", device: "host", follows: true, fix: limitFix},
	{words: "return code = -9", kind: Killed, engine: "deepspeed", device: "host", follows: true, fix: hostFix},
	{words: "exitcode…: -9", kind: Killed, engine: "pytorch", device: "host", follows: true, fix: hostFix},
	{words: "Signal 9 (SIGKILL) received", kind: Killed, engine: "pytorch", device: "host", follows: true, fix: hostFix},
	{words: "signaled to shutdown with signal 9", kind: Killed, engine: "tgi", device: "host", follows: true, fix: hostFix},
	{words: "died with <Signals.SIGKILL: 9>", kind: Killed, engine: "", device: "host", follows: true, fix: hostFix},
	{words: "(1) The process is killed by SIGKILL by OOM killer", kind: Killed, engine: "ray", device: "host", follows: true, fix: hostFix},
	{words: "worker died…SIGKILL", kind: Killed, engine: "ray", device: "host", follows: true, fix: hostFix},
}

var rayFigures = []figure{{inUse, "memory used=", "", false}, {capacity, ") was running was … / ", "", false}}
