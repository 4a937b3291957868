package launch

import (
	"regexp"
	"strconv"
)

// What Slurm allots (sbatch(1), srun(1)): GPUs of each node and nodes, or GPUs of all.

var (
	slurm      = regexp.MustCompile(`(?m)^[ \t]*#SBATCH\b|\b(srun|salloc|sbatch)\b`)
	perNode    = regexp.MustCompile(`--(?:gres|gpus-per-node)[= ](?:gpu:)?(?:[A-Za-z][\w-]*:)?(\d{1,3})\b`)
	altogether = regexp.MustCompile(`(?:--gpus|-G)[= ](?:[A-Za-z][\w-]*:)?(\d{1,4})\b`)
	nodes      = regexp.MustCompile(`(?:--nodes|-N)[= ]?(\d{1,3})\b`)
)

// allotted is how many GPUs Slurm gives to what a text runs; 0 where it does not say.
func allotted(text string) int64 {
	switch {
	case !slurm.MatchString(text):
		return 0
	case perNode.MatchString(text):
		return said(perNode, text) * max(1, said(nodes, text))
	}
	return said(altogether, text)
}

// said is the number that a setting has, the first time that it stands in a text.
func said(setting *regexp.Regexp, text string) int64 {
	m := setting.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	n, _ := strconv.ParseInt(m[1], 10, 32)
	return n
}
