package svg

import (
	"fmt"
	"strconv"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/train"
)

// Sizes of a schedule, in pixels, and how many units of time one shows: more would be lines and no fields.
const (
	scheduleLeft = 78
	scheduleRow  = 26
	scheduleMost = 160
	numbered     = 18 // the least width of a field with a number in it
)

// pipeline is the schedule of a plan that trains.
type pipeline struct {
	name                  string
	stages, chunks, micro int64
	shown                 int64 // micro-batches that are drawn
	slots                 []train.Slot
	waits                 float64 // share of the stages' time, of all micro-batches
	span                  int64
}

// scheduled reads the schedule of a plan; nil where it has no pipeline or one that is not laid out.
func scheduled(a *memwall.Answer) *pipeline {
	if a.Plan == nil || a.Plan.PP <= 1 {
		return nil
	}
	p := &pipeline{name: a.Plan.Schedule, stages: a.Plan.PP, chunks: max(1, a.Plan.VPP), micro: max(1, int64(a.Plan.Accumulation))}
	_, p.waits = train.Waiting(train.Timeline(p.name, p.stages, p.chunks, p.micro), p.stages)
	p.shown = p.micro
	for p.shown > p.stages && 3*(p.shown*p.chunks+p.stages) > scheduleMost {
		p.shown = (p.shown - 1) / p.stages * p.stages
	}
	if p.slots = train.Timeline(p.name, p.stages, p.chunks, p.shown); p.slots == nil || p.waits == 0 {
		return nil
	}
	p.span, _ = train.Waiting(p.slots, p.stages)
	return p
}

// Schedule draws which stage of a pipeline does which pass of which micro-batch when, and where it waits; nil where a
// plan has no pipeline.
func Schedule(a *memwall.Answer) []byte {
	p := schedulePicture(a)
	if p == nil {
		return nil
	}
	return p.file()
}

// ScheduleChart is Schedule as a part of a page.
func ScheduleChart(a *memwall.Answer, name string) (Chart, bool) {
	p := schedulePicture(a)
	if p == nil {
		return Chart{}, false
	}
	return p.chart(name, svgWidth), true
}

func schedulePicture(a *memwall.Answer) *picture {
	p := scheduled(a)
	if p == nil {
		return nil
	}
	return &picture{p.title(), p.under(), p.title() + ". " + p.describe(), styles{chartStyle.light + scheduleStyle, chartStyle.dark},
		p.draw}
}

// scheduleStyle is of fields; their numbers stand on them.
const scheduleStyle = `text.num{font-size:12.6px}`

func (p *pipeline) title() string {
	return fmt.Sprintf("The stages of the pipeline wait for %s of a step", term.Percent(p.waits))
}

func (p *pipeline) under() []string {
	words := fmt.Sprintf("%s, %s, %s", p.name, term.Plural(p.stages, "stage", "stages"),
		term.Plural(p.micro, "micro-batch", "micro-batches"))
	if p.chunks > 1 {
		words += fmt.Sprintf(", %s a stage", term.Plural(p.chunks, "chunk", "chunks"))
	}
	if p.shown < p.micro {
		words += fmt.Sprintf(" (drawn with %d of them, with which stages wait longer)", p.shown)
	}
	passes := "a backward pass twice as long as a forward pass"
	if p.parted() {
		passes = "a backward pass and the gradients of weights each as long as a forward pass"
	}
	return []string{words, "all stages equal, " + passes + "; what is sent between them left out"}
}

// parted: gradients of weights are passes of their own.
func (p *pipeline) parted() bool { return p.name == "zb-h1" || p.name == "zb-h2" }

// describe says the picture in words.
func (p *pipeline) describe() string {
	first := make([]int64, p.stages)
	for i := range first {
		first[i] = -1
	}
	out := ""
	for _, s := range p.slots {
		if s.Pass == train.Backward && first[s.Stage] < 0 {
			first[s.Stage] = s.From
		}
	}
	for i, at := range first {
		out += fmt.Sprintf("stage %d goes back first after %d forward passes' time. ", i, at)
	}
	return out + fmt.Sprintf("%d in all", p.span)
}

// draw rows of fields, one for each stage: what lies bare is waiting.
func (p *pipeline) draw(s *svgPage) {
	c := &chart{svgPage: s, left: scheduleLeft, top: s.y + 12, width: s.width - scheduleLeft - svgMargin,
		height: int(p.stages) * scheduleRow}
	c.x = scale{high: float64(p.span)}
	for i := range p.stages {
		y := c.top + int(i)*scheduleRow
		s.text(svgMargin, y+17, "m", "stage "+strconv.FormatInt(i, 10))
		fmt.Fprintf(&s.b, "<rect class=\"free\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", c.left, y, c.width, scheduleRow-4)
	}
	for i := range p.slots {
		c.pass(&p.slots[i])
	}
	s.y = c.bottom() + svgLine
	s.text(float64(c.left), s.y, "m", "time →")
	c.passNames(p.parted())
}

// pass is one field; chunks of a stage differ in their tint.
func (c *chart) pass(s *train.Slot) {
	x, y := c.px(float64(s.From)), c.top+int(s.Stage)*scheduleRow
	wide := c.px(float64(s.To)) - x
	fmt.Fprintf(&c.b, "<rect class=\"pass d%d\" fill-opacity=\"%g\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n", s.Pass,
		tints[min(int(s.Chunk), len(tints)-1)]*0.6, x, y, max(0.5, wide-0.7), scheduleRow-4)
	if wide >= numbered {
		c.anchored("num", "middle", x+wide/2, y+15, strconv.FormatInt(s.Micro, 10))
	}
}

// passNames are words in the colours of the fields.
func (c *chart) passNames(parted bool) {
	names := []string{"forward", "backward", "gradients of weights"}
	if !parted {
		names = names[:2]
	}
	x := float64(c.left) + 62
	for i, name := range names {
		c.anchored(fmt.Sprintf("t d%d", i), "start", x, c.svgPage.y, name)
		x += float64(term.Cells(name))*StrongLetter + 18
	}
}
