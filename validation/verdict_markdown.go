package validation

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/unit"
)

// callTable writes the verdicts beside the reports, and those that were wrong.
func callTable(b *strings.Builder, kinds []Calls) {
	all := AllCalls(kinds)
	fmt.Fprintf(b, "\n## Verdicts against reports\n\nOf a plan that ran, *fits* and *tight* are right, of one that found no room *does not fit* and *tight*; the share of *tight*, which is right either\nway, is therefore given. A plan counts once: of those that differ in length or users alone, the largest. Serving runs are asked for one user, because\nprograms let users wait who have no room. Left out: logs that name no device, chips that are sold with several sizes of memory or share that of their\nsystem, and runs of models larger than their devices. The target is %s.\n\n", Percent(VerdictTarget))
	b.WriteString("| plans | ran | called right | found no room | called right | tight | right in all | |\n|---|---:|---:|---:|---:|---:|---:|---|\n")
	for i := range kinds {
		callRow(b, &kinds[i])
	}
	callRow(b, all)
	if len(all.Wrong) == 0 {
		return
	}
	b.WriteString("\n**Called wrong.** Needs are of the device that decides, with their band.\n\n| report | plan | it | ours | needs | note | source |\n|---|---|---|---|---|---|---|\n")
	for _, c := range all.ByReport() {
		said := "found no room"
		if c.Ran {
			said = "ran"
		}
		q := Comparison{Row: c.Row}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s |\n", c.Row.Name(), q.Question(), said,
			strings.ReplaceAll(string(c.Ours), "_", " "), c.Needs, c.Row.Note, c.Row.Source)
	}
}

func callRow(b *strings.Builder, s *Calls) {
	mark := "✓"
	if s.RightShare() < VerdictTarget {
		mark = "✗"
	}
	n := func(x int) string { return unit.Count(int64(x)) }
	fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", s.Kind, n(s.Ran), n(s.RanRight), n(s.Failed), n(s.FailedRight),
		n(s.Tight), Percent(s.RightShare()), mark)
}
