package argv

import (
	"regexp"
	"strconv"

	"github.com/memwall/memwall/plan"
)

// rankInName finds a rank as those who publish adapters write it: "llama-3-8b-lora-r16.gguf", "adapter_rank-64", "lora_r8".
var rankInName = regexp.MustCompile(`(?i)(?:^|[-_./\\ ])(?:lora|qlora)?[-_]?(?:rank|r)[-_=]?(\d{1,3})(?:$|[-_.:/\\ ])`)

// What is taken for a rank.
const leastRank, mostRank = 4, 512

// RankOf is the rank of a LoRA adapter by the name of its file or folder, 0 where the name says none: nothing else on a command
// line does.
func RankOf(name string) plan.Int {
	hit := rankInName.FindStringSubmatch(name)
	if hit == nil {
		return 0
	}
	n, err := strconv.Atoi(hit[1])
	if err != nil || n < leastRank || n > mostRank { // "r1" is of a model
		return 0
	}
	return plan.Int(n)
}

// Adapter adds the adapter of a file to a plan; a file whose name says no rank is listed as unread.
func Adapter(l *Launch, flag, name string) {
	const most = 256
	if rank := RankOf(name); rank > 0 && len(l.Plan.Adapters) < most {
		l.Plan.Adapters = append(l.Plan.Adapters, plan.Adapter{Rank: rank})
		return
	}
	l.Unknown = append(l.Unknown, flag+" "+Quote(Blotted(name)))
}
