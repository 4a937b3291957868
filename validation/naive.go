package validation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/stat"
	"github.com/memwall/memwall/unit"
)

// naiveTable puts a rule of thumb beside the scores of speeds.
func naiveTable(b *strings.Builder, scores []Score) {
	b.WriteString("\n## A rule of thumb beside us\n\nFor the same rows: answers read the weights at a flat 80 % of the memory's rate, prompts are multiplied at half the peak. As many users\n" +
		"as a server takes read weights and caches at 80 %, and their prompts cost nothing. Products and attention take the longer of their\narithmetic at the full peak and their bytes at the memory's full rate, an all-reduce 2(n−1)/n of its bytes at the link's; copies run\nat the link's full rate. Training runs at the median MFU of all other sources.\n\n")
	b.WriteString("| measure | figures | median | p90 | rule of thumb: median | p90 |\n|---|---:|---:|---:|---:|---:|\n")
	for i := range scores {
		s := &scores[i]
		if s.NaiveMedian == 0 {
			continue
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", s.Measure.Name, unit.Count(int64(s.Used)), Percent(s.Median), Percent(s.P90),
			Percent(s.NaiveMedian), Percent(s.NaiveP90))
	}
}

// explained is how many of the worst rows of a measure get a reason.
const explained = 10

// reasonsTable says of the rows furthest off what sets them apart from the others of their device and engine.
func reasonsTable(b *strings.Builder, scores []Score) {
	for i := range scores {
		s := &scores[i]
		if s.NaiveMedian == 0 || s.Used == 0 {
			continue
		}
		fmt.Fprintf(b, "**%s**, why the worst are off\n\n| row | error | measured over rule of thumb | |\n|---|---:|---:|---|\n",
			s.Measure.Name)
		for j := 0; j < min(explained, len(s.Worst)); j++ {
			c := &s.Worst[j]
			fmt.Fprintf(b, "| %s, %s | %s | %s | %s |\n", c.Row.Name(), c.Question(), signed(c.Error, Percent),
				Percent(c.Measured.Mid/c.Naive), s.why(c))
		}
		b.WriteString("\n")
	}
}

// Others, and how far off they have to be.
const (
	known = 0.25 // a median error of others that says that the device is known
	apart = 0.5
)

// why a row is off, by the errors of its like.
func (s *Score) why(c *Comparison) string {
	if c.Row.Kernel != "" {
		return s.whyKernel(c)
	}
	report := s.errorsOf(func(o *Comparison) bool {
		return alike(o, c) && o.Row.Source == c.Row.Source && o.Row.Ask.Model == c.Row.Ask.Model
	})
	device := s.errorsOf(func(o *Comparison) bool {
		return alike(o, c) && !(o.Row.Source == c.Row.Source && o.Row.Ask.Model == c.Row.Ask.Model)
	})
	switch {
	case len(device) == 0:
		return fmt.Sprintf("no other model or report has %s with this engine", c.Row.Ask.Hardware)
	case stat.Median(device) < known:
		return fmt.Sprintf("other rows of this device and engine (%d) are off by %s: this report of the model stands apart%s", len(device),
			Percent(stat.Median(device)), s.together(report))
	}
	return fmt.Sprintf("other rows of this device and engine (%d) are off by %s too: how it was set up is not in the reports", len(device),
		Percent(stat.Median(device)))
}

// whyKernel says whether a kernel stands apart from its program's others on the device, or all are off.
func (s *Score) whyKernel(c *Comparison) string {
	others := s.errorsOf(func(o *Comparison) bool { return alike(o, c) && o.Row != c.Row })
	if len(others) == 0 {
		return fmt.Sprintf("no other of its kind was timed on %s", c.Row.Ask.Hardware)
	}
	text := fmt.Sprintf("others of this device and program (%d) are off by %s", len(others), Percent(stat.Median(others)))
	if stat.Median(others) >= known {
		return text + " too: what the program runs there is not what the law supposes"
	}
	return text + ": this one stands apart"
}

// together says that rows of one report are off alike.
func (s *Score) together(report []float64) string {
	if len(report) > 1 && slices.Min(report) > apart {
		return fmt.Sprintf(", with all %d rows", len(report))
	}
	return ""
}

func alike(a, b *Comparison) bool {
	return a.Row.Ask.Hardware == b.Row.Ask.Hardware && a.Row.Ask.Engine == b.Row.Ask.Engine
}

// errorsOf are the sizes of the errors of some rows.
func (s *Score) errorsOf(which func(*Comparison) bool) (out []float64) {
	for i := range s.Worst {
		if c := &s.Worst[i]; which(c) {
			out = append(out, max(c.Error, -c.Error))
		}
	}
	return out
}
