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

// RankOf returns the rank of a LoRA adapter from the name of its file or folder, the only place on a command line that has it; 0 if
// the name has none.
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

// Adapter adds a file's adapter to a plan; if its name has no rank, it is listed as unread.
func Adapter(l *Launch, flag, name string) {
	const most = 256
	if rank := RankOf(name); rank > 0 && len(l.Plan.Adapters) < most {
		l.Plan.Adapters = append(l.Plan.Adapters, plan.Adapter{Rank: rank})
		return
	}
	l.Unknown = append(l.Unknown, flag+" "+Quote(Blotted(name)))
}
