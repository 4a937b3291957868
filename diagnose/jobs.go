package diagnose

// Batch systems and services that kill a job at its memory limit, in their own words: IBM Spectrum LSF, PBS and Torque,
// HTCondor, YARN, AWS Batch, Cloud Run and Vertex AI. Slurm's are with the kernel's in killed.go.

var jobRules = []rule{
	{words: "TERM_MEMLIMIT", kind: ContainerLimit, engine: "lsf", device: "host",
		figures: []figure{{inUse, "Max Memory…: ", "", false}, {limit, "Total Requested Memory…: ", "", false}},
		fix:     &Fix{Now: "more memory for the job: bsub -M, and -R \"rusage[mem=…]\"", Later: jobFix.Later}},
	{words: "PBS: job killed: …mem …exceeded limit ", kind: ContainerLimit, engine: "pbs", device: "host",
		figures: []figure{{inUse, "PBS: job killed: …mem ", "", false}, {limit, "exceeded limit ", "", false}},
		fix:     &Fix{Now: "more memory for the job: qsub -l select=1:mem=…", Later: jobFix.Later}},
	{words: "Job has gone over …memory limit of ", kind: ContainerLimit, engine: "condor", device: "host",
		figures: []figure{{limit, "memory limit of ", "", false}, {inUse, "measured usage: ", "", false}},
		fix:     &Fix{Now: "a higher request_memory in the submit file", Later: jobFix.Later}},
	{words: "killed by YARN for exceeding ", kind: ContainerLimit, engine: "yarn", device: "host",
		figures: []figure{{inUse, "memory limits. ", "", false}, {limit, "memory limits. … of ", "", false}},
		fix:     &Fix{Now: "a higher spark.executor.memoryOverhead: Python and native code live there", Later: limitFix.Later}},
	{words: "Container killed due to memory usage", kind: ContainerLimit, engine: "docker", device: "host", fix: limitFix},
	{words: "Memory limit of …exceeded with ", kind: ContainerLimit, engine: "docker", device: "host",
		figures: []figure{{limit, "Memory limit of ", "", false}, {inUse, "exceeded with ", "", false}}, fix: limitFix},
	{words: "ran out-of-memory and exited with", kind: ContainerLimit, engine: "docker", device: "host", fix: limitFix},
	{words: "ObjectStoreFullError", kind: SharedMemory, engine: "ray", device: "/dev/shm",
		fix: &Fix{Now: "a larger object store: ray start --object-store-memory, and as much of /dev/shm",
			Later: "fewer objects that are kept: no list of ObjectRefs, smaller batches"}},
}
