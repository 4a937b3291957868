package validation

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/unit"
)

// diagnosisPart writes how messages of failures are read.
func diagnosisPart(b *strings.Builder, d *Diagnoses) {
	if d == nil {
		return
	}
	n := func(x int) string { return unit.Count(int64(x)) }
	fmt.Fprintf(b, "\n## Messages of failures\n\nMessages in the formats of the programs, which we wrote ourselves, and ordinary start-up logs made of the figures of the rows. A message is right when its\nkind, its program and every figure of it are. The target is %s, and no false alarm.\n\n| messages | kind | program | figures | all right | ordinary logs | false alarms | |\n|---:|---:|---:|---:|---:|---:|---:|---|\n", Percent(DiagnosisTarget))
	mark := "✓"
	if !d.Met() {
		mark = "✗"
	}
	fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", n(d.Messages), n(d.Kind), n(d.Engine), n(d.Figures), Percent(d.Right()),
		n(d.Ordinary), n(d.Alarms), mark)
	for _, w := range d.Wrong {
		fmt.Fprintf(b, "\n- %s", strings.ReplaceAll(w, "|", "/"))
	}
	if len(d.Wrong) > 0 {
		b.WriteString("\n")
	}
}
