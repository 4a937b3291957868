package launch

import (
	"regexp"
	"strconv"
)

// What Slurm allocates (sbatch(1), srun(1)): GPUs per node and nodes, or GPUs in total.

var (
	slurm      = regexp.MustCompile(`(?m)^[ \t]*#SBATCH\b|\b(srun|salloc|sbatch)\b`)
	perNode    = regexp.MustCompile(`--(?:gres|gpus-per-node)[= ](?:gpu:)?(?:[A-Za-z][\w-]*:)?(\d{1,3})\b`)
	altogether = regexp.MustCompile(`(?:--gpus|-G)[= ](?:[A-Za-z][\w-]*:)?(\d{1,4})\b`)
	nodes      = regexp.MustCompile(`(?:--nodes|-N)[= ]?(\d{1,3})\b`)
)

// allotted returns the number of GPUs that Slurm allocates to a text's job; 0 if not stated.
func allotted(text string) int64 {
	switch {
	case !slurm.MatchString(text):
		return 0
	case perNode.MatchString(text):
		return said(perNode, text) * max(1, said(nodes, text))
	}
	return said(altogether, text)
}

// said returns the value of a setting's first occurrence in a text.
func said(setting *regexp.Regexp, text string) int64 {
	m := setting.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	n, _ := strconv.ParseInt(m[1], 10, 32)
	return n
}
