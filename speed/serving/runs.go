package serving

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/plan"
)

// Combination is what measured runs have in common with a plan: the device, the engine in its era, and how devices are grouped.
type Combination struct {
	Device, Engine string
	Early          bool // an engine of another era
	Layout         Layout
}

// Layout is how the devices of a server are grouped, by what is hardest to foresee of it.
type Layout string

// Layouts: one device, tensor groups, these with experts shared out, attention apart and experts together, pipelines, and pools of workers
// for prompts and for answers.
const (
	One     Layout = "one"
	Tensor  Layout = "tp"
	Experts Layout = "ep"
	Apart   Layout = "dp+ep"
	Staged  Layout = "pp"
	Parted  Layout = "pools"
)

// LayoutOf a plan.
func LayoutOf(p *plan.Plan) Layout {
	switch {
	case p.Disaggregated != nil:
		return Parted
	case p.PP > 1:
		return Staged
	case p.DP > 1 && p.EP > max(1, p.TP):
		return Apart
	case p.EP > 1:
		return Experts
	case p.TP > 1:
		return Tensor
	}
	return One
}

// CombinationOf a plan on a device.
func CombinationOf(device, name string, v engine.Version, p *plan.Plan) Combination {
	return Combination{Device: device, Engine: name, Early: Early(name, v), Layout: LayoutOf(p)}
}

//go:embed runs.tsv
var runs string

// RunsHeader is the first line of runs.tsv, which go run ./validation/fit/serving writes.
const RunsHeader = "device\tengine\tlayout\truns\n"

var counted = sync.OnceValue(func() map[Combination]int {
	out := map[Combination]int{}
	for line := range strings.Lines(strings.TrimPrefix(runs, RunsHeader)) {
		var c Combination
		f := strings.Split(strings.TrimSpace(line), "\t")
		c.Device, c.Layout = f[0], Layout(f[2])
		c.Engine, c.Early = strings.CutSuffix(f[1], earlySuffix)
		out[c], _ = strconv.Atoi(f[3]) // a table of our own: a test reads it
	}
	return out
})

const earlySuffix = " early"

// Runs is how many measured runs of a combination the table of coefficients rests on.
func (c Combination) Runs() int { return counted()[c] }

// Line of runs.tsv.
func (c Combination) Line(runs int) string {
	name := c.Engine
	if c.Early {
		name += earlySuffix
	}
	return fmt.Sprintf("%s\t%s\t%s\t%d\n", c.Device, name, c.Layout, runs)
}
