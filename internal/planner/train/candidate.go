package train

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/training"
	"github.com/memwall/memwall/unit"
)

// candidate is a plan that fits.
type candidate struct {
	request    api.Request
	site       *site
	kind       string // method, machine and framework
	number     int    // in order of discovery
	headroom   unit.Bytes
	verdict    api.Verdict
	room       int64   // headroom in coarse parts of the device
	perToken   float64 // seconds times devices; infinite if unknown
	perMillion float64 // dollars per million tokens; infinite if unknown
	devices    int64   // if devices are minimized, else 0, since time and money account for them
}

func (p *candidate) timed() bool { return !math.IsInf(p.perToken, 0) }

func (p *candidate) priced() bool { return !math.IsInf(p.perMillion, 0) }

// candidate returns a plan that fits, with its figures.
func (s *space) candidate(x *site, r *api.Request, t *training.Training, d *engine.Rank) *candidate {
	p := &candidate{request: *r, site: x, kind: kindOf(x, r), headroom: question.Headroom(d), room: roomOf(d),
		perToken: math.Inf(1), perMillion: math.Inf(1), devices: s.countedDevices(x)}
	if seconds, err := perToken(t); err == nil {
		p.setTime(seconds)
	}
	return p
}

// perToken returns the seconds of a step per token, those included in which an engine writes answers.
func perToken(t *training.Training) (float64, error) {
	if r := t.Job.Training.Rollout; r != nil && r.Engine != "" {
		m, s, err := t.Step()
		if err != nil {
			return 0, err
		}
		return s.Seconds.Mid / m.Tokens(), nil
	}
	m, err := t.StepPredictor(t.Job.Training)
	if err != nil {
		return 0, err
	}
	return m.Middle() / m.Tokens(), nil
}

// countedDevices returns a site's devices if these are minimized; else 0.
func (s *space) countedDevices(x *site) int64 {
	if s.want == "devices" {
		return x.devices
	}
	return 0
}

// kindOf returns the kind of a plan: method, machine and framework.
func kindOf(x *site, r *api.Request) string {
	return strings.Join([]string{x.words(), r.Method, r.Framework, r.Optimizer, r.Precision}, " ")
}

// roomParts is the number of parts of a device in which headroom is compared; needs are not known more precisely.
const roomParts = 8

func roomOf(d *engine.Rank) int64 {
	return int64(question.Headroom(d)) * roomParts / max(1, int64(d.Usable.Bytes()))
}

// setTime sets the time per token, and its price if the rent is known.
func (p *candidate) setTime(perToken float64) {
	p.perToken = perToken
	if p.site.perHour != nil {
		p.perMillion = perToken * *p.site.perHour / 3600 * 1e6
	}
}

// against returns in how many of time, money, headroom and (if minimized) devices the plan is better, and worse, than q.
func (p *candidate) against(q *candidate) (better, worse int) {
	for _, c := range []int{cmp.Compare(q.perToken, p.perToken), cmp.Compare(q.perMillion, p.perMillion),
		cmp.Compare(p.room, q.room), cmp.Compare(q.devices, p.devices)} {
		switch {
		case c > 0:
			better++
		case c < 0:
			worse++
		}
	}
	return better, worse
}

// compare orders two plans by the objective; unknown figures come last.
func compare(want string, a, b *candidate) int {
	time, money := cmp.Compare(a.perToken, b.perToken), cmp.Compare(a.perMillion, b.perMillion)
	rest := cmp.Or(-cmp.Compare(a.headroom, b.headroom), cmp.Compare(a.number, b.number))
	switch want {
	case "cost":
		return cmp.Or(money, time, rest)
	case "devices":
		return cmp.Or(cmp.Compare(a.site.devices, b.site.devices), time, money, rest)
	}
	return cmp.Or(time, money, rest)
}

// words describes the fields in which a plan differs from the request.
func (p *candidate) words(asked *api.Request) string {
	r := &p.request
	var out []string
	if name := p.site.words(); name != asked.Hardware {
		out = append(out, name)
	}
	for _, w := range []struct{ is, was string }{{r.Method, asked.Method}, {r.Framework, asked.Framework},
		{r.Optimizer, asked.Optimizer}, {r.Precision, asked.Precision}} {
		if w.is != w.was {
			out = append(out, w.is)
		}
	}
	for _, n := range []struct {
		name    string
		is, was int64
	}{{"tp", r.TP, asked.TP}, {"pp", r.PP, asked.PP}, {"vpp", r.VPP, asked.VPP}, {"cp", r.CP, asked.CP},
		{"ep", r.EP, asked.EP}} {
		if n.is > 1 && n.is != n.was {
			out = append(out, fmt.Sprintf("%s %d", n.name, n.is))
		}
	}
	if r.SequenceParallel != nil && asked.SequenceParallel == nil && *r.SequenceParallel {
		out = append(out, "sp")
	}
	if r.Sharding != asked.Sharding && r.Sharding != "none" {
		out = append(out, r.Sharding)
	}
	if r.MicroBatch != asked.MicroBatch {
		out = append(out, fmt.Sprintf("micro-batch %d", r.MicroBatch))
	}
	if r.Recompute != asked.Recompute {
		out = append(out, "recompute "+r.Recompute)
	}
	if r.FusedLoss != nil && asked.FusedLoss == nil {
		out = append(out, "fused loss")
	}
	if r.Offload != nil && asked.Offload == nil {
		out = append(out, training.OffloadWords(*r.Offload))
	}
	return strings.Join(out, ", ")
}
