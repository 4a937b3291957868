package validation

import (
	"strings"

	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/validation/packed"
)

// Pools of vLLM by constants that a row's source had no part in. The fit (validation/fit) writes them.
const poolFolds packed.File = "rows/vllm-folds.tsv"

var newSourcePools = Measure{Name: "vLLM available KV, new source", About: "'Available KV cache memory', constants and bands without the source", Target: 0.03}

// Reporter returns who measured a log's row: a repository with all its logs, or an issue or a file if one is named.
func Reporter(r *Row) string {
	if strings.Contains(r.Source, "#") || strings.HasPrefix(r.Source, "unnamed-repository:") {
		return r.Source
	}
	return maker(r)
}

// ComparePools compares the stored predictions with the rows.
func ComparePools(sets []Set) ([]Comparison, error) {
	f, err := readFolds(poolFolds, 3)
	if err != nil {
		return nil, err
	}
	var out []Comparison
	for i := range sets {
		if sets[i].Name != "vllm" {
			continue
		}
		for j := range sets[i].Rows {
			r := &sets[i].Rows[j]
			if v, ok := r.Got["kv_available"]; ok {
				out = append(out, f.compare(Comparison{Measure: &newSourcePools, Row: r, Figure: "kv_available", Measured: v}, 0,
					"the device is not named, or the version prints no such line"))
			}
		}
	}
	return out, nil
}

// PoolVotes sums up pools with one vote for each who reported: all, and by what the model reads and where it ran.
func PoolVotes(all []Comparison) []Vote { return votes(&newSourcePools, all, poolGroup, Reporter) }

// poolGroup is what a row's model reads, and whether one device or several hold it.
func poolGroup(r *Row) string {
	reads := "text"
	if m, err := catalog.Model(r.Ask.Model); err == nil && m.Traits.Multimodal {
		reads = "pictures or sound"
	}
	if r.Ask.Ranks() > 1 {
		return reads + ", several devices"
	}
	return reads + ", one device"
}

func poolTable(b *strings.Builder, votes []Vote) {
	b.WriteString("\n## vLLM's pool, a vote for each source\n\nWhat a start-up log that nobody fitted to says of \"Available KV cache memory\". Constants and bands never saw the source: a repository with all of its logs, or one\nreport. Rules were read from vLLM's code and compared with these logs.\n\n")
	writeVotes(b, "model, devices | sources", votes, nil)
}
