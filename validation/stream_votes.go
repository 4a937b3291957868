package validation

import "strings"

// StreamVotes summarizes single streams with one vote per report, each held out of the fit as a whole: overall, and by engine.
func StreamVotes(all []Comparison) (out []Vote) {
	engine := func(r *Row) string { return r.Ask.Engine }
	for _, m := range []*Measure{&decodeReports, &promptReports} {
		out = append(out, votes(m, all, engine, streamReporter)...)
	}
	return out
}

// streamReporter is who measured, and on which device.
func streamReporter(r *Row) string { return r.Source + " on " + r.Ask.Hardware }

func streamTable(b *strings.Builder, votes []Vote) {
	b.WriteString("\n## Single streams, a vote for each report\n\nTokens/s that nobody fitted to: of every row, all that its source measured on that " +
		"device was left out. Two projects\nare half of the rows; here each report weighs the same.\n\n")
	writeVotes(b, "engine | reports", votes, func(name string) string { figure, _, _ := strings.Cut(name, ","); return figure })
}
