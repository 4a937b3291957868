package serving

import (
	"cmp"
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/stat"
	"github.com/memwall/memwall/unit"
)

// Measured is a run of a server at a fixed number of users.
type Measured struct {
	Device, Engine, Model, Weights string // the engine with its version, as rows name it
	Devices                        int64
	Load
	Active   int64   // parameters that a token goes through
	PerToken float64 // seconds
}

//go:embed nearest.tsv
var nearest string

// NearestHeader is the first line of nearest.tsv, which go run ./validation/fit/serving writes.
const NearestHeader = "device\tengine\tmodel\tweights\tdevices\tusers\tprompt\toutput\tactive\ttpot_ms\n"

// Line of nearest.tsv.
func (r *Measured) Line() string {
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%.4g\n", r.Device, r.Engine, r.Model, r.Weights, r.Devices, r.Users, r.Prompt, r.Output, r.Active, 1e3*r.PerToken)
}

// String names a run and what it took: "8 × h200-sxm-141gb, vllm 0.19.0, deepseek-v3 in fp8-block, 64 users with 922 + 922 tokens: 21.3 ms a token".
func (r *Measured) String() string {
	on := r.Device
	if r.Devices > 1 {
		on = fmt.Sprintf("%d × %s", r.Devices, r.Device)
	}
	return fmt.Sprintf("%s, %s, %s in %s, %d users with %d + %d tokens: %s ms a token", on, strings.Replace(r.Engine, "@", " ", 1), r.Model, cmp.Or(r.Weights, "bf16"),
		r.Users, r.Prompt, r.Output, unit.Fixed(1e3*r.PerToken, 1))
}

var listed = sync.OnceValue(func() (out []Measured) {
	for line := range strings.Lines(strings.TrimPrefix(nearest, NearestHeader)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		r := Measured{Device: f[0], Engine: f[1], Model: f[2], Weights: f[3]}
		for i, to := range []*int64{&r.Devices, &r.Users, &r.Prompt, &r.Output, &r.Active} {
			*to, _ = strconv.ParseInt(f[4+i], 10, 64) // a table of our own: a test reads it
		}
		ms, _ := strconv.ParseFloat(f[9], 64)
		r.PerToken = ms / 1e3
		out = append(out, r)
	}
	return out
})

// server is what runs of one model and engine on one device have in common.
type server struct{ device, engine, model string }

var servers = sync.OnceValue(func() map[server]bool {
	out := map[server]bool{}
	for _, r := range listed() {
		out[server{r.Device, EngineOf(r.Engine), r.Model}] = true
	}
	return out
})

// measured reports whether runs of the plan's model and engine on its device were.
func (m *Model) measured() bool { return servers()[server{m.device.id, m.in.Engine, m.in.Model.ID}] }

// Nearest are the n measured runs that are most like a load of the plan, the nearest first.
func (m *Model) Nearest(l Load, n int) []Measured {
	return stat.Nearest(listed(), n, func(r *Measured) float64 { return m.distance(r, l) })
}

// distance to a run orders what is shown and enters no figure: another family of devices counts as a size of 16 times, another device of
// the family or another engine as one of four times, users and lengths little.
func (m *Model) distance(r *Measured, l Load) (far float64) {
	if r.Device != m.device.id {
		far += 2
		if d := hardware.ByID(r.Device); d == nil || Family(d) != m.device.family {
			far += 2
		}
	}
	if EngineOf(r.Engine) != m.in.Engine {
		far += 2
	}
	if r.Model != m.in.Model.ID {
		far += 0.5 + stat.Doublings(r.Active, m.ActiveParams())
	}
	return far + stat.Doublings(r.Devices, m.devices())/2 + stat.Doublings(r.Users, l.Users)/4 + (stat.Doublings(r.Prompt, l.Prompt)+stat.Doublings(r.Output, l.Output))/8
}

// ActiveParams are the parameters that a token goes through.
func (m *Model) ActiveParams() int64 { return m.in.Model.ActiveParams() }

// devices of the plan.
func (m *Model) devices() (n int64) {
	p := m.in.Stages[0].Parallel
	return max(1, p.TP) * int64(len(m.in.Stages)) * max(1, m.in.Replicas)
}

// RunsOf counts the measured runs of an engine on the plan's device, however their devices are grouped.
func (m *Model) RunsOf() (n int) {
	for c, runs := range counted() {
		if c.Device == m.device.id && c.Engine == m.in.Engine && c.Early == Early(m.in.Engine, m.in.Version) {
			n += runs
		}
	}
	return n
}
